// SPDX-License-Identifier: Apache-2.0
// `./dev sim`: runs random simulations (worlds), one per seed, on all cores.
//
//     sim_explore [--together|--quorum|--replicas|--sessions|--all] [--seeds N] [--from S|--fresh]
//                 [--minutes M] [--jobs J] [--trace|--hashes] [--first]
//
// --together: programs that take several locks as one. --quorum: one lock, on several servers.
// --replicas: a server with replicas, and failovers to them. --sessions: a server that keeps holds
// as long as their client's session. --all: N seeds of the plain world, then N/4 of each other one.
// --fresh: begins at a random number, and prints it. --hashes: prints the hash of each trace, to
// compare two versions. --first: stops at the first failure of a world (otherwise at the third).
//
// Exit status: 0 when every invariant held, 1 when one broke, 2 for a wrong argument.
#include "sim/checkers/exclusion.hpp"
#include "sim/several/staging.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace holdfast;
using wall = std::chrono::steady_clock;

constexpr std::uint64_t jobs_max = 256;
constexpr std::size_t failures_listed_max = 16;

struct world_option {
    std::string_view option;
    sim::repertoire of;
};
constexpr std::array worlds{world_option{"", sim::repertoire::single},
                            world_option{"--together", sim::repertoire::together},
                            world_option{"--quorum", sim::repertoire::quorum},
                            world_option{"--replicas", sim::repertoire::replicas},
                            world_option{"--sessions", sim::repertoire::sessions}};

struct wishes {
    std::uint64_t seeds = 500;
    std::uint64_t from = 1;
    std::optional<std::uint64_t> minutes;
    std::uint64_t jobs = std::max(1U, std::thread::hardware_concurrency());
    bool trace = false;
    bool hashes = false;
    bool all = false;
    std::uint64_t failures_max = 3; ///< number of failures in one world after which the run ends
    world_option world = worlds[0];
};

/// Returns the number in `text`, or nothing if `text` is not a number.
std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

bool understand_flag(std::string_view word, wishes& w) {
    if (word == "--trace")
        return w.trace = true;
    if (word == "--hashes")
        return w.hashes = true;
    if (word == "--all")
        return w.all = true;
    if (word == "--first") {
        w.failures_max = 1;
        return true;
    }
    if (word == "--fresh") {
        w.from = 4'000'000'000 + std::random_device{}(); // greater than every seed in seeds.txt
        return true;
    }
    const auto named = std::ranges::find(worlds, word, &world_option::option);
    if (named == worlds.end() || word.empty())
        return false;
    w.world = *named;
    return true;
}

std::optional<wishes> understand(const std::vector<std::string_view>& words) {
    wishes w;
    bool counted = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (understand_flag(words[i], w))
            continue;
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
        } else if (words[i] == "--jobs" && *value >= 1 && *value <= jobs_max) {
            w.jobs = *value;
        } else {
            return std::nullopt;
        }
        ++i;
    }
    if (w.minutes && !counted)
        w.seeds = ~std::uint64_t{0} - w.from;
    return w;
}

/// Memory that the processes of one run share.
struct shared_state {
    std::atomic<std::uint64_t> next{0}; ///< next seed to play, counted from the first seed
    std::atomic<std::uint64_t> played{0};
    std::atomic<std::uint64_t> failed{0};
    /// number of seeds in which two clients believed that they hold one lock
    std::atomic<std::uint64_t> with_two{0};
    std::atomic_flag writing{};
    /// seed that each process plays now
    std::array<std::atomic<std::uint64_t>, jobs_max> seed_of{};
    /// the first seeds that failed; `failed` is their number
    std::array<std::atomic<std::uint64_t>, failures_listed_max> failed_seeds{};
};

class run {
public:
    explicit run(const wishes& w)
        : w_{w}
        , state_{share()} {}
    run(const run&) = delete;
    ~run() {
        state_->~shared_state();
        ::munmap(state_, sizeof(shared_state));
    }

