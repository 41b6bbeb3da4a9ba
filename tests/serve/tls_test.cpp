// The server behind TLS, as OpenSSL's own client meets it.
#include <cotouch/base/error.h>
#include <cotouch/serve/door.h>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "serve/certificate.h"
#include "serve/server_fixture.h"

namespace cotouch::this_file {
namespace {

using namespace testing_serve;

// One connection, closed by the server after its answer. Trusts only the given certificate.
class TlsClient {
 public:
  TlsClient(std::uint16_t port, const std::filesystem::path& trusted, int newest = 0)
      : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
    SSL_CTX_set_min_proto_version(context_.get(), 0);
    SSL_CTX_set_max_proto_version(context_.get(), newest);
    SSL_CTX_set_cipher_list(context_.get(), "ALL:@SECLEVEL=0");
    SSL_CTX_load_verify_locations(context_.get(), trusted.c_str(), nullptr);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    const timeval patience{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), socket_);
    open_ = SSL_connect(ssl_.get()) == 1;
  }
  ~TlsClient() {
    ssl_.reset();
    ::close(socket_);
  }
  bool open() const { return open_; }
  std::string version() const { return SSL_get_version(ssl_.get()); }

  // The whole answer, head and body.
  std::string ask(const std::string& target, const std::string& more = {}) {
    const std::string request =
        "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + more + "\r\n";
    SSL_write(ssl_.get(), request.data(), static_cast<int>(request.size()));
    return read();
  }
  std::string read() {
    std::string all;
    char bytes[4096];
    for (int got = 0; (got = SSL_read(ssl_.get(), bytes, sizeof bytes)) > 0;) {
      all.append(bytes, static_cast<std::size_t>(got));
      if (!more_) break;
    }
    return all;
  }
  void write(const std::string& text) { SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())); }

  std::string host;
  bool more_ = true;  // read() goes on until the server closes

 private:
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
  std::unique_ptr<SSL, void (*)(SSL*)> ssl_{nullptr, SSL_free};
  int socket_ = -1;
  bool open_ = false;
};

class TlsServer : public ServedBalls {
 protected:
  void start(const ServerLimits& limits = {}) {
    make_certificate(folder_.path());
    settings_.certificate = folder_ / "cert.pem";
    settings_.key = folder_ / "key.pem";
    ServedBalls::start(limits);
  }
  std::string host() const { return "127.0.0.1:" + std::to_string(server_->port()); }
  std::unique_ptr<TlsClient> client(int newest = 0) {
    auto made = std::make_unique<TlsClient>(server_->port(), folder_ / "cert.pem", newest);
    made->host = host();
    return made;
  }
};

TEST_F(TlsServer, ServesPageRequestsAndFeedEncrypted) {
  start();
  EXPECT_EQ(server_->origin(), "https://" + host());
  auto page = client();
  ASSERT_TRUE(page->open());
  EXPECT_EQ(page->version(), "TLSv1.3");
  EXPECT_NE(page->ask("/").find("<title>page</title>"), std::string::npos);
  EXPECT_NE(client()->ask("/api/hello").find("401"), std::string::npos);

  // In by the door, then a feed with the key.
  const std::string number(16, 'a');
  const std::string told = client()->ask("/door?link=" + link_id(k_token) + "&number=" + number);
  const Json door = Json::parse(told.substr(told.find("\r\n\r\n") + 4));
  const std::string server = door["number"], name = host();
  EXPECT_EQ(door["proof"], server_proof(k_token, {number, server, name}));
  const std::string key = make_key(k_token, {number, server, name});
  const std::string with_key = "X-Cotouch-Key: " + key + "\r\n";
  EXPECT_NE(client()->ask("/api/hello", with_key + "Origin: https://" + name + "\r\n").find("200 OK"),
            std::string::npos);
  EXPECT_NE(client()->ask("/api/hello", with_key + "Origin: http://" + name + "\r\n").find("403"), std::string::npos);
  auto feed = client();
  feed->more_ = false;
  feed->write("GET /feed HTTP/1.1\r\nHost: " + name + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
              "Sec-WebSocket-Protocol: cotouch, key." + key + "\r\n\r\n");
  const std::string upgrade = feed->read();
  EXPECT_NE(upgrade.find("101"), std::string::npos) << upgrade;
  EXPECT_NE(upgrade.find("Sec-WebSocket-Protocol: cotouch\r\n"), std::string::npos) << upgrade;
  // A masked text frame, with a mask of zeros.
  const std::string hello = R"({"type":"hello","protocol":2})";
  feed->write(std::string{'\x81', static_cast<char>(0x80 | hello.size())} + std::string(4, '\0') + hello);
  std::string heard;
  for (int i = 0; i < 100 && heard.find("\"participant\"") == std::string::npos; ++i) heard += feed->read();
  EXPECT_NE(heard.find("\"rights\":\"own\""), std::string::npos);
}

TEST_F(TlsServer, SpeaksNothingOlderThanTls12AndNothingInTheClear) {
  start();
  EXPECT_FALSE(client(TLS1_1_VERSION)->open());
  EXPECT_TRUE(client(TLS1_2_VERSION)->open());
  EXPECT_THROW(get(server_->port(), "/"), ConnectionLost);
}

TEST_F(TlsServer, HandshakesThatDoNotEndAreHungUpOnAndMakeRoom) {
  ServerLimits limits;
  limits.head_seconds = 0.3;
  start(limits);
  RawConnection silent(server_->port(), "\x16");
  EXPECT_TRUE(silent.hung_up());
}

TEST_F(TlsServer, SlowHandshakesMakeRoomForOthers) {
  ServerLimits limits;
  limits.connections = 4;
  limits.head_seconds = 600;
  start(limits);
  std::vector<std::unique_ptr<RawConnection>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<RawConnection>(server_->port(), "\x16"));
  auto page = client();
  ASSERT_TRUE(page->open());
  EXPECT_NE(page->ask("/").find("200 OK"), std::string::npos);
}

TEST_F(TlsServer, SaysWhichFileIsWrong) {
  make_certificate(folder_.path());
  std::ofstream(folder_ / "text.pem") << "no certificate";
  std::filesystem::create_directory(folder_ / "other");
  make_certificate(folder_ / "other");
  const auto complaint = [&](const char* certificate, const char* key) -> std::string {
    ServerSettings settings;
    settings.certificate = folder_ / certificate;
    settings.key = folder_ / key;
    try {
      const HttpServer server(settings);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(complaint("cert.pem", "key.pem"), "");
  EXPECT_NE(complaint("none.pem", "key.pem").find("none.pem"), std::string::npos);
  EXPECT_NE(complaint("cert.pem", "none.pem").find("none.pem"), std::string::npos);
  EXPECT_NE(complaint("text.pem", "key.pem").find("text.pem"), std::string::npos);
  EXPECT_NE(complaint("cert.pem", "text.pem").find("text.pem"), std::string::npos);
  EXPECT_NE(complaint("cert.pem", "other/key.pem").find("other/key.pem"), std::string::npos);
}

}  // namespace
}  // namespace cotouch::this_file
