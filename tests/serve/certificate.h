// A certificate for 127.0.0.1, made by the test, that nobody but the test trusts.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>

namespace cotouch::testing_serve {

// Writes `cert.pem` and `key.pem` into the folder.
inline void make_certificate(const std::filesystem::path& folder) {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, void (*)(X509*)> made(X509_new(), X509_free);
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
  X509_set_pubkey(made.get(), key.get());
  X509_NAME* const name = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("127.0.0.1"), -1, -1, 0);
  X509_set_issuer_name(made.get(), name);
  const std::unique_ptr<X509_EXTENSION, void (*)(X509_EXTENSION*)> also(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1"), X509_EXTENSION_free);
  X509_add_ext(made.get(), also.get(), -1);
  if (X509_sign(made.get(), key.get(), EVP_sha256()) == 0) throw std::runtime_error("no certificate could be made");
  const auto write = [](const std::filesystem::path& file, const auto& put) {
    std::FILE* const out = std::fopen(file.c_str(), "w");
    if (out == nullptr || put(out) != 1) throw std::runtime_error("the certificate could not be written");
    std::fclose(out);
  };
  write(folder / "cert.pem", [&](std::FILE* out) { return PEM_write_X509(out, made.get()); });
  write(folder / "key.pem",
        [&](std::FILE* out) { return PEM_write_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
}

}  // namespace cotouch::testing_serve
