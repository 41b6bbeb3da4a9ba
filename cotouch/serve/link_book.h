// The links by which people come to this server: whom each one lets do what, how long, and whether it still counts.
//
// Kept in memory only, so all links but the owner's kept one end with the server. The clock is given, which makes the
// book the same in tests. Any thread may use it.
#pragma once

#include <cotouch/session/participant.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

using UnixSeconds = std::int64_t;
UnixSeconds unix_seconds();

struct PageLink {
  std::string id;     // public; link_id(token)
  std::string token;  // secret
  Rights rights = Rights::watch;
  std::string label;        // whom it was made for
  UnixSeconds expires = 0;  // 0: never
  bool revoked = false;

  bool counts(UnixSeconds now) const { return !revoked && (expires == 0 || now < expires); }
};

// Somebody whose key was right.
struct Visitor {
  Rights rights = Rights::watch;
  std::string link;  // its id
  std::string key;   // tells visitors of one link apart
};

class LinkBook {
 public:
  static constexpr std::size_t k_most = 64;  // that count; as many again are remembered after their end
  static constexpr std::size_t k_longest_label = 60;

  // With one link for the owner, which never expires.
  explicit LinkBook(std::string own_token);

  const std::string& own_token() const { return own_token_; }
  // A key of the owner's link, for programs that run a server themselves and call it by this Host.
  std::string own_key(std::string_view host) const;
  // Throws Error if there are too many, the label is too long or the end is in the past.
  PageLink add(Rights rights, std::string label, UnixSeconds expires, UnixSeconds now);
  // False if there is no such link. One that counts no more stays as it is.
  bool revoke(std::string_view id);
  std::vector<PageLink> list() const;
  // Why this link counts no more, empty if it does.
  std::string end_of(std::string_view id, UnixSeconds now) const;

  // The server's half of a meeting (door.h).
  struct Answer {
    std::string number, proof;
    std::string refusal;  // a sentence, if there is no such link any more
  };
  Answer meet(std::string_view id, std::string_view page_number, std::string_view host, UnixSeconds now) const;
  // Nobody if the key is wrong, of another server, or of a link that counts no more; `refusal` then says why.
  std::optional<Visitor> visitor(std::string_view key, std::string_view host, UnixSeconds now,
                                 std::string& refusal) const;

 private:
  // With the mutex held.
  const PageLink* find(std::string_view id) const;
  static std::string end_of(const PageLink* link, UnixSeconds now);
  std::string own_number(std::string_view id, std::string_view page_number) const;

  const std::string own_token_, secret_;
  mutable std::mutex mutex_;
  std::vector<PageLink> links_;
};

}  // namespace cotouch
