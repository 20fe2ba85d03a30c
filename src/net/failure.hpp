// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <exception>
#include <string>
#include <utility>

namespace holdfast::net {

/// Error with a code and an additional text. The error can be thrown, or stored if several callers
/// must get it. The text never contains a password.
class failure : public boost::system::system_error {
public:
    failure(error_code code, std::string text)
        : system_error{code, text}
        , text_{std::move(text)} {}
    failure(errc code, std::string text)
        : failure{make_error_code(code), std::move(text)} {}
    failure(store_errc code, std::string text)
        : failure{make_error_code(code), std::move(text)} {}

    /// Returns the additional text only; what() also contains the message of the code.
    const std::string& text() const noexcept { return text_; }

private:
    std::string text_;
};

/// Returns the text of an exception. For a `failure`, the result does not contain the message of
/// the code.
inline std::string story_of(const std::exception& why) {
    const auto* const told = dynamic_cast<const failure*>(&why);
    return told ? told->text() : why.what();
}

} // namespace holdfast::net
