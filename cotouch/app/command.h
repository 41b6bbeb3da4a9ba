// What each subcommand of `cotouch` takes and does. main.cpp turns the command line into these; each command throws
// Error for what the user can mend (exit code 2) and Cancelled on Ctrl-C (exit code 130).
#pragma once

#include <cotouch/part/part.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cotouch {

std::string version();

// What a part that bends is made of, in the user's words.
struct ElasticOptions {
  std::string material;                           // empty: the part is rigid
  std::optional<double> young, poisson, density;  // instead of the material's
  std::vector<std::string> anchors;
  std::string law = "stvk";  // or "warped"
  std::uint32_t modes = 15;
  std::uint32_t tets = 3000;
  double edge = 0;  // metres; 0: as `tets` asks for
  std::uint32_t domains = 1;
};

// Mesh file to asset file.
struct PrepareCommand {
  std::filesystem::path mesh, output;
  std::filesystem::path preview;  // a picture; empty: none
  std::string unit, up_axis;      // empty: what the file states
  PartSettings settings;
  ElasticOptions elastic;
  bool use_cache = true;
  bool json = false;
};
void run_prepare(const PrepareCommand& command);

// What is in an asset file, in words and as a picture.
struct InspectCommand {
  std::filesystem::path part;
  std::filesystem::path png;  // empty: none
  bool json = false;
};
void run_inspect(const InspectCommand& command);

// A scene, touched by hands that need no device.
struct FeelCommand {
  std::string scene;               // a name, a scene file or its folder; empty: the first built-in one
  std::string hand = "simulated";  // or "scripted", or a recording's file name
  std::filesystem::path figure, record;
  bool fast = false;  // do not wait for the clock
  bool json = false;
};
void run_feel(const FeelCommand& command);
void run_scenes();

// How the page is served.
struct PageOptions {
  std::string listen = "127.0.0.1";
  int port = -1;  // -1: the usual one, or any if that is taken
  std::vector<std::string> hosts;
  std::filesystem::path web;               // folder of the built page; empty: where it usually is
  bool open = false;                       // in the browser
  std::vector<std::filesystem::path> tls;  // certificate and key; none: in the clear
  bool keep_address = false;               // the same token at the next start
};

// The viewer: a page in the browser, served from here.
struct PlayCommand {
  std::string scene;                 // a scene's name or a scene file; empty: the first built-in one
  std::vector<std::string> devices;  // by their names
  PageOptions page;
};
void run_play(const PlayCommand& command);

// A session over the network: to host it, to join it, or to observe it.
struct ShareCommand {
  std::string scene;                   // to host; as `play` takes it
  std::string invite;                  // to join or observe
  std::string name;                    // of the person here; empty: the user's
  int udp_port = -1;                   // -1: any; for a host the usual one, if it is free or addresses are advertised
  double expires = 0;                  // minutes after which the invite lets nobody in; 0: never
  std::vector<std::string> devices;    // by their names; not headless
  std::vector<std::string> advertise;  // addresses with ports for the invite; empty: this machine's
  PageOptions page;
  std::filesystem::path journal;  // of an observer; empty: a file in the state folder, named by the session
  bool headless = false;          // without page and touch
  std::string hand = "none";      // headless: or "scripted"
  bool until_docked = false;      // headless: ends once the scene's task is done
  double seconds = 0;             // 0: until Ctrl-C
  double patience = 3;            // seconds of silence after which the others go on without somebody
  bool qr = false;                // even if the output is no terminal
  bool json = false;
};
void run_host(const ShareCommand& command);
void run_join(const ShareCommand& command);
void run_observe(const ShareCommand& command);

// Feels a recording again and compares every force.
struct ReplayCommand {
  std::filesystem::path recording;
  std::string scene;               // a name, a scene file or its folder; empty: the recording has the name
  std::filesystem::path csv, svg;  // empty: none
  bool json = false;
};
void run_replay(const ReplayCommand& command);

// What is in the journal of a session, in words and as a recording.
struct JournalCommand {
  std::filesystem::path journal;
  std::string scene;                // for the recording; a name, a scene file or its folder; empty: the journal has it
  std::filesystem::path recording;  // empty: none
  std::uint32_t branch = 0;         // that is exported; 0: the session itself
  bool json = false;
};
void run_journal(const JournalCommand& command);

struct ExperimentCommand {
  std::string name;
  bool quick = false;
  std::uint64_t seed = 1;
  std::filesystem::path json;          // empty: none
  std::filesystem::path folder = ".";  // where figures go
  double minutes = 0;                  // of the search for faults; 0: as many as it likes
  std::filesystem::path before;        // another cotouch program
};
void run_experiment(const ExperimentCommand& command);

// A bad network between real programs: forwards UDP with delay, loss and worse.
struct WanCommand {
  std::string listen = "0";  // a port of this machine only, or an address and port
  std::string to;            // host and port
  std::string profile;       // a network's name or a profile file; empty: perfect, but for what follows
  std::string way = "both";  // to which the following apply: "both", "there", "back"
  std::optional<double> delay_ms, jitter_ms, shortest_ms, longest_ms, loss_percent, duplicate_percent, corrupt_percent;
  std::string jitter_kind, burst, pattern, reorder, rate, outage;  // empty: as the profile says
  bool any_order = false;
  std::uint64_t seed = 1;
  double seconds = 0;  // 0: until Ctrl-C
  bool list = false;   // the networks there are, and nothing else
  bool print = false;  // the network as a profile file, and nothing else
  bool json = false;
};
void run_wan(const WanCommand& command);

// Which devices there are, or one of them tried.
struct DevicesCommand {
  std::string device;  // NAME or NAME:SETTINGS; empty: list them
  double seconds = 0;  // 0: until Ctrl-C
  bool json = false;
};
void run_devices(const DevicesCommand& command);

// Draws the pictures of docs/ into a folder.
void run_docs_pictures(const std::filesystem::path& folder);

}  // namespace cotouch
