// What `host`, `join` and `observe` print about a shared session: words for people, or JSON for scripts, one object a
// line, each with an "event":
//   page      address
//   sharing   state, session, invite (of a host), udp_port (of a host), stage, progress, reason
//   people    people: member, name, self, observer, fingerprint
//   said      member, name, text, seconds
//   problem   text
//   agreed    tick, hash                  every hundredth tick, once no decision of any members can change it
//   branch    tick, hash, branch          the same of a part of the session that goes on without the larger one
//   docked    tick, hash, seconds         the first agreed tick at which the scene's task is done
//   end       tick, hash, docked          the last agreed tick; 0 if there was none
// The last two have the number of the branch as well, if they are of one.
#pragma once

#include <cotouch/app/progress_bar.h>
#include <cotouch/session/shared_session.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace cotouch {

class SharingReport {
 public:
  struct Form {
    bool json = false;
    bool qr = false;             // print the invite as a QR code
    std::uint16_t udp_port = 0;  // 0: not known
  };
  explicit SharingReport(const Form& form) : form_(form), bar_(form.json) {}

  void page(const std::string& address);
  void sharing(const SharingStatus& status);
  void people(const std::vector<SharedPerson>& people);
  void said(MemberId by, const std::string& text, double seconds);
  void problem(const std::string& sentence);
  // Those that it wants, and each at which the task's state has changed.
  void agreed(const AgreedTick& now);
  static bool wants(const AgreedTick& now) { return now.tick % 100 == 0; }
  void end(const AgreedTick& last);

  bool was_shared() const { return was_shared_; }  // it was hosted or joined
  bool is_over() const { return status_.state == SharingStatus::State::off && was_told_; }
  bool is_docked() const { return docked_; }
  // A sentence if sharing failed.
  const std::string& failure() const { return failure_; }

 private:
  void show_invite();

  Form form_;
  ProgressBar bar_;
  SharingStatus status_;
  std::string shown_invite_, failure_;
  std::vector<SharedPerson> people_;
  bool was_told_ = false, was_shared_ = false, docked_ = false;
};

// What was agreed on, as far as it is worth reporting: a hundred ticks a second would be too many, should the terminal
// be stopped for hours.
class AgreedNews {
 public:
  bool takes(const AgreedTick& now) {
    const bool changed = now.task_done != std::exchange(done_, now.task_done);
    return changed || SharingReport::wants(now);
  }

 private:
  bool done_ = false;  // the scene's task
};

// What a session's thread leaves for the report, so that a terminal that is slow or stopped never holds it up.
class SharingInbox {
 public:
  using Item = std::function<void(SharingReport&)>;
  void post(Item item);                 // from any thread
  void deliver(SharingReport& report);  // in order

 private:
  std::mutex mutex_;
  std::vector<Item> items_;
};

}  // namespace cotouch
