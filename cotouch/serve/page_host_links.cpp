// The list of links, for owners: what there is, one more, one less.
#include <cotouch/base/error.h>
#include <cotouch/serve/messages.h>
#include <cotouch/serve/page_host.h>
#include <cotouch/session/names.h>

#include <charconv>

namespace cotouch {
namespace {

constexpr int k_longest_minutes = 60 * 24 * 366;

// Throws Error for anything but a whole number of minutes; nothing means that the link does not expire.
UnixSeconds end_after(std::string_view minutes, UnixSeconds now) {
  if (minutes.empty()) return 0;
  int value = 0;
  const auto [end, error] = std::from_chars(minutes.data(), minutes.data() + minutes.size(), value);
  if (error != std::errc() || end != minutes.data() + minutes.size() || value < 1 || value > k_longest_minutes)
    throw Error("A link lasts from one minute to a year.", ErrorCode::invalid_argument);
  return now + UnixSeconds{60} * value;
}

Rights rights_named(std::string_view name) {
  if (name == "own") return Rights::own;
  if (name == "hand") return Rights::hand;
  if (name == "watch") return Rights::watch;
  throw Error("A link is for 'own', 'hand' or 'watch'.", ErrorCode::invalid_argument);
}

HttpResponse for_owners_only() {
  return error_response(403, "Only owners see, make and revoke links.");
}

}  // namespace

HttpResponse PageHost::answer_links(const HttpRequest& request) {
  if (request.visitor.rights != Rights::own) return for_owners_only();
  std::map<std::string, std::size_t> open;
  {
    const std::scoped_lock lock(pages_mutex_);
    for (const auto& [viewer, page] : pages_) ++open[page.visitor.link];
  }
  return json_response(links_answer(links_.list(), open, request.visitor.link, settings_.origins, unix_seconds()));
}

HttpResponse PageHost::add_link(const HttpRequest& request) {
  if (request.visitor.rights != Rights::own) return for_owners_only();
  const UnixSeconds now = unix_seconds();
  const PageLink link =
      links_.add(rights_named(request.target.value("rights")), clean_label(request.target.value("label")),
                 end_after(request.target.value("minutes"), now), now);
  return json_response(added_link_answer(link));
}

HttpResponse PageHost::revoke_link(const HttpRequest& request) {
  if (request.visitor.rights != Rights::own) return for_owners_only();
  const std::string id(request.target.value("id"));
  if (id == request.visitor.link)
    return error_response(409, "You came by this link yourself; revoke it from a page that came by another.");
  if (!links_.revoke(id)) return error_response(404, "There is no such link.");
  feed_.close_link(id, links_.end_of(id, unix_seconds()));
  return answer_links(request);
}

}  // namespace cotouch
