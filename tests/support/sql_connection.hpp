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

/// The server refused a statement.
struct sql_error : std::runtime_error {
    sql_error(unsigned number, const std::string& text)
        : std::runtime_error{std::to_string(number) + ": " + text}
        , code{number} {}
    unsigned code; ///< as 1205
};

/// A session with MariaDB or MySQL as its operator has it, by blocking calls: what a test does
/// beside the library.
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

    /// Throws `sql_error`, also where nobody listens (2002).
    sql_connection(const std::filesystem::path& socket, const login&);

    /// What it selects; empty for other statements. Throws `sql_error`.
    rows run(const std::string& statement);
    /// The first value of the first row. NULL and no row: "".
    std::string value(const std::string& statement);

    std::uint64_t changed() const;   ///< rows, by the last statement
    std::uint64_t insert_id() const; ///< of the last statement
    std::uint64_t id() const;        ///< as KILL takes it

private:
    struct closes {
        void operator()(st_mysql*) const noexcept;
    };
    std::unique_ptr<st_mysql, closes> handle_;
};

} // namespace holdfast::support
