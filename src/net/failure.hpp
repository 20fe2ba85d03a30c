// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <exception>
#include <string>
#include <utility>

namespace holdfast::net {

/// Why something did not work: what the caller now knows, and the story for people. Thrown, and
/// kept where several must be told. Never contains a password.
class failure : public boost::system::system_error {
public:
    failure(error_code code, std::string text)
        : system_error{code, text}
        , text_{std::move(text)} {}
    failure(errc code, std::string text)
        : failure{make_error_code(code), std::move(text)} {}
    failure(store_errc code, std::string text)
        : failure{make_error_code(code), std::move(text)} {}

    /// The story alone; what() adds the code's message to it.
    const std::string& text() const noexcept { return text_; }

private:
    std::string text_;
};

/// Of whatever was thrown: a failure's story, without the code's message.
inline std::string story_of(const std::exception& why) {
    const auto* const told = dynamic_cast<const failure*>(&why);
    return told ? told->text() : why.what();
}

} // namespace holdfast::net
