#include <cotouch/serve/link_book.h>

#include <cotouch/base/error.h>
#include <cotouch/serve/access.h>
#include <cotouch/serve/door.h>

#include <algorithm>
#include <ctime>
#include <utility>

namespace cotouch {
namespace {

constexpr const char* k_unknown = "This server does not know that link; open the address that cotouch printed.";

}  // namespace

UnixSeconds unix_seconds() {
  return static_cast<UnixSeconds>(std::time(nullptr));
}

LinkBook::LinkBook(std::string own_token) : own_token_(std::move(own_token)), secret_(make_token()) {
  if (own_token_.size() < 32) throw Error("The server was given no token of 32 characters or more.");
  links_.push_back({link_id(own_token_), own_token_, Rights::own, "Owner", 0, false});
}

PageLink LinkBook::add(Rights rights, std::string label, UnixSeconds expires, UnixSeconds now) {
  if (label.size() > k_longest_label) throw Error("A link's label has at most 60 characters.");
  if (expires != 0 && expires <= now) throw Error("A link ends later than now.");
  PageLink link;
  link.token = make_token();
  link.id = link_id(link.token);
  link.rights = rights;
  link.label = std::move(label);
  link.expires = expires;
  const std::scoped_lock lock(mutex_);
  const auto counts = [now](const PageLink& one) { return one.counts(now); };
  if (static_cast<std::size_t>(std::count_if(links_.begin(), links_.end(), counts)) >= k_most)
    throw Error("There are 64 links already; revoke one first.");
  // The oldest that ended is forgotten; who comes by it is told that there is no such link.
  if (links_.size() >= 2 * k_most) links_.erase(std::find_if_not(links_.begin(), links_.end(), counts));
  links_.push_back(link);
  return link;
}

std::string LinkBook::own_key(std::string_view host) const {
  const std::string number = make_token();
  return make_key(own_token_, {number, own_number(link_id(own_token_), number), host});
}

bool LinkBook::revoke(std::string_view id) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::find_if(links_.begin(), links_.end(), [id](const PageLink& link) { return link.id == id; });
  if (found == links_.end()) return false;
  found->revoked = true;
  return true;
}

std::vector<PageLink> LinkBook::list() const {
  const std::scoped_lock lock(mutex_);
  return links_;
}

const PageLink* LinkBook::find(std::string_view id) const {
  const auto found = std::find_if(links_.begin(), links_.end(), [id](const PageLink& link) { return link.id == id; });
  return found == links_.end() ? nullptr : &*found;
}

std::string LinkBook::end_of(const PageLink* link, UnixSeconds now) {
  if (link == nullptr) return k_unknown;
  if (link->revoked) return "This link was revoked; ask whoever gave it to you for another.";
  if (!link->counts(now)) return "This link has expired; ask whoever gave it to you for another.";
  return {};
}

std::string LinkBook::end_of(std::string_view id, UnixSeconds now) const {
  const std::scoped_lock lock(mutex_);
  return end_of(find(id), now);
}

// Not remembered but made again whenever it is needed: strangers cannot fill the memory.
std::string LinkBook::own_number(std::string_view id, std::string_view page_number) const {
  return hmac_hex(secret_, std::string(id) + "\n" + std::string(page_number)).substr(0, 32);
}

LinkBook::Answer LinkBook::meet(std::string_view id, std::string_view page_number, std::string_view host,
                                UnixSeconds now) const {
  if (!is_door_number(page_number)) return {{}, {}, "A page comes with a random number of 16 to 64 hex digits."};
  const std::scoped_lock lock(mutex_);
  const PageLink* link = find(id);
  if (std::string refusal = end_of(link, now); !refusal.empty()) return {{}, {}, std::move(refusal)};
  Answer answer;
  answer.number = own_number(link->id, page_number);
  answer.proof = server_proof(link->token, {page_number, answer.number, host});
  return answer;
}

std::optional<Visitor> LinkBook::visitor(std::string_view key, std::string_view host, UnixSeconds now,
                                         std::string& refusal) const {
  refusal = "The key is missing or wrong; open the address that cotouch printed.";
  const std::size_t first = key.find('.');
  const std::size_t second = first == std::string_view::npos ? first : key.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view id = key.substr(0, first), page_number = key.substr(first + 1, second - first - 1);
  if (!is_door_number(page_number)) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  const PageLink* link = find(id);
  if (link == nullptr) return std::nullopt;
  const std::string expected = make_key(link->token, {page_number, own_number(id, page_number), host});
  if (!equal_in_constant_time(key, expected)) return std::nullopt;
  // Only who knows the token learns what became of the link.
  refusal = end_of(link, now);
  if (!refusal.empty()) return std::nullopt;
  return Visitor{link->rights, link->id, std::string(key)};
}

}  // namespace cotouch
