// SPDX-License-Identifier: Apache-2.0
// Events of a simulated world. A line is cheap to write, because most worlds have no failure, and
// readable.
#pragma once

#include "support/sim_clock.hpp"

#include <cstdint>
#include <iosfwd>
#include <set>
#include <string_view>
#include <vector>

namespace holdfast::sim {

/// Subject of a line. Clients, their actors, names and servers are numbered; -1 means none.
struct subject {
    int client = -1;
    int actor = -1;
    int name = -1;
    int server = -1; ///< if there are several
};

class trace {
public:
    explicit trace(const sim_clock& time)
        : time_{time} {}

    /// `what` is a literal; its `{}` are replaced by `a` and `b`.
    void note(subject who, const char* what, std::int64_t a = 0, std::int64_t b = 0);
    void note(subject who, const char* what, duration a, duration b = {}) {
        note(who, what, a.count(), b.count());
    }

    /// Returns the hash of all lines with their times. Equal runs have equal hashes.
    std::uint64_t hash() const;
    std::size_t size() const { return lines_.size(); }

    /// Returns each `what` that was noted.
    std::set<std::string_view> kinds() const;

    /// Prints the lines about the name of that number, or about none; all lines if it is negative.
    void print(std::ostream&, int only_name) const;
    /// Prints the last ones of those lines.
    void print_end(std::ostream&, int only_name, std::size_t lines) const;

private:
    struct line {
        time_point at;
        subject who;
        const char* what;
        std::int64_t a, b;
    };
    void print(std::ostream&, const line&) const;
    static bool is_about(const line&, int name);

    const sim_clock& time_;
    const time_point start_ = time_.now();
    std::vector<line> lines_;
};

} // namespace holdfast::sim
