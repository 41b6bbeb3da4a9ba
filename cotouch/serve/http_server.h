// The server: HTTP and WebSocket on one port, one I/O thread, one thread for requests that take a while.
//
// Everything a stranger can make grow is bounded (ServerLimits), everything a stranger can make last has a deadline,
// and nothing here is ever waited for by the touch thread.
#pragma once

#include <cotouch/serve/feed.h>
#include <cotouch/serve/page_files.h>
#include <cotouch/serve/spool.h>
#include <cotouch/serve/target.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

struct HttpRequest {
  Visitor visitor;
  bool post = false;
  Target target;
  std::string body;
  std::shared_ptr<SpooledFile> upload;  // the body of /api/upload, which may be large
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::shared_ptr<const std::string> body;
  std::string download_name;  // not empty: the browser saves it under this name
};

HttpResponse json_response(std::string json);
// {"error": sentence}, and "code" for pages that do something about it.
HttpResponse error_response(int status, std::string_view sentence, std::string_view code = {});

// Answers requests under /api/. Called from the request thread, one at a time; may take its time. What it throws
// becomes 400 (Error) or 500.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  virtual HttpResponse answer(HttpRequest request) = 0;
};

struct ServerLimits {
  std::uint32_t connections = 256;
  std::uint32_t viewers = 64;
  std::uint32_t uploads = 2;  // bodies being received at once
  std::uint64_t upload_bytes = 256U << 20;
  std::uint64_t spool_bytes = 1U << 30;     // of all files received and not yet read, on the disk
  std::uint64_t unsent_bytes = 256U << 20;  // of answers on their way to those who came by one link; four times for all
  std::uint32_t messages_per_second = 500;
  double head_seconds = 10;     // for the head of a request, and before it for the handshake of TLS
  double idle_seconds = 30;     // between requests
  double upload_seconds = 120;  // for a body, and for sending an answer
  double ping_seconds = 5;
  double message_seconds = 4;  // for all pieces of a viewer's message
  double silent_seconds = 20;  // a viewer that says or takes nothing for so long is dropped
  int viewer_send_buffer =
      256 << 10;  // bytes the kernel may hold for a viewer: what is there cannot be replaced by newer
};

struct ServerSettings {
  std::string listen = "127.0.0.1";
  std::uint16_t port = 0;          // 0: any free one
  std::vector<std::string> names;  // further host names the server answers to
  // PEM files; both or none. With them only https is spoken.
  std::filesystem::path certificate, key;
  std::filesystem::path spool;  // folder for files while they are received; empty: the system's temporary one
  ServerLimits limits;
};

class HttpServer final : public Feed {
 public:
  // Opens the port. Throws Error where it cannot.
  explicit HttpServer(const ServerSettings& settings, PageFiles page = {});
  ~HttpServer() override;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The port that was opened, so that a token can be chosen for it before anything is served.
  std::uint16_t port() const noexcept;
  // http://HOST:PORT or https://, for programs at this machine.
  std::string origin() const;

  // All must outlive the server, or stop() must have returned before they go. /api/ and /feed are for those who come by
  // one of the links.
  void start(RequestHandler& handler, FeedListener& listener, LinkBook& links);
  // Tells the viewers, closes everything and joins the threads.
  void stop();

  void send_text(ViewerId viewer, std::string text) override;
  void broadcast_text(std::string text) override;
  void broadcast_newest(std::string topic, std::string text) override;
  void publish(std::shared_ptr<const FrameSet> frame) override;
  void publish_near(std::uint32_t part, std::shared_ptr<const std::string> message) override;
  FeedDemand demand() const noexcept override;
  void close_link(std::string link, std::string why) override;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

// What a browser opens: the token stays in the browser, because it stands after '#'.
std::string address_with(const std::string& origin, const std::string& token);
// "http://192.168.1.5:7117" of a host and a port; an IPv6 address gets its brackets.
std::string origin_of(bool tls, const std::string& host, std::uint16_t port);

// Declared after a listener: whatever happens, viewers leave before what serves them does.
struct Closing {
  HttpServer& server;
  ~Closing() { server.stop(); }
};

}  // namespace cotouch
