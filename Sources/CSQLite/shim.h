#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <sqlite3.h>

/// Bind bytes, which SQLite copies (`SQLITE_TRANSIENT`, a cast that Swift does not import).
static inline int pawl_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  return count == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
                    : sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}
static inline int pawl_sqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  return sqlite3_bind_text(statement, index, count == 0 ? "" : (const char *)bytes, count, SQLITE_TRANSIENT);
}
/// Turns on defensive mode. Swift does not import `sqlite3_db_config`, which is variadic.
static inline int pawl_sqlite_defensive(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}
