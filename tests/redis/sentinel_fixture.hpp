// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "node_fixture.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

/// A node with three Sentinels and two servers, of which each says what the test says. In simulated
/// time; but Sentinels are reached by TCP, where bytes may travel for a moment: so time goes on
/// when nothing has arrived for a while.
class on_fake_sentinels : public on_fake_server {
protected:
    /// What one of them knows.
    struct view {
        std::uint16_t primary = 0;
        std::optional<int> epoch = 0; ///< nothing: it does not tell
    };

    on_fake_sentinels() {
        how_.unix_socket.clear();
        how_.sentinel.emplace().service = "locks";
        for (std::size_t i = 0; i < sentinels_.size(); ++i) {
            how_.sentinel->addresses.push_back({"127.0.0.1", sentinels_[i]->port()});
            views_[i].primary = old_.port();
            sentinels_[i]->says["PING"] = "+PONG\r\n";
            sentinels_[i]->improvises = [this, i](const fake_server::words& said) {
                return answer_of(i, said);
            };
        }
        for (fake_server* const each : {&old_, &new_})
            each->says["EVALSHA"] = ":1\r\n";
    }
    ~on_fake_sentinels() override {
        close();
        for (const auto& each : sentinels_)
            each->stop();
        old_.stop();
        new_.stop();
        on_fake_sentinels::settle();
    }

    void settle() override {
        do {
            on_fake_server::settle();
            io_.restart();
        } while (io_.run_one_for(std::chrono::milliseconds{5}) != 0);
    }
    void pass(duration length) override {
        const time_point end = clock_.now() + length;
        do
            settle();
        while (clock_.jump_to_next(end));
        clock_.run_until(end);
        settle();
    }

    fake_server& sentinel(std::size_t which) { return *sentinels_.at(which); }

    /// All of them name that one from now on.
    void appoint(const fake_server& primary, std::optional<int> epoch) {
        views_.fill({primary.port(), epoch});
    }
    void demote(fake_server& server) {
        server.says["ROLE"] = "*3\r\n$5\r\nslave\r\n$1\r\nh\r\n:1\r\n";
        server.says["EVALSHA"] = "-READONLY You can't write against a read only replica.\r\n";
    }

    /// To who listens to that Sentinel.
    void tell_switch(std::size_t which, const fake_server& from, const fake_server& to) {
        const std::string message = "locks 127.0.0.1 " + std::to_string(from.port()) +
                                    " 127.0.0.1 " + std::to_string(to.port());
        for (const auto& each : sentinel(which).sessions)
            if (each->open && listens(*each))
                each->send("*3\r\n" + bulk("message") + bulk("+switch-master") + bulk(message));
        settle();
    }

    static bool listens(const fake_server::session& one) {
        return std::ranges::any_of(one.asked,
                                   [](const auto& words) { return words[0] == "SUBSCRIBE"; });
    }
    /// To how many Sentinels somebody listens.
    std::size_t listened_to() const {
        return static_cast<std::size_t>(std::ranges::count_if(sentinels_, [](const auto& each) {
            return std::ranges::any_of(each->sessions,
                                       [](const auto& one) { return one->open && listens(*one); });
        }));
    }

    /// How often that one was asked where the primary is.
    std::size_t questions(std::size_t which) const {
        std::size_t count = 0;
        for (const auto& each : sentinels_.at(which)->sessions)
            for (const auto& words : each->asked)
                count += words[0] == "SENTINEL" && words[1] == "GET-MASTER-ADDR-BY-NAME";
        return count;
    }
    /// For how long nobody asks it more often than so.
    duration until_asked_again(std::size_t which, duration most) {
        const std::size_t before = questions(which);
        const time_point began = clock_.now();
        while (questions(which) == before && clock_.now() < began + most)
            pass(std::min(most / 100, duration{100}));
        return clock_.now() - began;
    }

    /// To a question of where the primary is.
    static std::string answer_as(const view& known, const fake_server::words& said) {
        const std::string port = bulk(std::to_string(known.primary));
        if (said[1] == "GET-MASTER-ADDR-BY-NAME")
            return known.primary == 0 ? "*-1\r\n" : "*2\r\n" + bulk("127.0.0.1") + port;
        if (known.primary == 0)
            return "-ERR No such master with that name\r\n";
        if (!known.epoch)
            return "-NOPERM this user has no permissions to run the 'sentinel|master' command\r\n";
        return "*6\r\n" + bulk("ip") + bulk("127.0.0.1") + bulk("port") + port +
               bulk("config-epoch") + bulk(std::to_string(*known.epoch));
    }

    static std::string bulk(const std::string& text) {
        return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
    }

    std::array<std::unique_ptr<fake_server>, 3> sentinels_{made(), made(), made()};
    std::array<view, 3> views_;
    fake_server old_{io_, fake_server::place{}}, new_{io_, fake_server::place{}};

private:
    std::unique_ptr<fake_server> made() {
        return std::make_unique<fake_server>(io_, fake_server::place{});
    }

    std::optional<std::string> answer_of(std::size_t which, const fake_server::words& said) const {
        if (said[0] != "SENTINEL" || sentinels_[which]->says.contains("SENTINEL"))
            return std::nullopt;
        return answer_as(views_[which], said);
    }
};

} // namespace holdfast
