// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// Writer of requests in RESP. It appends the requests to a buffer. Each word is sent with its
/// length, so a name may contain any bytes.
class composer {
public:
    explicit composer(std::string& out)
        : out_{out} {}

    /// Begins a request of `words` words.
    void begin(std::size_t words) { head('*', words); }

    void word(std::string_view text) {
        head('$', text.size());
        out_.append(text).append("\r\n");
    }

    void number(std::int64_t value) {
        std::array<char, 20> digits; // the longest number is -9223372036854775808
        word({digits.data(), std::to_chars(digits.data(), digits.end(), value).ptr});
    }

    void request(std::initializer_list<std::string_view> words) {
        begin(words.size());
        for (const std::string_view text : words)
            word(text);
    }

private:
    void head(char type, std::size_t count) {
        std::array<char, 24> line;
        line.front() = type;
        char* end = std::to_chars(line.data() + 1, line.end(), count).ptr;
        *end++ = '\r';
        *end++ = '\n';
        out_.append(line.data(), end);
    }

    std::string& out_;
};

} // namespace holdfast::redis
