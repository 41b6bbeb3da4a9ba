// The live feed as the rest of the program sees it: texts and frames go out, commands and hand inputs come in.
//
// Latest value wins: for each viewer at most one state frame, one near frame per part and one text of each topic wait,
// and a newer one takes the place of the older. Nothing here waits for a viewer, and
// nothing a viewer does or fails to do is felt by another.
#pragma once

#include <cotouch/serve/link_book.h>
#include <cotouch/serve/viewer_command.h>
#include <cotouch/serve/wire.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

using ViewerId = std::uint32_t;  // from 1; 0 is nobody

// One moment, encoded once for everyone.
struct FrameSet {
  EncodedState plain;
  EncodedState with_traversed;  // with empty head if no viewer wants the traversed points
};

// What the viewers together want computed.
struct FeedDemand {
  std::uint32_t viewers = 0;
  bool traversed = false, near = false;
};

// All functions may be called from any thread and return at once.
class Feed {
 public:
  virtual ~Feed() = default;
  virtual void send_text(ViewerId viewer, std::string text) = 0;
  // Something that happened.
  virtual void broadcast_text(std::string text) = 0;
  // How something stands now. One that still waits for a page gives way to a newer one of the same topic: a page that
  // reads slowly misses some, and is not closed because others change things fast.
  virtual void broadcast_newest(std::string topic, std::string text) = 0;
  virtual void publish(std::shared_ptr<const FrameSet> frame) = 0;
  virtual void publish_near(std::uint32_t part, std::shared_ptr<const std::string> message) = 0;
  virtual FeedDemand demand() const noexcept = 0;
  // Closes every page that came by this link.
  virtual void close_link(std::string link, std::string why) = 0;
};

// How a page introduces itself.
struct PageHello {
  std::string name;                   // as the user typed it
  std::vector<std::string> features;  // what the page can do beyond version 2; none is known yet
  Visitor visitor;                    // who opened it
};

// What comes in. Called from the server's I/O thread, one call at a time; must not take long.
class FeedListener {
 public:
  virtual ~FeedListener() = default;
  // Once the page has said hello.
  virtual void viewer_joined(ViewerId viewer, const PageHello& hello) = 0;
  virtual void viewer_left(ViewerId viewer) = 0;
  // Commands but the first `hello` and `view`, which the feed handles itself.
  virtual void viewer_command(ViewerId viewer, const ViewerCommand& command) = 0;
  // Returns the rule that the input breaks, empty if it breaks none.
  virtual std::string_view viewer_input(ViewerId viewer, const PageInput& input) = 0;
};

// Why the server closes a feed (docs/viewer-protocol.md).
enum class FeedClose : std::uint16_t {
  going_away = 1001,
  too_long = 1009,
  garbage = 4000,
  flood = 4001,
  too_many = 4002,
  too_slow = 4003,
  other_version = 4004,
  link_ended = 4005
};

}  // namespace cotouch
