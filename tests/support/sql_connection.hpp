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
    unsigned code; ///< for example 1205
};

/// Session with MariaDB or MySQL by blocking calls, as an operator uses it. For what a test does
/// without the library.
class sql_connection {
public:
    using row = std::vector<std::optional<std::string>>;
    using rows = std::vector<row>;

    struct login {
        std::string user = "root";
        std::string password{};
        std::string schema{};
        bool counts_matched_rows = false; ///< CLIENT_FOUND_ROWS
    };

    /// Throws `sql_error`, also if no server listens (2002).
    sql_connection(const std::filesystem::path& socket, const login&);

    /// Runs a statement. Returns the selected rows; empty for other statements. Throws `sql_error`.
    rows run(const std::string& statement);
    /// Returns the first value of the first row; "" for NULL or if there is no row.
    std::string value(const std::string& statement);

    std::uint64_t changed() const;   ///< rows changed by the last statement
    std::uint64_t insert_id() const; ///< of the last statement
    std::uint64_t id() const;        ///< as KILL takes it

private:
    struct closes {
        void operator()(st_mysql*) const noexcept;
    };
    std::unique_ptr<st_mysql, closes> handle_;
};

} // namespace holdfast::support
