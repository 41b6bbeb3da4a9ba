// toml++, for the few files that parse with it: it takes a while to compile.
//
// What toml++ asserts about its input, a hostile file can break, and its parser copes. So an assertion must neither
// stop the process (as it does in a debug build) nor be an assumption of the optimiser (as it is in a release build
// with Clang): it is nothing in every build. `TOML_ASSERT` is the library's own switch for the first; for the second it
// has none, so its macro is changed once it is defined and before it is used.
#pragma once

#if defined(TOMLPLUSPLUS_H) || defined(TOMLPLUSPLUS_HPP)
#error "Include cotouch/net/toml.h before (or instead of) <toml++/toml.h>."
#endif
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/impl/preprocessor.h>
#ifndef TOML_ASSERT_ASSUME
#error "This toml++ has other macros for its assertions: see why they are changed in cotouch/net/toml.h."
#endif
#undef TOML_ASSERT
#define TOML_ASSERT(expr) static_assert(true)
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(expr) static_assert(true)
#include <toml++/toml.h>
