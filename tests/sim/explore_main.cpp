// SPDX-License-Identifier: Apache-2.0
// `./dev sim`: plays as many seeds as one has time for.
//
//     sim_explore [--together|--quorum|--replicas|--sessions] [--seeds N] [--from S] [--minutes M]
//                 [--trace] [--first]
//
// --together: programs that take several locks as one. --quorum: one lock, on several servers.
// --replicas: a server with replicas, and failovers to them. --sessions: one that keeps holds as
// long as their client's session. --first: stop at the first failure (three otherwise).
//
// Exit status: 0 when every invariant held, 1 when one broke, 2 for a wrong argument.
#include "sim/checkers/exclusion.hpp"
#include "sim/several/staging.hpp"

#include <charconv>
#include <chrono>
#include <iostream>
#include <optional>
#include <string_view>
#include <vector>

namespace {

using namespace holdfast;
using wall = std::chrono::steady_clock;

struct wishes {
    std::uint64_t seeds = 500;
    std::uint64_t from = 1;
    std::optional<std::uint64_t> minutes;
    bool trace = false;
    std::uint64_t failures_max = 3; // what comes after them is of little use to anybody
    sim::repertoire of = sim::repertoire::single;
};

/// Nothing if it is no number.
std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::optional<sim::repertoire> repertoire_of(std::string_view word) {
    if (word == "--together")
        return sim::repertoire::together;
    if (word == "--quorum")
        return sim::repertoire::quorum;
    if (word == "--replicas")
        return sim::repertoire::replicas;
    if (word == "--sessions")
        return sim::repertoire::sessions;
    return std::nullopt;
}

std::optional<wishes> understand(const std::vector<std::string_view>& words) {
    wishes w;
    bool counted = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--trace") {
            w.trace = true;
            continue;
        }
        if (words[i] == "--first") {
            w.failures_max = 1;
            continue;
        }
        if (const auto of = repertoire_of(words[i])) {
            w.of = *of;
            continue;
        }
        if (i + 1 == words.size())
            return std::nullopt;
        const std::optional<std::uint64_t> value = number(words[i + 1]);
        if (!value)
            return std::nullopt;
        if (words[i] == "--seeds") {
            w.seeds = *value;
            counted = true;
        } else if (words[i] == "--from") {
            w.from = *value;
        } else if (words[i] == "--minutes") {
            w.minutes = *value;
        } else {
            return std::nullopt;
        }
        ++i;
    }
    if (w.minutes && !counted)
        w.seeds = ~std::uint64_t{0} - w.from;
    return w;
}

class progress {
public:
    void played(std::uint64_t seeds, std::uint64_t failed) {
        const auto now = wall::now();
        if (now < next_)
            return;
        next_ = now + std::chrono::seconds{2};
        tell(seeds, failed);
    }
    void tell(std::uint64_t seeds, std::uint64_t failed) const {
        const double seconds = std::chrono::duration<double>{wall::now() - start_}.count();
        const double rate = static_cast<double>(seeds) / (seconds > 0 ? seconds : 1);
        std::cerr << seeds << " seeds, " << failed << " failed, "
                  << static_cast<std::uint64_t>(rate) << " seeds/s\n";
    }
    bool past(std::optional<std::uint64_t> minutes) const {
        return minutes && wall::now() - start_ >= std::chrono::minutes{*minutes};
    }

private:
    const wall::time_point start_ = wall::now();
    wall::time_point next_ = start_ + std::chrono::seconds{2};
};

int explore(const wishes& w) {
    const progress so_far;
    progress shown;
    std::uint64_t played = 0;
    std::uint64_t failed = 0;
    std::uint64_t with_two = 0;
    while (played < w.seeds && failed < w.failures_max && !so_far.past(w.minutes)) {
        const auto how = w.trace ? sim::telling_of::everything : sim::telling_of::failures;
        const sim::result r = sim::play(w.of, w.from + played, std::cout, how);
        failed += r.broken ? 1 : 0;
        with_two += r.seen.contains(sim::two_believe) ? 1 : 0;
        ++played;
        shown.played(played, failed);
    }
    so_far.tell(played, failed);
    if (w.of == sim::repertoire::replicas)
        std::cout << "in " << with_two << " of these two believed at once, where not all replicas "
                  << "had to confirm it\n";
    return failed == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    const auto w = understand({argv + 1, argv + argc});
    if (!w) {
        std::cerr << "usage: sim_explore [--together|--quorum|--replicas|--sessions] [--seeds N] "
                     "[--from S] [--minutes M] [--trace] [--first]\n";
        return 2;
    }
    return explore(*w);
}
