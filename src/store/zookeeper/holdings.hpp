// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/own_node.hpp"

#include <holdfast/store.hpp>

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::zookeeper {

/// The nodes behind each hold of this client: their numbers are the server's, so that no hold tells
/// them by itself. Thread safety: everything on the client's executor.
class holdings {
public:
    void keep(const hold& what, std::vector<own_node> nodes) {
        all_.insert_or_assign(key_of(what), std::move(nodes));
    }
    /// Null: it is none of ours any more.
    const std::vector<own_node>* find(const hold& what) const {
        const auto found = all_.find(key_of(what));
        return found == all_.end() ? nullptr : &found->second;
    }
    void forget(const hold& what) { all_.erase(key_of(what)); }
    bool empty() const noexcept { return all_.empty(); }

private:
    using key = std::pair<std::string, std::uint64_t>; ///< an owner's number is used once
    static key key_of(const hold& what) { return {what.name.text, what.owner.number}; }

    std::map<key, std::vector<own_node>> all_;
};

} // namespace holdfast::zookeeper
