#include <cotouch/session/introduction.h>

#include <algorithm>

namespace cotouch {

std::string write_introduction(const Introduction& introduction) {
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.text(std::string_view(introduction.name).substr(0, Introduction::k_longest_name));
  out.number(static_cast<std::uint8_t>(introduction.observer));
  introduction.credential.write(out);
  const std::size_t count = std::min(introduction.addresses.size(), Introduction::k_most_addresses);
  out.varint(count);
  for (std::size_t i = 0; i < count; ++i) introduction.addresses[i].write(out);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<Introduction> read_introduction(std::string_view bytes) {
  ByteReader in(std::as_bytes(std::span(bytes)));
  Introduction introduction;
  introduction.name = in.text(Introduction::k_longest_name);
  introduction.observer = in.number<std::uint8_t>() != 0;
  introduction.credential = Credential::read(in);
  const std::uint64_t count = in.varint(Introduction::k_most_addresses);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) introduction.addresses.push_back(NetAddress::read(in));
  if (!in.at_end()) return std::nullopt;
  return introduction;
}

}  // namespace cotouch
