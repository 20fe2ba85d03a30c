// SPDX-License-Identifier: Apache-2.0
// What every public verb asks before it begins.
#pragma once

#include "runtime/loop.hpp"
#include "sync/engine.hpp"

#include <string>

namespace holdfast::front {

/// A system_error whose words are exactly those given.
class worded_error final : public boost::system::system_error {
public:
    explicit worded_error(sync::failure why)
        : system_error{why.code}
        , words_{why.text.empty() ? why.code.message() : std::move(why.text)} {}
    const char* what() const noexcept override { return words_.c_str(); }

private:
    std::string words_;
};

inline sync::failure forked() {
    return {make_error_code(errc::forked),
            "this object was made before fork(): use one that this process made"};
}

/// Why a call that waits cannot be made here; no code if it can.
inline sync::failure objection_to_blocking(const sync::engine& home) {
    if (home.forked())
        return forked();
    if (runtime::runs_here(home.executor()))
        return {make_error_code(errc::would_deadlock),
                "a blocking call on the client's own executor would wait for itself: use the "
                "async_ verb"};
    return {};
}

inline void throw_if(sync::failure why) {
    if (why.code)
        throw worded_error{std::move(why)};
}

} // namespace holdfast::front
