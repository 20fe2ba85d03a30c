// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/mysql_locks.hpp"

#include "store/mysql/place.hpp"
#include "store/mysql/renewal.hpp"

#include <utility>

namespace holdfast::mysql {

std::optional<std::string> objection_to_name(const lock_name& name) {
    if (name.text.empty())
        return "the name is empty";
    if (name.text.size() > name_bytes_most)
        return "the name has " + std::to_string(name.text.size()) + " bytes, and " +
               std::to_string(name_bytes_most) + " are allowed in a table";
    return std::nullopt;
}

std::unique_ptr<place> mysql_locks::line_up(ask want, alarm& wake) {
    return std::make_unique<lock_place>(at_, bells_, poller_, busy_, std::move(want), wake);
}

asio::awaitable<void> mysql_locks::renew(hold_list holds, const renewal_wishes& how,
                                         renewal_sink& to) {
    return renew_holds(at_, bells_, holds, how, to);
}

asio::awaitable<release_answer> mysql_locks::release(hold held) {
    std::shared_ptr<carrier> bell = bells_.take_out(held);
    const released outcome = co_await verbs_of(held.kind)->release(at_, held, std::move(bell));
    co_return release_answer{outcome.was_ours, outcome.others_wait};
}

} // namespace holdfast::mysql
