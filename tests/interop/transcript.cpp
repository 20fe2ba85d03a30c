// SPDX-License-Identifier: Apache-2.0
#include "interop/transcript.hpp"

#include "support/eventually.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <stdexcept>

namespace holdfast::interop {
namespace {

/// The text from one quote to the next, in which a quote, a backslash and whatever is not printable
/// are escaped; `from` moves behind it.
std::string quoted(const std::string& line, std::size_t& from) {
    std::string text;
    for (++from; line.at(from) != '"'; ++from) {
        if (line[from] != '\\') {
            text += line[from];
        } else if (line.at(++from) == 'x') {
            text += static_cast<char>(std::stoi(line.substr(from + 1, 2), nullptr, 16));
            from += 2;
        } else {
            text += line[from]; // of "\n" and its like only that there was something
        }
    }
    ++from;
    return text;
}

/// `1700000000.123456 [0 127.0.0.1:5555] "PING"`
entry entry_of(const std::string& line) {
    const std::size_t point = line.find('.'), bracket = line.find("] ");
    entry made{std::chrono::seconds{std::stoll(line)} +
                   microseconds{std::stoll(line.substr(point + 1, 6))},
               line.substr(0, bracket).ends_with(" lua"),
               {}};
    for (std::size_t i = bracket + 2; i < line.size(); ++i)
        made.words.push_back(quoted(line, i));
    for (char& letter : made.words.at(0))
        letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    return made;
}

} // namespace

bool entry::mentions(const std::string& word) const {
    return std::any_of(words.begin() + 1, words.end(),
                       [&](const std::string& each) { return each.starts_with(word); });
}

transcript::transcript(const std::string& socket_path)
    : connection_{socket_path}
    , mark_{socket_path} {
    (void)connection_.command({"MONITOR"});
}

// A server tells in order, so what came before a mark of ours is heard before the mark. Other
// transcripts leave marks, too.
const std::vector<entry>& transcript::all() {
    static std::atomic<int> last_mark = 0;
    const std::string mark = "mark " + std::to_string(++last_mark);
    (void)mark_.command({"ECHO", mark});
    for (;;) {
        const std::optional<redis::reply> line =
            connection_.next_message(duration{support::far_too_long});
        if (!line)
            throw std::runtime_error{"the server's monitor is silent"};
        entry next = entry_of(line->text);
        if (next.is("ECHO") && next.words.at(1) == mark)
            return heard_;
        heard_.push_back(std::move(next));
    }
}

} // namespace holdfast::interop
