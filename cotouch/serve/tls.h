// The certificate and key of a server that encrypts.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <filesystem>

namespace cotouch {

// TLS 1.2 or newer. `certificate` is a PEM file with the whole chain, `key` the PEM file of its private key. Throws
// Error that names the file if one cannot be read, is no such file, or the two do not belong together.
boost::asio::ssl::context tls_context(const std::filesystem::path& certificate, const std::filesystem::path& key);

}  // namespace cotouch
