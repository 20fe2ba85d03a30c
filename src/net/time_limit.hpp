// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <functional>
#include <memory>

namespace holdfast::net {

/// Timeout of a scope: calls `late` at the given time, on the executor, unless this object is
/// destroyed before.
class time_limit {
public:
    time_limit(const store_context&, time_point when, std::function<void()> late);
    time_limit(const time_limit&) = delete;
    ~time_limit();

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace holdfast::net
