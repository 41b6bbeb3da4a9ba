#include <cotouch/base/error.h>
#include <cotouch/serve/access.h>
#include <cotouch/serve/server_core.h>
#include <cotouch/serve/tls.h>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <nlohmann/json.hpp>
#include <optional>

namespace cotouch {
namespace {

constexpr std::size_t k_head_bytes = 16U << 10;
constexpr std::uint64_t k_small_body = 4U << 10;
constexpr std::string_view k_recordings = "/api/recording/";  // what is asked of one may step it again
constexpr std::size_t k_upload_piece = 256U << 10;            // all of an upload that is ever in memory
// After an early answer the rest of the request is read and thrown away for a while: closing at once would make the
// system send a reset, which can overtake the answer.
constexpr auto k_linger = std::chrono::seconds(2);
constexpr std::size_t k_linger_bytes = 64U << 20;

constexpr const char* k_content_policy =
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; connect-src 'self' ws: wss:; "
    "frame-ancestors 'none'";

std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

// "cotouch, key.ABC" -> "ABC"; empty if there is none.
std::string_view key_among_protocols(std::string_view protocols) {
  constexpr std::string_view k_mark = "key.";
  while (!protocols.empty()) {
    const std::size_t comma = std::min(protocols.find(','), protocols.size());
    std::string_view one = protocols.substr(0, comma);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one.starts_with(k_mark)) return one.substr(k_mark.size());
    protocols.remove_prefix(std::min(comma + 1, protocols.size()));
  }
  return {};
}

class Connection final : public Peer, public std::enable_shared_from_this<Connection> {
 public:
  Connection(HttpServer::Impl& server, tcp::socket&& socket)
      : Peer(server),
        stream_(server.tls ? DoorStream(std::move(socket), *server.tls) : DoorStream(std::move(socket))) {}
  ~Connection() override { end_upload(); }

  void hang_up() override {
    idle_since_.reset();
    waits_since_.reset();
    stream_.tcp().close();
    // Not now: whoever hangs up on everybody goes through a list that it is in.
    net::post(server_.io, [kept = std::move(kept_)] {});
  }
  std::optional<std::chrono::steady_clock::time_point> idle_since() const override { return idle_since_; }
  std::optional<std::chrono::steady_clock::time_point> waits_since() const override { return waits_since_; }

  void start() {
    boost::system::error_code ignored;
    stream_.tcp().socket().set_option(tcp::no_delay(true), ignored);
    if (stream_.tls() == nullptr) return read_head(server_.settings.limits.head_seconds);
    // Until it is done the connection is of no use to anybody, so it may have to make room.
    idle_since_ = std::chrono::steady_clock::now();
    stream_.tcp().expires_after(to_duration(server_.settings.limits.head_seconds));
    stream_.tls()->async_handshake(net::ssl::stream_base::server,
                                   [self = shared_from_this()](boost::system::error_code error) {
                                     if (!error) self->read_head(self->server_.settings.limits.head_seconds);
                                   });
  }

