#include <cotouch/session/database.h>

#include <sqlite3.h>

namespace cotouch {
namespace {

constexpr int k_longest_value = 256 << 20;  // bytes, of a row or a value
constexpr int k_patience_ms = 2000;         // for another program that has the file for a moment

DatabaseError::Kind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL: return DatabaseError::Kind::full;
    case SQLITE_CORRUPT: return DatabaseError::Kind::damaged;
    case SQLITE_NOTADB: return DatabaseError::Kind::foreign;
    default: return DatabaseError::Kind::other;
  }
}

// A file's name as SQLite takes it with options behind it.
std::string address_of(const std::filesystem::path& file) {
  constexpr const char* k_digits = "0123456789abcdef";
  std::string address = "file:";
  for (const char c : file.string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '%' || c == '?' || c == '#') {
      address += '%';
      address += k_digits[byte >> 4U];
      address += k_digits[byte & 15U];
    } else {
      address += c;
    }
  }
  return address;
}

}  // namespace

DatabaseError::DatabaseError(int code, const std::string& reason) : std::runtime_error(reason), kind_(kind_of(code)) {
}

void Statement::End::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) throw DatabaseError(code, sqlite3_errmsg(database_));
}

Statement::Statement(sqlite3* database, const char* sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database, sql, -1, &statement, nullptr);
  statement_.reset(statement);
  check(code);
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), parameter, value));
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  check(sqlite3_bind_text64(statement_.get(), parameter, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(int parameter, std::span<const std::byte> bytes) {
  const void* data = bytes.empty() ? static_cast<const void*>("") : bytes.data();  // no address would mean NULL
  check(sqlite3_bind_blob64(statement_.get(), parameter, data, bytes.size(), SQLITE_TRANSIENT));
  return *this;
}

bool Statement::next() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  const int end = sqlite3_reset(statement_.get());
  if (code != SQLITE_DONE) check(end != SQLITE_OK ? end : code);
  return false;
}

void Statement::run() {
  while (next()) {
  }
}

bool Statement::has(int column) const {
  return sqlite3_column_type(statement_.get(), column) != SQLITE_NULL;
}

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return text == nullptr ? std::string()
                         : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
}

std::span<const std::byte> Statement::bytes(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
  return data == nullptr ? std::span<const std::byte>()
                         : std::span(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
}

void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

Database::Database(const std::filesystem::path& file, Access access) {
  const int flags = access == Access::write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  const std::string address =
      address_of(std::filesystem::absolute(file)) + (access == Access::read_unchanging ? "?immutable=1" : "");
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(address.c_str(), &database, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK)
    throw DatabaseError(code, database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code));
  sqlite3_extended_result_codes(database, 1);
  sqlite3_busy_timeout(database, k_patience_ms);
  // The file may be a stranger's: nothing in it runs, and nothing in it is larger than we could have written.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, k_longest_value);
}

}  // namespace cotouch
