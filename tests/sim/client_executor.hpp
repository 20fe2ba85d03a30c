// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <type_traits>
#include <utility>

namespace holdfast::sim {

/// Executor that runs handlers on one io_context and keeps services in a second context, which
/// never runs. A client makes sockets and resolvers on its executor. With a single context, the
/// io_context would ask the kernel for their events before each handler.
template <typename Executor>
class executor_with_services_apart {
    template <typename Property>
    static constexpr bool is_context =
        std::is_same_v<Property, asio::execution::context_as_t<asio::execution_context&>>;

public:
    executor_with_services_apart(Executor runs, asio::execution_context& services)
        : runs_{std::move(runs)}
        , services_{&services} {}

    bool operator==(const executor_with_services_apart&) const noexcept = default;

    asio::execution_context& query(asio::execution::context_t) const noexcept { return *services_; }
    template <typename Property>
    requires(asio::can_query_v<const Executor&, Property> && !is_context<Property>) decltype(auto)
        query(const Property& wanted) const noexcept {
        return asio::query(runs_, wanted);
    }
    template <typename Property>
    requires asio::can_require_v<const Executor&, Property>
    auto require(const Property& wanted) const {
        using other = std::decay_t<decltype(asio::require(runs_, wanted))>;
        return executor_with_services_apart<other>{asio::require(runs_, wanted), *services_};
    }
    template <typename Function>
    void execute(Function&& what) const {
        runs_.execute(std::forward<Function>(what));
    }

private:
    Executor runs_;
    asio::execution_context* services_;
};

inline asio::any_io_executor client_executor(asio::io_context& runs, asio::io_context& services) {
    return executor_with_services_apart{runs.get_executor(), services};
}

} // namespace holdfast::sim
