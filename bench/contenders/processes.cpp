// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/contender.hpp"
#include "bench/contenders/other_programs.hpp"
#include "support/child_process.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

// Commands that run under a lock. Each command starts a process of `holdfast run` or flock(1).

namespace holdfast::bench {
namespace {

using words = std::vector<std::string>;

/// Contender that runs commands under a lock. `begin` is the program that takes the lock, with its
/// options.
class locked_commands : public contender {
public:
    locked_commands(words begin, long long scripts_each)
        : begin_{std::move(begin)}
        , scripts_each_{scripts_each} {}

    tally run(nanoseconds length) override {
        tally all;
        all.elapsed = time_of([&] {
            const auto end = stopwatch::now() + length;
            do {
                all.samples.push_back(time_of([&] { run_true(); }));
                ++all.done;
            } while (stopwatch::now() < end);
        });
        memory_kb_ = look_at_memory();
        return all;
    }

    claim scripts_for(const tally& all) const override {
        // Add one to `all.done`, because `look_at_memory` has run one more command.
        const long long scripts = scripts_each_ * (all.done + 1);
        return {scripts, scripts};
    }

    double memory_kb() const override { return memory_kb_; }

private:
    words with(words command) const {
        words all = begin_;
        all.insert(all.end(), command.begin(), command.end());
        return all;
    }

    void run_true() const {
        words all = with({"true"});
        pid_t child = 0;
        int status = 0;
        if (::posix_spawnp(&child, all.front().c_str(), nullptr, nullptr,
                           support::pointers_to(all).data(), environ) != 0 ||
            ::waitpid(child, &status, 0) != child || status != 0)
            throw std::runtime_error{all.front() + " did not run its command"};
    }

    /// Returns the memory of the process that holds the lock. The command that runs under the lock
    /// reads it from its parent process in /proc.
    double look_at_memory() const {
        support::child_process holder{with({"sh", "-c", "exec grep VmRSS: /proc/$PPID/status"}),
                                      "/dev/null"};
        const auto line = holder.next_line(); // for example "VmRSS: 1408 kB"
        if (holder.wait() != 0 || !line || !line->starts_with("VmRSS:"))
            throw std::runtime_error{begin_.front() + ": nobody told what memory it uses"};
        return std::stod(line->substr(sizeof "VmRSS:" - 1));
    }

    const words begin_;
    const long long scripts_each_;
    double memory_kb_ = 0;
};

/// Returns the path of the program `holdfast`, which the same build has created.
std::string holdfast_program() {
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const auto there = here.parent_path() / "cli" / "holdfast";
    return exists(there) ? there.string() : throw not_here{"there is no " + there.string()};
}

} // namespace

made holdfast_commands(const arena& where) {
    return std::make_unique<locked_commands>(
        words{holdfast_program(), "run", "--url", where.url(), name_of_lock(0), "--"}, 2);
}

made flock_commands(const arena& where) {
    if (std::filesystem::exists("/usr/bin/flock"))
        return std::make_unique<locked_commands>(
            words{"flock", (where.home.folder() / "flock").string()}, 0);
    throw not_here{"there is no flock, which is in util-linux"};
}

// Processes that all want one fair lock all the time, and wait in the server's queue.

namespace {

using namespace std::chrono_literals;

class queue : public contender {
public:
    /// Adds a process with `waiters` waiting threads. In a JVM each thread has its own client.
    void join(peer& who, int waiters) { all_.push_back({who, waiters}); }

    tally run(nanoseconds length) final {
        for (const member& each : all_)
            each.process.begin("fair", each.waiters, length);
        tally together;
        for (const member& each : all_) {
            const tally one = each.process.finish();
            together.done += one.done;
            together.elapsed = std::max(together.elapsed, one.elapsed);
            together.samples.insert(together.samples.end(), one.samples.begin(), one.samples.end());
        }
        return together;
    }

    /// There is no maximum number of scripts, because each waiter makes at least one failed
    /// attempt.
    claim scripts_for(const tally& all) const final {
        return {2 * all.done, std::numeric_limits<long long>::max()};
    }

    double cpu_seconds() const final {
        double sum = 0;
        for (const member& each : all_)
            sum += each.process.cpu_seconds();
        return sum;
    }

private:
    struct member {
        peer& process;
        int waiters;
    };
    std::vector<member> all_;
};

/// The fair lock of holdfast, with one process for each waiter.
class our_queue final : public queue {
public:
    explicit our_queue(const arena& where) {
        const std::vector<std::string> command{"/proc/self/exe", "--neighbour", where.url()};
        for (int i = 0; i < where.at_once; ++i)
            join(processes_.emplace_back(command, where.home.folder() / "neighbour.log"), 1);
    }

private:
    std::deque<peer> processes_; // a deque does not move its elements
};

/// Maximum number of JVMs. On a machine with few cores, the JIT compilers of more JVMs would never
/// finish.
constexpr int jvms_at_most = 2;

/// Runs until the JIT compiler has compiled all functions of the measurement.
void warm_up(peer& java) {
    java.begin("fair", 8, 5s);
    java.finish();
}

} // namespace

made holdfast_fair(const arena& where) {
    return std::make_unique<our_queue>(where);
}

made redisson_fair(const arena& where) {
    auto all = std::make_unique<queue>();
    const int jvms = std::min(where.at_once, jvms_at_most);
    for (int i = 0; i < jvms; ++i) {
        peer& java = where.java.process(i);
        warm_up(java);
        all->join(java, where.at_once / jvms + (i < where.at_once % jvms ? 1 : 0));
    }
    return all;
}

} // namespace holdfast::bench
