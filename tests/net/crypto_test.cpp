#include <cotouch/net/crypto.h>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "support/error_code.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Python: hashlib.blake2b(b"\x05label" + b"\x01\x00a" + b"\x02\x00bc", digest_size=32, key=bytes(16)).hexdigest()
TEST(Crypto, HashesAreBlake2bOfLabelAndLengths) {
  const Secret<16> key;
  EXPECT_EQ(hex_of(hash_of("label", {bytes_of("a"), bytes_of("bc")})),
            "1898d4943d30f4bdab3ecba56f690f9e4e30a73fd4ed2b25554250e6c9ade10e");
  EXPECT_EQ(hex_of(derive(key.bytes(), "label", {bytes_of("a"), bytes_of("bc")}).bytes()),
            "efcb773a932402ccddcb848406ad095ab064718432f1e55cc525df7adf132487");
}

TEST(Crypto, PartsOfAHashCannotRunIntoEachOther) {
  std::set<Digest> all;
  all.insert(hash_of("ab", {}));
  all.insert(hash_of("a", {bytes_of("b")}));
  all.insert(hash_of("", {bytes_of("ab")}));
  all.insert(hash_of("", {bytes_of("a"), bytes_of("b")}));
  all.insert(hash_of("", {bytes_of("ab"), {}}));
  all.insert(hash_of("", {{}, bytes_of("ab")}));
  EXPECT_EQ(all.size(), 6U);
}

TEST(Crypto, ASignatureIsForOneMessageAndOneSigner) {
  const Identity ada = Identity::make(), bob = Identity::make();
  Signature signature = ada.sign(bytes_of("hello"));
  EXPECT_TRUE(verify(ada.public_key(), bytes_of("hello"), signature));
  EXPECT_FALSE(verify(bob.public_key(), bytes_of("hello"), signature));
  EXPECT_FALSE(verify(ada.public_key(), bytes_of("hellp"), signature));
  signature[0] ^= std::byte{1};
  EXPECT_FALSE(verify(ada.public_key(), bytes_of("hello"), signature));
}

TEST(Crypto, AnIdentityCanAlsoExchangeKeys) {
  const Identity ada = Identity::make();
  const ExchangePair pair = ExchangePair::make();
  const auto ada_exchange = exchange_key_of(ada.public_key());
  ASSERT_TRUE(ada_exchange);
  EXPECT_EQ(*ada_exchange, ada.exchange().public_key());
  const auto here = pair.shared_with(*ada_exchange), there = ada.exchange().shared_with(pair.public_key());
  ASSERT_TRUE(here && there);
  EXPECT_TRUE(equal_in_constant_time(here->bytes(), there->bytes()));
  EXPECT_FALSE(exchange_key_of(PublicKey{}));
  EXPECT_FALSE(pair.shared_with(ExchangeKey{}));
}

TEST(Crypto, AFingerprintIsEightGroupsAndDiffersBetweenPeople) {
  const Identity ada = Identity::make();
  const std::string text = fingerprint(ada.public_key());
  EXPECT_EQ(text.size(), 8 * 4 + 7U);
  EXPECT_EQ(std::ranges::count(text, ' '), 7);
  EXPECT_EQ(text, fingerprint(ada.public_key()));
  EXPECT_NE(text, fingerprint(Identity::make().public_key()));
}

TEST(Crypto, AWipedSecretIsGone) {
  Secret<32> secret;
  random_bytes(secret.bytes());
  EXPECT_FALSE(equal_in_constant_time(secret.bytes(), Secret<32>().bytes()));
  secret.wipe();
  EXPECT_TRUE(equal_in_constant_time(secret.bytes(), Secret<32>().bytes()));
}

TEST(IdentityFile, StaysTheSameAndIsPrivate) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "new" / "identity";
  const Identity first = Identity::load_or_make(file);
  EXPECT_EQ(Identity::load_or_make(file).public_key(), first.public_key());
  EXPECT_TRUE(verify(first.public_key(), bytes_of("x"), Identity::load_or_make(file).sign(bytes_of("x"))));
  struct stat info {};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}), 1);
}

TEST(IdentityFile, OneThatOthersCanReadIsRefused) {
  const TemporaryFolder folder;
  Identity::load_or_make(folder / "identity");
  ASSERT_EQ(::chmod((folder / "identity").c_str(), 0640), 0);
  EXPECT_EQ(code_of([&] { Identity::load_or_make(folder / "identity"); }), ErrorCode::refused);
}

TEST(IdentityFile, ADamagedOneIsRefusedAndNotReplaced) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "identity";
  Identity::load_or_make(file);
  std::string content;
  std::getline(std::ifstream(file), content);
  content += '\n';
  const auto refused = [&](const std::string& damaged) {
    std::ofstream(file, std::ios::trunc) << damaged;
    return code_of([&] { Identity::load_or_make(file); }) == ErrorCode::damaged_file &&
           std::filesystem::file_size(file) == damaged.size();
  };
  for (std::size_t length = 0; length < content.size(); ++length) EXPECT_TRUE(refused(content.substr(0, length)));
  EXPECT_TRUE(refused(content + " "));
  for (const std::size_t place : {std::size_t{0}, std::size_t{30}}) {
    std::string typed = content;
    typed[place] = 'x';
    EXPECT_TRUE(refused(typed));
  }
}

TEST(IdentityFile, WhatIsNoFileIsRefused) {
  const TemporaryFolder folder;
  EXPECT_NE(code_of([&] { Identity::load_or_make(folder.path()); }), std::nullopt);
  Identity::load_or_make(folder / "identity");
  std::filesystem::create_symlink(folder / "identity", folder / "link");
  EXPECT_EQ(code_of([&] { Identity::load_or_make(folder / "link"); }), ErrorCode::io);
  EXPECT_EQ(code_of([&] { Identity::load_or_make("/proc/identity"); }), ErrorCode::io);
}

TEST(IdentityFile, ProgramsThatStartAtOnceGetTheSame) {
  constexpr int k_programs = 6;
  const TemporaryFolder folder;
  int line[2];
  ASSERT_EQ(::pipe(line), 0);
  for (int i = 0; i < k_programs; ++i)
    if (::fork() == 0) {
      const PublicKey key = Identity::load_or_make(folder / "identity").public_key();
      ::_exit(::write(line[1], &key, sizeof key) == sizeof key ? 0 : 1);
    }
  std::set<PublicKey> found;
  for (int i = 0; i < k_programs; ++i) {
    int status = 1;
    ASSERT_GT(::wait(&status), 0);
    ASSERT_EQ(status, 0);
    PublicKey key;
    ASSERT_EQ(::read(line[0], &key, sizeof key), static_cast<ssize_t>(sizeof key));
    found.insert(key);
  }
  ::close(line[0]);
  ::close(line[1]);
  EXPECT_EQ(found.size(), 1U);
  EXPECT_TRUE(found.contains(Identity::load_or_make(folder / "identity").public_key()));
}

}  // namespace
}  // namespace cotouch::this_file
