// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <functional>
#include <memory>

namespace holdfast::net {

/// Timeout of a scope. It calls `late` on the executor at the given time, unless this object is
/// destroyed before that time.
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
