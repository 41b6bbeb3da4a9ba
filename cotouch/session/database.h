// SQLite in a few words: statements that end themselves, and errors that are thrown. What a user is told about them is
// up to whoever has the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace cotouch {

class DatabaseError : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t { full, damaged, foreign, other };

  DatabaseError(int code, const std::string& reason);
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

class Statement {
 public:
  Statement(sqlite3* database, const char* sql);

  // Parameters count from 1, columns from 0.
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind(int parameter, std::span<const std::byte> bytes);
  // To the next row; false once there is none. After that the statement may be bound and run again.
  bool next();
  void run();  // to its end

  // What is there is converted as SQLite does it; a view is valid until the next row.
  bool has(int column) const;  // false: NULL
  std::int64_t number(int column) const;
  std::string text(int column) const;
  std::span<const std::byte> bytes(int column) const;

 private:
  struct End {
    void operator()(sqlite3_stmt* statement) const;
  };
  void check(int code) const;

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, End> statement_;
};

class Database {
 public:
  enum class Access : std::uint8_t {
    read,
    read_unchanging,  // from a folder in which nothing can be written, of a file that nobody writes
    write,            // it must exist
  };
  Database(const std::filesystem::path& file, Access access);

  void run(const char* sql) { prepare(sql).run(); }
  Statement prepare(const char* sql) { return {database_.get(), sql}; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace cotouch
