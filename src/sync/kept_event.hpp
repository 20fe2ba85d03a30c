// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/observer.hpp>

#include <string>

namespace holdfast::sync {

/// An event that is delivered later, with copies of its texts.
class kept_event {
public:
    explicit kept_event(const event& e)
        : event_{e}
        , name_{e.name, e.name_size}
        , text_{e.text ? e.text : "", e.text_size} {}

    /// Returns the event. The event is valid while this object lives and is not moved.
    event view() const {
        event e = event_;
        e.name = name_.data();
        e.text = event_.text ? text_.data() : nullptr;
        return e;
    }

private:
    event event_;
    std::string name_;
    std::string text_;
};

} // namespace holdfast::sync
