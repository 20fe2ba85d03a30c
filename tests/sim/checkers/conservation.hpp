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
    void counted(int name, const memory::count_record&); ///< the server has carried the request out
    void completed(const operation&, outcome);
    void look();
    void forgotten(); ///< all counters
    void evicted(int name);
    void at_peace();

private:
    /// Expected value of a counter, computed from the requests.
    struct number {
        std::optional<std::int64_t> value{};
        std::chrono::microseconds ends_at = std::chrono::microseconds::max();
    };
    /// What a request has done so far.
    struct request {
        std::chrono::microseconds at{}; ///< when the request had its first effect
        bool done = false;
        bool given_back = false; ///< of an attempt: it takes nothing any more
        bool moved = false;      ///< it has changed the number
        bool copied = false;     ///< an attempt that was sent twice
        bool unnoticed = false;  ///< it took permits after it was sent twice
    };
    /// For one program and one name: how much its requests have changed the number, and how much
    /// its callers have changed it, as far as they know.
    struct account {
        std::int64_t at_server = 0;
        std::int64_t least = 0;
        std::int64_t most = 0;
        /// Permits taken by attempts that arrived twice. The first arrival may have found the
        /// counter busy. When the copy arrives, the caller may have given up, so this looks like a
        /// client that took permits and died.
        std::int64_t unnoticed = 0;
    };

    std::optional<std::int64_t> expected(int name, std::chrono::microseconds now) const;
    void take(int name, const memory::count_record&);
    void give_back(int name, const memory::count_record&);
    void change(int name, const memory::count_record&);
    void draw(int name, const memory::count_record&);
    bool forgets(request&, const memory::count_record&);
    bool is_of_use(int name, const std::string& program) const; ///< what is known of that program
                                                                ///< can be used
    account& account_of(const std::string& program, int name) { return accounts_[{program, name}]; }
    std::pair<std::int64_t, std::int64_t> told(const operation&, outcome) const;
    void fail(int name, const std::string& story);

    world& world_;
    std::vector<number> numbers_; ///< by name
    std::map<std::string, request> requests_;
    std::map<std::pair<std::string, int>, account> accounts_;
    std::set<std::string> doubted_; ///< programs whose requests the server has partly forgotten
};

} // namespace holdfast::sim
