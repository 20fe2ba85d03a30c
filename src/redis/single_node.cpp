// SPDX-License-Identifier: Apache-2.0
#include "redis/single_node.hpp"

#include "redis/ear/ear.hpp"
#include "redis/lanes/lanes.hpp"
#include "redis/mouth/mouths.hpp"
#include "redis/mutants.hpp"

#include <boost/asio/deferred.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::redis {
namespace {

class single_node final : public node {
public:
    single_node(options how, store_context home)
        : context_{std::make_shared<node_context>(std::move(how), std::move(home))}
        , entrance_{runtime::monitor::of(context_->home.executor)}
        , mouths_{std::make_shared<mouths>(context_)}
        , lanes_{std::make_shared<lanes>(context_)}
        , ear_{std::make_shared<ear>(context_)} {
        if (entrance_)
            entrance_->welcome(context_->how.lanes_max);
        context_->leave_server = leaving();
    }
    single_node(const single_node&) = delete;
    ~single_node() override { close(); }

    asio::awaitable<reply> call(const script& what, std::span<const std::string_view> keys,
                                std::span<const argument> arguments, call_wishes wishes) override {
        const runtime::monitor::load under_way{entrance_};
        if (runtime::visit* const caller = visitor_here()) {
            if (!planted(mutant::lanes_unwatched))
                mouths_->stay_connected(); // lanes do not notice when the server goes
            std::optional<lanes::loan> mine{std::in_place, *lanes_};
            request asked{what, keys, arguments, wishes.answer_by};
            if (*mine && (caller->waits() || !(*mine)->may_owe_more()))
                co_return (*mine)->ask(*caller, asked);
            if (*mine) {
                co_await send_off(*caller, mine, asked);
                if (!asked.with_text)
                    co_return asked.take_answer();
            }
        }
        co_return co_await mouths_->pick(wishes).ask(what, keys, arguments, wishes);
    }

    void distrust(const reply& said) noexcept override {
        mouths_->distrust(said, {store_errc::protocol, "an answer that its script does not give"});
        lanes_->distrust(said);
    }

    std::unique_ptr<hearing> hear(channel_name name, alarm& wake, linger how) override {
        return ear_->hear(std::move(name), wake, how);
    }

    bool hears(const channel_name& name) const override { return ear_->hears(name); }

    duration command_timeout() const noexcept override { return context_->how.command_timeout; }
    duration fair_wait() const noexcept override { return context_->how.fair_wait; }
    redisson_form redisson() const noexcept override { return context_->how.redisson; }
    server_identity identity() const override { return mouths_->identity(); }

    void close() noexcept override {
        mouths_->close();
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

    /// What all connections may call, also when this is gone.
    std::function<void(const net::failure&)> leaving() {
        return [shared = std::weak_ptr{mouths_}, own = std::weak_ptr{lanes_},
                listening = std::weak_ptr{ear_}](const net::failure& why) {
            if (const auto all = shared.lock())
                all->cut(why);
            if (const auto all = own.lock())
                all->cut(why);
            if (const auto one = listening.lock(); one && !planted(mutant::ear_stays))
                one->cut(why);
        };
    }

    runtime::visit* visitor_here() const noexcept {
        return entrance_ ? runtime::visit::here(*entrance_) : nullptr;
    }

    const std::shared_ptr<node_context> context_;
    runtime::monitor* const entrance_;
    const std::shared_ptr<mouths> mouths_;
    const std::shared_ptr<lanes> lanes_;
    const std::shared_ptr<ear> ear_;
};

} // namespace

std::unique_ptr<node> make_node(options how, store_context home) {
    return std::make_unique<single_node>(std::move(how), std::move(home));
}

} // namespace holdfast::redis
