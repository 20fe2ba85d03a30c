// SPDX-License-Identifier: Apache-2.0
// Histories that workers write, and the checker that finds impossible histories of a lock. A line
// of a history is `<ns of CLOCK_MONOTONIC> <what> <name> […]`:
//
//     asks NAME MS [N]  before the worker asks for the lock; if granted, the lock is certain for MS
//                       milliseconds from here (0: it is renewed); N: number of permits of a
//                       semaphore
//     holds NAME        the worker was told that it holds the lock
//     shares NAME       the worker was told that it shares the lock; also if it had the lock alone
//                       until now
//     token NAME N      fencing token of the hold that has just begun
//     gives-up NAME     the worker was told, or has decided, that it does not hold the lock
//     leaves NAME       before the worker releases the lock
//     left NAME         after the release; `lost NAME` if the lock had been lost before
//     failed WHY        the worker ends because of an error
//
// Lines of rate limiters and latches come before a request, and a second line after its reply:
//
//     draws NAME N      draws N permits; then `drew`, `gives-up`, or `overtaken`, which an old JVM
//                       writes if its draw failed because another client drew permits meanwhile
//     sets NAME N       sets the latch to N; then `set`, or `gives-up` if the latch is not open
//     counts-down NAME  counts down by one; then `counted-down`
//     waits NAME        waits until the latch is open; then `passed` or `gives-up`
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace holdfast::interop {

using moment = std::chrono::nanoseconds; ///< of CLOCK_MONOTONIC

/// A worker was sure, from the one moment to the other, that it was alone, or that nobody was.
struct claim {
    std::string worker, name;
    moment from, until;
    bool is_shared = false;
    std::int64_t token = 0;   ///< of a fenced lock's hold
    std::int64_t permits = 0; ///< of a semaphore
};

/// Permits that workers took along in the end: so many for sure, and up to so many more.
struct permits_gone {
    std::int64_t known = 0, unclear = 0;
};

/// What a worker asked of a rate limiter or of a latch. If it was carried out, then between two
/// moments.
struct deed {
    enum class kind { draw, set, count_down, wait };
    enum class outcome { done, denied, unknown }; ///< unknown: its process was killed meanwhile

    kind what;
    std::string worker, name;
    std::int64_t amount; ///< of permits, or to which count
    moment asked, told;
    outcome how = outcome::denied;
};

struct history {
    std::vector<claim> claims;
    std::vector<deed> deeds;
    std::vector<std::chrono::microseconds> waits; ///< of those who were granted the lock
    std::size_t gave_up = 0;
    std::size_t lost = 0; ///< leases that ended before the release, as they were meant to
    std::vector<std::string> troubles;            ///< what should not have happened to anybody
    std::map<std::string, std::size_t> overtaken; ///< by name: draws that failed, and may

    std::map<std::string, permits_gone> gone; ///< by name

    void add(history other);
};

/// What a worker has been granted that gave up meanwhile is given back behind it, if its process
/// lives on: whether that was done, where it gave up shortly before it was killed, nobody knows.
bool may_not_be_back(moment gave_up_at, moment killed_at);

/// Of one worker; `killed_at`: just before its process was killed. A claim that was not given up by
/// then ends with the process. Throws `std::runtime_error` at a line that is none.
history read_history(const std::filesystem::path& file, std::optional<moment> killed_at = {});

/// Each place where two workers were sure of the same name at the same time, in words; two who
/// share it may be.
std::vector<std::string> overlaps(std::vector<claim>);

/// Each time that more permits of a name were out than there are, in words.
std::vector<std::string> overdrawn(std::vector<claim>, std::int64_t permits);

/// Each hold whose token is not above those of all that had ended before it began, in words.
std::vector<std::string> tokens_out_of_order(std::vector<claim>);

/// Reads on where it stopped: for what is still being written.
class history_tail {
public:
    explicit history_tail(std::filesystem::path file)
        : file_{std::move(file)} {}

    /// The name of each grant since it was last asked.
    std::vector<std::string> new_grants();

private:
    std::filesystem::path file_;
    std::streamoff read_ = 0;
};

/// Of a worker's history, what it asked of rate limiters and latches.
class deeds_reading {
public:
    explicit deeds_reading(std::string worker)
        : worker_{std::move(worker)} {}

    /// Whether such a line belongs to one: who gives up says so of what it asked last.
    bool is_one(const std::string& what) const;

    /// Throws `std::runtime_error` at a line that cannot come now.
    void line(moment at, const std::string& what, const std::string& name,
              std::istringstream& words);

    /// Those parts of a history that it makes.
    history finished(std::optional<moment> killed_at);

private:
    void begin(moment at, deed::kind, const std::string& name, std::istringstream& words);
    void end(moment at, const std::string& what);
    void cut_off(moment killed_at);

    std::string worker_;
    history made_;
    std::optional<deed> begun_;
};

} // namespace holdfast::interop
