// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/zookeeper_store.hpp"
#include "zookeeper/check_options.hpp"
#include "zookeeper/make_session.hpp"

#include <holdfast/zookeeper/options.hpp>

#include <memory>
#include <utility>

namespace holdfast::zookeeper {

store_factory make_store(options how) {
    return [how = checked(std::move(how))](store_context context) -> std::unique_ptr<store> {
        std::unique_ptr<session> at = make_session(how, context);
        return std::make_unique<zookeeper_store>(std::move(at), std::move(context), how);
    };
}

} // namespace holdfast::zookeeper
