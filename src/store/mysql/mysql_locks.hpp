// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/bells.hpp"
#include "store/mysql/kinds.hpp"
#include "store/mysql/poller.hpp"
#include "store/remote/lately_busy.hpp"

#include <holdfast/store.hpp>

namespace holdfast::mysql {

/// Longest lock name. Longer names are refused before anything is sent, because not every server
/// refuses them.
inline constexpr std::size_t name_bytes_most = 255;

std::optional<std::string> objection_to_name(const lock_name&);

/// The lock store in one schema, for all kinds of kinds.hpp.
class mysql_locks final : public lock_store {
public:
    /// The arguments must outlive the store and everything it makes.
    mysql_locks(site& at, poller& polls)
        : at_{at}
        , poller_{polls}
        , bells_{at} {}

    bool offers(lock_kind kind) const noexcept override { return verbs_of(kind) != nullptr; }
    limits bounds() const noexcept override {
        return {.name_bytes_max = name_bytes_most, .time_limit = at_.server.command_timeout()};
    }
    std::optional<std::string> objection_to(const lock_name& name) const override {
        return objection_to_name(name);
    }

    std::unique_ptr<place> line_up(ask want, alarm& wake) override;
    asio::awaitable<void> renew(hold_list, const renewal_wishes&, renewal_sink&) override;
    asio::awaitable<release_answer> release(hold) override;

    /// Returns null: a server does not report rows that are changed or deleted.
    std::unique_ptr<watch> watch_over(const hold&, doubter&) override { return nullptr; }

private:
    site& at_;
    poller& poller_;
    bells bells_;
    remote::lately_busy busy_;
};

} // namespace holdfast::mysql
