// cotouch-probe-device FILE: loads a plug-in for devices, opens what it lists, and says on descriptor 3 what came of
// it.
//
// A program of its own so that a plug-in which crashes or hangs hurts nobody (cotouch/device/plugin_probe.h).
#include <cotouch/device/plugin_probe.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

int main(int count, char** arguments) {
  if (count != 2) return 64;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  fcntl(3, F_SETFD, FD_CLOEXEC);
  cotouch::probe_here(arguments[1], 3);
  _exit(0);  // threads of the plug-in may still run, and what it leaves at exit may crash
}
