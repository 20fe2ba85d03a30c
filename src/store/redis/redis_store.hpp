// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "store/redis/examination.hpp"
#include "store/redis/heartbeat.hpp"
#include "store/redis/inspector.hpp"
#include "store/redis/redis_counters.hpp"
#include "store/redis/redis_locks.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace holdfast::redis {

/// Store on Redis. It reaches the servers through a `node`: connections in production, a model in
/// tests.
class redis_store final : public store {
public:
    redis_store(std::unique_ptr<node> server, store_context context)
        : context_{std::move(context)}
        , server_{std::move(server)}
        , heart_{context_.announce ? std::make_shared<heartbeat>(*server_, context_) : nullptr}
        , locks_{*server_, context_, heart_.get()}
        , counters_{*server_, context_}
        , inspector_{*server_, context_} {}
    redis_store(const redis_store&) = delete;
    ~redis_store() override { close(); }

    lock_store& locks() noexcept override { return locks_; }
    counter_store* counters() noexcept override { return &counters_; }
    inspector& operators_view() noexcept override { return inspector_; }
    server_identity identity(const lock_name& name) const override {
        return server_->identity(name.text);
    }
    asio::awaitable<std::vector<finding>> examine(ask trial) override {
        return examine_server(*server_, context_, std::move(trial));
    }
    asio::awaitable<void> depart() override {
        if (heart_)
            co_await heart_->end();
    }
    void close() noexcept override {
        if (heart_)
            heart_->stop();
        server_->close();
    }

private:
    store_context context_;
    std::unique_ptr<node> server_;
    const std::shared_ptr<heartbeat> heart_;
    redis_locks locks_;
    redis_counters counters_;
    lock_inspector inspector_;
};

} // namespace holdfast::redis
