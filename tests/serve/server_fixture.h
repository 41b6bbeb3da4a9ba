// A server with two balls and its session, for tests that meet it over real loopback sockets.
#pragma once

#include <gtest/gtest.h>

#include <fstream>

#include "serve/serve_fixture.h"
#include "support/temporary_folder.h"

namespace cotouch::testing_serve {

class ServedBalls : public ::testing::Test {
 protected:
  void start(const ServerLimits& limits = {}) {
    settings_.limits = limits;
    std::filesystem::create_directories(folder_ / "web/assets");
    std::ofstream(folder_ / "web/index.html") << "<!doctype html><title>page</title>";
    std::ofstream(folder_ / "web/assets/a-123.js") << "export {};";
    server_ = std::make_unique<HttpServer>(settings_, PageFiles(folder_ / "web"));
    SessionSettings session;
    session.recordings = folder_ / "recordings";
    session.hand_patience = hand_patience_;
    session_ = std::make_unique<Session>(session, library_);
    PageHostSettings pages;
    pages.version = "test";
    host_ = std::make_unique<PageHost>(pages, *session_, *server_, links_);
    start_with_balls(*session_);
    server_->start(*host_, *host_, links_);
  }
  void TearDown() override {
    if (server_) server_->stop();
    if (session_) session_->stop();
  }
  std::uint16_t port() const { return server_->port(); }

  TemporaryFolder folder_;
  TestLibrary library_{folder_ / "scenes"};
  ServerSettings settings_;
  LinkBook links_{k_token};
  double hand_patience_ = 60;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<PageHost> host_;
};

// The same, asked by its own link.
class Server : public ServedBalls {
 protected:
  Answer get(const std::string& target, const Headers& headers = {}) {
    return testing_serve::get(port(), target, headers);
  }
  Answer post(const std::string& target, const std::string& body) { return testing_serve::post(port(), target, body); }
  Answer get_in(const std::string& target, const Headers& headers = {}) {
    return testing_serve::get_in(port(), target, headers);
  }
  Answer post_in(const std::string& target, const std::string& body) {
    return testing_serve::post_in(port(), target, body);
  }

  // The head of an upload by a page's key; its body is still to come.
  std::string upload_head(const Page& page, const std::string& target, std::size_t bytes) const {
    return "POST " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port()) +
           "\r\nX-Cotouch-Key: " + page.key() + "\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n";
  }
};

}  // namespace cotouch::testing_serve
