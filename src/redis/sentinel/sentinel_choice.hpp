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

/// Decides which server is the primary, from the replies of several Sentinels over time.
///
/// Each failover increases the epoch of the Sentinels' configuration. Therefore the reply with the
/// greatest epoch decides. Replies with a smaller epoch than the known epoch do not count, because
/// isolated Sentinels still name the old primary. If no reply has a greater epoch, the primary
/// changes only if more than half of all Sentinels name the same other server.
///
/// Some replies contradict the newest known state. They name a former primary, have a smaller
/// epoch, or describe a service without any server of ours. The Sentinels behind these replies may
/// watch another deployment, because service names are often the same and addresses are used again.
/// They may also have been set up anew with epoch 0. A contradicting reply is accepted when more
/// than half of the Sentinels give it twice, at least `agreed_after` apart.
class sentinel_choice {
public:
    static constexpr duration agreed_after = std::chrono::seconds{10};

    enum class verdict : std::uint8_t {
        nobody_answers,  ///< nothing changes; no Sentinel replied
        unknown_service, ///< nothing changes; no Sentinel with a reply knows the service
        stays,
        moves, ///< `primary()` has changed, or is known for the first time
    };

    /// Decides from the replies to one round of questions. `asked` is the number of Sentinels that
    /// were asked.
    verdict decide(std::span<const sentinel_answer>, std::size_t asked, time_point now);

    /// Processes the report of a switch that one Sentinel has published. Returns whether
    /// `primary()` has changed. If not, the caller should ask all Sentinels.
    bool hear(const primary_switch&);

    const std::optional<server_address>& primary() const { return primary_; }

private:
    /// Result of the election among the replies that count.
    struct proposal {
        server_address where{};
        std::optional<std::uint64_t> epoch{};  // greatest epoch of all replies
        bool is_newer = false;                 // `epoch` is greater than any before
        bool is_older = false;                 // all replies have a smaller epoch than before
        bool is_strange = false;               // these replies name none of our servers
        std::size_t votes = 0;                 // number of replies that name `where`
        std::vector<server_address> servers{}; // all servers in these replies
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
    std::vector<server_address> servers_; // servers of our service, from the replies that counted
    std::vector<server_address> left_;    // former primaries, the latest at the end
    std::optional<doubt> doubt_;
};

} // namespace holdfast::redis
