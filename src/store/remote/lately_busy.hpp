// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>

namespace holdfast::remote {

/// Set of names of locks that were busy at this client's last request. The set is only a hint: a
/// wrong entry changes the number of requests and nothing else.
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
