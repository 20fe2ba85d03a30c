// SPDX-License-Identifier: Apache-2.0
// Of a worker's history, what it asked of rate limiters and latches (history.hpp).
#pragma once

#include "interop/history.hpp"

#include <sstream>

namespace holdfast::interop {

class deeds_reading {
public:
    explicit deeds_reading(std::string worker)
        : worker_{std::move(worker)} {}

    /// Whether such a line belongs to one: who gives up says so of what it asked last.
    bool is_one(const std::string& what) const;

    /// Throws `std::runtime_error` at a line that cannot come now.
    void line(moment at, const std::string& what, const std::string& name,
              std::istringstream& words);

    /// Those parts of a history that it makes.
    history finished(std::optional<moment> killed_at);

private:
    void begin(moment at, deed::kind, const std::string& name, std::istringstream& words);
    void end(moment at, const std::string& what);
    void cut_off(moment killed_at);

    std::string worker_;
    history made_;
    std::optional<deed> begun_;
};

} // namespace holdfast::interop
