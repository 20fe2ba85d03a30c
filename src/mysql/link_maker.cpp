// SPDX-License-Identifier: Apache-2.0
#include "mysql/link_maker.hpp"

#include "mysql/link.hpp"
#include "mysql/set_up.hpp"
#include "net/address.hpp"
#include "net/credentials.hpp"
#include "net/time_limit.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::mysql {

/// One attempt to connect. `close` can end the attempt.
class link_maker::visit {
public:
    explicit visit(link_maker& at)
        : at_{at}
        , wake_{at.home_.time.make_alarm()} {
        at_.under_way_.push_back(this);
    }
    visit(const visit&) = delete;
    ~visit() { std::erase(at_.under_way_, this); }

    alarm& wake() { return *wake_; }
    void dialled(const std::shared_ptr<link>& made) { made_ = made; }

    void give_up() {
        wake_->ring();
        if (made_)
            made_->cut({errc::closed, "the client is closed"});
    }

private:
    link_maker& at_;
    const std::unique_ptr<alarm> wake_;
    std::shared_ptr<link> made_;
};

link_maker::link_maker(const store_context& home, const options& how)
    : home_{home}
    , how_{how} {}

asio::awaitable<introduced> link_maker::make(const server_address& where, time_point give_up_at) {
    const std::string address = address_of(where);
    visit mine{*this};
    door to = door_to(where);
    std::function<bool()> given_up = [this] { return closed_; };
    handle dialled =
        co_await dial(home_, std::move(to), give_up_at, mine.wake(), std::move(given_up));
    const auto made = std::make_shared<link>(home_, std::move(dialled));
    mine.dialled(made);
    std::function<void()> late = [weak = std::weak_ptr{made}, address] {
        if (const auto here = weak.lock())
            here->cut({errc::unreachable, address + " fell silent while it was connected to"});
    };
    const net::time_limit bound{home_, give_up_at, std::move(late)};
    std::optional<net::failure> failed;
    introduced all{made, {}};
    try {
        all.who = co_await set_up(*made, how_.keep_alive, give_up_at);
    } catch (const net::failure& why) {
        failed = why;
    }
    if (failed) {
        made->end();
        const error_code code = failed->code() == errc::outcome_unknown
                                    ? make_error_code(errc::unreachable)
                                    : failed->code();
        throw net::failure{code, address + ": " + failed->text()};
    }
    all.who.facts.address = address;
    all.who.facts.over_tls = made->over_tls();
    co_return all;
}

std::string link_maker::address_of(const server_address& where) const {
    return net::address_of(how_.unix_socket, where.host, where.port ? where.port : usual_port);
}

door link_maker::door_to(const server_address& where) const {
    const credentials fixed{how_.user, how_.password};
    return {.where = where,
            .unix_socket = how_.unix_socket,
            .schema = how_.schema,
            .who = net::credentials_now(fixed, how_.credentials),
            .tls = how_.tls,
            .server_key_file = how_.server_key_file,
            .label = home_.label,
            .limit = how_.connect_timeout};
}

void link_maker::close() noexcept {
    if (std::exchange(closed_, true))
        return;
    for (visit* const each : under_way_)
        each->give_up();
}

} // namespace holdfast::mysql
