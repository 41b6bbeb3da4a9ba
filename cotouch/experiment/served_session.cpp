#include <cotouch/base/error.h>
#include <cotouch/experiment/served_session.h>
#include <cotouch/serve/access.h>

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>
#include <utility>

namespace cotouch {
namespace {

PageHostSettings page_settings(const std::string& name) {
  PageHostSettings settings;
  settings.version = name;
  return settings;
}

}  // namespace

PassingFolder::PassingFolder(const std::string& name)
    : path(std::filesystem::temp_directory_path() / fmt::format("cotouch-{}-{}", name, ::getpid())) {
  std::filesystem::create_directories(path);
}

PassingFolder::~PassingFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

ServedSession::ServedSession(const std::string& name, const SessionSettings& settings, SessionListener* listener)
    : links_(make_token()),
      scenes_(name + "-scenes"),
      library_(scenes_.path, nullptr),
      server_(ServerSettings{}),
      session_(settings, library_),
      host_(page_settings(name), session_, server_, links_) {
  if (listener != nullptr) session_.add_listener(*listener);
  session_.start();
  server_.start(host_, host_, links_);
  own_ = session_.join(ParticipantKind::program, name);
}

ServedSession::~ServedSession() {
  server_.stop();
  session_.stop();
}

CommandResult ServedSession::command(SessionCommand command) {
  CommandResult result = session_.command_and_wait(own_, std::move(command));
  if (!result.done()) throw Error(result.reason);
  return result;
}

}  // namespace cotouch
