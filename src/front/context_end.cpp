// SPDX-License-Identifier: Apache-2.0
#include "front/context_end.hpp"

#include <boost/asio/execution_context.hpp>

#include <mutex>
#include <vector>

namespace holdfast::front {
namespace {

/// One per context: its `shutdown` is the context's way to say that it ends.
class context_end final : public asio::execution_context::service {
public:
    using key_type = context_end;
    static inline asio::execution_context::id id;

    explicit context_end(asio::execution_context& context)
        : service{context} {}

    void add(std::weak_ptr<sync::engine> home) {
        const std::scoped_lock guard{mutex_};
        std::erase_if(known_, [](const auto& known) { return known.expired(); });
        known_.push_back(std::move(home));
    }

private:
    void shutdown() override {
        for (const std::weak_ptr<sync::engine>& known : known_)
            if (const std::shared_ptr<sync::engine> home = known.lock())
                home->let_go();
    }

    std::mutex mutex_;
    std::vector<std::weak_ptr<sync::engine>> known_;
};

} // namespace

void let_go_with_context(const std::shared_ptr<sync::engine>& home) {
    asio::execution_context& context = asio::query(home->executor(), asio::execution::context);
    asio::use_service<context_end>(context).add(home);
}

} // namespace holdfast::front
