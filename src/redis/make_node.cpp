// SPDX-License-Identifier: Apache-2.0
#include "redis/make_node.hpp"

#include "redis/primary_node.hpp"

#include <utility>

namespace holdfast::redis {

std::unique_ptr<node> make_node(options how, store_context home) {
    return std::make_unique<primary_node>(
        std::make_shared<node_context>(std::move(how), std::move(home)));
}

} // namespace holdfast::redis
