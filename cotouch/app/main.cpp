// The command line of `cotouch`: declares the options, hands them to the command, turns errors into exit codes.
#include <cotouch/app/command.h>
#include <cotouch/base/error.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <new>

namespace {

using namespace cotouch;

constexpr int k_exit_error = 2;
constexpr int k_exit_interrupted = 130;

void declare_experiment(CLI::App& app, ExperimentCommand& command) {
  CLI::App* sub = app.add_subcommand("experiment", "Repeat a table or figure of the papers beside our own figures");
  sub->add_option("name", command.name, "which one; without a name, lists them");
  sub->add_flag("--quick", command.quick, "a smaller run, under a minute once its parts are cached");
  sub->add_option("--seed", command.seed, "seed of everything random")->capture_default_str();
  sub->add_option("--json", command.json, "also write the results to this file");
  sub->add_option("--folder", command.folder, "where figures are written")->capture_default_str();
  sub->callback([&] { run_experiment(command); });
}

int run(int argc, char** argv) {
  CLI::App app("cotouch: feel virtual parts, alone or together.", "cotouch");
  app.set_version_flag("--version", "cotouch " + version());
  app.require_subcommand(1);
  ExperimentCommand experiment;
  declare_experiment(app, experiment);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : k_exit_error;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const cotouch::Cancelled& stopped) {
    std::fprintf(stderr, "%s\n", stopped.what());
    return k_exit_interrupted;
  } catch (const cotouch::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  } catch (const std::bad_alloc&) {
    std::fputs("There is not enough memory for this; try a lower resolution or fewer points.\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "Something unforeseen went wrong: %s\n", error.what());
  }
  return k_exit_error;
}
