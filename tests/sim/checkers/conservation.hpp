// SPDX-License-Identifier: Apache-2.0
// Permits are neither made nor lost, whether they are leased or not: a counter is what its requests
// have made of it, each of which has its effect once; and what a program's requests have done is
// what its callers were told. So it is with what is drawn of a rate, but that this is free again by
// itself (window).
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
    void counted(int name, const memory::count_record&); ///< the server has carried that out
    void completed(const operation&, outcome);
    void look();
    void forgotten(); ///< all of it
    void evicted(int name);
    void at_peace();

private:
    /// What a counter comes to by its requests.
    struct number {
        std::optional<std::int64_t> value{};
        std::chrono::microseconds ends_at = std::chrono::microseconds::max();
    };
    /// What one request has done.
    struct request {
        std::chrono::microseconds at{}; ///< when it did that first
        bool done = false;
        bool given_back = false; ///< of a take: it takes nothing any more
        bool moved = false;      ///< it has changed the number
        bool copied = false;     ///< a look of it
        bool unnoticed = false;  ///< it took after that
    };
    /// Of one program, about one name: by how much its requests have changed the number, and by how
    /// much its callers have, as far as they know.
    struct account {
        std::int64_t at_server = 0;
        std::int64_t least = 0;
        std::int64_t most = 0;
        /// What looks took that came twice. They may have been found busy, and nobody wants them
        /// any more when the copy comes: then it is as if somebody had come and died.
        std::int64_t unnoticed = 0;
    };

    std::optional<std::int64_t> expected(int name, std::chrono::microseconds now) const;
    void take(int name, const memory::count_record&);
    void give_back(int name, const memory::count_record&);
    void change(int name, const memory::count_record&);
    void draw(int name, const memory::count_record&);
    bool forgets(request&, const memory::count_record&);
    bool is_of_use(int name, const std::string& program) const; ///< what is known of that one
    account& account_of(const std::string& program, int name) { return accounts_[{program, name}]; }
    std::pair<std::int64_t, std::int64_t> told(const operation&, outcome) const;
    void fail(int name, const std::string& story);

    world& world_;
    std::vector<number> numbers_; ///< by name
    std::map<std::string, request> requests_;
    std::map<std::pair<std::string, int>, account> accounts_;
    std::set<std::string> doubted_; ///< programs of which the server forgot something
};

} // namespace holdfast::sim
