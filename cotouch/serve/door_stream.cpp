#include <cotouch/serve/door_stream.h>

namespace cotouch {

void DoorStream::read_some(std::vector<boost::asio::mutable_buffer> buffers, Done done) {
  std::visit([&](auto& stream) { stream.async_read_some(buffers, std::move(done)); }, stream_);
}

void DoorStream::write_some(std::vector<boost::asio::const_buffer> buffers, Done done) {
  std::visit([&](auto& stream) { stream.async_write_some(buffers, std::move(done)); }, stream_);
}

}  // namespace cotouch
