// SPDX-License-Identifier: Apache-2.0
#include "runtime/environment.hpp"

#include <holdfast/credentials.hpp>

#include <boost/system/system_error.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <optional>

#include <pthread.h>
#include <sys/random.h>

namespace holdfast {

credential_provider credentials_from_environment() {
    const char* const user = std::getenv("HOLDFAST_USERNAME");
    const char* const password = std::getenv("HOLDFAST_PASSWORD");
    if (!user && !password)
        return {};
    return [found = credentials{user ? user : "", password ? password : ""}] { return found; };
}

} // namespace holdfast

namespace holdfast::runtime {
namespace {

/// Random generator xoshiro256** (Blackman, Vigna). Its state has 256 bits, which is more than the
/// 128 bits of a client's identity.
struct generator {
    std::array<std::uint64_t, 4> state{};
    // Value of fork_generation() when the generator was seeded. Empty if the generator is not
    // seeded yet.
    std::optional<std::uint64_t> seeded_in{};

    std::uint64_t operator()() {
        const std::uint64_t result = std::rotl(state[1] * 5, 7) * 9;
        const std::uint64_t shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = std::rotl(state[3], 45);
        return result;
    }
};

void fill_from_kernel(std::array<std::uint64_t, 4>& state) {
    // getrandom() returns up to 256 bytes in one call. A signal can interrupt it only shortly after
    // boot, while the kernel still gathers entropy.
    while (::getrandom(state.data(), sizeof state, 0) != ssize_t{sizeof state})
        if (errno != EINTR)
            throw boost::system::system_error{errno, boost::system::system_category(), "getrandom"};
}

std::uint64_t draw() {
    thread_local generator own;
    const std::uint64_t now = fork_generation();
    if (own.seeded_in != now) {
        fill_from_kernel(own.state);
        own.seeded_in = now;
    }
    return own();
}

} // namespace

std::function<std::uint64_t()> system_random() {
    return draw;
}

namespace {

std::atomic<std::uint64_t> generation = 0;

} // namespace

std::uint64_t fork_generation() {
    static const int registered = pthread_atfork(
        nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
    (void)registered;
    return generation.load(std::memory_order_relaxed);
}

} // namespace holdfast::runtime
