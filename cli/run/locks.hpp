// SPDX-License-Identifier: Apache-2.0
// Functions of `holdfast run` that wait for the lock before the command starts, and tell the user
// who holds the lock. With --slots they wait for a slot; with --rate, for a start.
#pragma once

#include "cli/run/coroutines.hpp"
#include "cli/run/locked_run.hpp"

#include <holdfast/basic_mutex.hpp>
#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/time.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cli {

/// Clients of a `holdfast run`, one client for each server. The lock objects refer to these
/// clients.
using clients = std::list<holdfast::client>;

/// Converts a time from the command line to a duration for a timer. The result is rounded up, and
/// is at most a year.
holdfast::duration length_of(std::chrono::duration<double>);

/// Lock for one `holdfast run`: a single lock, several locks as one, or a lock on a quorum.
class asked_lock {
public:
    /// Creates the lock. Throws the errors of the locks' constructors.
    asked_lock(const locked_run&, clients&);

    holdfast::basic_mutex& get() { return *whole_; }

private:
    holdfast::basic_mutex& one(const std::string& name);
    template <typename Lock, typename... Arguments>
    Lock& keep(Arguments&&...);

    const locked_run& wanted_;
    clients& homes_;
    std::optional<holdfast::lease_time> lease_;
    std::vector<std::shared_ptr<void>> kept_; ///< owns the lock objects, which have different types
    holdfast::basic_mutex* whole_ = nullptr;
};

// Takes a slot (`holdfast run --slots`) or a start (`holdfast run --rate`).

namespace asio = holdfast::asio;

/// Exception: the counter exists, but has another number of slots, or another rate, than the user
/// requested. `told` is a message with both values.
struct another_number {
    std::string told;
};

/// Takes one slot. Creates the semaphore with `wanted.slots` permits if it does not exist. Returns
/// nothing if no slot became free before the timeout. Throws `another_number`, and the errors of
/// the store.
asio::awaitable<std::optional<holdfast::lease>> take_slot(holdfast::client&,
                                                          const locked_run& wanted);

/// Takes one start (permit) of the rate limiter `wanted.rate`. Returns false if no start became
/// free before the timeout. Throws `another_number`, and the errors of the store.
asio::awaitable<bool> draw_start(holdfast::client&, const locked_run& wanted);

/// Returns a description of the counter's state, for example "3 of 3 slots are taken". Returns an
/// empty text if the counter does not exist.
asio::awaitable<std::string> how_it_stands(holdfast::client&, const locked_run&);

/// Parses a rate: `10/1m` means ten starts in any minute. Throws `usage_error`.
holdfast::rate parse_rate(const std::string& text);

/// Length of the description of a holder.
enum class wording { brief, full };

/// Describes the holder of the lock: `held by ...`. If the holder is not known, describes only the
/// remaining lease. Returns an empty text if the lock is free. Throws the errors of the store.
asio::awaitable<std::string> who_holds(holdfast::client&, std::string lock, wording);

/// Exception: a key with the lock's name exists, but is not a lock. `type` is its Redis type.
struct not_a_lock {
    std::string type;
};

/// Exception: the user wants an exclusive lock, but the name belongs to a shared lock (read and
/// write), or the reverse. An exclusive lock and a shared lock could be held at the same time, and
/// a release of one does not wake the waiters of the other.
struct kept_to_share {};

/// Returns whether this kind of lock uses the same keys as the locks that can be shared.
inline bool can_be_shared(holdfast::lock_kind kind) {
    return kind == holdfast::lock_kind::read || kind == holdfast::lock_kind::write;
}

/// Throws `not_a_lock` if the key is not a lock, because nobody would release it. Throws
/// `kept_to_share` if the key belongs to the other kind of lock. Does nothing if this user may not
/// read the key.
asio::awaitable<void> refuse_if_another(holdfast::client&, std::string lock, holdfast::lock_kind);

/// Calls `refuse_if_another` for each wanted lock, but not on a quorum. If a node of a quorum has
/// an unsuitable key, this node just gives no vote. The lock fails if too many nodes give no vote.
asio::awaitable<void> refuse_if_any_is_another(clients&, const locked_run&);

/// Describes the holder of the lock. If the run wants several locks, names the first held lock and
/// describes its holder. On a quorum, asks the first node that can be reached.
asio::awaitable<std::string> who_holds_one(clients&, const locked_run&, wording);

struct job;

/// Messages on stderr about the wait for a lock. On a terminal, while the job is in the foreground,
/// one line is updated in place. On other outputs, `-v` prints a line once. Without `-v`, only a
/// wait that would never end is reported.
class wait_report {
public:
    /// Creates the report. `behind` is the shell's job of this run, or null. `held_around` says
    /// that an outer `holdfast run` holds the lock. That outer command waits for this process, so
    /// the wait would never end.
    wait_report(clients&, const locked_run&, const job* behind, bool held_around);
    wait_report(const wait_report&) = delete;
    ~wait_report(); ///< removes the updated line

    /// Shows the wait until it is cancelled. Ignores errors of the store, because the wait itself
    /// reports them. Throws `not_a_lock` or `kept_to_share` if the key is not a lock of the wanted
    /// kind.
    asio::awaitable<void> tell();

    /// Ends the report, because the lock was granted. `fencing_token` is zero if the lock has no
    /// token.
    void granted(std::uint64_t fencing_token);

private:
    void show(const std::string& holder);
    void clear();
    /// Returns whether this job has the terminal, and the line on the terminal can be overwritten.
    bool may_draw() const;

    clients& homes_;
    const locked_run& wanted_;
    const std::string thing_; ///< description of what the run waits for, for messages
    const job* const behind_;
    const bool held_around_;
    const bool live_; ///< true: stderr is a terminal on which a line can be overwritten
    const holdfast::time_point since_ = holdfast::boot_clock::now();
    bool drawn_ = false;
    bool told_ = false;
};

} // namespace cli
