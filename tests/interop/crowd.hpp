// SPDX-License-Identifier: Apache-2.0
// Processes with many workers at one server, and the turns that the stress tests give to them.
#pragma once

#include "interop/counter_histories.hpp"
#include "interop/history.hpp"
#include "interop/remote.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::interop {

// Processes of both sides, full of workers, at one server; any of them may be killed at any time.

/// One way to take a lock, and what to do with it. `timeout`: −1 ms for ever, 0 one attempt.
/// `lease`: 0 for renewed. `hold` and `pause`: at most so long, drawn at random. `depth`: how often
/// the lock is entered, how many permits are drawn, or to which count a latch is set. `cancel`: the
/// wait is called off after so long; −1 ms never. `object`: which lock, as for a call; `suffix`
/// comes behind the name. `downgrade`: a writer goes on as a reader. `rest`: a latch is set in
/// every other stretch of so long alone, and 0 at any time.
struct turn {
    duration timeout{-1}, lease{0}, hold{0}, pause{0};
    int depth = 1;
    duration cancel{-1};
    std::string object = "getLock", suffix{};
    bool downgrade = false;
    duration rest{0};
};

/// What each worker of a crew does: turns drawn at random, on names drawn at random. `goes_on`: a
/// call that fails is no reason to end; of ours, one with a limit, or a release.
struct task {
    std::vector<std::string> names;
    std::vector<turn> turns;
    bool goes_on = false;
};

/// Workers of one client, who go on until they are stopped.
class remote_crew {
public:
    /// Their histories are `<histories>.0`, `.1`, …
    remote_crew(remote_client& of, int threads, const task&, std::filesystem::path histories);
    remote_crew(const remote_crew&) = delete;

    std::vector<std::string> new_grants(); ///< the name of each since it was last asked

    history stop(); ///< returns when all of them have ended: what they wrote

    /// Histories of the workers until their process was killed, just after this time.
    history killed(moment at) const { return written(at); }

private:
    history written(std::optional<moment> killed_at) const;

    remote_client& of_;
    std::vector<std::filesystem::path> files_;
    std::vector<history_tail> tails_;
};

/// Which Redisson it has, if any, and how many workers.
struct party_kind {
    std::string redisson; ///< empty: it is one of ours, or
    int threads;
    std::string neighbour{}; ///< this program
};

/// A process of its own with one crew.
class party {
public:
    party(party_kind, std::string label, task, address, client_settings,
          std::filesystem::path folder);

    const std::string& label() const { return label_; }
    std::vector<std::string> new_grants() { return crew_->new_grants(); }

    /// SIGKILL, and a new process in its place. By name, the permits that it took along.
    std::map<std::string, permits_gone> kill_and_replace();

    /// Ends the process when all workers have ended. What they wrote, those of killed ones too.
    history stop();

private:
    void start();

    party_kind kind_;
    std::string label_;
    task task_;
    address where_;
    client_settings settings_;
    std::filesystem::path folder_;
    int generation_ = 0;
    std::unique_ptr<peer> process_;
    std::unique_ptr<remote_client> client_;
    std::unique_ptr<remote_crew> crew_;
    history told_by_killed_;
};

/// A folder for histories, gone with the object unless the test has failed: then somebody will
/// want to read them.
class history_folder {
public:
    history_folder();
    ~history_folder();
    const std::filesystem::path path;
};

/// Of sorted or unsorted values, the one that so many of a hundred do not exceed.
std::chrono::microseconds percentile(std::vector<std::chrono::microseconds>, int percent);

/// Behind the names of semaphores, and how many permits each has.
inline constexpr const char* seats = ":seats";
inline constexpr std::int64_t seats_there = 4;
inline constexpr const char* leased = ":leased"; ///< as many, each of them leased

/// Behind the names of rate limiters. Draws stay for so long that none comes and goes unseen, and
/// there are few enough that some are always waited for.
inline constexpr const char* rated = ":rate";
inline constexpr limit rate_there{30, std::chrono::seconds{2}};

/// Behind the names of latches. Nobody sets one in every other of these stretches.
inline constexpr const char* met_at = ":latch";
inline constexpr duration latches_rest = std::chrono::seconds{4};

/// Who takes part, and how it writes leased permits and draws: see `form_of`.
struct guest {
    party_kind kind;
    std::optional<std::string> form{};
    bool direct_hand_off = false; ///< ours alone
};

/// Behind the names of leased permits and rate limiters in such a form. Whoever writes one cannot
/// read another, so JVMs of before 3.17 have names of their own, at which they meet some of ours
/// and no later JVM.
std::string in_form(const std::optional<std::string>& form);

/// How a guest takes locks and draws: all kinds that its version has, in all ways. Kinds that may
/// not meet under one name have names of their own: see `turn::suffix`.
std::vector<turn> stress_turns(const guest&);

/// Ways to take locks for whom a server may fail at any time: each is one call to take it and one
/// to release it. Some holds are so long that the fault falls into them.
std::vector<turn> turns_through_failover();

/// What a guest is told.
client_settings stress_settings(const guest&);

} // namespace holdfast::interop
