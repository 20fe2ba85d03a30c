// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/bells.hpp"

#include "net/later.hpp"
#include "runtime/background.hpp"
#include "store/mysql/lock_texts.hpp"

#include <boost/system/system_error.hpp>

namespace holdfast::mysql {
namespace {

constexpr duration between_checks = std::chrono::seconds{10};

asio::awaitable<void> drop_bell(database& server, std::string text, std::shared_ptr<carrier> on) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{text};
    };
    composing dropped{make};
    call_wishes wishes{.on = on, .reserved = true};
    try {
        co_await server.run(dropped, wishes);
    } catch (const boost::system::system_error&) {
        on->cut(); // the server releases its user locks then
    }
}

} // namespace

void bells::keep(const hold& held, std::shared_ptr<carrier> on, time_point until) {
    drop_old();
    all_[key_of(held)] = {std::move(on), until};
}

void bells::extend(const hold& held, time_point until) {
    if (const auto found = all_.find(key_of(held)); found != all_.end())
        found->second.until = until;
}

std::shared_ptr<carrier> bells::take_out(const hold& held) {
    const auto found = all_.find(key_of(held));
    if (found == all_.end())
        return nullptr;
    std::shared_ptr<carrier> on = std::move(found->second.on);
    all_.erase(found);
    return on;
}

void bells::drop(const hold& held) {
    if (std::shared_ptr<carrier> on = take_out(held))
        give_back(held.name.text, std::move(on));
}

void bells::drop_old() {
    const time_point now = at_.context.time.now();
    if (now < next_check_)
        return;
    next_check_ = net::later(now, between_checks);
    for (auto each = all_.begin(); each != all_.end();) {
        if (each->second.until > now) {
            ++each;
            continue;
        }
        give_back(each->first.first, std::move(each->second.on));
        each = all_.erase(each);
    }
}

void bells::give_back(const std::string& name, std::shared_ptr<carrier> on) {
    ring_off(at_, lock_name{name}, std::move(on));
}

void ring_off(site& at, const lock_name& name, std::shared_ptr<carrier> on) {
    if (on->is_cut())
        return;
    runtime::run_in_background(at.context,
                               drop_bell(at.server, bell_dropped(at.bell(name)), std::move(on)));
}

} // namespace holdfast::mysql
