#include <cotouch/device/catalog.h>

#include <cotouch/base/error.h>

#include "support/hostile_plugin.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>

namespace cotouch::this_file {
namespace {

namespace fs = std::filesystem;
using testing_plugins::complaint;
using testing_plugins::HostilePlugin;
using testing_plugins::plugin_folder;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void copy_simulated(const fs::path& to) {
  fs::create_directories(to.parent_path());
  fs::copy_file(plugin_folder() / "devices/cotouch-simulated.so", to);
}

// For a test's length; other tests of the process have it back.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(Catalog, FindsTheSimulatedDeviceInABuild) {
  const TemporaryFolder nobody;
  const Environment data("XDG_DATA_HOME", nobody.path().string()), devices("COTOUCH_DEVICES", "");
  const DeviceCatalog catalog;
  ASSERT_EQ(catalog.folders().size(), 2U);
  EXPECT_FALSE(catalog.folders()[0].exists);
  EXPECT_TRUE(catalog.folders()[1].refusal.empty()) << catalog.folders()[1].refusal;
  ASSERT_EQ(catalog.devices().size(), 1U);
  const DeviceListing& found = catalog.devices()[0];
  EXPECT_EQ(found.name, "simulated");
  EXPECT_TRUE(found.is_connected());
  EXPECT_EQ(found.found.limits.value().motors.peak_force, 8.5);
  EXPECT_FALSE(found.found.needs_guard);
  const std::unique_ptr<Device> device = catalog.open("simulated:path=0,0,0.01");
  DeviceReading reading;
  EXPECT_TRUE(device->read(reading));
  EXPECT_NEAR(reading.pose.position.z, 0.01, 1e-4);
}

TEST(Catalog, LooksWhereTheEnvironmentAndTheUserSay) {
  const TemporaryFolder folder;
  copy_simulated(folder / "first/one.so");
  copy_simulated(folder / "second/two.so");
  copy_simulated(folder / "second/one.so");
  copy_simulated(folder / "data/cotouch/devices/three.so");
  std::ofstream(folder / "first/notes.txt") << "no plug-in";
  const Environment data("XDG_DATA_HOME", (folder / "data").string());
  const Environment devices("COTOUCH_DEVICES", (folder / "first").string() + ":" + (folder / "second").string());
  const DeviceCatalog catalog;
  ASSERT_EQ(catalog.folders().size(), 4U);
  ASSERT_EQ(catalog.plugins().size(), 5U);
  const fs::path real = fs::canonical(folder.path());
  EXPECT_EQ(catalog.plugins()[0].file, real / "first/one.so");
  EXPECT_EQ(catalog.plugins()[1].file, real / "second/two.so");
  EXPECT_EQ(catalog.plugins()[2].file, real / "data/cotouch/devices/three.so");
  EXPECT_EQ(catalog.plugins()[4].file, folder / "second/one.so");
  EXPECT_TRUE(contains(catalog.plugins()[4].refusal, "stands behind " + (folder / "first/one.so").string()));
  // Four devices of one name and no serial number.
  ASSERT_EQ(catalog.devices().size(), 4U);
  EXPECT_EQ(catalog.devices()[0].name, "simulated#1");
  EXPECT_EQ(catalog.devices()[3].name, "simulated#4");
  EXPECT_NO_THROW(catalog.open("simulated#2"));
}

TEST(Catalog, SaysWhatBecameOfEachPlugin) {
  const TemporaryFolder folder;
  HostilePlugin crash("crashes-in-open"), busy("in-use"), version("wrong-version"), odd("unknown-state");
  for (const HostilePlugin* plugin : {&crash, &busy, &version, &odd})
    fs::copy_file(plugin->file(), folder / plugin->file().filename().string());
  fs::copy_file(plugin_folder() / "hostile/cotouch-lacks-library.so", folder / "lacks.so");
  const DeviceCatalog catalog({folder.path()});
  ASSERT_EQ(catalog.plugins().size(), 5U);  // by name
  const auto refusal = [&](std::size_t plugin) { return catalog.plugins()[plugin].refusal; };
  EXPECT_NE(refusal(0), "");  // crashes-in-open
  EXPECT_EQ(refusal(1), "");  // in-use
  EXPECT_EQ(refusal(2), "");  // unknown-state
  EXPECT_TRUE(contains(refusal(3), "version 999")) << refusal(3);
  EXPECT_TRUE(contains(refusal(4), "libcotouch-gone.so")) << refusal(4);
  ASSERT_EQ(catalog.devices().size(), 3U);
  EXPECT_STREQ(presence_name(catalog.devices()[0].found.info.presence), "refused");
  EXPECT_STREQ(presence_name(catalog.devices()[1].found.info.presence), "in use");
  EXPECT_STREQ(presence_name(catalog.devices()[2].found.info.presence), "refused");
  for (const DeviceListing& device : catalog.devices())
    EXPECT_TRUE(contains(complaint([&] { catalog.open(device.name); }), "cannot be opened. It ")) << device.name;
}

TEST(Catalog, TellsDevicesOfOneNameApart) {
  HostilePlugin plugin("two-of-a-kind");
  const DeviceCatalog catalog({plugin.folder()});
  ASSERT_EQ(catalog.devices().size(), 2U);
  EXPECT_EQ(catalog.devices()[0].name, "hostile@A1");
  EXPECT_EQ(catalog.devices()[1].name, "hostile#1");  // its serial number cannot be typed
  EXPECT_EQ(catalog.devices()[1].found.info.serial, "B 2");
  EXPECT_NO_THROW(catalog.open("hostile@A1"));
}

TEST(Catalog, TellsTheNamesThereAreIfOneIsWrong) {
  const DeviceCatalog catalog({plugin_folder() / "devices"}), empty(std::vector<fs::path>{});
  const std::string said = complaint([&] { catalog.open("omega\x1b"); });
  EXPECT_EQ(said, "There is no device 'omega?'; there is 'simulated'.");
  EXPECT_TRUE(contains(complaint([&] { empty.open("omega"); }), "'cotouch devices' says where"));
  const std::string settings = complaint([&] { catalog.open("simulated:haste=1"); });
  EXPECT_TRUE(contains(settings, "The device 'simulated' cannot be opened. The setting 'haste=1'")) << settings;
}

TEST(Catalog, TellsOfAFolderThatCannotBeUsedIfANameIsWrong) {
  const TemporaryFolder folder;
  std::ofstream(folder / "plugin.so") << "no folder";
  const DeviceCatalog catalog({folder / "plugin.so"});
  ASSERT_EQ(catalog.folders().size(), 1U);
  EXPECT_TRUE(contains(catalog.folders()[0].refusal, "It is no folder")) << catalog.folders()[0].refusal;
  const std::string said = complaint([&] { catalog.open("omega"); });
  EXPECT_TRUE(contains(said, "plugin.so: It is no folder")) << said;
}

// What is there would run as the one who starts cotouch.
TEST(Catalog, TakesNothingThatOthersMayWriteTo) {
  const TemporaryFolder folder;
  const fs::path plugins = folder / "plugins", file = plugins / "simulated.so";
  copy_simulated(file);
  const auto all = fs::perms::others_write;
  EXPECT_EQ(DeviceCatalog({plugins}).devices().size(), 1U);
  fs::permissions(file, all, fs::perm_options::add);
  const DeviceCatalog open_file({plugins});
  EXPECT_TRUE(open_file.devices().empty());
  EXPECT_TRUE(contains(open_file.plugins().at(0).refusal, "chmod o-w")) << open_file.plugins().at(0).refusal;
  fs::permissions(file, all, fs::perm_options::remove);
  for (const fs::path& opened : {plugins, folder.path()}) {
    fs::permissions(opened, all, fs::perm_options::add);
    const DeviceCatalog catalog({plugins});
    EXPECT_TRUE(catalog.devices().empty() && catalog.plugins().empty()) << opened;
    EXPECT_TRUE(contains(catalog.folders().at(0).refusal, "chmod o-w " + fs::canonical(opened).string()));
    fs::permissions(opened, all, fs::perm_options::remove);
  }
  // In /tmp itself others cannot replace a folder of mine, but they can add files to a folder that is like it.
  fs::permissions(plugins, all | fs::perms::sticky_bit, fs::perm_options::add);
  EXPECT_TRUE(DeviceCatalog({plugins}).devices().empty());
  fs::permissions(plugins, all | fs::perms::sticky_bit, fs::perm_options::remove);
  EXPECT_EQ(DeviceCatalog({plugins}).devices().size(), 1U);
}

struct stat file_of(uid_t owner, gid_t group, mode_t mode) {
  struct stat about {};
  about.st_uid = owner;
  about.st_gid = group;
  about.st_mode = mode;
  return about;
}

TEST(Catalog, OnlyRootAndTheUserMayOwnWhatIsLoaded) {
  constexpr uid_t k_user = 1000;
  constexpr gid_t k_group = 1001;
  const auto stranger = [](uid_t owner, mode_t mode, bool is_above) {
    return stranger_with_access(file_of(owner, k_group, mode), k_user, k_group, is_above);
  };
  for (const bool is_above : {false, true}) {
    EXPECT_EQ(stranger(k_user, 0755, is_above), Stranger::none);
    EXPECT_EQ(stranger(0, 0755, is_above), Stranger::none);
    // An owner can give themselves any right, and exchange what is in their folder whatever its sticky bit says.
    EXPECT_EQ(stranger(2000, 0555, is_above), Stranger::owner);
    EXPECT_EQ(stranger(2000, 01755, is_above), Stranger::owner);
  }
}

TEST(Catalog, AGroupMayWriteOnlyIfItIsRootsOrOnesOwn) {
  constexpr uid_t k_user = 1000;
  constexpr gid_t k_group = 1001;
  for (const mode_t mode : {mode_t{0775}, mode_t{0664}, mode_t{0020}}) {
    const auto stranger = [&](gid_t group) {
      return stranger_with_access(file_of(k_user, group, mode), k_user, k_group, false);
    };
    EXPECT_EQ(stranger(k_group), Stranger::none);
    EXPECT_EQ(stranger(0), Stranger::none);
    EXPECT_EQ(stranger(100), Stranger::group);
  }
  EXPECT_EQ(stranger_with_access(file_of(k_user, 100, 0755), k_user, k_group, false), Stranger::none);
  EXPECT_EQ(stranger_with_access(file_of(k_user, k_group, 0757), k_user, k_group, false), Stranger::everyone);
}

TEST(Catalog, AStickyBitKeepsWhatIsBelowAFolder) {
  constexpr mode_t k_tmp = 01777, k_shared = 01770;
  EXPECT_EQ(stranger_with_access(file_of(0, 0, k_tmp), 1000, 1000, true), Stranger::none);
  EXPECT_EQ(stranger_with_access(file_of(0, 100, k_shared), 1000, 1000, true), Stranger::none);
  // In the folder that is searched, others could add a file.
  EXPECT_EQ(stranger_with_access(file_of(0, 0, k_tmp), 1000, 1000, false), Stranger::everyone);
  EXPECT_EQ(stranger_with_access(file_of(0, 100, k_shared), 1000, 1000, false), Stranger::group);
}

// A link could be changed between the check and the loading.
TEST(Catalog, LoadsTheFileThatWasCheckedAndNoLinkToIt) {
  const TemporaryFolder folder;
  copy_simulated(folder / "real/one.so");
  fs::create_directories(folder / "links");
  fs::create_symlink(folder / "real/one.so", folder / "links/one.so");
  const DeviceCatalog catalog({folder / "links"});
  ASSERT_EQ(catalog.plugins().size(), 1U);
  EXPECT_EQ(catalog.plugins()[0].file, fs::canonical(folder / "real/one.so"));
  fs::remove(folder / "links/one.so");
  std::ofstream(folder / "links/one.so") << "another file";
  EXPECT_NO_THROW(catalog.open("simulated"));
}

TEST(Catalog, ALinkIsAsSafeAsWhatItLeadsTo) {
  const TemporaryFolder folder;
  copy_simulated(folder / "real/one.so");
  fs::create_directories(folder / "links");
  fs::create_symlink(folder / "real/one.so", folder / "links/one.so");
  EXPECT_EQ(DeviceCatalog({folder / "links"}).devices().size(), 1U);
  fs::permissions(folder / "real", fs::perms::others_write, fs::perm_options::add);
  const DeviceCatalog catalog({folder / "links"});
  EXPECT_TRUE(catalog.devices().empty());
  const std::string said = complaint([&] { catalog.open("simulated"); });
  EXPECT_TRUE(contains(said, "Refused is one.so")) << said;
  EXPECT_TRUE(contains(said, "chmod o-w " + fs::canonical(folder / "real").string())) << said;
}

// As somebody with a C compiler and nothing but the header builds it.
TEST(Catalog, OpensTheSmallestExample) {
  const DeviceCatalog catalog({plugin_folder() / "examples"});
  ASSERT_EQ(catalog.devices().size(), 1U);
  EXPECT_TRUE(catalog.devices()[0].is_connected()) << catalog.devices()[0].found.info.sentence;
  const std::unique_ptr<Device> device = catalog.open("circle");
  EXPECT_EQ(device->name(), "circling handle");
  EXPECT_EQ(device->limits().angular_stiffness, DeviceLimits::k_none);
  EXPECT_EQ(device->workspace().reach, 0.06);
  DeviceReading reading;
  Vec3d lowest{1, 1, 1}, highest{-1, -1, -1};
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(device->read(reading));
    lowest.x = std::min(lowest.x, reading.pose.position.x), highest.x = std::max(highest.x, reading.pose.position.x);
    lowest.z = std::min(lowest.z, reading.pose.position.z), highest.z = std::max(highest.z, reading.pose.position.z);
  }
  EXPECT_NEAR(highest.x - lowest.x, 0.06, 1e-6);
  EXPECT_NEAR(highest.z - lowest.z, 0.06, 1e-6);
  // It has one handle, which is in use by now.
  EXPECT_TRUE(contains(complaint([&] { catalog.open("circle"); }), "in use"));
}

}  // namespace
}  // namespace cotouch::this_file
