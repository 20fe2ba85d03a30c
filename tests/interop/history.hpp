// SPDX-License-Identifier: Apache-2.0
// What workers wrote down, and whether it can be true of a lock. A line of a history is
// `<ns of CLOCK_MONOTONIC> <what> <name> […]`:
//
//     asks NAME MS [N]  before it asks; if granted, sure of it for so long from here, 0: renewed;
//                       N: of a semaphore, for so many permits
//     holds NAME        it has been told that it holds the lock
//     shares NAME       likewise, beside others; also when it had the lock alone until now
//     token NAME N      the number of the hold that has just begun
//     gives-up NAME     it has been told, or has decided, that it does not
//     leaves NAME       before it releases
//     left NAME         released; `lost NAME`: it was not its any more
//     failed WHY        it ends
//
// and of rate limiters and latches, each before it asks and when it has been told:
//
//     draws NAME N      for so many permits; then `drew`, `gives-up`, or `overtaken`, which an old
//                       JVM says of a draw that failed since somebody else had drawn meanwhile
//     sets NAME N       to so many; then `set`, or `gives-up`: it is not open
//     counts-down NAME  by one; then `counted-down`
//     waits NAME        until it is open; then `passed`, or `gives-up`
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
