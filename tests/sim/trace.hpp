// SPDX-License-Identifier: Apache-2.0
// Events of a simulated world as lines of text, and the functions that write requests and reports.
#pragma once

#include "support/clocks.hpp"

#include <holdfast/memory/server.hpp>
#include <holdfast/observer.hpp>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::sim {

// Events of a simulated world. A line is cheap to write, because most worlds have no failure, and
// readable.

/// Subject of a line in the trace. Clients, actors, names and servers have numbers; -1 means none.
struct subject {
    int client = -1;
    int actor = -1;
    int name = -1;
    int server = -1; ///< number of the server, if there are several
};

class trace {
public:
    explicit trace(const sim_clock& time)
        : time_{time} {}

    /// Adds a line. `what` is a string literal; `a` and `b` replace its `{}`.
    void note(subject who, const char* what, std::int64_t a = 0, std::int64_t b = 0);
    void note(subject who, const char* what, duration a, duration b = {}) {
        note(who, what, a.count(), b.count());
    }

    /// Returns the hash of all lines and their times. Two equal runs have equal hashes.
    std::uint64_t hash() const;
    std::size_t size() const { return lines_.size(); }

    /// Returns all different texts `what` of the lines.
    std::set<std::string_view> kinds() const;

    /// Prints the lines about the name with this number, and the lines without a name. Prints all
    /// lines if the number is negative.
    void print(std::ostream&, int only_name) const;
    /// Prints only the last of the lines that `print` would print.
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

// Writes requests, holders and the clients' reports as lines of a trace.

struct sighting;

/// Observer that writes the reports of a client to the trace.
class telling final : public observer {
public:
    telling(trace& log, int client, std::function<void(const event&)> heard)
        : log_{log}
        , client_{client}
        , heard_{std::move(heard)} {}
    void notify(const event&) noexcept override;

private:
    trace& log_;
    const int client_;
    std::function<void(const event&)> heard_;
};

/// Writes a request to the trace. `from` is the client. If there are several servers, `from` also
/// contains the server of the request.
void tell_of_request(trace&, subject from, const memory::request&, const memory::fate&,
                     bool troubled);
void tell_of_holder(trace&, subject lock, int client, const sighting&);

} // namespace holdfast::sim
