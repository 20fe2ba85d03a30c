// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>

namespace holdfast::remote {

/// Set of lock names that this client found busy at its last request. It is only a guess: a wrong
/// entry changes the number of requests and nothing else.
class lately_busy {
public:
    bool contains(const std::string& name) const { return names_.contains(name); }

    void note(const std::string& name, bool busy) {
        if (!busy) {
            names_.erase(name);
            return;
        }
        if (names_.size() >= names_max)
            names_.clear();
        names_.insert(name);
    }

private:
    static constexpr std::size_t names_max = 1000;

    std::unordered_set<std::string> names_;
};

} // namespace holdfast::remote
