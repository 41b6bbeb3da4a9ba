// A plug-in that misbehaves, for tests and for `cotouch experiment seams`. How is in its file's name: hostile-KIND.so.
//
// It presses 5 cm into the floor of TrialWorld, honestly at first, so that there is a force to be taken away. What it
// was given is in the record that `record=PATH` names among its settings; with `motor=PATH` it has a motor without a
// heartbeat at the other end of that datagram socket, and says how to silence it.
#include <cotouch/device/plugin_abi.h>

#include "record.h"

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <thread>

namespace {

using cotouch::hostile::Record;

constexpr std::uint64_t k_honest_reads = 300;
constexpr double k_no_number = std::numeric_limits<double>::quiet_NaN();

std::string kind() {
  Dl_info info{};
  static const char k_here = 0;
  if (dladdr(&k_here, &info) == 0) return {};
  std::string name = info.dli_fname;
  name = name.substr(name.rfind('/') + 1);
  const std::size_t begin = name.find('-'), end = name.rfind(".so");
  return begin == std::string::npos || end == std::string::npos ? "" : name.substr(begin + 1, end - begin - 1);
}

bool is(const char* one) {
  static const std::string k_kind = kind();
  return k_kind == one;
}

[[noreturn]] void crash() {
  std::raise(SIGSEGV);
  std::abort();
}

// A minute at most, so that nothing stays for ever.
void hang(Record* record) {
  if (record != nullptr) record->hangs.fetch_add(1);
  for (int i = 0; i < 60000 && (record == nullptr || record->let_go.load() == 0); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

struct Device {
  Record* record = nullptr;
  Record own{};
  std::string motor_path;
  int motor = -1;
  std::uint64_t reads = 0, writes = 0;
};

Device& of(void* device) {
  return *static_cast<Device*>(device);
}

template <std::size_t Size>
void put(char (&array)[Size], const char* text) {
  std::strncpy(array, text, Size - 1);
}

// What a plug-in of a later version would fill in: all of the room.
template <class Struct>
void fill_beyond(Struct* known) {
  std::memset(reinterpret_cast<char*>(known) + sizeof(Struct), 0xab, COTOUCH_DEVICE_ROOM - sizeof(Struct));
  known->size = COTOUCH_DEVICE_ROOM;
}

std::string setting(const char* settings, const char* key) {
  const std::string all = std::string(" ") + settings, wanted = std::string(" ") + key + "=";
  const std::size_t at = all.find(wanted);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + wanted.size();
  return all.substr(begin, std::min(all.find(' ', begin), all.size()) - begin);
}

void tell_motor(const Device& device, double force) {
  if (device.motor >= 0) send(device.motor, &force, sizeof force, MSG_DONTWAIT | MSG_NOSIGNAL);
}

std::int32_t list(std::uint32_t index, CotouchDeviceInfo* info) {
  if (is("hangs-in-list")) hang(nullptr);
  if (is("crashes-in-list")) crash();
  if (is("exits-in-list")) std::exit(0);
  if (is("throws-in-list")) throw 7;
  if (is("endless-list")) index = 0;
  if (index > (is("two-of-a-kind") ? 1 : 0)) return 0;
  if (is("two-of-a-kind")) put(info->serial, index == 0 ? "A1" : "B 2");
  put(info->name, is("nameless") ? "\x1b[2J ../x" : "hostile");
  put(info->sentence, is("escapes") ? "red\x1b[31m \xff\xc2\x9b end" : "It misbehaves on purpose.");
  if (is("unended-text")) std::memset(info->sentence, 'x', sizeof info->sentence);
  if (is("newer")) fill_beyond(info);
  if (is("garbage-info")) info->size = 0xffffffffU;
  if (is("in-use")) info->state = COTOUCH_DEVICE_IN_USE;
  if (is("unknown-state")) info->state = 12345;
  return 1;
}

void* open(const CotouchDeviceOpening* opening, CotouchDeviceAnswer* answer) {
  if (is("hangs-in-open")) hang(nullptr);
  if (is("crashes-in-open")) crash();
  if (is("throws-in-open")) throw 7;
  if (is("refuses-to-open")) {
    answer->state = COTOUCH_DEVICE_IN_USE;
    put(answer->sentence, "Another program holds it.");
    return nullptr;
  }
  auto* device = new Device;
  const std::string path = setting(opening->settings, "record");
  device->record = path.empty() ? nullptr : cotouch::hostile::map_record(path.c_str());
  if (device->record == nullptr) device->record = &device->own;
  device->record->opens.fetch_add(1);
  device->motor_path = setting(opening->settings, "motor");
  if (!device->motor_path.empty()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, device->motor_path.c_str(), sizeof address.sun_path - 1);
    device->motor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (connect(device->motor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) device->motor = -1;
  }
  return device;
}

void close(void* device) {
  if (is("hangs-in-close")) hang(of(device).record);
  of(device).record->closes.fetch_add(1);
  delete static_cast<Device*>(device);
}

std::int32_t describe(void* device, CotouchDeviceDescription* said) {
  if (is("hangs-in-describe")) hang(of(device).record);
  if (is("crashes-in-describe")) crash();
  if (is("does-not-describe")) return 0;
  put(said->name, "hostile device");
  said->peak_force = is("asks-100-n") ? 100 : is("asks-1e9-n") ? 1e9 : 8.5;
  said->continuous_force = is("asks-100-n") ? 100 : 8.5;
  said->peak_torque = said->continuous_torque = 0.35;
  said->heating_seconds = is("never-warms-up") ? std::numeric_limits<double>::infinity() : 60;
  said->stiffness = is("nan-stiffness") ? k_no_number : is("negative-stiffness") ? -1 : 3000;
  said->angular_stiffness = 3;
  said->delay = is("early-delay") ? -1 : 1e-4;
  said->speed = is("endless-speed") ? 1e30 : 5;
  said->turn_speed = 100;
  if (is("newer")) fill_beyond(said);
  if (is("garbage-description")) said->size = 0;
  return 1;
}

void misread(Device& device, CotouchDeviceReading* reading) {
  const std::uint64_t since = device.reads - k_honest_reads;
  if (is("no-number")) reading->position[0] = k_no_number;
  if (is("endless-pose")) reading->position[2] = -std::numeric_limits<double>::infinity();
  if (is("no-rotation")) std::memset(reading->rotation, 0, sizeof reading->rotation);
  if (is("clock-stands")) reading->clock = k_honest_reads;
  if (is("teleports") && since / 3 % 2 == 0) reading->position[0] += 5;
  if (is("garbage-size")) reading->size = 0xfffffff0U;
  if (is("unknown-motors")) reading->motors = 99;
  if (is("hangs-in-read") || is("hangs-in-both")) hang(device.record);
  if (is("crashes-in-read")) crash();
  if (is("throws-in-read")) throw 7;
}

std::int32_t read(void* opened, CotouchDeviceReading* reading) {
  Device& device = of(opened);
  device.record->reads.fetch_add(1);
  reading->flags = COTOUCH_READING_HAS_CLOCK;
  reading->clock = ++device.reads;
  reading->position[2] = -0.05;
  reading->rotation[0] = 1;
  if (is("newer")) fill_beyond(reading);
  if (is("lost-and-back") && device.reads % 200 > 150) {
    const double kept = device.reads % 200 > 151 ? device.record->last_force.load() : 0;
    device.record->kept_while_lost.store(std::max(device.record->kept_while_lost.load(), kept));
    return 0;
  }
  if (device.reads > k_honest_reads) misread(device, reading);
  return is("odd-answer") && device.reads > k_honest_reads ? 255 : 1;
}

void write(void* opened, const CotouchDeviceWrench* wrench) {
  Device& device = of(opened);
  Record& record = *device.record;
  const double force = std::hypot(wrench->force[0], wrench->force[1], wrench->force[2]);
  const double torque = std::hypot(wrench->torque[0], wrench->torque[1], wrench->torque[2]);
  record.writes.fetch_add(1);
  if (++device.writes > k_honest_reads) {
    if (is("hangs-in-write")) hang(device.record);
    if (is("crashes-in-write")) crash();
    if (is("throws-in-write")) throw 7;
  }
  // One that is no number would never be the largest.
  record.largest_force.store(std::isfinite(force) ? std::max(record.largest_force.load(), force) : 1e300);
  record.largest_torque.store(std::isfinite(torque) ? std::max(record.largest_torque.load(), torque) : 1e300);
  record.note_rise(force);
  record.last_force.store(force);
  tell_motor(device, force);
}

void disable(void* device) {
  of(device).record->disables.fetch_add(1);
  of(device).record->last_force.store(0);
  tell_motor(of(device), 0);
  if (is("throws-in-disable")) throw 7;
  if (is("hangs-in-disable") || is("hangs-in-both")) hang(of(device).record);
}

std::int32_t enable(void* device) {
  of(device).record->enables.fetch_add(1);
  if (is("hangs-in-enable")) hang(of(device).record);
  return is("refuses-to-enable") ? 0 : 1;
}

std::int32_t silence(void* opened, CotouchDeviceSilence* said) {
  const Device& device = of(opened);
  if (is("silence-nowhere")) {
    said->bytes = 100000;
    return 1;
  }
  if (device.motor_path.empty()) return 0;
  put(said->path, device.motor_path.c_str());
  said->bytes = sizeof(double);  // a force of zero
  return 1;
}

[[gnu::constructor]] void loaded() {
  if (is("crashes-in-load")) crash();
  if (is("hangs-in-load")) hang(nullptr);
}

}  // namespace

extern "C" const CotouchDevicePlugin* cotouch_device_plugin(std::uint32_t) {
  if (is("other-version")) return nullptr;
  static CotouchDevicePlugin plugin{sizeof(CotouchDevicePlugin),
                                    COTOUCH_DEVICE_ABI,
                                    "hostile",
                                    "1",
                                    list,
                                    open,
                                    close,
                                    describe,
                                    read,
                                    write,
                                    disable,
                                    enable,
                                    silence};
  if (is("wrong-version")) plugin.abi = 999;
  if (is("older")) plugin.size = offsetof(CotouchDevicePlugin, silence), plugin.silence = nullptr;
  if (is("half-a-table")) plugin.size = offsetof(CotouchDevicePlugin, write);
  if (is("garbage-table")) plugin.size = 5;
  if (is("huge-table")) plugin.size = 1U << 30U;
  if (is("no-text")) plugin.name = nullptr;
  return &plugin;
}
