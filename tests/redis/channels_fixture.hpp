// SPDX-License-Identifier: Apache-2.0
// Fixtures of subscribers on fake servers: at one server, and at a cluster.
#pragma once

#include "node_fixture.hpp"
#include "redis/topology/slot_map.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace holdfast {

/// The same for who listens to channels.
class on_fake_channels : public on_fake_server {
protected:
    /// What a listener's alarm heard.
    struct listening {
        std::unique_ptr<alarm> wake;
        std::unique_ptr<redis::hearing> subscriber;
        int rings = 0;
        std::optional<bool> confirmed;
    };

    ~on_fake_channels() override {
        for (const auto& one : all_)
            one->subscriber.reset();
    }

    listening& listen(const std::string& channel = "ch") {
        auto& made = *all_.emplace_back(std::make_unique<listening>());
        made.wake = std::make_unique<counter>(made.rings);
        made.subscriber = node().hear(redis::channel_name{channel}, *made.wake);
        return made;
    }
    void confirm(listening& who, duration limit = std::chrono::seconds{1}) {
        who.confirmed.reset();
        auto wait = [](listening& waiting, time_point until) -> asio::awaitable<void> {
            waiting.confirmed = co_await waiting.subscriber->confirmed(until);
        };
        asio::co_spawn(io_, wait(who, clock_.now() + limit),
                       [](const std::exception_ptr& failed) { EXPECT_FALSE(failed); });
        settle();
    }
    void publish(const std::string& channel = "ch") {
        server_.last().send("*3\r\n$7\r\nmessage\r\n$" + std::to_string(channel.size()) + "\r\n" +
                            channel + "\r\n$1\r\n0\r\n");
        settle();
    }

    std::vector<std::unique_ptr<listening>> all_;

private:
    class counter final : public alarm {
    public:
        explicit counter(int& count)
            : count_{count} {}
        asio::awaitable<void> wait_until(time_point) override { co_return; }
        void ring() noexcept override { ++count_; }

    private:
        int& count_;
    };
};

/// Three servers that say what the test says, in simulated time: a cluster that is known by the
/// first of them. The first has the lower half of the slots, the second the upper half, the third
/// none.
class on_fake_cluster : public on_fake_channels {
protected:
    static constexpr std::size_t half = redis::slot_count / 2;
    using owners = std::vector<std::size_t>; // of equal parts of the slots

    on_fake_cluster() {
        how_.cluster.emplace();
        how_.cluster->addresses = {address(0)};
        how_.backoff_max = std::chrono::milliseconds{250};
        for (fake_server* each : servers()) {
            each->says["EVALSHA"] = ":1\r\n";
            each->says["ASKING"] = "+OK\r\n";
            each->says["SSUBSCRIBE"] = each->says["SUNSUBSCRIBE"] = ""; // composed
        }
        share({0, 1});
    }

    ~on_fake_cluster() override {
        for (const auto& one : all_)
            one->subscriber.reset();
        close();
        second_.stop();
        third_.stop();
        settle();
    }

    fake_server& at(std::size_t which) { return *servers()[which]; }
    std::array<fake_server*, 3> servers() { return {&server_, &second_, &third_}; }
    redis::server_address address(std::size_t which) {
        return {at(which).path(), static_cast<std::uint16_t>(which + 1)};
    }
    std::string text_of(std::size_t which) {
        return at(which).path() + ":" + std::to_string(which + 1);
    }

    /// Who has which part of the slots, as CLUSTER SLOTS of a server from 7.0 on.
    std::string slots_text(const owners& all) {
        const std::size_t each = redis::slot_count / all.size();
        std::string text = "*" + std::to_string(all.size()) + "\r\n";
        for (std::size_t i = 0; i < all.size(); ++i)
            text += "*3\r\n:" + std::to_string(i * each) +
                    "\r\n:" + std::to_string((i + 1) * each - 1) + "\r\n*4\r\n" +
                    bulk(at(all[i]).path()) + ":" + std::to_string(all[i] + 1) + "\r\n" +
                    bulk("id") + "*0\r\n";
        return text;
    }
    /// All say so from now on.
    void share(const owners& all) {
        for (fake_server* each : servers())
            each->says["CLUSTER"] = slots_text(all);
    }

    static std::string bulk(const std::string& text) {
        return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
    }
    static std::string slot_text(const std::string& key) {
        return std::to_string(redis::key_slot(key));
    }
    std::string moved(const std::string& key, std::size_t to) {
        return "-MOVED " + slot_text(key) + " " + text_of(to) + "\r\n";
    }
    std::string asked_at(const std::string& key, std::size_t to) {
        return "-ASK " + slot_text(key) + " " + text_of(to) + "\r\n";
    }

    std::size_t calls_at(std::size_t which) {
        return at(which).count_asked("EVALSHA") + at(which).count_asked("EVAL");
    }
    std::size_t questions() { // for the map
        std::size_t all = 0;
        for (fake_server* each : servers())
            all += each->count_asked("CLUSTER");
        return all;
    }
    /// The connection on which it was asked that the last time.
    fake_server::session& session_with(std::size_t which, const std::string& word) {
        for (auto one = at(which).sessions.rbegin(); one != at(which).sessions.rend(); ++one)
            for (const fake_server::words& request : (*one)->asked)
                if (request[0] == word)
                    return **one;
        throw std::logic_error{"to no request" + word};
    }

    const std::string low_ = "low1", high_ = "high"; // in the first half and in the second
    fake_server second_{io_}, third_{io_};
};

} // namespace holdfast
