// What people did in a recorded session besides moving hands, told with their names. Names and texts are those of
// strangers and come out clean.
#pragma once

#include <cotouch/touch/recording.h>

#include <string>
#include <vector>

namespace cotouch {

struct NamedEvent {
  RecordedEvent event;
  std::string who;  // never empty
};
// In the order of time.
std::vector<NamedEvent> named_events(const Recording& recording);

// "joined", "left", "said", "marked", "reset".
const char* word_of(RecordedEvent::Kind kind);

}  // namespace cotouch
