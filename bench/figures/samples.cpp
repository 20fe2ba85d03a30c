// SPDX-License-Identifier: Apache-2.0
#include "bench/figures/samples.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace holdfast::bench {
namespace {

constexpr std::string_view failed = "failed ";

[[noreturn]] void refuse(std::string_view line) {
    throw std::runtime_error{"this is no answer: " + std::string{line.substr(0, 200)}};
}

/// Parses whole numbers (0 or greater) that are separated by one space.
std::vector<long long> numbers_in(std::string_view line) {
    std::vector<long long> numbers;
    const char* at = line.data();
    const char* const end = at + line.size();
    for (;;) {
        long long number = 0;
        const auto [behind, error] = std::from_chars(at, end, number);
        if (error != std::errc{} || number < 0)
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

std::string line_of(const tally& all) {
    std::string line = std::to_string(all.done) + ' ' + std::to_string(all.elapsed.count());
    for (const nanoseconds sample : all.samples)
        line += ' ' + std::to_string(sample.count());
    return line;
}

std::string line_of_failure(std::string why) {
    std::replace(why.begin(), why.end(), '\n', ' ');
    return std::string{failed} + why;
}

} // namespace holdfast::bench
