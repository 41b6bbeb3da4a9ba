// Reads a mesh file in a program of its own, cotouch-read-mesh, where bugs of parsers cannot hurt.
//
// Mesh files come from anywhere and parsers have crashed on damaged ones for as long as they exist. There, a wild
// pointer, an endless loop or an archive that unpacks to terabytes ends that program and becomes an Error. It is
// started clean: it has no descriptor of ours but the file and a socket, may open nothing, start nothing and talk to
// nobody (see reader/sandbox.h), and is ended as soon as nobody waits for it.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/mesh/raw_mesh.h>
#include <cotouch/mesh/reading_wire.h>

#include <filesystem>
#include <vector>

namespace cotouch {

// Where the reader was installed to, in programs that were built with an installed cotouch: find_package(cotouch) has
// them define this function, in the place of one that says nothing.
const char* installed_mesh_reader();

// Where the reader is: what the environment's COTOUCH_READ_MESH names; beside the running program; where it was
// installed to; in PATH. Empty if it is nowhere. In a build, links to it lie beside the programs (cmake/rooms.cmake).
std::filesystem::path find_mesh_reader();

// What reading a file may take: so much, and more with its size. Not more than half of what the machine has left, so
// that a hand does not wait for memory.
constexpr std::uint64_t k_memory_for_any_file = std::uint64_t{512} << 20;
std::uint64_t memory_to_read(int file, std::uint64_t size);

// What the reader finds in the file, one or more meshes. `beside` is the folder of further files that the first may
// name; nothing outside of it is opened, and nothing at all if it is empty. The descriptor stays the caller's.
//
// An Error thrown by the reader arrives here with its message and code; any other end of it becomes an Error, the rest
// of a sentence that begins with the file's name. Asks `progress` twenty times a second whether to go on; what that
// throws (Cancelled) ends the reader first.
std::vector<RawMesh> read_in_own_process(int file, const ReadingTask& task, const std::filesystem::path& beside,
                                         Progress& progress);

}  // namespace cotouch
