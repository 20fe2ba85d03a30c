// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/other_kinds.hpp"

#include "store/zookeeper/formats.hpp"

#include <algorithm>

namespace holdfast::zookeeper {

const char* other_kind_than(lock_kind wanted, const std::vector<std::string>& children,
                            std::string_view mine) {
    if (is_semaphore(children))
        return words_for(lock_kind::permit);
    const std::vector<contender> all = contenders_in(children);
    if (all.empty() || all.front().node == mine)
        return nullptr;
    const bool is_pair = wanted == lock_kind::read || wanted == lock_kind::write;
    if (is_pair)
        return all.front().of_mutex ? words_for(lock_kind::plain) : nullptr;
    return all.front().of_pair ? words_for(lock_kind::read) : nullptr;
}

const char* lock_in_words(const std::vector<std::string>& children) {
    const std::vector<contender> all = contenders_in(children);
    if (all.empty())
        return nullptr;
    return words_for(all.front().of_pair ? lock_kind::read : lock_kind::plain);
}

bool is_semaphore(const std::vector<std::string>& children) {
    return std::ranges::find(children, "leases") != children.end() &&
           std::ranges::find(children, "locks") != children.end();
}

} // namespace holdfast::zookeeper
