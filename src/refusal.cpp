// SPDX-License-Identifier: Apache-2.0
#include "refusal.hpp"

#include <holdfast/error.hpp>

#include <utility>

namespace holdfast {
namespace {

constexpr std::size_t bytes_shown_max = 64;

void append_escaped(std::string& text, char byte) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    if (byte == '"' || byte == '\\') {
        text.append({'\\', byte});
    } else if (byte >= ' ' && byte <= '~') {
        text.push_back(byte);
    } else {
        const auto value = static_cast<unsigned char>(byte);
        text.append({'\\', 'x', digits[value / 16], digits[value % 16]});
    }
}

/// Error that contains only the reason in its what(). Boost would append the code's general
/// message.
class refusal final : public boost::system::system_error {
public:
    explicit refusal(std::string why)
        : system_error{make_error_code(errc::invalid_argument)}
        , why_{std::move(why)} {}
    const char* what() const noexcept override { return why_.c_str(); }

private:
    std::string why_;
};

} // namespace

void refuse(const std::string& why) {
    throw refusal{why};
}

std::string in_quotes(std::string_view bytes) {
    std::string text{'"'};
    for (const char byte : bytes.substr(0, bytes_shown_max))
        append_escaped(text, byte);
    text.push_back('"');
    if (bytes.size() > bytes_shown_max)
        text += "... (" + std::to_string(bytes.size()) + " bytes)";
    return text;
}

} // namespace holdfast