 private:
  void read_head(double seconds) {
    idle_since_ = std::chrono::steady_clock::now();
    waits_since_.reset();
    parser_.emplace();
    parser_->header_limit(k_head_bytes);
    parser_->body_limit(server_.settings.limits.upload_bytes);
    stream_.tcp().expires_after(to_duration(seconds));
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](boost::system::error_code error, std::size_t) {
                              self->idle_since_.reset();
                              if (error) return self->on_head_error(error);
                              self->on_head();
                            });
  }

  void on_head_error(boost::system::error_code error) {
    keep_open_ = false;
    if (error == http::error::header_limit) return send(error_response(431, "The request's head is too long."));
    if (error == http::error::body_limit) return send(error_response(413, too_big()));
    if (error == beast::error::timeout) return;  // the stream has closed itself
    // Only what the parser complained about deserves an answer; the rest is a connection that went away.
    const bool gone = error == http::error::end_of_stream || error == http::error::partial_message;
    if (gone || error.category() != http::make_error_code(http::error::bad_method).category()) return;
    send(error_response(400, "This is not an HTTP request."));
  }

  std::string too_big() const {
    return "The file is larger than the " + std::to_string(server_.settings.limits.upload_bytes >> 20) +
           " MiB that this server takes.";
  }

  void on_head() {
    const auto& head = parser_->get();
    keep_open_ = head.keep_alive();
    const std::string_view host = view(head[http::field::host]);
    if (!host_is_ours(host, server_.port, server_.settings.names))
      return refuse(403, "This server does not answer to that host name; start it with --host to allow it.");
    const auto origin = head.find(http::field::origin);
    if (origin != head.end() && !origin_is_ours(view(origin->value()), host, server_.tls.has_value()))
      return refuse(403, "Another page asked for this; open the printed address instead.");
    std::optional<Target> target = parse_target(view(head.target()));
    if (!target) return refuse(400, "The request's address cannot be read.");
    target_ = std::move(*target);

    const bool is_feed = target_.path == "/feed";
    const bool is_api = target_.path.starts_with("/api/");
    if (is_feed || is_api) {
      std::string refusal;
      std::optional<Visitor> visitor = server_.links->visitor(key_of(head), host, unix_seconds(), refusal);
      if (!visitor) return refuse(401, refusal);
      visitor_ = std::move(*visitor);
    }
    const bool post = head.method() == http::verb::post;
    if (!post && head.method() != http::verb::get) {
      keep_open_ = false;  // whoever asks for a HEAD would take our sentence for the next answer
      return refuse(405, "Only GET and POST are understood here.");
    }
    // Its body would be read as the next request: behind a proxy, that is somebody else's.
    if (!post && !parser_->is_done()) return refuse(400, "A request that only asks has no body.");
    if (is_feed) return become_viewer();
    if (!post && target_.path == "/door") return meet(host);
    if (!is_api) return post ? refuse(405, "The page's files can only be read.") : send_page_file(head);
    if (!post) return ask_handler();
    // Arbitration would refuse it too, but only after a whole file had been received.
    if (visitor_.rights != Rights::own)
      return refuse(403, "You came by a link that may send nothing here; ask whoever gave it to you to do it.");
    read_body(target_.path == "/api/upload");
  }

  // A page cannot give its WebSocket headers, but it can ask for protocols; one of them is its key.
  template <class Head>
  static std::string_view key_of(const Head& head) {
    if (const auto field = head.find("X-Cotouch-Key"); field != head.end()) return view(field->value());
    return key_among_protocols(view(head[http::field::sec_websocket_protocol]));
  }

  // The server shows first that it knows the link's token (door.h).
  void meet(std::string_view host) {
    const LinkBook::Answer answer =
        server_.links->meet(target_.value("link"), target_.value("number"), host, unix_seconds());
    if (!answer.refusal.empty()) return refuse(401, answer.refusal);
    send(json_response(nlohmann::json{{"number", answer.number}, {"proof", answer.proof}}.dump()));
  }

  void become_viewer() {
    if (!beast::websocket::is_upgrade(parser_->get())) return refuse(400, "The feed is a WebSocket.");
    // The feed's frames begin after this request; a client that has already sent some is in too much of a hurry.
    if (buffer_.size() > 0) return refuse(400, "The feed's first message came before its answer.");
    start_viewer(server_, std::move(stream_), std::move(visitor_), parser_->release());
  }

  void read_body(bool upload) {
    if (upload) return read_upload();
    if (const auto length = parser_->content_length(); length && *length > k_small_body)
      return refuse(413, "The request's body is too long.");
    parser_->body_limit(k_small_body);
    stream_.tcp().expires_after(to_duration(server_.settings.limits.head_seconds));
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](boost::system::error_code error, std::size_t) {
                       if (!error) return self->ask_handler();
                       if (error == http::error::body_limit)
                         return self->refuse(413, "The request's body is too long.");
                       // Out of time the stream is closed already; nobody is left to tell.
                     });
  }

  // Onto the disk, piece by piece: a few large files would otherwise be all of the memory.
  void read_upload() {
    const auto length = parser_->content_length();
    if (length && *length > server_.settings.limits.upload_bytes) return refuse(413, too_big());
    if (server_.uploads >= server_.settings.limits.uploads)
      return refuse(429, "Other files are being uploaded; wait until they are done.");
    std::string reason;
    upload_ = server_.spool.open(length ? *length : 0, reason);
    if (!upload_) return refuse(507, reason);
    ++server_.uploads;
    uploading_ = true;
    upload_parser_.emplace(std::move(*parser_));
    upload_parser_->body_limit(server_.settings.limits.upload_bytes);
    piece_.resize(k_upload_piece);
    stream_.tcp().expires_after(to_duration(server_.settings.limits.upload_seconds));
    read_piece();
  }

  void read_piece() {
    upload_parser_->get().body() = {piece_.data(), piece_.size(), true};
    http::async_read(stream_, buffer_, *upload_parser_,
                     [self = shared_from_this()](boost::system::error_code error, std::size_t) {
                       if (error == http::error::body_limit) return self->refuse(413, self->too_big());
                       if (error && error != http::error::need_buffer) return;  // nobody is left to tell
                       self->keep_piece();
                     });
  }

  // Not on this thread: the disk may be slow, and everybody's frames go out from here.
  void keep_piece() {
    const std::size_t size = piece_.size() - upload_parser_->get().body().size;
    net::post(server_.requests, [self = shared_from_this(), size]() mutable {
      std::string reason = self->upload_->append({self->piece_.data(), size});
      auto& io = self->server_.io;
      net::post(io, [self = std::move(self), reason = std::move(reason)] {
        if (!reason.empty()) return self->refuse(507, reason);
        self->upload_parser_->is_done() ? self->ask_handler() : self->read_piece();
      });
    });
  }

  void end_upload() {
    if (uploading_) --server_.uploads;
    uploading_ = false;
    upload_.reset();
    upload_parser_.reset();
    piece_ = {};
  }

  void ask_handler() {
    auto request = std::make_shared<HttpRequest>();
    request->visitor = visitor_;
    request->target = std::move(target_);
    request->post = upload_parser_ || parser_->get().method() == http::verb::post;
    if (!upload_parser_) request->body = std::move(parser_->get().body());
    request->upload = std::move(upload_);
    stream_.tcp().expires_never();
    if (!request->target.path.starts_with(k_recordings))
      return net::post(server_.requests,
                       [self = shared_from_this(), request]() mutable { answer(std::move(self), *request); });
    waits_since_ = std::chrono::steady_clock::now();
    kept_ = shared_from_this();  // until it is hung up on, which takes it out of the queue as well
    server_.long_answers.add(visitor_.link, weak_from_this(), [asker = weak_from_this(), request] {
      if (std::shared_ptr<Connection> self = asker.lock()) answer(std::move(self), *request);
    });
  }

  // On whatever thread may take its time.
  static void answer(std::shared_ptr<Connection> self, HttpRequest& request) {
    auto response = std::make_shared<HttpResponse>(self->server_.answer(std::move(request)));
    // Handed on, not shared: the last owner must let go in the I/O thread, where the list of peers lives.
    auto& io = self->server_.io;
    net::post(io, [self = std::move(self), response] {
      self->kept_.reset();
      self->send(std::move(*response));
    });
  }

  template <class Head>
  void send_page_file(const Head& head) {
    const PageFile* file = server_.page.find(target_.path);
    if (file == nullptr)
      return send(error_response(404, server_.page.empty()
                                          ? "The page is not built; run `./dev build`, or name its folder with --web."
                                          : "There is no such file."));
    HttpResponse response;
    response.content_type = file->content_type;
    page_file_ = file;
    if (view(head[http::field::if_none_match]) == file->etag)
      response.status = 304;
    else
      response.body = file->body;
    send(std::move(response));
  }

  void refuse(int status, std::string_view sentence) {
    // The body has not been read, so the connection cannot go on.
    keep_open_ = keep_open_ && (upload_parser_ ? upload_parser_->is_done() : parser_->is_done());
    send(error_response(status, sentence));
  }

  void send(HttpResponse response) {
    end_upload();
    body_ = response.body ? std::move(response.body) : std::make_shared<const std::string>();
    message_.emplace();
    message_->version(11);
    message_->result(static_cast<unsigned>(response.status));
    message_->set(http::field::content_type, response.content_type);
    message_->set("X-Content-Type-Options", "nosniff");
    message_->set("Referrer-Policy", "no-referrer");
    if (page_file_ != nullptr) {
      message_->set(http::field::etag, page_file_->etag);
      message_->set(http::field::cache_control,
                    page_file_->immutable ? "public, max-age=31536000, immutable" : "no-cache");
      message_->set("Content-Security-Policy", k_content_policy);
    } else {
      message_->set(http::field::cache_control, "no-store");
    }
    page_file_ = nullptr;
    if (!response.download_name.empty())
      message_->set(http::field::content_disposition, "attachment; filename=\"" + response.download_name + "\"");
    message_->keep_alive(keep_open_);
    message_->body() = {body_->data(), body_->size()};
    const bool bodiless = response.status == 204 || response.status == 304;
    if (!bodiless) message_->content_length(body_->size());
    waits_since_ = std::chrono::steady_clock::now();
    stream_.tcp().expires_after(to_duration(server_.settings.limits.upload_seconds));
    http::async_write(stream_, *message_, [self = shared_from_this()](boost::system::error_code error, std::size_t) {
      if (error) return;
      self->body_.reset();
      if (self->keep_open_ && !self->server_.stopping)
        return self->read_head(self->server_.settings.limits.idle_seconds);
      self->linger();
    });
  }

  void linger() {
    boost::system::error_code ignored;
    stream_.tcp().socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.tcp().expires_after(k_linger);
    discard(k_linger_bytes);
  }

  void discard(std::size_t left) {
    waste_.resize(64U << 10);
    stream_.async_read_some(net::buffer(waste_),
                            [self = shared_from_this(), left](boost::system::error_code error, std::size_t count) {
                              if (!error && count < left) self->discard(left - count);
                            });
  }

  DoorStream stream_;
  Visitor visitor_;
  beast::flat_buffer buffer_{k_head_bytes + (64U << 10)};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::request_parser<http::buffer_body>> upload_parser_;  // instead, once it is a large body
  std::shared_ptr<SpooledFile> upload_;
  std::vector<char> piece_;
  std::optional<http::response<http::span_body<const char>>> message_;
  std::shared_ptr<const std::string> body_;
  std::string waste_;
  Target target_;
  std::shared_ptr<Connection> kept_;
  const PageFile* page_file_ = nullptr;
  std::optional<std::chrono::steady_clock::time_point> idle_since_, waits_since_;
  bool keep_open_ = false, uploading_ = false;
};

}  // namespace

