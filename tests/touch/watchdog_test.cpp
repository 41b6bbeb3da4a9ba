// The watchdog against every order of drivers that misbehave, with a clock from outside: the class that the loop's
// watch thread runs, in a model of the threads around it. Nothing here waits.
#include <cotouch/touch/watchdog.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace cotouch::this_file {
namespace {

using Time = std::int64_t;  // nanoseconds
constexpr Time k_us = 1'000, k_ms = 1'000'000, k_never = std::numeric_limits<Time>::max();
constexpr Time k_stall = 20 * k_ms;
constexpr Time k_period = k_ms, k_call = 20 * k_us;
constexpr double k_push = 8;  // N

enum class Call : std::uint8_t { read, write };

// What a driver does once its time has come. To hang is to be slow for ever.
struct Driver {
  enum class Kind : std::uint8_t { obeys, slow, lies, vanishes } kind = Kind::obeys;
  Call in = Call::read;
  Time takes = 0;

  std::string text() const {
    if (kind == Kind::obeys) return "obeys";
    if (kind == Kind::lies) return "lies";
    if (kind == Kind::vanishes) return "vanishes";
    const std::string how = takes == k_never ? "hangs" : "slow by " + std::to_string(takes / k_ms) + " ms";
    return how + (in == Call::read ? " in read" : " in write");
  }
  // Nothing that a watchdog could see is wrong with it.
  bool is_innocent() const { return kind != Kind::slow || takes < Watchdog::k_driver_patience_ns; }
};

// How soon the system runs the threads that let go: after they were asked, and again after they wrote a zero.
struct Scheduling {
  Time wake_up = 50 * k_us, after_zero = 0;
  // So soon that nothing but a driver is a reason to disable a device.
  bool is_prompt() const { return wake_up < k_never && wake_up + after_zero < Watchdog::k_thread_patience_ns; }
};

struct Trial {
  std::vector<Driver> drivers;
  Time world = k_call;  // what a step of the world takes once it is time
  Time fault = 0;       // when that is
  Time apart = 0;       // between one driver's fault and the next one's
  Time first_look = 0;
  Scheduling scheduling = {};

  Time bound() const {  // as the header promises
    return k_stall + (scheduling.is_prompt() ? Watchdog::k_reaction_ns : Watchdog::k_slow_reaction_ns);
  }
};

// The touch thread, those that let go, the watch thread, and the motors behind the drivers.
class Machine {
 public:
  explicit Machine(const Trial& trial)
      : trial_(trial), watchdog_(k_stall * 1e-9, trial.drivers.size()), motors_(trial.drivers.size()) {
    watch_at_ = trial.first_look;
    begin_cycle();
  }

  // Empty if the promise was kept.
  std::string run(Time until) {
    while (true) {
      Time next = std::min(watch_at_, touch_.until);
      for (const Motor& motor : motors_) next = std::min(next, motor.own.until);
      if (next > until) break;
      now_ = next;
      for (std::size_t i = 0; i < motors_.size(); ++i)
        if (is_faulty(i) && driver(i).kind == Driver::Kind::vanishes) motors_[i].force = 0;
      if (std::string broken = check(); !broken.empty()) return broken;
      if (touch_.until == now_) go_on();
      for (std::size_t i = 0; i < motors_.size(); ++i)
        if (motors_[i].own.until == now_) go_on_letting_go(i);
      if (watch_at_ == now_) watch();
    }
    for (std::size_t i = 0; i < motors_.size() && trial_.scheduling.is_prompt(); ++i)
      if (motors_[i].disabled && driver(i).is_innocent()) return "device " + std::to_string(i) + " was disabled";
    return {};
  }

 private:
  enum class What : std::uint8_t { let_go, answer, read, world, write, end, sleep };
  struct Step {
    What what;
    std::size_t device = 0;
  };
  struct Thread {
    DriverGate::Visit visit;
    bool inside = false;  // of a driver, not only at its gate
    bool zero = false;
    Time since = 0, until = k_never;
  };
  struct Motor {
    double force = k_push;
    bool disabled = false;
    bool served = false;  // somebody is inside write
    // The thread that lets it go, as TouchLoop::Core::let_go.
    Thread own;
    enum class At : std::uint8_t { wait, driver, finish } at = At::wait;
    bool asked = false, is_zero = false;
    std::uint32_t number = 0;
  };

  const Driver& driver(std::size_t i) const { return trial_.drivers[i]; }
  bool is_faulty(std::size_t i) const { return now_ >= trial_.fault + static_cast<Time>(i) * trial_.apart; }

