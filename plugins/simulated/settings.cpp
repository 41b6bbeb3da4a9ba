#include "settings.h"

#include <cotouch/base/error.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace cotouch::simulated_plugin {
namespace {

constexpr std::size_t k_most_keys = 20000;
constexpr double k_reach = 1;  // m from the middle

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Takes what is before the separator off the text.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view first = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return first;
}

[[noreturn]] void refuse(std::string_view setting, const char* expected) {
  throw Error("The setting '" + std::string(setting) + "' of the simulated device makes no sense: " + expected + ".",
              ErrorCode::invalid_argument);
}

std::vector<Vec3d> parse_path(std::string_view setting, std::string_view value) {
  std::vector<Vec3d> path;
  while (!value.empty()) {
    std::string_view key = take(value, '/');
    double place[3] = {};
    for (double& coordinate : place) {
      const std::optional<double> read = number(take(key, ','));
      if (!read || std::fabs(*read) > k_reach || path.size() == k_most_keys)
        refuse(setting, "a path is x,y,z/x,y,z/... in metres, each within 1 m");
      coordinate = *read;
    }
    path.push_back({place[0], place[1], place[2]});
  }
  if (path.empty()) refuse(setting, "a path has at least one place");
  return path;
}

}  // namespace

Settings parse_settings(std::string_view text) {
  Settings settings;
  struct Key {
    std::string_view name;
    double* value;
    double low, high;
  };
  double repeat = settings.repeat;
  const Key keys[] = {{"speed", &settings.speed, 1e-3, 1},
                      {"repeat", &repeat, 1, 10000},
                      {"press", &settings.press, 0, 1e6},
                      {"arm-mass", &settings.arm.mass, 0, 10},
                      {"arm-stiffness", &settings.arm.stiffness, 0, 1e4},
                      {"arm-damping", &settings.arm.damping, 0, 100},
                      {"damping", &settings.device.damping, 0.01, 100},
                      {"friction", &settings.device.friction, 0, 10},
                      {"delay", &settings.device.delay, 0, 8e-3},
                      {"jitter", &settings.device.jitter, 0, 1e-3}};
  while (!text.empty()) {
    const std::string_view setting = take(text, ' ');
    if (setting.empty()) continue;
    std::string_view value = setting;
    const std::string_view name = take(value, '=');
    if (name == "path") {
      settings.path = parse_path(setting, value);
      continue;
    }
    const Key* key = nullptr;
    for (const Key& one : keys) key = one.name == name ? &one : key;
    if (key == nullptr)
      refuse(setting,
             "there are path, speed, repeat, press, arm-mass, arm-stiffness, arm-damping, damping, friction, "
             "delay and jitter");
    const std::optional<double> read = number(value);
    if (!read || *read < key->low || *read > key->high) refuse(setting, "its number is missing or out of bounds");
    *key->value = *read;
  }
  settings.repeat = static_cast<std::uint32_t>(repeat);
  return settings;
}

HandPath path_of(const Settings& settings) {
  std::vector<Pose> keys;
  for (std::uint32_t round = 0; round < settings.repeat && keys.size() < k_most_keys; ++round)
    for (const Vec3d& place : settings.path) keys.push_back({place, {}});
  return HandPath(std::move(keys), settings.speed);
}

Pressing pressing_of(const Settings& settings, const HandPath& path) {
  if (settings.press == 0) return {};
  const std::size_t keys = settings.path.size();
  const double round = path.ends().size() >= keys ? path.ends()[keys - 1] : path.duration();
  const auto cycles = [&](double seconds) {
    return static_cast<std::uint64_t>(seconds / settings.device.period + 0.5);
  };
  return {cycles(round), cycles(settings.press)};
}

}  // namespace cotouch::simulated_plugin
