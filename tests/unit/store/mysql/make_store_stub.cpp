// SPDX-License-Identifier: Apache-2.0
// Until the store is there. Weak, so that the store's own takes its place; then delete this file.
#include <holdfast/mysql/options.hpp>

namespace holdfast::mysql {

[[gnu::weak]] store_factory make_store(options) {
    return {};
}

} // namespace holdfast::mysql