  std::string check() const {
    for (std::size_t i = 0; i < motors_.size(); ++i) {
      const Motor& motor = motors_[i];
      const std::string name = "device " + std::to_string(i);
      if (motor.disabled) continue;
      if (now_ - progress_ > trial_.bound() && motor.force != 0 &&
          !(is_faulty(i) && driver(i).kind == Driver::Kind::lies))
        return name + " pushes";
      for (const Thread* thread : {&touch_, &motor.own})
        if (thread->inside && thread->visit.device == static_cast<int>(i) && now_ - thread->since > trial_.bound())
          return name + " does not answer and is not disabled";
    }
    return {};
  }

  // A thread enters a driver; when it leaves is known then.
  void enter(Thread& thread, std::size_t i, Call call) {
    thread.visit = {static_cast<int>(i), thread.visit.number + 1};
    thread.inside = !motors_[i].disabled;
    thread.since = thread.until = now_;
    if (!thread.inside) return;
    const Driver& how = driver(i);
    const bool is_slow = is_faulty(i) && how.kind == Driver::Kind::slow && how.in == call;
    thread.until = !is_slow ? now_ + k_call : how.takes == k_never ? k_never : now_ + how.takes;
  }
  void enter_write(Thread& thread, std::size_t i, bool zero) {
    enter(thread, i, Call::write);
    if (motors_[i].served) thread.inside = false, thread.until = now_;  // by another thread, for which nobody waits
    if (!thread.inside) return;
    motors_[i].served = true;
    thread.zero = zero;
    if (!zero) push(i, k_push);  // it counts from the start, a zero from the end on
  }
  void leave_write(Thread& thread, std::size_t i) {
    if (thread.inside) {
      motors_[i].served = false;
      push(i, thread.zero ? 0 : k_push);
    }
    leave(thread);
  }
  static void leave(Thread& thread) {
    thread.visit.device = DriverGate::k_outside;
    thread.inside = false;
    thread.until = k_never;
  }
  void push(std::size_t i, double force) {
    const bool deaf =
        is_faulty(i) && (driver(i).kind == Driver::Kind::lies || driver(i).kind == Driver::Kind::vanishes);
    if (!motors_[i].disabled && !deaf) motors_[i].force = force;
  }

  // The touch thread, as TouchLoop::Core::cycle.
  void begin_cycle() {
    steps_.clear();
    step_ = 0;
    const bool stood = stalls_ != cycle_stalls_;
    cycle_stalls_ = stalls_;
    for (std::size_t i = 0; stood && i < motors_.size(); ++i) steps_.push_back({What::let_go, i});
    if (stood) steps_.push_back({What::answer});
    for (std::size_t i = 0; i < motors_.size(); ++i) steps_.push_back({What::read, i});
    steps_.push_back({What::world});
    for (std::size_t i = 0; i < motors_.size(); ++i) steps_.push_back({What::write, i});
    for (const What what : {What::end, What::sleep}) steps_.push_back({what});
    begin_step();
  }
  void begin_step() {
    const auto [what, i] = steps_[step_];
    touch_.until = now_;
    switch (what) {
      case What::let_go: enter_write(touch_, i, true); break;
      case What::read: enter(touch_, i, Call::read); break;
      case What::write: {
        const bool lost = is_faulty(i) && driver(i).kind == Driver::Kind::vanishes;
        enter_write(touch_, i, lost || stalls_ != cycle_stalls_);
        break;
      }
      case What::world:
        touch_.until = now_ < trial_.fault ? now_ + k_call : trial_.world == k_never ? k_never : now_ + trial_.world;
        break;
      case What::sleep: touch_.until = (now_ / k_period + 1) * k_period; break;
      default: break;
    }
  }
  void go_on() {
    const auto [what, i] = steps_[step_];
    if (what == What::let_go || what == What::write)
      leave_write(touch_, i);
    else
      leave(touch_);
    if (what == What::answer || what == What::end) progress_ = now_;
    if (what == What::answer) answered_ = cycle_stalls_;
    if (++step_ < steps_.size())
      begin_step();
    else
      begin_cycle();
  }

  // The thread of one device: woken up, back from its driver, or running again after that.
  void go_on_letting_go(std::size_t i) {
    Motor& motor = motors_[i];
    switch (motor.at) {
      case Motor::At::wait:
        motor.asked = false;
        motor.number = progress_of_[i].asked();
        motor.is_zero = !motor.served;
        motor.at = Motor::At::driver;
        return enter_write(motor.own, i, true);
      case Motor::At::driver:
        leave_write(motor.own, i);
        motor.at = Motor::At::finish;
        motor.own.until = now_ + trial_.scheduling.after_zero;
        return;
      case Motor::At::finish:
        progress_of_[i].finish(motor.number, motor.is_zero);
        motor.at = Motor::At::wait;
        motor.own.until = motor.asked ? now_ : k_never;
        return;
    }
  }

