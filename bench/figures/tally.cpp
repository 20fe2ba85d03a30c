// SPDX-License-Identifier: Apache-2.0
#include "bench/figures/tally.hpp"

#include <charconv>
#include <stdexcept>
#include <string>

namespace holdfast::bench {
namespace {

[[noreturn]] void refuse(std::string_view line) {
    throw std::runtime_error{"this is no answer: " + std::string{line.substr(0, 200)}};
}

/// The words are numbers from 0, one space between two.
std::vector<long long> numbers_in(std::string_view line) {
    std::vector<long long> numbers;
    const char* at = line.data();
    const char* const end = at + line.size();
    for (;;) {
        long long number = 0;
        const auto [behind, failed] = std::from_chars(at, end, number);
        if (failed != std::errc{} || number < 0)
            refuse(line);
        numbers.push_back(number);
        if (behind == end)
            return numbers;
        if (*behind != ' ')
            refuse(line);
        at = behind + 1;
    }
}

} // namespace

tally read_tally(std::string_view line) {
    constexpr std::string_view failed = "failed ";
    if (line.starts_with(failed))
        throw std::runtime_error{std::string{line.substr(failed.size())}};
    const std::vector<long long> numbers = numbers_in(line);
    if (numbers.size() < 2)
        refuse(line);
    tally told{.done = numbers[0], .elapsed = nanoseconds{numbers[1]}};
    for (std::size_t i = 2; i < numbers.size(); ++i)
        told.samples.emplace_back(numbers[i]);
    return told;
}

} // namespace holdfast::bench
