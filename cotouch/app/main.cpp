// The command line of `cotouch`: declares the options, hands them to the command, turns errors into exit codes.
#include <cotouch/app/command.h>
#include <cotouch/app/say.h>
#include <cotouch/base/error.h>
#include <cotouch/session/names.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace cotouch;

constexpr int k_exit_error = 2;
constexpr int k_exit_interrupted = 130;

// One of the given words, however it is written.
CLI::Validator one_of(std::vector<std::string> words) {
  return CLI::IsMember(std::move(words), CLI::ignore_case);
}

template <class T>
bool is_number(const std::string& text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// CLI11 would take -1 for the largest number, and what is too large as well.
const CLI::Validator k_seed(
    [](const std::string& text) {
      std::uint64_t seed = 0;
      return is_number(text, seed) ? "" : "a seed is a whole number from 0 to 2^64 - 1, not '" + text + "'";
    },
    "");

// CLI::Range lets nan through.
const CLI::Validator k_offset(
    [](const std::string& text) {
      double cells = 0;
      const bool fits = is_number(text, cells) && std::fabs(cells) <= k_largest_offset;
      return fits ? ""
                  : fmt::format("an offset is a number from {0} to {1}, not '{2}'", -k_largest_offset, k_largest_offset,
                                text);
    },
    "");

const CLI::Validator k_file_name(
    [](const std::string& text) { return text.empty() ? "give the name of a file" : std::string(); }, "");

void declare_elastic(CLI::App& sub, ElasticOptions& options) {
  std::string materials;
  for (const std::string& name : material_names()) materials += (materials.empty() ? "" : ", ") + name;
  CLI::Option* elastic =
      sub.add_option("--elastic", options.material, "make a part that bends, of this material: " + materials);
  const auto add = [&](const char* flag, auto& value, const char* help) {
    return sub.add_option(flag, value, help)->needs(elastic);
  };
  add("--young", options.young, "its Young's modulus instead of the material's, Pa");
  add("--poisson", options.poisson, "its Poisson's ratio instead of the material's");
  add("--density", options.density, "its density instead of the material's, kg/m^3");
  add("--anchor", options.anchors,
      "where it is held, in metres: 'x<0.01' (one side of a plane), 'box:0,0,0,0.1,0.1,0.1' or 'point:0,0,0@0.005' "
      "(a point and a radius); may be given several times. Without anchors it is free")
      ->expected(1)
      ->take_all();
  add("--law", options.law, "'stvk' (large bending, exact energy) or 'warped' (modal warping)")
      ->transform(one_of({"stvk", "warped"}))
      ->capture_default_str();
  add("--modes", options.modes, "in how many ways it can bend")->check(CLI::Range(1U, 128U))->capture_default_str();
  CLI::Option* tets = add("--tets", options.tets, "about how many tetrahedra it is cut into")
                          ->check(CLI::Range(20U, 2'000'000U))
                          ->capture_default_str();
  add("--edge", options.edge, "edge of the tetrahedra's lattice instead, metres")->excludes(tets);
  add("--domains", options.domains, "of its deformed distance field; more are better for parts that bend far")
      ->check(CLI::Range(1U, 8U))
      ->capture_default_str();
}

void declare_prepare(CLI::App& app, PrepareCommand& command) {
  CLI::App* sub = app.add_subcommand("prepare", "Make a part that can be touched from a mesh file");
  sub->add_option("mesh", command.mesh,
                  "STL, OBJ, PLY, glTF, 3MF or another mesh file, or tetrahedra: .msh, .node, .ele")
      ->required();
  sub->add_option("-o,--output", command.output, "the part's file, named *.cot by custom")
      ->required()
      ->check(k_file_name);
  sub->add_option("--unit", command.unit,
                  "unit of the mesh's numbers; without it, what the file states, else a guess from its size")
      ->transform(one_of({"um", "mm", "cm", "m", "in", "ft"}));
  sub->add_option("--up", command.up_axis, "axis of the mesh that points up; without it, what the file states, else z")
      ->transform(one_of({"x", "y", "z"}));
  sub->add_option("--resolution", command.settings.field.resolution, "cells of the field along the longest side")
      ->check(CLI::Range(k_lowest_resolution, k_highest_resolution))
      ->capture_default_str();
  sub->add_option("--points", command.settings.shell.points, "points of the shell's finest level")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  sub->add_option("--offset", command.settings.shell.offset, "how far outside the surface the points lie, in cells")
      ->check(k_offset)
      ->capture_default_str();
  sub->add_option("--seed", command.settings.shell.seed, "seed of the points' places")
      ->check(k_seed)
      ->capture_default_str();
  declare_elastic(*sub, command.elastic);
  sub->add_option("--preview", command.preview,
                  "draw the part into this PNG file; one that bends also in its first modes")
      ->check(k_file_name);
  sub->add_flag("!--no-cache", command.use_cache, "prepare anew even if this mesh was prepared before");
  sub->add_flag("--json", command.json, "print the report as JSON");
  sub->footer(
      "Example: cotouch prepare bracket.stl --unit mm --resolution 200 -o bracket.cot\n"
      "Example: cotouch prepare bar.stl --elastic rubber --anchor \"x<0.01\" --preview bar.png -o bar.cot");
  sub->callback([&] { run_prepare(command); });
}

void declare_inspect(CLI::App& app, InspectCommand& command) {
  CLI::App* sub = app.add_subcommand("inspect", "Show what is in a part's file");
  sub->add_option("part", command.part, "a file made by 'cotouch prepare'")->required();
  sub->add_option("--png", command.png, "draw the mesh, a slice of the field and the shell into this file")
      ->check(k_file_name);
  sub->add_flag("--json", command.json, "print as JSON");
  sub->footer("Example: cotouch inspect bracket.cot --png bracket.png");
  sub->callback([&] { run_inspect(command); });
}

void declare_feel(CLI::App& app, FeelCommand& command) {
  CLI::App* sub = app.add_subcommand("feel", "Touch a scene with simulated hands and draw the force over time");
  sub->add_option("scene", command.scene,
                  "a scene's name ('cotouch scenes' lists those built in), a scene file (scene.toml) or its folder; "
                  "without it, the first one");
  sub->add_option("--hand", command.hand, "'simulated' (arms on simulated devices), 'scripted', or a recording's file")
      ->capture_default_str();
  sub->add_option("--figure", command.figure, "where to draw the force [felt-SCENE.svg]");
  sub->add_option("--record", command.record, "write what the hands did and felt to this file");
  sub->add_flag("--fast", command.fast, "as fast as it goes instead of at 1 kHz");
  sub->add_flag("--json", command.json, "print as JSON");
  sub->footer("Example: cotouch feel --record first.rec && cotouch feel --hand first.rec");
  sub->callback([&] { run_feel(command); });
  app.add_subcommand("scenes", "List the built-in scenes")->callback(run_scenes);
}

void declare_page_options(CLI::App& group, PageOptions& page) {
  group
      .add_option("--listen", page.listen,
                  "address that serves the page; 0.0.0.0 lets other machines in, and prints a link for them")
      ->capture_default_str();
  group.add_option("--tls", page.tls, "CERTIFICATE and KEY, two PEM files: the page comes encrypted, by https")
      ->expected(2)
      ->type_name("FILE");
  group.add_flag("--keep-address", page.keep_address, "the same address at the next start on the same port");
  group.add_option("--port", page.port, "port of the page; 0 takes any that is free")
      ->check(CLI::Range(0, 65535))
      ->default_str("any; 7117 with --keep-address");
  group.add_option("--host", page.hosts, "a further name under which pages may reach this server");
  group.add_option("--web", page.web, "folder of the built page");
  group.add_flag("--open", page.open, "open the address in the browser");
}

void declare_devices(CLI::App& sub, std::vector<std::string>& devices) {
  sub.add_option(
         "--device", devices,
         "take part with this device as well, named as in 'cotouch devices' ('simulated' needs no hardware); several "
         "times for several, up to 4")
      ->type_name("NAME")
      ->allow_extra_args(false);
}

void declare_play(CLI::App& app, PlayCommand& command) {
  CLI::App* sub = app.add_subcommand("play", "See, grab and feel a scene in the browser");
  sub->add_option("scene", command.scene,
                  "a scene's name, a scene file (scene.toml) or its folder; without it, the first one");
  declare_devices(*sub, command.devices);
  declare_page_options(*sub, command.page);
  sub->footer("Example: cotouch play my-parts/scene.toml");
  sub->callback([&] { run_play(command); });
}

void declare_replay(CLI::App& app, ReplayCommand& command) {
  CLI::App* sub = app.add_subcommand("replay", "Feel a recording again and compare every force, bit for bit");
  sub->add_option("recording", command.recording,
                  "a file made by the page's record button or by a shared session (*.cotrec)")
      ->required();
  sub->add_option("--scene", command.scene,
                  "the scene it was made in: a name, a scene file (scene.toml) or its folder; without it, the scene of "
                  "the name that the recording has");
  sub->add_option("--csv", command.csv, "write what was felt as a table");
  sub->add_option("--svg", command.svg, "draw path, clearance and force over time");
  sub->add_flag("--json", command.json, "print as JSON");
  sub->footer("Example: cotouch replay 2026-01-31-101500.cotrec --scene my-parts/scene.toml --svg felt.svg");
  sub->callback([&] { run_replay(command); });
}

void declare_journal(CLI::App& app, JournalCommand& command) {
  CLI::App* sub = app.add_subcommand("journal", "Show what is in the journal of a shared session");
  sub->add_option("journal", command.journal, "a file that an observer keeps; it may be in use")->required();
  CLI::Option* recording = sub->add_option("--export", command.recording,
                                           "write what was agreed on as a recording for 'cotouch replay' and the page")
                               ->check(k_file_name);
  sub->add_option("--branch", command.branch,
                  "with --export, the number of a branch: ticks that are kept apart because they are not, or are not "
                  "known to be, what the session agreed on")
      ->needs(recording);
  sub->add_option("--scene", command.scene,
                  "with --export, the scene of the session: a name, a scene file (scene.toml) or its folder; without "
                  "it, the scene of the name that the journal has");
  sub->add_flag("--json", command.json, "print as JSON");
  sub->footer("Example: cotouch journal session.journal --export session.cotrec");
  sub->callback([&] { run_journal(command); });
}

void declare_experiment(CLI::App& app, ExperimentCommand& command) {
  CLI::App* sub = app.add_subcommand("experiment", "Repeat a table or figure of the papers beside our own figures");
  sub->add_option("name", command.name, "which one; without a name, lists them");
  sub->add_flag("--quick", command.quick, "a smaller run, under a minute once its parts are cached");
  sub->add_option("--seed", command.seed, "seed of everything random")->check(k_seed)->capture_default_str();
  sub->add_option("--json", command.json, "print the results as JSON, or write them to this file besides")
      ->expected(0, 1)
      ->default_str("-");
  sub->add_option("--folder", command.folder, "where figures are written")->capture_default_str();
  sub->add_option("--minutes", command.minutes, "simulated minutes (faults only)")->check(CLI::Range(1.0, 1e6));
  sub->add_option("--before", command.before, "another cotouch program to compare with (seams only)")
      ->check(CLI::ExistingFile);
  sub->footer("Example: cotouch experiment contact-table --quick --json table.json");
  sub->callback([&] { run_experiment(command); });
}

// What `wan` does to datagrams, apart from those that its profile brings.
void declare_link_options(CLI::App& group, WanCommand& command) {
  group.add_option("--delay", command.delay_ms, "ms that each way takes, half of a round trip");
  group.add_option("--jitter", command.jitter_ms, "ms by which the delay strays");
  group
      .add_option(
          "--jitter-kind", command.jitter_kind,
          "how: uniform (up to so much), normal (standard deviation), exponential or heavy-tail (so much more on "
          "average, often less, rarely far more); without it, normal")
      ->transform(one_of({"none", "uniform", "normal", "exponential", "heavy-tail"}));
  group.add_option("--shortest", command.shortest_ms, "ms that a delay with jitter takes at least");
  group.add_option("--longest", command.longest_ms, "ms that a delay with jitter takes at most");
  group.add_flag("--any-order", command.any_order,
                 "let jitter change the order; without it each waits for those before");
  group.add_option("--loss", command.loss_percent, "percent that are lost, each by itself");
  group.add_option("--burst", command.burst, "PERCENT or PERCENT:LENGTH lost in bursts of this mean length [5]");
  group.add_option("--pattern", command.pattern, "which are lost, again and again: 1110 loses every fourth");
  group.add_option("--reorder", command.reorder, "PERCENT or PERCENT:MS held back by up to so much [20] and overtaken");
  group.add_option("--duplicate", command.duplicate_percent, "percent that arrive twice");
  group.add_option("--corrupt", command.corrupt_percent, "percent that arrive with a few bits flipped");
  group.add_option("--rate", command.rate,
                   "MBIT or MBIT:QUEUE_MS: megabits a second (0: unlimited), and the longest wait for them [200]");
  group.add_option("--outage", command.outage, "START:LENGTH or START:LENGTH:EVERY in seconds, when all is lost");
  group.add_option("--way", command.way, "which way these options are for")
      ->transform(one_of({"both", "there", "back"}))
      ->capture_default_str();
}

void declare_wan(CLI::App& app, WanCommand& command) {
  CLI::App* sub = app.add_subcommand("wan", "Put a slow, lossy or broken network between two programs (UDP)");
  sub->add_option("--listen", command.listen,
                  "port to listen on, for this machine only, or ADDRESS:PORT; 0 takes any that is free")
      ->capture_default_str();
  sub->add_option("--to", command.to, "HOST:PORT to which everything is forwarded, and from which answers come");
  sub->add_option("--profile", command.profile,
                  "a network's name ('cotouch wan --list' shows them) or a profile file; the options below change it");
  declare_link_options(*sub->add_option_group("What the network does"), command);
  sub->add_option("--seed", command.seed, "seed of everything random")->check(k_seed)->capture_default_str();
  sub->add_option("--seconds", command.seconds, "stop after so long; 0 runs until Ctrl-C")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  sub->add_flag("--list", command.list, "show the networks and stop");
  sub->add_flag("--print", command.print, "print the network as a profile file and stop");
  sub->add_flag("--json", command.json, "print JSON, one object a line");
  sub->footer(
      "Examples: cotouch wan --listen 7200 --to 127.0.0.1:7117 --profile network-1\n"
      "          cotouch wan --listen 7200 --to peer.example:7117 --delay 60 --jitter 10 --loss 2 --burst 1:4");
  sub->callback([&] { run_wan(command); });
}

// What `host`, `join` and `observe` have in common.
void declare_sharing_options(CLI::App& sub, ShareCommand& command, const char* usual_port) {
  sub.add_option("--name", command.name, "your name, for the others")->check([](const std::string& name) {
    return clean_name(name) == name ? std::string() : "A name has up to 24 characters that can be printed.";
  });
  sub.add_option("--udp-port", command.udp_port, "UDP port for the others; 0 takes any that is free")
      ->check(CLI::Range(0, 65535))
      ->default_str(usual_port);
  sub.add_option("--seconds", command.seconds, "leave after so long; 0 stays until Ctrl-C")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  sub.add_flag("--json", command.json, "print JSON, one object a line");
  sub.add_option("--patience", command.patience)->check(CLI::Range(0.1, 60.0))->group("");
}

// Without a browser: for tests, and for machines that have none.
void declare_headless_options(CLI::App& sub, ShareCommand& command) {
  CLI::Option* headless = sub.add_flag("--headless", command.headless, "take part without a page");
  sub.add_option("--hand", command.hand, "headless: 'scripted' leads a hand along the motion that the scene has")
      ->transform(one_of({"none", "scripted"}))
      ->capture_default_str()
      ->needs(headless);
  sub.add_flag("--until-docked", command.until_docked, "headless: leave once the scene's task is done")
      ->needs(headless);
}

void declare_host(CLI::App& app, ShareCommand& command) {
  CLI::App* sub = app.add_subcommand("host", "Share a scene with others over the network");
  sub->add_option("scene", command.scene,
                  "a scene's name, a scene file (scene.toml) or its folder; without it, the first one");
  declare_sharing_options(*sub, command, "7117, else any");
  sub->add_option("--expires", command.expires, "minutes after which the invite lets nobody in; 0: never")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  sub->add_option("--advertise", command.advertise,
                  "ADDRESS:PORT for the invite, if others reach this machine by another one than its own; up to 8");
  sub->add_flag("--qr", command.qr, "print the invite as a QR code even if the output is no terminal");
  declare_headless_options(*sub, command);
  declare_devices(*sub, command.devices);
  declare_page_options(*sub, command.page);
  sub->footer("Example: cotouch host docking --name Anna");
  sub->callback([&] { run_host(command); });
}

void declare_join(CLI::App& app, ShareCommand& command) {
  CLI::App* sub = app.add_subcommand("join", "Take part in a scene that somebody shares");
  sub->add_option("invite", command.invite, "what the host prints: cotouch:...")->required();
  declare_sharing_options(*sub, command, "any");
  declare_headless_options(*sub, command);
  declare_devices(*sub, command.devices);
  declare_page_options(*sub, command.page);
  sub->footer("Example: cotouch join 'cotouch:...' --name Ben");
  sub->callback([&] { run_join(command); });
}

void declare_observe(CLI::App& app, ShareCommand& command) {
  CLI::App* sub = app.add_subcommand("observe", "Keep a journal of a shared session, without a hand in it");
  sub->add_option("invite", command.invite, "what the host prints: cotouch:...")->required();
  sub->add_option("--journal", command.journal,
                  "the journal's file; if it is there already, it goes on. Without it, one in the state folder")
      ->check(k_file_name);
  declare_sharing_options(*sub, command, "any");
  sub->footer("Example: cotouch observe 'cotouch:...' --journal session.journal");
  sub->callback([&] { run_observe(command); });
}

void declare_devices(CLI::App& app, DevicesCommand& command) {
  CLI::App* sub = app.add_subcommand("devices", "List the haptic devices that there are, or try one");
  CLI::Option* device =
      sub->add_option("--try", command.device,
                      "feel a floor, a ball and a damper with this device, and print rate, jitter and delay; settings "
                      "of its plug-in may follow: NAME:\"key=value key=value\"")
          ->type_name("NAME");
  sub->add_option("--seconds", command.seconds, "with --try, stop after so long; 0 goes on until Ctrl-C")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str()
      ->needs(device);
  sub->add_flag("--json", command.json, "print as JSON");
  sub->footer(
      "Devices come from plug-ins: files NAME.so in the folders that COTOUCH_DEVICES names (separated by ':'), in\n"
      "$XDG_DATA_HOME/cotouch/devices, else ~/.local/share/cotouch/devices, and in lib/cotouch/devices of the "
      "installation.\n"
      "A device is 'connected', 'absent' (switched off or unplugged), 'in use' by another program, or 'refused', and "
      "why.\n"
      "docs/devices.md says how to write a plug-in.\n"
      "Examples: cotouch devices\n"
      "          cotouch devices --try simulated --seconds 5\n"
      "          cotouch devices --try 'simulated:speed=0.2 arm-stiffness=800'");
  sub->callback([&] { run_devices(command); });
}

void declare_docs_pictures(CLI::App& app, std::filesystem::path& folder) {
  CLI::App* sub = app.add_subcommand("docs-pictures", "Draw the pictures of docs/")->group("");
  sub->add_option("folder", folder)->required();
  sub->callback([&] { run_docs_pictures(folder); });
}

bool has_command(const CLI::App& app, const std::string& name) {
  return !app.get_subcommands([&](const CLI::App* sub) { return sub->get_name() == name; }).empty();
}

// The arguments, of which the system's list of processes shows all but invites from now on: everybody at this machine
// sees that list, and whoever has an invite is let in.
std::vector<std::string> taken_arguments(int argc, char** argv) {
  constexpr std::string_view k_invite = "cotouch:";
  std::vector<std::string> arguments(argv, argv + argc);
  for (int i = 1; i < argc; ++i)
    if (char* invite = std::strstr(argv[i], k_invite.data()))
      std::memset(invite + k_invite.size(), '.', std::strlen(invite + k_invite.size()));
  return arguments;
}

int run(const std::vector<std::string>& arguments) {
  CLI::App app("cotouch: feel virtual parts, alone or together.", "cotouch");
  app.set_version_flag("--version", "cotouch " + version());
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done; 2 something to mend, said on standard error; 130 stopped by Ctrl-C before it was done.\n"
      "Prepared parts are cached in $COTOUCH_CACHE, else $XDG_CACHE_HOME/cotouch, else ~/.cache/cotouch.");
  PrepareCommand prepare;
  InspectCommand inspect;
  FeelCommand feel;
  PlayCommand play;
  ReplayCommand replay;
  JournalCommand journal;
  ExperimentCommand experiment;
  ShareCommand host, join, observe;
  WanCommand wan;
  declare_prepare(app, prepare);
  declare_inspect(app, inspect);
  declare_feel(app, feel);
  declare_play(app, play);
  declare_host(app, host);
  declare_join(app, join);
  declare_observe(app, observe);
  declare_replay(app, replay);
  declare_journal(app, journal);
  declare_experiment(app, experiment);
  declare_wan(app, wan);
  DevicesCommand devices;
  declare_devices(app, devices);
  std::filesystem::path pictures;
  declare_docs_pictures(app, pictures);
  if (arguments.size() > 1 && !arguments[1].starts_with('-') && !has_command(app, arguments[1]))
    throw Error("There is no command '" + arguments[1] + "'; 'cotouch --help' lists them.");
  try {
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    app.parse(static_cast<int>(argv.size()), argv.data());
    // What was printed must have arrived: on a full disk it is lost without a word otherwise.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw Error("The standard output could not be written.");
    return 0;
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 && std::fflush(stdout) == 0 ? 0 : k_exit_error;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(taken_arguments(argc, argv));
  } catch (const cotouch::Cancelled& stopped) {
    complain(stopped.what());
    return k_exit_interrupted;
  } catch (const cotouch::Error& error) {
    complain(error.what());
  } catch (const std::bad_alloc&) {
    std::fputs("There is not enough memory for this; try a lower resolution or fewer points.\n", stderr);
  } catch (const std::exception& error) {
    complain(std::string("Something unforeseen went wrong: ") + error.what());
  }
  return k_exit_error;
}