  // As TouchLoop::Core::watch.
  void watch() {
    Watchdog::Seen seen;
    seen.now_ns = now_;
    seen.progress_ns = progress_;
    seen.answered = answered_ == stalls_;
    seen.touch = touch_.visit;
    for (std::size_t i = 0; i < motors_.size(); ++i)
      seen.devices[i] = {motors_[i].disabled, progress_of_[i].get(), motors_[i].own.visit};
    const Watchdog::Orders orders = watchdog_.look(seen);
    if (orders.announce) {
      ++stalls_;
      for (LettingGoProgress& progress : progress_of_) progress.forget();
    }
    for (std::size_t i = 0; i < motors_.size(); ++i) {
      Motor& motor = motors_[i];
      if (orders.devices[i] == Watchdog::Order::disable) motor.disabled = true, motor.force = 0;
      if (orders.devices[i] != Watchdog::Order::let_go) continue;
      progress_of_[i].ask();
      motor.asked = true;
      const Time wake_up = trial_.scheduling.wake_up;
      if (motor.at == Motor::At::wait && motor.own.until == k_never && wake_up != k_never)
        motor.own.until = now_ + wake_up;
    }
    watch_at_ = std::max(orders.look_ns, now_ + k_us);
  }

  Trial trial_;
  Watchdog watchdog_;
  std::vector<Motor> motors_;
  std::array<LettingGoProgress, k_loop_hands> progress_of_;
  Time now_ = 0, progress_ = 0, watch_at_ = 0;
  std::uint64_t stalls_ = 0, cycle_stalls_ = 0, answered_ = 0;
  Thread touch_;
  std::vector<Step> steps_;
  std::size_t step_ = 0;
};

const std::vector<Driver>& drivers() {
  static const std::vector<Driver> all = [] {
    using Kind = Driver::Kind;
    std::vector<Driver> made{{}, {Kind::lies}, {Kind::vanishes}};
    for (const Call call : {Call::read, Call::write})
      for (const Time takes : {2 * k_ms, 12 * k_ms, 21 * k_ms, 25 * k_ms, k_never})
        made.push_back({Kind::slow, call, takes});
    return made;
  }();
  return all;
}

struct Failed {
  std::size_t trials = 0, broken = 0;
  std::string first;
};

// Every driver in every place, with every world, and the watchdog's looks at other phases of the stall each time. The
// threads that let go run at once, late or never, in turns.
Failed try_all(std::size_t devices, Time phases) {
  constexpr Time k_between_looks = 5 * k_ms;
  constexpr Scheduling k_schedulings[] = {
      {}, {4 * k_ms, 0}, {50 * k_us, 4 * k_ms}, {50 * k_us, 30 * k_ms}, {k_never, 0}};
  Failed failed;
  std::size_t orders = 1;
  for (std::size_t i = 0; i < devices; ++i) orders *= drivers().size();
  Time phase = 0;
  for (std::size_t order = 0; order < orders; ++order)
    for (const Time world : {k_call, 30 * k_ms, k_never})
      for (const Time apart : {Time{0}, 22 * k_ms})
        for (Time i = 0; i < phases; ++i) {
          phase += 701 * k_us;
          Trial trial{{}, world, 7 * k_ms - 10 * k_us, apart, (phase + i * k_between_looks / phases) % k_between_looks};
          trial.scheduling = k_schedulings[failed.trials % std::size(k_schedulings)];
          for (std::size_t rest = order; trial.drivers.size() < devices; rest /= drivers().size())
            trial.drivers.push_back(drivers()[rest % drivers().size()]);
          const std::string broken = Machine(trial).run(trial.fault + 100 * k_ms);
          ++failed.trials;
          if (broken.empty()) continue;
          if (failed.broken++ > 0) continue;
          for (const Driver& driver : trial.drivers) failed.first += driver.text() + ", ";
          failed.first += "world " + std::to_string(world) + ", apart " + std::to_string(apart) + ", first look " +
                          std::to_string(trial.first_look) + ", scheduling " +
                          std::to_string((failed.trials - 1) % std::size(k_schedulings)) + ": " + broken;
        }
  return failed;
}

TEST(Watchdog, LeavesNoForceWhateverDriversDoAndInWhateverOrder) {
  for (const auto& [devices, phases] : {std::pair{1, 33}, {2, 21}, {3, 3}}) {
    const Failed failed = try_all(static_cast<std::size_t>(devices), phases);
    EXPECT_EQ(failed.broken, 0U) << "of " << failed.trials << " with " << devices << " devices; " << failed.first;
    EXPECT_GT(failed.trials, 700U);
  }
}

// Every rule by itself: the orders above keep the promise even where several of them stand in for each other.
TEST(Watchdog, CountsTheTimeThatItWatchedAndNotTheTimeThatPassed) {
  Watchdog watchdog(20e-3, 2);
  Watchdog::Seen seen;
  seen.touch = {0, 7};
  const auto look = [&](std::int64_t after) {
    seen.now_ns += after;
    return watchdog.look(seen);
  };
  EXPECT_FALSE(look(0).announce);
  const Watchdog::Orders begun = look(20 * k_ms);
  EXPECT_TRUE(begun.announce);
  EXPECT_EQ(begun.look_ns, seen.now_ns);  // what is announced may change what is seen
  seen.answered = false;
  Watchdog::Orders orders = look(0);
  EXPECT_EQ(orders.devices[0], Watchdog::Order::none);  // inside for 20 ms, but not since the announcement
  EXPECT_EQ(orders.devices[1], Watchdog::Order::let_go);
  seen.devices[1].letting_go = Watchdog::LettingGo::asked;
  EXPECT_EQ(look(k_ms).devices[0], Watchdog::Order::none);
  EXPECT_EQ(look(5000 * k_ms).devices[0], Watchdog::Order::none);  // the process was stopped
  EXPECT_EQ(look(k_ms).devices[0], Watchdog::Order::disable);
  seen.devices[0].disabled = seen.answered = true;
  seen.progress_ns = seen.now_ns;
  seen.touch = {};
  seen.devices[1].thread = {1, 1};
  orders = look(k_ms);
  EXPECT_EQ(orders.look_ns, seen.now_ns + Watchdog::k_close_look_ns);  // somebody is still asked
  // The touch thread has ended, and let go of all before.
  seen.devices[1] = {};
  seen.running = seen.answered = false;
  orders = look(1000 * k_ms);
  EXPECT_FALSE(orders.announce);
  EXPECT_EQ(orders.devices[1], Watchdog::Order::none);
  seen.answered = true;
  EXPECT_FALSE(look(1000 * k_ms).announce);
}

TEST(Watchdog, DisablesADeviceWhoseThreadIsAskedAndDoesNotCome) {
  Watchdog watchdog(4e-3, 1);
  Watchdog::Seen seen;
  const auto look = [&](std::int64_t after) {
    seen.now_ns += after;
    return watchdog.look(seen);
  };
  EXPECT_LE(look(0).look_ns, k_ms + 1);  // the shorter a stall, the more often it looks
  EXPECT_TRUE(look(4 * k_ms).announce);
  seen.answered = false;
  EXPECT_EQ(look(0).devices[0], Watchdog::Order::let_go);
  seen.devices[0].letting_go = Watchdog::LettingGo::asked;
  for (int i = 1; i < 10; ++i) EXPECT_EQ(look(k_ms).devices[0], Watchdog::Order::none);
  seen.devices[0].thread = {0, 1};  // it has come, and has the patience that every call has
  EXPECT_EQ(look(k_ms).devices[0], Watchdog::Order::none);
  seen.devices[0].thread = {DriverGate::k_outside, 1};
  EXPECT_EQ(look(k_ms).devices[0], Watchdog::Order::disable);
}

TEST(Watchdog, TwoCallsOfOneDriverAreNotOneThatHangs) {
  Watchdog watchdog(20e-3, 1);
  Watchdog::Seen seen;
  watchdog.look(seen);
  seen.now_ns += 20 * k_ms;
  EXPECT_TRUE(watchdog.look(seen).announce);
  seen.answered = false;
  for (std::uint32_t call = 1; call < 20; ++call) {
    seen.touch = {0, call};
    seen.now_ns += k_ms;
    EXPECT_EQ(watchdog.look(seen).devices[0], Watchdog::Order::none);
  }
}

TEST(LettingGoProgress, AZeroCountsOnlyForWhatWasAsked) {
  LettingGoProgress progress;
  using enum Watchdog::LettingGo;
  progress.ask();
  progress.finish(progress.asked(), true);
  EXPECT_EQ(progress.get(), done);
  progress.ask();
  progress.finish(progress.asked(), false);
  EXPECT_EQ(progress.get(), no);
  // Its thread writes the zero, loses the processor, and says so when another stall has begun, and after the next
  // request.
  progress.ask();
  const std::uint32_t earlier = progress.asked();
  progress.forget();
  progress.finish(earlier, true);
  EXPECT_EQ(progress.get(), no);
  progress.ask();
  progress.finish(earlier, true);
  EXPECT_EQ(progress.get(), asked);
  progress.finish(progress.asked(), true);
  EXPECT_EQ(progress.get(), done);
}

}  // namespace
}  // namespace cotouch::this_file