    /// Plays all seeds. Returns whether every invariant held.
    bool play_all() {
        if (w_.trace || w_.jobs == 1 || w_.seeds <= 1)
            play_some(0, true);
        else
            play_in_processes();
        print_rate();
        print_failed_seeds();
        if (w_.world.of == sim::repertoire::replicas && !w_.hashes)
            std::cout << "in " << state_->with_two << " of these two believed at once, where not "
                      << "all replicas had to confirm it" << std::endl;
        return state_->failed == 0;
    }

private:
    static shared_state* share() {
        void* const memory = ::mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            std::cerr << "sim_explore: no shared memory\n";
            std::exit(1);
        }
        return new (memory) shared_state;
    }

    bool is_over() const {
        return state_->failed >= w_.failures_max ||
               (w_.minutes && wall::now() - start_ >= std::chrono::minutes{*w_.minutes});
    }

    /// Plays seeds that no other process has begun, until none is left.
    void play_some(std::size_t job, bool prints_rate) {
        while (!is_over()) {
            const std::uint64_t index = state_->next++;
            if (index >= w_.seeds)
                return;
            state_->seed_of[job] = w_.from + index;
            play(w_.from + index);
            if (prints_rate)
                print_rate_now_and_then();
        }
    }

    void play(std::uint64_t seed) {
        std::ostringstream told;
        const auto how = w_.trace ? sim::telling_of::everything : sim::telling_of::failures;
        const sim::result r = sim::play(w_.world.of, seed, told, how);
        if (w_.hashes)
            told << w_.world.option << (w_.world.option.empty() ? "" : " ") << seed << ' '
                 << std::hex << r.hash << std::dec << ' ' << r.events << '\n';
        print(told.str());
        if (r.broken)
            count_failure(seed);
        state_->with_two += r.seen.contains(sim::two_believe) ? 1 : 0;
        ++state_->played;
    }

    void count_failure(std::uint64_t seed) {
        const std::uint64_t index = state_->failed++;
        if (index < failures_listed_max)
            state_->failed_seeds[index] = seed;
    }

    /// Prints a text. The output of other processes cannot interrupt it.
    void print(const std::string& text) {
        if (text.empty())
            return;
        while (state_->writing.test_and_set())
            std::this_thread::yield();
        std::cout << text << std::flush;
        state_->writing.clear();
    }

    void play_in_processes() {
        std::vector<pid_t> running;
        for (std::size_t job = 0; job < w_.jobs; ++job) {
            const pid_t child = ::fork();
            if (child < 0) {
                std::cerr << "sim_explore: a process could not be started\n";
                break;
            }
            if (child == 0) {
                play_some(job, false);
                std::_Exit(0);
            }
            running.push_back(child);
        }
        std::size_t left = running.size();
        while (left > 0) {
            for (std::size_t job = 0; job < running.size(); ++job)
                left -= running[job] != 0 && has_ended(running[job], job) ? 1 : 0;
            print_rate_now_and_then();
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
        }
        if (running.empty())
            ++state_->failed;
    }

    /// Returns whether the process has ended. If a signal has ended it, counts a failure and prints
    /// its seed.
    bool has_ended(pid_t& child, std::size_t job) {
        int status = 0;
        if (::waitpid(child, &status, WNOHANG) != child)
            return false;
        child = 0;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return true;
        count_failure(state_->seed_of[job]);
        std::ostringstream told;
        told << "THE PROGRAM ENDED with status " << status << " while it played seed "
             << state_->seed_of[job] << "\n  see it again: ./dev sim " << w_.world.option
             << " --seeds 1 --from " << state_->seed_of[job] << '\n';
        print(told.str());
        return true;
    }

    void print_rate_now_and_then() {
        if (wall::now() < next_)
            return;
        next_ = wall::now() + rate_period_;
        print_rate();
    }
    void print_rate() const {
        const double seconds = std::chrono::duration<double>{wall::now() - start_}.count();
        const double rate = static_cast<double>(state_->played) / (seconds > 0 ? seconds : 1);
        std::cerr << w_.world.option << (w_.world.option.empty() ? "" : ": ") << state_->played
                  << " seeds, " << state_->failed << " failed, " << static_cast<std::uint64_t>(rate)
                  << " seeds/s\n";
    }

    /// Prints the failed seeds again at the end, because a log may show only its last lines.
    void print_failed_seeds() const {
        const std::size_t listed =
            std::min<std::size_t>(state_->failed, state_->failed_seeds.size());
        for (std::size_t i = 0; i < listed; ++i)
            std::cerr << "failed: ./dev sim " << w_.world.option << " --seeds 1 --from "
                      << state_->failed_seeds[i] << '\n';
    }

    const wishes w_;
    const wall::time_point start_ = wall::now();
    const std::chrono::seconds rate_period_{::isatty(STDERR_FILENO) != 0 ? 2 : 60};
    wall::time_point next_ = start_ + rate_period_;
    shared_state* const state_;
};

bool explore(wishes w) {
    std::cerr << "seeds from " << w.from << " on, in " << w.jobs << " processes\n";
    if (!w.all)
        return run{w}.play_all();
    const std::uint64_t seeds = w.seeds;
    bool held = true;
    for (const world_option& each : worlds) {
        w.world = each;
        w.seeds = each.option.empty() ? seeds : (seeds + 3) / 4;
        held = run{w}.play_all() && held;
    }
    return held;
}

} // namespace

int main(int argc, char** argv) {
    const auto w = understand({argv + 1, argv + argc});
    if (!w) {
        std::cerr << "usage: sim_explore [--together|--quorum|--replicas|--sessions|--all] "
                     "[--seeds N] [--from S|--fresh] [--minutes M] [--jobs J] "
                     "[--trace|--hashes] [--first]\n";
        return 2;
    }
    return explore(*w) ? 0 : 1;
}
