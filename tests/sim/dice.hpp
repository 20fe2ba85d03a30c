// SPDX-License-Identifier: Apache-2.0
// Random numbers for all choices of a simulation, from one seed.
#pragma once

#include <holdfast/time.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace holdfast::sim {

/// Random numbers by xoshiro256**, seeded through splitmix64. The same seed gives the same numbers
/// on every machine and with every standard library.
class dice {
public:
    explicit dice(std::uint64_t seed) {
        for (std::uint64_t& word : state_)
            word = mix(seed += 0x9e3779b97f4a7c15);
    }

    std::uint64_t roll() {
        const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    std::size_t below(std::size_t limit) { return static_cast<std::size_t>(roll() % limit); }
    int between(int low, int high) {
        return low + static_cast<int>(below(static_cast<std::size_t>(high - low + 1)));
    }
    bool percent(int chance) { return between(0, 99) < chance; }
    duration between(duration low, duration high) {
        return low + duration{static_cast<duration::rep>(
                         below(static_cast<std::size_t>((high - low).count() + 1)))};
    }

    template <typename T>
    T one_of(std::initializer_list<T> choices) {
        return *(choices.begin() + below(choices.size()));
    }

    /// Returns independent dice for a part of the simulation, so that other parts do not change its
    /// numbers.
    dice split() { return dice{roll()}; }

private:
    static std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }

    std::array<std::uint64_t, 4> state_{};
};

} // namespace holdfast::sim
