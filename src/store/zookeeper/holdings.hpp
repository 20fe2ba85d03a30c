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

/// Table of the nodes of each hold of this client. The hold itself does not contain its nodes'
/// names, because the server chose their numbers. Thread safety: call everything on the client's
/// executor.
class holdings {
public:
    void keep(const hold& what, std::vector<own_node> nodes) {
        all_.insert_or_assign(key_of(what), std::move(nodes));
    }
    /// Returns the nodes of the hold. Null: this client no longer has the hold.
    const std::vector<own_node>* find(const hold& what) const {
        const auto found = all_.find(key_of(what));
        return found == all_.end() ? nullptr : &found->second;
    }
    void forget(const hold& what) { all_.erase(key_of(what)); }
    bool empty() const noexcept { return all_.empty(); }

private:
    /// Name of the lock and number of the owner. Each number is used for only one hold.
    using key = std::pair<std::string, std::uint64_t>;
    static key key_of(const hold& what) { return {what.name.text, what.owner.number}; }

    std::map<key, std::vector<own_node>> all_;
};

} // namespace holdfast::zookeeper
