// SPDX-License-Identifier: Apache-2.0
#include "redis/primary_node.hpp"

#include <utility>

namespace holdfast::redis {
namespace {

/// All locks are there.
std::function<void(bool urgent)> doubt_of_all(const store_context& home) {
    if (!home.doubt)
        return {};
    return [&home](bool urgent) { home.doubt({}, urgent); };
}

} // namespace

primary_node::primary_node(std::shared_ptr<node_context> context)
    : context_{std::move(context)}
    , server_{context_} {
    context_->doubt = doubt_of_all(context_->home);
}

} // namespace holdfast::redis
