#include <cotouch/base/error.h>
#include <cotouch/base/read_file.h>
#include <cotouch/serve/tls.h>

#include <openssl/ssl.h>

#include <string>

namespace cotouch {
namespace {

namespace ssl = boost::asio::ssl;

constexpr std::uint64_t k_largest_file = 1U << 20U;

}  // namespace

ssl::context tls_context(const std::filesystem::path& certificate, const std::filesystem::path& key) {
  const std::string certificate_text = read_text(certificate, k_largest_file);
  const std::string key_text = read_text(key, k_largest_file);
  ssl::context context(ssl::context::tls_server);
  ::SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  // A key with a password would make OpenSSL ask at the terminal.
  boost::system::error_code error;
  context.set_password_callback([](std::size_t, ssl::context::password_purpose) { return std::string(); }, error);
  context.use_certificate_chain(boost::asio::buffer(certificate_text), error);
  if (error)
    throw Error(certificate.string() + " (--tls) holds no certificate in PEM form: " + error.message() + ".",
                ErrorCode::invalid_argument);
  context.use_private_key(boost::asio::buffer(key_text), ssl::context::pem, error);
  if (error || ::SSL_CTX_check_private_key(context.native_handle()) != 1)
    throw Error(key.string() + " (--tls) is not the private key of " + certificate.string() +
                    ", in PEM form and without a password.",
                ErrorCode::invalid_argument);
  return context;
}

}  // namespace cotouch
