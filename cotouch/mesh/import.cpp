#include <cotouch/mesh/mesh.h>
