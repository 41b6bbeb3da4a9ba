// What `play`, `host` and `join` serve: a session, and pages that take part in it.
#pragma once

#include <cotouch/app/command.h>
#include <cotouch/app/own_identity.h>
#include <cotouch/serve/page_host.h>
#include <cotouch/session/scene_library.h>

#include <filesystem>
#include <memory>
#include <string>

namespace cotouch {

class PageServer {
 public:
  // Takes its address at once, before anything that may take a while. Throws Error if it cannot be had or a folder
  // without a page was named.
  explicit PageServer(PageOptions options);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  FolderLibrary& library() { return library_; }
  // Once, before start(). Sets where recordings, the identity and received scenes are kept; `no_spacemouse` says why
  // there is none.
  Session& make_session(SessionSettings settings, std::string& no_spacemouse);
  void start();
  std::string address() const { return server_->address(); }
  bool is_open_to_others() const;
  void stop();

 private:
  PageOptions options_;
  std::filesystem::path state_;
  OwnIdentity identity_;
  std::unique_ptr<HttpServer> server_;
  FolderLibrary library_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<PageHost> host_;
};

}  // namespace cotouch
