// SPDX-License-Identifier: Apache-2.0
#include "store/redis/redis_store.hpp"

#include "redis/make_node.hpp"
#include "store/redis/check_options.hpp"

#include <holdfast/redis/options.hpp>

#include <memory>
#include <utility>

namespace holdfast::redis {

store_factory make_store(options how) {
    return [how = checked(std::move(how))](store_context context) -> std::unique_ptr<store> {
        std::unique_ptr<node> server = make_node(how, context);
        return std::make_unique<redis_store>(std::move(server), std::move(context));
    };
}

} // namespace holdfast::redis
