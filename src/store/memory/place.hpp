// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/ear.hpp"
#include "store/memory/link.hpp"
#include "store/memory/orphans.hpp"
#include "store/remote/attempts.hpp"

#include <memory>

namespace holdfast::memory {

/// Waiter for one lock of any kind. It keeps the subscription and the state of one owner's
/// attempts.
class lock_place final : public place {
public:
    /// `context` and `wake` must outlive this object.
    lock_place(std::shared_ptr<link>, const store_context& context, std::shared_ptr<orphans>, ask,
               alarm& wake);

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return attempts_.must_leave(); }
    bool uncertain() const noexcept override { return attempts_.uncertain(); }
    time_point settled_at() const noexcept override { return attempts_.settled_at(); }

private:
    asio::awaitable<remote::attempt> request(time_point deadline);
    void listen();

    std::shared_ptr<link> link_;
    const store_context& context_;
    std::shared_ptr<orphans> orphans_;
    ask want_;
    alarm& wake_;
    const bool is_told_;
    remote::attempts attempts_;
    std::unique_ptr<ear> ear_;
    duration round_trip_{};
};

} // namespace holdfast::memory
