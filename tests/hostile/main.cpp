// Real programs of cotouch and somebody who means them harm: a host that gives crafted objects, and a member that lies.
//
//   cotouch_hostile hosts      each case of a hostile host, against a real `cotouch join`
//   cotouch_hostile members    each lie of a member, among a real `cotouch host` and a real `cotouch join`
//
// With --seconds, cases are drawn at random instead, until the time is up; --seed says from which on.
#include "hostile/run.h"
#include "support/temporary_folder.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace cotouch::hostile {
namespace {

struct Options {
  bool hosts = false, members = false, all = false, list = false, verbose = false;
  double seconds = 0;
  std::uint64_t seed = 1;
  std::size_t at_once = 8, tables = 4;
  std::string only;  // cases whose name has this
};

int usage() {
  std::fputs(
      "Usage: cotouch_hostile hosts|members [--all] [--list] [--only TEXT] [--at-once N] [--verbose]\n"
      "                       [--seconds SECONDS] [--seed NUMBER]\n",
      stderr);
  return 2;
}

bool read(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (word == "hosts")
      options.hosts = true;
    else if (word == "members")
      options.members = true;
    else if (word == "--all")
      options.all = true;
    else if (word == "--list")
      options.list = true;
    else if (word == "--verbose")
      options.verbose = true;
    else if (word == "--only")
      options.only = value();
    else if (word == "--seconds")
      options.seconds = std::strtod(value().c_str(), nullptr);
    else if (word == "--seed")
      options.seed = std::strtoull(value().c_str(), nullptr, 10);
    else if (word == "--at-once")
      options.at_once = options.tables = std::max<std::size_t>(1, std::strtoull(value().c_str(), nullptr, 10));
    else
      return false;
  }
  return options.hosts != options.members;
}

// Says how each case went.
class Report {
 public:
  explicit Report(const Options& options) : options_(options) {}

  void take(const Verdict& verdict) {
    const std::scoped_lock lock(mutex_);
    ++cases_;
    if (!verdict.broken.empty()) ++failed_;
    if (options_.seconds > 0 && verdict.broken.empty() && !options_.verbose) return;
    std::printf("%s %-40s %5.1f s %4zu MiB %7zu bytes elsewhere  %s\n", verdict.broken.empty() ? "ok    " : "FAILED",
                verdict.name.c_str(), verdict.seconds, verdict.memory >> 20U, verdict.to_third_party,
                verdict.words.c_str());
    for (const std::string& broken : verdict.broken) std::printf("         %s\n", broken.c_str());
    std::fflush(stdout);
  }
  void fail(const std::string& name, const std::string& sentence) { take({name, {sentence}, 0, 0, 0, {}}); }
  int end() const {
    std::printf("%zu cases, %zu failed\n", cases_, failed_);
    return failed_ == 0 && cases_ > 0 ? 0 : 1;
  }

 private:
  const Options& options_;
  std::mutex mutex_;
  std::size_t cases_ = 0, failed_ = 0;
};

// Seconds, roughly. Less patience than usual is what a case waits for.
double waits(const HostCase& one) {
  if (one.course == Course::fails) return 0;
  return one.seconds + (one.patience < HostCase{}.patience ? one.patience : 0);
}
double waits(const MemberCase& one) {
  return one.seconds + (one.fate == Fate::thrown_out ? k_patience : 0);
}

// The cases of a run, one after another, for several who ask.
template <class Case>
class Cases {
 public:
  Cases(const Options& options, std::vector<Case> all, std::function<Case(std::uint64_t)> random)
      : options_(options),
        all_(std::move(all)),
        random_(std::move(random)),
        end_(PeerNetwork::now() + options.seconds) {
    std::erase_if(all_, [&](const Case& one) { return one.name.find(options.only) == std::string::npos; });
    // Those that wait longest begin first, so that nobody waits for them alone at the end.
    std::stable_sort(all_.begin(), all_.end(), [](const Case& a, const Case& b) { return waits(a) > waits(b); });
  }
  std::optional<Case> next() {
    const std::size_t number = taken_++;
    if (options_.seconds > 0)
      return PeerNetwork::now() < end_ ? std::optional(random_(options_.seed + number)) : std::nullopt;
    return number < all_.size() ? std::optional(all_[number]) : std::nullopt;
  }
  const std::vector<Case>& all() const { return all_; }

 private:
  const Options& options_;
  std::vector<Case> all_;
  std::function<Case(std::uint64_t)> random_;
  double end_;
  std::atomic<std::size_t> taken_ = 0;
};

template <class Case>
int list(const std::vector<Case>& cases) {
  for (const Case& one : cases) std::printf("%-40s %s\n", one.name.c_str(), one.sends.c_str());
  return 0;
}

// In several threads at once, each with its own.
void in_parallel(std::size_t count, Report& report, const std::function<void(std::size_t)>& work) {
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      try {
        work(i);
      } catch (const std::exception& error) {
        report.fail("thread " + std::to_string(i), error.what());
      }
    });
}

int run_hosts(const Options& options) {
  std::vector<HostCase> known = host_cases();
  if (!options.all && options.only.empty()) std::erase_if(known, [](const HostCase& one) { return one.takes_long; });
  Cases<HostCase> cases(options, std::move(known), random_case);
  if (options.list) return list(cases.all());
  const TemporaryFolder folder;
  const Gifts gifts = gifts_of_a_real_host(folder.path(), save_small_scene(folder.path()));
  Report report(options);
  in_parallel(options.at_once, report, [&](std::size_t) {
    while (const auto one = cases.next()) {
      try {
        report.take(run_host_case(*one, gifts, folder.path()));
      } catch (const std::exception& error) {
        report.fail(one->name, error.what());
      }
      std::filesystem::remove_all(folder / one->name);
    }
  });
  // Nothing else has appeared beside what is known.
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (const std::string name = entry.path().filename(); name != "real-host" && name != "small")
      report.fail("afterwards", "somebody wrote " + name);
  return report.end();
}

int run_members(const Options& options) {
  Cases<MemberCase> cases(options, member_cases(), random_lie);
  if (options.list) return list(cases.all());
  const TemporaryFolder folder;
  const std::filesystem::path scene = save_small_scene(folder.path());
  Report report(options);
  in_parallel(std::min(options.tables, options.seconds > 0 ? options.tables : cases.all().size()), report,
              [&](std::size_t i) {
                Table table(folder / ("table-" + std::to_string(i)), scene);
                while (const auto one = cases.next()) report.take(table.run(*one));
              });
  return report.end();
}

}  // namespace
}  // namespace cotouch::hostile

int main(int argc, char** argv) {
  cotouch::hostile::Options options;
  if (!cotouch::hostile::read(argc, argv, options)) return cotouch::hostile::usage();
  try {
    return options.hosts ? cotouch::hostile::run_hosts(options) : cotouch::hostile::run_members(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
