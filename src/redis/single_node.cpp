// SPDX-License-Identifier: Apache-2.0
#include "redis/single_node.hpp"

#include "redis/ear.hpp"
#include "redis/mouth.hpp"

#include <utility>
#include <vector>

namespace holdfast::redis {
namespace {

class single_node final : public node {
public:
    single_node(options how, store_context home)
        : context_{std::make_shared<node_context>(std::move(how), std::move(home))}
        , mouths_{std::make_shared<mouth>(context_)}
        , ear_{std::make_shared<ear>(context_)} {}
    single_node(const single_node&) = delete;
    ~single_node() override { close(); }

    asio::awaitable<reply> call(const script& what, std::span<const std::string_view> keys,
                                std::span<const argument> arguments) override {
        return pick_mouth().ask(what, keys, arguments);
    }

    std::unique_ptr<hearing> hear(channel_name name, alarm& wake) override {
        return ear_->hear(std::move(name), wake);
    }

    duration command_timeout() const noexcept override { return context_->how.command_timeout; }
    runtime::remote_clock& server_clock() noexcept override { return context_->server_clock; }

    void close() noexcept override {
        for (const auto& one : mouths_)
            one->close();
        ear_->close();
    }

private:
    mouth& pick_mouth() { return *mouths_.front(); }

    const std::shared_ptr<node_context> context_;
    const std::vector<std::shared_ptr<mouth>> mouths_;
    const std::shared_ptr<ear> ear_;
};

} // namespace

std::unique_ptr<node> make_node(options how, store_context home) {
    return std::make_unique<single_node>(std::move(how), std::move(home));
}

} // namespace holdfast::redis
