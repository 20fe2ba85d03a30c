// SPDX-License-Identifier: Apache-2.0
// Who takes and gives back leased permits in a recording: Redisson, or ours.
#pragma once

#include "support/redis_server.hpp"
#include "wire_trace.hpp"

#include <holdfast/redis/options.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::trace {

/// The permits of a scenario as they are on the server, by the names that the recording has:
/// "PERMIT2", which a command may write as "<PERMIT2.raw>".
struct permit_book {
    redis::redisson_form form = redis::redisson_form::v3_17;
    std::map<std::string, std::string> stored{};

    static bool is_permit(const std::string& word);
    static std::string label(const std::string& word);
    /// One that nobody took, or that the recording names by its digits.
    std::string at(const std::string& word) const;
};

class permit_part {
public:
    permit_part(support::redis_server& server, permit_book& book)
        : server_{server}
        , book_{book} {}
    virtual ~permit_part() = default;

    /// What it says as a number; of an acquire whether it was granted.
    virtual std::int64_t run(const command&) = 0;

protected:
    std::int64_t ask(const std::vector<std::string>& words) {
        return server_.command(words).integer;
    }
    std::int64_t now();
    /// "NOW+600", or Redisson's constant.
    std::int64_t moment(const std::string& recorded);
    static std::vector<std::string> permits_in(const command&);

    support::redis_server& server_;
    permit_book& book_;
};

/// As redisson-protocol.md, §15, says; `all_or_none`: what 3.41 and later do with lists.
std::unique_ptr<permit_part> a_jvm_with_permits(support::redis_server&, permit_book&,
                                                bool all_or_none);
std::unique_ptr<permit_part> one_of_ours_with_permits(support::redis_server&, permit_book&,
                                                      const std::string& label);

inline constexpr std::int64_t permit_without_end = 922'337'203'685'477;

} // namespace holdfast::trace
