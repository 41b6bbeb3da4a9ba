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

// Where the reader is: what the environment's COTOUCH_READ_MESH names; beside the running program; where this library
// was built or installed; in PATH. Empty if it is nowhere.
std::filesystem::path find_mesh_reader();

// What the reader finds in the file, one or more meshes. `beside` is the folder of further files that the first may
// name; nothing outside of it is opened, and nothing at all if it is empty. The descriptor stays the caller's.
//
// An Error thrown by the reader arrives here with its message and code; any other end of it becomes an Error, the rest
// of a sentence that begins with the file's name. Asks `progress` twenty times a second whether to go on; what that
// throws (Cancelled) ends the reader first.
std::vector<RawMesh> read_in_own_process(int file, const ReadingTask& task, const std::filesystem::path& beside,
                                         Progress& progress);

}  // namespace cotouch
