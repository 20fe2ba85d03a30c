// SPDX-License-Identifier: Apache-2.0
// The one list of what can go wrong, in words: codes take their messages from it, and
// docs/errors.md its tables.
#pragma once

#include <holdfast/error.hpp>

namespace holdfast {

/// Each text is one or more whole sentences.
struct explanation {
    const char* name;    ///< as the enumeration spells it
    const char* meaning; ///< what happened
    const char* known;   ///< what the caller knows now
    const char* advice;  ///< what to do
};

/// Of a server's refusal, too, which is known for what it comes to in terms of the lock.
struct store_explanation : explanation {
    const char* words; ///< how the server begins to say it
    errc equal_to;
};

/// Of a number that is no code: an explanation that says so, with nothing but a meaning.
explanation explain(errc) noexcept;
store_explanation explain(store_errc) noexcept;

} // namespace holdfast
