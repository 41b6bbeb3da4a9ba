// cotouch-read-mesh: reads one mesh file for another program (see mesh/reader_process.h).
#include <cotouch/reader/serve_reading.h>

int main(int argc, char** argv) {
  return cotouch::serve_reading(argc, argv, cotouch::read_any);
}
