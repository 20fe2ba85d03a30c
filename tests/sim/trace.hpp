// SPDX-License-Identifier: Apache-2.0
// Trace of a simulation: its events as lines of text.
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

// Trace of a simulation. Adding a line is cheap, because most traces are never printed.

/// Who a line of the trace is about: numbers of a client, a caller in it, a lock and a server; -1
/// means none.
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

    /// Adds a line. `what` must be a string literal; `a` and `b` replace its `{}`.
    void note(subject who, const char* what, std::int64_t a = 0, std::int64_t b = 0);
    void note(subject who, const char* what, duration a, duration b = {}) {
        note(who, what, a.count(), b.count());
    }

    /// Returns the hash of all lines and their times, to compare two runs.
    std::uint64_t hash() const;
    std::size_t size() const { return lines_.size(); }

    /// Returns the different texts `what` of all lines.
    std::set<std::string_view> kinds() const;

    /// Prints the lines about the lock with this number, and those about no lock. Prints all lines
    /// if the number is negative.
    void print(std::ostream&, int only_name) const;
    /// Prints the last `lines` lines that `print` would print.
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

// Functions that add requests, holders and the clients' events to a trace.

struct sighting;

/// Observer that adds the events of a client to the trace.
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

/// Adds a request to the trace. `from` is its client and, if there are several servers, its server.
void tell_of_request(trace&, subject from, const memory::request&, const memory::fate&,
                     bool troubled);
void tell_of_holder(trace&, subject lock, int client, const sighting&);

} // namespace holdfast::sim