Peer::Peer(HttpServer::Impl& server) : server_(server) {
  server_.peers.insert(this);
}

Peer::~Peer() {
  server_.peers.erase(this);
}

HttpResponse json_response(std::string json) {
  HttpResponse response;
  response.body = std::make_shared<const std::string>(std::move(json));
  return response;
}

HttpResponse error_response(int status, std::string_view sentence, std::string_view code) {
  nlohmann::json json{{"error", sentence}};
  if (!code.empty()) json["code"] = code;
  HttpResponse response = json_response(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  response.status = status;
  return response;
}

HttpServer::Impl::Impl(const ServerSettings& settings_, PageFiles page_)
    : settings(settings_),
      page(std::move(page_)),
      spool(settings.spool, settings.limits.spool_bytes),
      unsent(settings.limits.unsent_bytes) {
  const std::string place = settings.listen + " port " + std::to_string(settings.port);
  boost::system::error_code error;
  const auto address = net::ip::make_address(settings.listen, error);
  if (error)
    throw Error("'" + settings.listen + "' is not an address to listen on; use one such as 127.0.0.1 or 0.0.0.0.");
  const tcp::endpoint endpoint(address, settings.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(net::socket_base::max_listen_connections, error);
  if (error)
    throw Error("Cannot listen on " + place + ": " + error.message() + "; choose another with --port or --listen.",
                ErrorCode::io);
  port = acceptor.local_endpoint().port();
  if (settings.certificate.empty() != settings.key.empty())
    throw Error("TLS needs both a certificate and its key.", ErrorCode::invalid_argument);
  if (!settings.certificate.empty()) tls.emplace(tls_context(settings.certificate, settings.key));
}

HttpResponse HttpServer::Impl::answer(HttpRequest request) {
  try {
    // While a file was on its way here, its sender's link may have come to its end.
    const Visitor visitor = request.visitor;
    if (const std::string why = links->end_of(visitor.link, unix_seconds()); !why.empty())
      return error_response(401, why);
    if (!request.post && !unsent.has_room_for(visitor))
      return error_response(429, "Other answers have not been fetched yet; wait until they have arrived.");
    HttpResponse response = handler->answer(std::move(request));
    response.body = unsent.counted(visitor, std::move(response.body));
    return response;
  } catch (const Error& error) {
    return error_response(error.code() == ErrorCode::refused ? 403 : 400, error.what());
  } catch (const std::bad_alloc&) {
    return error_response(503, "There is not enough memory for this now.");
  } catch (const std::exception& error) {
    return error_response(500, std::string("Something unforeseen went wrong: ") + error.what());
  }
}

void HttpServer::Impl::accept() {
  acceptor.async_accept([this](boost::system::error_code error, tcp::socket socket) {
    if (stopping || error == net::error::operation_aborted) return;
    if (error) {
      // Out of file descriptors, as a rule: trying again at once would only spin.
      accept_pause.expires_after(std::chrono::milliseconds(100));
      accept_pause.async_wait([this](boost::system::error_code cancelled) {
        if (!cancelled) accept();
      });
      return;
    }
    // Beyond the limit the socket closes as it goes out of scope.
    if (make_room()) std::make_shared<Connection>(*this, std::move(socket))->start();
    accept();
  });
}

bool HttpServer::Impl::make_room() {
  if (peers.size() < settings.limits.connections) return true;
  for (const auto since : {&Peer::idle_since, &Peer::waits_since}) {
    Peer* longest = nullptr;
    for (Peer* peer : peers)
      if ((peer->*since)() && (longest == nullptr || *(peer->*since)() < *(longest->*since)())) longest = peer;
    if (longest == nullptr) continue;
    longest->hang_up();
    return true;
  }
  return false;
}

bool HttpServer::Impl::make_room_for(const Visitor& newcomer) {
  if (viewers.size() < settings.limits.viewers) return true;
  std::map<std::string, std::size_t> pages;
  for (const auto& [id, viewer] : viewers) ++pages[viewer->visitor.link];
  std::shared_ptr<Viewer> leaves;  // the newest of the link that has the most
  // Two more than the newcomer's link, or the two would take turns.
  std::size_t most = newcomer.rights == Rights::own ? 1 : pages[newcomer.link] + 2;
  for (const auto& [id, viewer] : viewers) {
    const std::size_t count = pages[viewer->visitor.link];
    if (viewer->visitor.rights == Rights::own || viewer->visitor.link == newcomer.link || count < most) continue;
    leaves = viewer;
    most = count;
  }
  if (leaves == nullptr) return false;
  leaves->close(FeedClose::too_many, "Too many pages are watching, and most came by this link; close one of them.");
  return true;
}

void HttpServer::Impl::watch_links() {
  link_timer.expires_after(std::chrono::seconds(1));
  link_timer.async_wait([this](boost::system::error_code cancelled) {
    if (cancelled || stopping) return;
    const UnixSeconds time = unix_seconds();
    const auto now = viewers;
    for (const auto& [id, viewer] : now)
      if (const std::string why = links->end_of(viewer->visitor.link, time); !why.empty())
        viewer->close(FeedClose::link_ended, why);
    watch_links();
  });
}

void HttpServer::Impl::close_link(const std::string& link, const std::string& why) {
  const auto now = viewers;
  for (const auto& [id, viewer] : now)
    if (viewer->visitor.link == link) viewer->close(FeedClose::link_ended, why);
}

void HttpServer::Impl::update_demand() {
  bool traversed = false, near = false;
  for (const auto& [id, viewer] : viewers) {
    traversed = traversed || viewer->wants_traversed;
    near = near || viewer->wants_near;
  }
  viewer_count = static_cast<std::uint32_t>(viewers.size());
  any_traversed = traversed;
  any_near = near;
}

void HttpServer::Impl::forget_viewer(ViewerId viewer) {
  viewers.erase(viewer);
  update_demand();
  listener->viewer_left(viewer);
}

void HttpServer::Impl::on_io(std::function<void()> work) {
  net::dispatch(io, std::move(work));
}

void HttpServer::Impl::deliver() {
  std::shared_ptr<const FrameSet> frame;
  std::map<std::uint32_t, std::shared_ptr<const std::string>> near;
  {
    const std::scoped_lock lock(published_mutex);
    frame = std::move(published);
    near = std::move(published_near);
    published.reset();
    published_near.clear();
    delivery_due = false;
  }
  // A viewer that cannot take it may leave while we go through them.
  const auto now = viewers;
  for (const auto& [id, viewer] : now) {
    if (frame) viewer->offer(frame);
    for (const auto& [part, message] : near) viewer->offer_near(part, message);
  }
}

HttpServer::HttpServer(const ServerSettings& settings, PageFiles page)
    : impl_(std::make_unique<Impl>(settings, std::move(page))) {
}

HttpServer::~HttpServer() {
  stop();
}

std::uint16_t HttpServer::port() const noexcept {
  return impl_->port;
}

std::string HttpServer::origin() const {
  const std::string& listen = impl_->settings.listen;
  const bool any = listen == "0.0.0.0" || listen == "::";
  return origin_of(impl_->tls.has_value(), any ? "127.0.0.1" : listen, port());
}

std::string origin_of(bool tls, const std::string& host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  return (tls ? "https://" : "http://") + (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string address_with(const std::string& origin, const std::string& token) {
  return origin + "/#token=" + token;
}

void HttpServer::start(RequestHandler& handler, FeedListener& listener, LinkBook& links) {
  impl_->handler = &handler;
  impl_->listener = &listener;
  impl_->links = &links;
  impl_->accept();
  impl_->watch_links();
  impl_->io_thread = std::thread([this] { impl_->io.run(); });
  for (std::thread& thread : impl_->request_threads) thread = std::thread([this] { impl_->requests.run(); });
  impl_->long_answers.start();
}

void HttpServer::stop() {
  if (!impl_->io_thread.joinable()) return;
  // A request being answered is finished first, so that nothing calls the handler after this.
  impl_->request_guard.reset();
  impl_->requests.stop();
  for (std::thread& thread : impl_->request_threads) thread.join();
  impl_->long_answers.stop();
  net::post(impl_->io, [this] {
    impl_->stopping = true;
    boost::system::error_code ignored;
    impl_->acceptor.close(ignored);
    const auto now = impl_->viewers;
    for (const auto& [id, viewer] : now) viewer->close(FeedClose::going_away, "The server is shutting down.");
  });
  // Enough for the farewells; a peer that does not answer them is not waited for.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto farewell_end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (impl_->feeds_open.load() > 0 && std::chrono::steady_clock::now() < farewell_end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  net::post(impl_->io, [this] {
    impl_->accept_pause.cancel();
    impl_->link_timer.cancel();
    for (Peer* peer : impl_->peers) peer->hang_up();
    impl_->io_guard.reset();  // the thread ends once every handler has been told
  });
  impl_->io_thread.join();
}

void HttpServer::send_text(ViewerId viewer, std::string text) {
  impl_->on_io([impl = impl_.get(), viewer, shared = std::make_shared<const std::string>(std::move(text))] {
    const auto found = impl->viewers.find(viewer);
    // A copy: the viewer may remove itself.
    if (found != impl->viewers.end()) std::shared_ptr<Viewer>(found->second)->send_text(shared);
  });
}

void HttpServer::broadcast_text(std::string text) {
  impl_->on_io([impl = impl_.get(), shared = std::make_shared<const std::string>(std::move(text))] {
    const auto now = impl->viewers;
    for (const auto& [id, viewer] : now)
      if (viewer->greeted) viewer->send_text(shared);
  });
}

void HttpServer::broadcast_newest(std::string topic, std::string text) {
  impl_->on_io(
      [impl = impl_.get(), topic = std::move(topic), shared = std::make_shared<const std::string>(std::move(text))] {
        const auto now = impl->viewers;
        for (const auto& [id, viewer] : now)
          if (viewer->greeted) viewer->send_newest(topic, shared);
      });
}

void HttpServer::publish(std::shared_ptr<const FrameSet> frame) {
  bool due = false;
  {
    const std::scoped_lock lock(impl_->published_mutex);
    impl_->published = std::move(frame);
    std::swap(due, impl_->delivery_due);
    impl_->delivery_due = true;
  }
  if (!due) net::post(impl_->io, [impl = impl_.get()] { impl->deliver(); });
}

void HttpServer::publish_near(std::uint32_t part, std::shared_ptr<const std::string> message) {
  bool due = false;
  {
    const std::scoped_lock lock(impl_->published_mutex);
    impl_->published_near[part] = std::move(message);
    std::swap(due, impl_->delivery_due);
    impl_->delivery_due = true;
  }
  if (!due) net::post(impl_->io, [impl = impl_.get()] { impl->deliver(); });
}

void HttpServer::close_link(std::string link, std::string why) {
  impl_->on_io([impl = impl_.get(), link = std::move(link), why = std::move(why)] { impl->close_link(link, why); });
}

FeedDemand HttpServer::demand() const noexcept {
  return {impl_->viewer_count.load(), impl_->any_traversed.load(), impl_->any_near.load()};
}

}  // namespace cotouch
