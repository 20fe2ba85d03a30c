// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "store/redis/denials.hpp"
#include "store/redis/fair_patience.hpp"
#include "store/redis/heartbeat.hpp"
#include "store/redis/kinds.hpp"
#include "store/remote/attempts.hpp"
#include "store/remote/lately_busy.hpp"

#include <holdfast/store.hpp>

namespace holdfast::redis {

/// Lock store on Redis, on Redisson's keys, for all kinds in the table of kinds.hpp. docs/protocol
/// names the script of each function.
class redis_locks final : public lock_store {
public:
    /// All arguments must outlive this object and all objects that it makes. If `heart` is null,
    /// the client writes no description of itself.
    redis_locks(node& server, const store_context& context, heartbeat* heart = nullptr)
        : server_{server}
        , context_{context}
        , denials_{server, context}
        , patience_{context, server.fair_wait()}
        , heart_{heart} {}

    bool offers(lock_kind kind) const noexcept override { return verbs_of(kind) != nullptr; }
    limits bounds() const noexcept override {
        return {.time_limit = server_.command_timeout(),
                .replicas_max = replicas_most,
                .read_contact_max = remote::read_contact_max,
                .usual_outage = server_.usual_outage()};
    }
    std::optional<std::string> objection_to(const lock_name& name) const override;

    std::unique_ptr<place> line_up(ask want, alarm& wake) override;
    asio::awaitable<void> renew(hold_list, const renewal_wishes&, renewal_sink&) override;
    asio::awaitable<release_answer> release(hold) override;

    /// Returns null. A server reports releases, but it does not report keys that it evicted or that
    /// expired.
    std::unique_ptr<watch> watch_over(const hold&, doubter&) override { return nullptr; }

private:
    /// Maximum number of replicas that can be required. No primary has more.
    static constexpr std::uint8_t replicas_most = 100;

    bool others_listen(const hold&, const released&) const;

    node& server_;
    const store_context& context_;
    denials denials_;
    fair_patience patience_;
    remote::lately_busy busy_;
    heartbeat* const heart_;
};

} // namespace holdfast::redis
