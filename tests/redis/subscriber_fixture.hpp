// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "node_fixture.hpp"

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

} // namespace holdfast
