#include <cotouch/base/error.h>
#include <cotouch/serve/tls.h>

#include <openssl/ssl.h>

#include <fstream>

namespace cotouch {
namespace {

namespace ssl = boost::asio::ssl;

void check_readable(const std::filesystem::path& file) {
  if (!std::ifstream(file, std::ios::binary).is_open() || std::filesystem::is_directory(file))
    throw Error("Cannot read " + file.string() + " (--tls): is it there, and may you read it?",
                ErrorCode::invalid_argument);
}

}  // namespace

ssl::context tls_context(const std::filesystem::path& certificate, const std::filesystem::path& key) {
  check_readable(certificate);
  check_readable(key);
  ssl::context context(ssl::context::tls_server);
  ::SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  // A key with a password would make OpenSSL ask at the terminal.
  boost::system::error_code error;
  context.set_password_callback([](std::size_t, ssl::context::password_purpose) { return std::string(); }, error);
  context.use_certificate_chain_file(certificate.string(), error);
  if (error)
    throw Error(certificate.string() + " (--tls) holds no certificate in PEM form: " + error.message() + ".",
                ErrorCode::invalid_argument);
  context.use_private_key_file(key.string(), ssl::context::pem, error);
  if (error || ::SSL_CTX_check_private_key(context.native_handle()) != 1)
    throw Error(key.string() + " (--tls) is not the private key of " + certificate.string() +
                    ", in PEM form and without a password.",
                ErrorCode::invalid_argument);
  return context;
}

}  // namespace cotouch
