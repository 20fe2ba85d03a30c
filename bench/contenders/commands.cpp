// SPDX-License-Identifier: Apache-2.0
// Commands under a lock, from the shell. Each command starts a process of `holdfast run` or
// flock(1).
#include "bench/contenders/arena.hpp"
#include "bench/contenders/redisson.hpp"
#include "bench/contenders/threads.hpp"
#include "support/child_process.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::bench {
namespace {

using words = std::vector<std::string>;

/// Contender that runs commands under a lock. `begin` is the command line before the command that
/// runs under the lock.
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
        // plus the command that measured the memory
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

    /// Returns the memory of the process that holds the lock. The command under the lock reads it.
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

} // namespace holdfast::bench
