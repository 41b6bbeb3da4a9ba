#include <cotouch/session/transfer.h>

#include <cotouch/base/random.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

std::shared_ptr<const Bytes> content(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  Bytes bytes(size);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random.bits());
  return std::make_shared<const Bytes>(std::move(bytes));
}

// A way with a delay on which some messages are lost, in each direction.
class LossyWay {
 public:
  LossyWay(double loss, std::uint64_t seed) : loss_(loss), random_(seed) {}

  // Until it is complete or the time is over; pieces come from `shelf`.
  double fetch(ObjectFetch& fetch, const ObjectShelf& shelf, double now, double end, double most_progress = 1) {
    for (; now < end && !fetch.is_complete() && fetch.progress() < most_progress; now += 0.005) {
      for (const Bytes& want : fetch.poll(now, 0.1)) {
        if (random_.uniform() < loss_) continue;
        for (const Bytes& piece : shelf.answer(want)) {
          ++sent_;
          if (random_.uniform() >= loss_) under_way_.emplace(now + 0.1, piece);
        }
      }
      for (; !under_way_.empty() && under_way_.begin()->first <= now; under_way_.erase(under_way_.begin()))
        fetch.receive(under_way_.begin()->second);
    }
    return now;
  }
  std::size_t sent() const { return sent_; }
  void cut() { under_way_.clear(); }

 private:
  double loss_;
  Random random_;
  std::size_t sent_ = 0;
  std::multimap<double, Bytes> under_way_;
};

TEST(Transfer, IsCompleteAlthoughAThirdIsLost) {
  const auto bytes = content(300'001, 1);  // 293 pieces
  ObjectShelf shelf;
  const ObjectName name = shelf.put(bytes);
  EXPECT_EQ(name.size, 300'001U);
  ObjectFetch fetch(name);
  LossyWay way(0.3, 2);
  const double end = way.fetch(fetch, shelf, 0, 120);
  ASSERT_TRUE(fetch.is_complete()) << fetch.progress();
  EXPECT_EQ(*fetch.take(), *bytes);
  EXPECT_LT(end, 60);
  EXPECT_LT(way.sent(), 2 * 293U);  // 293 / 0.7, and some that came too late
}

TEST(Transfer, GoesOnWithAnotherSourceWhereItStopped) {
  const auto bytes = content(100 * k_piece, 3);
  ObjectShelf first, second;
  const ObjectName name = first.put(bytes);
  EXPECT_EQ(second.put(bytes), name);
  ObjectFetch fetch(name);
  LossyWay way(0, 4);
  const double stopped = way.fetch(fetch, first, 0, 10, 0.5);
  way.cut();
  const double had = fetch.progress();
  ASSERT_GE(had, 0.5);
  ASSERT_LT(had, 1);
  LossyWay other(0, 5);
  other.fetch(fetch, second, stopped + 1, 20);
  ASSERT_TRUE(fetch.is_complete());
  EXPECT_EQ(*fetch.take(), *bytes);
  EXPECT_LE(other.sent(), 100 - static_cast<std::size_t>(100 * had) + 1);
}

TEST(Transfer, OfAnotherContentIsRefusedAndBegunAgain) {
  const auto right = content(5000, 6);
  Bytes wrong = *right;
  wrong[4000] ^= std::byte{1};
  ObjectShelf honest;
  const ObjectName name = honest.put(right);
  ObjectFetch fetch(name);
  fetch.poll(0, 0.1);
  for (std::size_t piece = 0; piece < 5; ++piece) {
    Bytes message;
    ByteWriter out(message);
    out.number(TransferMessage::piece);
    out.raw(std::span(name.id).first(8));
    out.varint(piece);
    out.raw(std::span(wrong).subspan(piece * k_piece, std::min(k_piece, wrong.size() - piece * k_piece)));
    EXPECT_TRUE(fetch.receive(message));
  }
  ASSERT_TRUE(fetch.is_complete());
  EXPECT_EQ(fetch.take(), nullptr);
  EXPECT_FALSE(fetch.is_complete());
  LossyWay way(0, 7);
  way.fetch(fetch, honest, 0, 10);
  ASSERT_TRUE(fetch.is_complete());
  EXPECT_EQ(*fetch.take(), *right);
}

TEST(Transfer, OfMoreThanIsAllowedCannotBeNamed) {
  Bytes bytes;
  ByteWriter out(bytes);
  write_object(out, {{}, k_largest_object + 1});
  ByteReader in(bytes);
  read_object(in);
  EXPECT_FALSE(in.ok());
}

TEST(Transfer, ShelfKeepsWhatTwoHavePutUntilBothRemoveIt) {
  ObjectShelf shelf;
  const ObjectName name = shelf.put(content(10, 8));
  shelf.put(content(10, 8));
  EXPECT_EQ(shelf.size(), 1U);
  shelf.remove(name.id);
  EXPECT_NE(shelf.find(name.id), nullptr);
  shelf.remove(name.id);
  EXPECT_EQ(shelf.size(), 0U);
  shelf.remove(name.id);
}

TEST(Allowance, ComesBackWithTimeUpToItsMost) {
  Allowance allowance(10, 3);
  const auto taken = [&](double now) {
    int count = 0;
    while (allowance.take(now)) ++count;
    return count;
  };
  EXPECT_EQ(taken(100), 3);
  EXPECT_EQ(taken(100.25), 2);  // two and a half came back
  EXPECT_EQ(taken(100.31), 1);
  EXPECT_EQ(taken(90), 0);  // a clock that went back
  EXPECT_EQ(taken(200), 3);
}

}  // namespace
}  // namespace cotouch::this_file
