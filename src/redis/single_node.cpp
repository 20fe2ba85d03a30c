// SPDX-License-Identifier: Apache-2.0
#include "redis/single_node.hpp"

#include "redis/ear/ear.hpp"
#include "redis/lanes/lanes.hpp"
#include "redis/mouth/mouth.hpp"

#include <boost/asio/deferred.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace holdfast::redis {
namespace {

class single_node final : public node {
public:
    single_node(options how, store_context home)
        : context_{std::make_shared<node_context>(std::move(how), std::move(home))}
        , entrance_{runtime::monitor::of(context_->home.executor)}
        , mouths_{std::make_shared<mouth>(context_)}
        , lanes_{std::make_shared<lanes>(context_)}
        , ear_{std::make_shared<ear>(context_)} {
        if (entrance_)
            entrance_->welcome(context_->how.lanes_max);
    }
    single_node(const single_node&) = delete;
    ~single_node() override { close(); }

    asio::awaitable<reply> call(const script& what, std::span<const std::string_view> keys,
                                std::span<const argument> arguments, call_wishes) override {
        const runtime::monitor::load under_way{entrance_};
        if (runtime::visit* const caller = visitor_here()) {
            std::optional<lanes::loan> mine{std::in_place, *lanes_};
            request asked{what, keys, arguments};
            if (*mine && (caller->waits() || !(*mine)->may_owe_more()))
                co_return (*mine)->ask(*caller, asked);
            if (*mine) {
                co_await send_off(*caller, mine, asked);
                if (!asked.with_text)
                    co_return asked.take_answer();
            }
        }
        co_return co_await pick_mouth().ask(what, keys, arguments);
    }

    std::unique_ptr<hearing> hear(channel_name name, alarm& wake) override {
        return ear_->hear(std::move(name), wake);
    }

    bool hears(const channel_name& name) const override { return ear_->hears(name); }

    duration command_timeout() const noexcept override { return context_->how.command_timeout; }
    runtime::remote_clock& server_clock() noexcept override { return context_->server_clock; }

    void close() noexcept override {
        for (const auto& one : mouths_)
            one->close();
        lanes_->close();
        ear_->close();
    }

private:
    /// The lane is another's as soon as the request is on its way.
    asio::awaitable<void> send_off(runtime::visit& caller, std::optional<lanes::loan>& mine,
                                   request& asked) {
        auto begin = [&](auto handler) {
            request::waiter{std::move(handler)}.swap(asked.resume);
            (*mine)->send_off(caller, asked);
            mine.reset();
            lanes_->collect_soon();
        };
        co_await asio::async_initiate<const asio::deferred_t, void()>(begin, asio::deferred);
    }

    runtime::visit* visitor_here() const noexcept {
        return entrance_ ? runtime::visit::here(*entrance_) : nullptr;
    }
    mouth& pick_mouth() { return *mouths_.front(); }

    const std::shared_ptr<node_context> context_;
    runtime::monitor* const entrance_;
    const std::vector<std::shared_ptr<mouth>> mouths_;
    const std::shared_ptr<lanes> lanes_;
    const std::shared_ptr<ear> ear_;
};

} // namespace

std::unique_ptr<node> make_node(options how, store_context home) {
    return std::make_unique<single_node>(std::move(how), std::move(home));
}

} // namespace holdfast::redis
