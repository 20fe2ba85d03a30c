// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/schema.hpp"

namespace holdfast::mysql {
namespace {

// Names and owners are columns of bytes. They have no collation, are case-sensitive, and keep
// trailing blanks. A new or free row has an expiry one hour in the past. An earlier expiry is not
// possible, because a sweep deletes rows that expired a day ago.

constexpr const char* lock_columns = R"(
  name    VARBINARY(255)  NOT NULL PRIMARY KEY,
  owner   VARBINARY(64)   NOT NULL DEFAULT '',
  kind    TINYINT         NOT NULL DEFAULT 0,
  expires DATETIME(6)     NOT NULL,
  token   BIGINT UNSIGNED NOT NULL DEFAULT 0,
  touched VARBINARY(96)   NOT NULL DEFAULT '',
  info    VARBINARY(255)  NOT NULL DEFAULT ''
)";

constexpr const char* hold_columns = R"(
  name    VARBINARY(255)  NOT NULL,
  kind    TINYINT         NOT NULL,
  owner   VARBINARY(64)   NOT NULL,
  expires DATETIME(6)     NOT NULL,
  token   BIGINT UNSIGNED NOT NULL DEFAULT 0,
  beside  VARBINARY(64)   NOT NULL DEFAULT '',
  info    VARBINARY(255)  NOT NULL DEFAULT '',
  PRIMARY KEY (name, kind, owner)
)";

constexpr const char* counter_columns = R"(
  name    VARBINARY(255)  NOT NULL,
  kind    TINYINT         NOT NULL,
  value   BIGINT          NULL,
  expires DATETIME(6)     NULL,
  token   BIGINT UNSIGNED NOT NULL DEFAULT 0,
  touched VARBINARY(96)   NOT NULL DEFAULT '',
  PRIMARY KEY (name, kind)
)";

constexpr const char* request_columns = R"(
  name    VARBINARY(255)  NOT NULL,
  kind    TINYINT         NOT NULL,
  request VARBINARY(64)   NOT NULL,
  done    TINYINT         NOT NULL,
  beyond  TINYINT         NOT NULL,
  value   BIGINT          NOT NULL,
  expires DATETIME(6)     NOT NULL,
  PRIMARY KEY (name, kind, request)
)";

constexpr const char* identity_columns = R"(
  one     TINYINT         NOT NULL PRIMARY KEY,
  id      VARBINARY(64)   NOT NULL
)";

std::string table(const std::string& name, const char* columns) {
    return "CREATE TABLE IF NOT EXISTS " + name + " (" + columns + ") ENGINE=InnoDB";
}

} // namespace

std::vector<std::string> making(const tables& named) {
    return {table(named.locks, lock_columns),
            table(named.holds, hold_columns),
            table(named.counters, counter_columns),
            table(named.requests, request_columns),
            table(named.identity, identity_columns),
            "INSERT INTO " + named.identity +
                " (one, id) SELECT 1, CAST(UUID() AS BINARY) FROM DUAL WHERE NOT EXISTS "
                "(SELECT 1 FROM " +
                named.identity + " AS already)"};
}

std::string ddl(const tables& named) {
    std::string all;
    for (const std::string& each : making(named))
        all.append(each).append(";\n");
    return all;
}

} // namespace holdfast::mysql
