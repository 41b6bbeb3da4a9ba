// A session that is served to pages, without command line: for experiments about those who come to it.
#pragma once

#include <cotouch/serve/page_host.h>

#include <filesystem>
#include <memory>
#include <string>

namespace cotouch {

// Of this process and this name among the system's temporary ones. It goes when this goes.
class PassingFolder {
 public:
  explicit PassingFolder(const std::string& name);
  ~PassingFolder();
  PassingFolder(const PassingFolder&) = delete;
  PassingFolder& operator=(const PassingFolder&) = delete;

  const std::filesystem::path path;
};

class ServedSession {
 public:
  // `name` is the experiment's. What is saved or kept there goes with this. The listener may be null, and must outlive
  // this.
  ServedSession(const std::string& name, const SessionSettings& settings, SessionListener* listener = nullptr);
  // Those who came leave before what served them does.
  ~ServedSession();
  ServedSession(const ServedSession&) = delete;
  ServedSession& operator=(const ServedSession&) = delete;

  std::uint16_t port() const { return server_.port(); }
  // With which a client comes in that calls the server 127.0.0.1.
  std::string key() const { return links_.own_key("127.0.0.1:" + std::to_string(port())); }
  Session& session() { return session_; }
  FolderLibrary& library() { return library_; }
  // Of the program itself.
  ParticipantId own() const { return own_; }
  // Throws Error if it is not done.
  CommandResult command(SessionCommand command);

 private:
  LinkBook links_;
  PassingFolder scenes_;
  FolderLibrary library_;
  HttpServer server_;
  Session session_;
  PageHost host_;
  ParticipantId own_{};
};

}  // namespace cotouch
