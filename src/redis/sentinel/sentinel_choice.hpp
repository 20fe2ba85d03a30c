// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/sentinel/sentinel_words.hpp"

#include <holdfast/redis/options.hpp>
#include <holdfast/time.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::redis {

/// Decides which server is the primary, from what several Sentinels say over the time.
///
/// Each failover makes the epoch of their configuration greater. So the answer with the greatest
/// epoch counts, and none with a smaller epoch than was seen before: Sentinels that are cut off
/// from the others go on naming the old primary. Where no epoch is greater, the primary changes
/// only if more than half of all Sentinels that were asked name the same other server.
///
/// An answer that speaks against the newest that is known is believed when more than half of the
/// Sentinels give it twice, `agreed_after` apart: an address that was left before, a smaller epoch
/// (Sentinels that are set up anew begin with epoch 0), or a service that has no server in common
/// with ours. Services often have the same name, and addresses are reused: such Sentinels belong to
/// others.
class sentinel_choice {
public:
    static constexpr duration agreed_after = std::chrono::seconds{10};

    enum class verdict : std::uint8_t {
        nobody_answers,  ///< all stays as it was
        unknown_service, ///< likewise: all that answer know of none by that name
        stays,
        moves, ///< `primary()` is another one now, or the first
    };

    /// What those of `asked` Sentinels say that have answered one question.
    verdict decide(std::span<const sentinel_answer>, std::size_t asked, time_point now);

    /// What one of them tells without having been asked. Whether `primary()` is another one now;
    /// if not, it is reason enough to ask.
    bool hear(const primary_switch&);

    const std::optional<server_address>& primary() const { return primary_; }

private:
    /// What most of the answers say that count.
    struct proposal {
        server_address where{};
        std::optional<std::uint64_t> epoch{};  // the greatest of all
        bool is_newer = false;                 // than any epoch before
        bool is_older = false;                 // all are
        bool is_strange = false;               // they know no server of ours
        std::size_t votes = 0;                 // for `where`
        std::vector<server_address> servers{}; // that these Sentinels know
    };
    struct doubt {
        server_address where{};
        time_point since{};
    };

    proposal propose(std::span<const sentinel_answer>) const;
    std::vector<sentinel_answer> of_our_service(std::span<const sentinel_answer>) const;
    bool is_known(const server_address&) const;
    void elect(proposal&, std::span<const sentinel_answer>) const;
    bool speaks_against_us(const proposal&) const;
    bool is_agreed(const proposal&, time_point now);
    void go_to(const server_address&);

    std::optional<server_address> primary_;
    std::optional<std::uint64_t> epoch_;
    std::vector<server_address> servers_; // of our service, as the answers that counted told
    std::vector<server_address> left_;    // the latest at the end
    std::optional<doubt> doubt_;
};

} // namespace holdfast::redis
