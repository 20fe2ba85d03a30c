// SPDX-License-Identifier: Apache-2.0
// Wraps a store, so that a test can change the results that its client gets.
#pragma once

#include <holdfast/store.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::support {

/// Lock store that passes all calls on to another lock store. Derived classes of tests change some
/// of the calls.
class wrapped_locks : public lock_store {
public:
    explicit wrapped_locks(lock_store& real)
        : real_{real} {}

    bool offers(lock_kind kind) const noexcept override { return real_.offers(kind); }
    limits bounds() const noexcept override { return real_.bounds(); }
    std::optional<std::string> objection_to(const lock_name& name) const override {
        return real_.objection_to(name);
    }
    std::unique_ptr<place> line_up(ask want, alarm& wake) override {
        return real_.line_up(std::move(want), wake);
    }
    asio::awaitable<void> renew(hold_list holds, const renewal_options& how,
                                renewal_sink& to) override {
        return real_.renew(holds, how, to);
    }
    asio::awaitable<release_answer> release(hold what) override {
        return real_.release(std::move(what));
    }
    bool transfers(lock_kind kind) const noexcept override { return real_.transfers(kind); }
    asio::awaitable<answer> transfer(hold what, owner_id to, duration lease_time) override {
        return real_.transfer(std::move(what), to, lease_time);
    }
    void detached(const hold& what) noexcept override { real_.detached(what); }
    std::unique_ptr<watch> watch_over(const hold& what, revalidator& whom) override {
        return real_.watch_over(what, whom);
    }

private:
    lock_store& real_;
};

/// Store that wraps the locks of another store in `Locks`. It constructs `Locks` with the real
/// locks and `more`.
template <typename Locks>
class wrapped_store final : public store {
public:
    template <typename... More>
    explicit wrapped_store(std::unique_ptr<store> real, More&&... more)
        : real_{std::move(real)}
        , locks_{real_->locks(), std::forward<More>(more)...} {}

    Locks& locks() noexcept override { return locks_; }
    counter_store* counters() noexcept override { return real_->counters(); }
    inspector& operators_view() noexcept override { return real_->operators_view(); }
    wish_store* wishes() noexcept override { return real_->wishes(); }
    asio::awaitable<std::vector<finding>> examine(ask trial) override {
        return real_->examine(std::move(trial));
    }
    asio::awaitable<std::vector<finding>> set_up() override { return real_->set_up(); }
    server_identity identity(const lock_name& name) const override { return real_->identity(name); }
    void close() noexcept override { real_->close(); }

private:
    std::unique_ptr<store> real_;
    Locks locks_;
};

} // namespace holdfast::support
