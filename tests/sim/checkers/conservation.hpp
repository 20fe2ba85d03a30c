// SPDX-License-Identifier: Apache-2.0
// Checker: permits are neither created nor lost, whether they are leased or not. The value of a
// counter is the sum of its requests, each of which has its effect once. The effect of a program's
// requests is what its callers were told. The same holds for draws of a rate, except that they
// become free again by themselves (see `window`).
#pragma once

#include "sim/world.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::memory {
struct count_record;
} // namespace holdfast::memory

namespace holdfast::sim {

class conservation {
public:
    explicit conservation(world&);

    void sent(const memory::request&, const memory::fate&);
    /// called when the server has carried out the request
    void counted(int name, const memory::count_record&);
    void completed(const operation&, outcome);
    void look();
    void forgotten(); ///< forgets the expected values of all counters
    void evicted(int name);
    void at_peace();

private:
    /// Expected value of a counter. It is calculated from the requests.
    struct number {
        std::optional<std::int64_t> value{};
        std::chrono::microseconds ends_at = std::chrono::microseconds::max();
    };
    /// Effects of a request so far.
    struct request {
        std::chrono::microseconds at{}; ///< time of the request's first effect
        bool done = false;
        /// attempt: its permits were returned, so it takes nothing any more
        bool given_back = false;
        bool moved = false;     ///< whether the request has changed the number
        bool copied = false;    ///< whether the attempt was sent twice
        bool unnoticed = false; ///< whether it took permits after it was sent twice
    };
    /// Two sums for one program and one name: how much its requests have changed the number, and
    /// how much its callers know that they have changed it.
    struct account {
        std::int64_t at_server = 0;
        std::int64_t least = 0;
        std::int64_t most = 0;
        /// Number of permits that attempts took after they arrived twice. The counter may have been
        /// busy when the first copy arrived, and the caller may have given up before the second
        /// copy arrived. The effect is the same as that of a client that took permits and died.
        std::int64_t unnoticed = 0;
    };

    std::optional<std::int64_t> expected(int name, std::chrono::microseconds now) const;
    void take(int name, const memory::count_record&);
    void give_back(int name, const memory::count_record&);
    void change(int name, const memory::count_record&);
    void draw(int name, const memory::count_record&);
    bool forgets(request&, const memory::count_record&);
    /// whether the sums of this program can be checked
    bool is_of_use(int name, const std::string& program) const;
    account& account_of(const std::string& program, int name) { return accounts_[{program, name}]; }
    std::pair<std::int64_t, std::int64_t> told(const operation&, outcome) const;
    void fail(int name, const std::string& story);

    world& world_;
    std::vector<number> numbers_; ///< expected value of each name
    std::map<std::string, request> requests_;
    std::map<std::pair<std::string, int>, account> accounts_;
    std::set<std::string> doubted_; ///< programs with requests that the server has partly forgotten
};

} // namespace holdfast::sim
