// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/bells.hpp"
#include "store/mysql/kinds.hpp"
#include "store/mysql/poller.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>

namespace holdfast::mysql {

/// Maximum length of a lock name, in bytes. A longer name is refused before anything is sent,
/// because some servers do not refuse it.
inline constexpr std::size_t name_bytes_most = 255;

std::optional<std::string> objection_to_name(const lock_name&);

/// Lock store in one schema, for all kinds of locks in kinds.hpp.
class mysql_locks final : public lock_store {
public:
    /// The arguments must outlive the store and all objects that the store makes.
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

    /// Returns null, because a MySQL server does not notify clients of changed or deleted rows.
    std::unique_ptr<watch> watch_over(const hold&, doubter&) override { return nullptr; }

private:
    site& at_;
    poller& poller_;
    bells bells_;
    remote::lately_busy busy_;
};

} // namespace holdfast::mysql
