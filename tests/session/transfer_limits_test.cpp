// Pieces that do not belong where they arrive.
#include <cotouch/session/transfer.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

Bytes piece_of(const ObjectName& object, std::size_t number, std::size_t size) {
  Bytes message;
  ByteWriter out(message);
  out.number(TransferMessage::piece);
  out.raw(std::span(object.id).first(8));
  out.varint(number);
  out.raw(Bytes(size, std::byte{7}));
  return message;
}

TEST(TransferLimits, APieceOfAnotherObjectIsNotTaken) {
  const Bytes wanted(3000, std::byte{7}), other(3000, std::byte{8});
  ObjectFetch fetch(name_of_object(wanted));
  fetch.poll(0, 0.1);
  EXPECT_FALSE(fetch.receive(piece_of(name_of_object(other), 0, k_piece)));
  EXPECT_TRUE(fetch.receive(piece_of(name_of_object(wanted), 0, k_piece)));
  EXPECT_FALSE(fetch.receive(piece_of(name_of_object(wanted), 0, k_piece)));  // it is here
}

TEST(TransferLimits, APieceOfAnotherLengthIsNotTaken) {
  const Bytes wanted(2 * k_piece + 100, std::byte{7});
  const ObjectName name = name_of_object(wanted);
  ObjectFetch fetch(name);
  fetch.poll(0, 0.1);
  for (const std::size_t size : {std::size_t{0}, k_piece - 1, k_piece + 1, 2 * k_piece})
    EXPECT_FALSE(fetch.receive(piece_of(name, 0, size))) << size;
  for (const std::size_t size : {std::size_t{99}, std::size_t{101}, k_piece})
    EXPECT_FALSE(fetch.receive(piece_of(name, 2, size))) << size;
  EXPECT_FALSE(fetch.receive(piece_of(name, 3, 100)));
  for (const std::size_t number : {0U, 1U}) EXPECT_TRUE(fetch.receive(piece_of(name, number, k_piece)));
  EXPECT_TRUE(fetch.receive(piece_of(name, 2, 100)));
  EXPECT_EQ(*fetch.take(), wanted);
}

TEST(TransferLimits, APieceThatNobodyAskedForIsNotTaken) {
  const ObjectName large{{}, k_largest_object};
  ObjectFetch fetch(large);
  EXPECT_FALSE(fetch.receive(piece_of(large, 0, k_piece)));
  fetch.poll(0, 0.1);
  EXPECT_TRUE(fetch.receive(piece_of(large, 0, k_piece)));
  EXPECT_FALSE(fetch.receive(piece_of(large, k_largest_object / k_piece - 1, k_piece)));
}

}  // namespace
}  // namespace cotouch::this_file
