// Runs cases against real programs and says what did not hold.
#pragma once

#include "hostile/host_cases.h"
#include "hostile/member_cases.h"
#include "hostile/victim.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace cotouch::hostile {

// Resident memory that a program may take because of strangers; an honest session of this scene takes about 40 MB.
constexpr std::size_t k_most_memory = std::size_t{256} << 20U;

// Of the real programs around a liar, seconds; generous, because machines are shared.
constexpr double k_patience = 15;

struct Verdict {
  std::string name;
  std::vector<std::string> broken;  // what did not hold
  double seconds = 0;
  std::size_t memory = 0, to_third_party = 0;
  std::string words;  // that the user was told, the last of them
};

// Somebody who has nothing to do with it all: counts what arrives there.
class ThirdParty {
 public:
  ThirdParty() : socket_(UdpSettings{0, true, 4U << 20U, 1U << 16U}) {}
  NetAddress address() const { return NetAddress::v4({127, 0, 0, 1}, socket_.port()); }
  void look();
  std::size_t bytes() const { return bytes_; }
  std::size_t longest() const { return longest_; }  // datagram

 private:
  UdpSocket socket_;
  std::size_t bytes_ = 0, longest_ = 0;
};

// A scene with a table, two balls and a block that bends, as a folder.
std::filesystem::path save_small_scene(const std::filesystem::path& folder);
std::vector<std::string> host_arguments(const std::filesystem::path& scene);
// Of a real host, once it says it; throws if it does not.
Invite invite_of(Victim& host);
// All that a real host of this scene gives.
Gifts gifts_of_a_real_host(const std::filesystem::path& folder, const std::filesystem::path& scene);

Verdict run_host_case(const HostCase& one, const Gifts& gifts, const std::filesystem::path& folder);

// A real host, an honest real guest and a witness, to whom liars come one after another.
class Table {
 public:
  Table(const std::filesystem::path& folder, const std::filesystem::path& scene);
  ~Table();
  Verdict run(const MemberCase& one);

 private:
  void pump();
  void parrot(Guest& guest);
  void bring_liar(const MemberCase& one, std::vector<std::string>& broken);
  void wait_for_agreement(Tick from, std::vector<std::string>& broken);
  void check_honest(const MemberCase& one, std::size_t anna_events, std::size_t ben_events,
                    std::vector<std::string>& broken);
  template <class Condition>
  bool pump_until(double seconds, const Condition& holds);

  Victim anna_;
  Invite invite_;
  Victim ben_;
  ThirdParty third_party_;
  std::unique_ptr<Guest> witness_, liar_;
  double looked_ = 0;
};

}  // namespace cotouch::hostile
