// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/peer.hpp"

#include "bench/server/cpu.hpp"

#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// Timeout for the start of a JVM and for the end of a turn. Both take far less time, even on a
/// busy machine.
constexpr auto answers_within = 60s;

} // namespace

peer::peer(std::vector<std::string> command, std::filesystem::path log)
    : log_{std::move(log)}
    , process_{std::move(command), log_}
    , version_{answer()} {}

void peer::begin(const std::string& kind, int at_once, nanoseconds length,
                 const std::string& more_words) {
    process_.say(kind + " " + std::to_string(at_once) + " " + std::to_string(length.count()) +
                 more_words);
}

tally peer::finish() {
    return read_tally(answer());
}

std::string peer::answer() {
    if (process_.speaks_within(answers_within))
        if (std::optional<std::string> line = process_.next_line())
            return *std::move(line);
    std::ostringstream said;
    said << std::ifstream{log_}.rdbuf();
    throw std::runtime_error{"the other process has ended, or says nothing: " + said.str()};
}

double peer::cpu_seconds() const {
    return cpu_seconds_of(process_.id());
}

} // namespace holdfast::bench
