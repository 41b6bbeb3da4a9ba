// What `play`, `host` and `join` serve: a session, and pages that take part in it.
#pragma once

#include <cotouch/app/command.h>
#include <cotouch/app/device_argument.h>
#include <cotouch/app/own_identity.h>
#include <cotouch/app/scene_argument.h>
#include <cotouch/serve/link_book.h>
#include <cotouch/serve/page_host.h>
#include <cotouch/session/scene_library.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cotouch {

// http://ADDRESS:PORT for every address by which other machines may reach what listens at `listen` (of a machine
// without a network, its loopback address); none if that is loopback.
std::vector<std::string> origins_for_others(const std::string& listen, std::uint16_t port, bool tls);

class PageServer {
 public:
  // Takes its address at once, before anything that may take a while. Throws Error if it cannot be had or a folder
  // without a page was named.
  explicit PageServer(PageOptions options);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  FolderLibrary& library() { return library_; }
  // Once, before start(). Sets where recordings, the identity and received scenes are kept.
  Session& make_session(SessionSettings settings, OpenedDevices devices);
  // With a scene, which `who` opens before the first page comes in. Throws Error if it cannot be shown.
  void start(ParticipantId who, std::optional<OpenedScene> opened);
  // The owner's, for a browser at this machine.
  std::string address() const { return address_with(server_->origin(), links_->own_token()); }
  // What is to be said if people at other machines can reach the page: by which addresses, as what, and how safe that
  // is. With a QR code of the first one if wanted. Empty if they cannot.
  std::string for_others(bool with_code);
  void stop();

 private:
  void open_in_browser();

  PageOptions options_;
  std::filesystem::path state_;
  OwnIdentity identity_;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<LinkBook> links_;
  FolderLibrary library_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<PageHost> host_;
  bool told_lost_ = false;
  std::filesystem::path doorway_;  // the file that the browser was sent to; empty if it was not
};

}  // namespace cotouch
