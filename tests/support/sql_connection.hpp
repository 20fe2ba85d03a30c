// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct st_mysql;

namespace holdfast::support {

/// Exception: the server refused a statement.
struct sql_error : std::runtime_error {
    sql_error(unsigned number, const std::string& text)
        : std::runtime_error{std::to_string(number) + ": " + text}
        , code{number} {}
    unsigned code; ///< error number of the server, for example 1205
};

/// Session with MariaDB or MySQL. It uses blocking calls and does not use holdfast. Tests use it in
/// the role of an operator.
class sql_connection {
public:
    using row = std::vector<std::optional<std::string>>;
    using rows = std::vector<row>;

    struct login {
        std::string user = "root";
        std::string password{};
        std::string schema{};
        /// make `changed` return matched rows (CLIENT_FOUND_ROWS)
        bool counts_matched_rows = false;
    };

    /// Connects. Throws `sql_error`, with code 2002 if no server listens.
    sql_connection(const std::filesystem::path& socket, const login&);

    /// Runs a statement. Returns the selected rows, or no rows for other statements. Throws
    /// `sql_error`.
    rows run(const std::string& statement);
    /// Returns the first value of the first row. Returns "" for NULL, or if there is no row.
    std::string value(const std::string& statement);

    std::uint64_t changed() const;   ///< number of rows that the last statement changed
    std::uint64_t insert_id() const; ///< insert id of the last statement
    std::uint64_t id() const;        ///< id of this session, for KILL

private:
    struct closes {
        void operator()(st_mysql*) const noexcept;
    };
    std::unique_ptr<st_mysql, closes> handle_;
};

} // namespace holdfast::support
