// In the process that may crash. What it finds out goes out line by line, so that what was known before is not lost.
#include <cotouch/base/error.h>
#include <cotouch/device/plugin_probe.h>

#include <unistd.h>

#include <charconv>
#include <initializer_list>

namespace cotouch {
namespace {

class ProbeLines {
 public:
  explicit ProbeLines(int out) : out_(out) {}
  // Words are without tabs and newlines: they are ours, or went through plugin_text.
  void say(std::initializer_list<std::string> words) const {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : "\t") + word;
    line += '\n';
    for (std::size_t done = 0; done < line.size();) {
      const ssize_t written = write(out_, line.data() + done, line.size() - done);
      if (written <= 0) return;
      done += static_cast<std::size_t>(written);
    }
  }

 private:
  int out_;
};

std::string exact(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

const char* word_of(ErrorCode code) {
  return code == ErrorCode::busy ? "in-use" : code == ErrorCode::not_found ? "absent" : "broken";
}

const char* word_of(Presence presence) {
  switch (presence) {
    case Presence::connected: return "connected";
    case Presence::absent: return "absent";
    case Presence::in_use: return "in-use";
    case Presence::broken: break;
  }
  return "broken";
}

// plugin_text again: what Error quotes of a file's name or of the system is not from a plug-in.
std::string sentence_of(const Error& error) {
  return plugin_text(error.what());
}

void probe_device(const ProbeLines& lines, const DevicePlugin& plugin, const PluginDeviceInfo& info) {
  lines.say({"stage", "opening " + info.name});
  try {
    const std::unique_ptr<Device> device = plugin.open(info);
    const DeviceLimits limits = device->limits();
    const MotorLimits& m = limits.motors;
    lines.say({"limits", device->name(), device->silence_call() ? "guard" : "heartbeat", exact(m.peak_force),
               exact(m.continuous_force), exact(m.peak_torque), exact(m.continuous_torque), exact(m.heating_seconds),
               exact(limits.stiffness), exact(limits.angular_stiffness), exact(limits.delay), exact(limits.speed),
               exact(limits.turn_speed)});
    lines.say({"stage", "closing " + info.name});
  } catch (const Error& error) {
    lines.say({"unopened", word_of(error.code()), sentence_of(error)});
  }
}

}  // namespace

void probe_here(const std::filesystem::path& file, int out) noexcept {
  const ProbeLines lines(out);
  try {
    lines.say({"stage", "loading"});
    const DevicePlugin plugin = DevicePlugin::load(file);
    lines.say({"plugin", plugin.name(), plugin.version()});
    lines.say({"stage", "listing its devices"});
    for (const PluginDeviceInfo& info : plugin.list()) {
      lines.say({"device", info.name, word_of(info.presence), info.serial, info.sentence});
      if (info.presence == Presence::connected) probe_device(lines, plugin, info);
    }
    lines.say({"done"});
  } catch (const Error& error) {
    lines.say({"refused", sentence_of(error)});
  } catch (...) {
    lines.say({"refused", "There is not enough memory to look at it."});
  }
}

}  // namespace cotouch
