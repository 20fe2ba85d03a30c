// SPDX-License-Identifier: Apache-2.0
#include "cli/look/diagnoses.hpp"

#include "cli/look/lock_json.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/say.hpp"
#include "cli/text/utf8.hpp"

#include <boost/json/array.hpp>

#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include <unistd.h>

namespace cli {

using holdfast::diagnosis;

namespace {

constexpr std::size_t severity_width = 9, topic_width = 13;

/// Prints the text, wrapped to the terminal's width. The first line begins at column `indent`,
/// because something was printed there before.
void print_wrapped(const std::string& text, std::size_t indent) {
    constexpr std::size_t least = 30; // on a narrower terminal the lines are too long
    const std::size_t columns = form_of(STDOUT_FILENO).columns;
    const std::size_t room = columns < indent + least ? least : columns - indent;
    std::size_t used = 0;
    std::istringstream words{printable(on_one_line(text), text.size())};
    for (std::string word; words >> word;) {
        if (used > 0 && used + 1 + width_of(word) > room) {
            std::cout << '\n' << std::string(indent, ' ');
            used = 0;
        }
        std::cout << (used > 0 ? " " : "") << word;
        used += (used > 0 ? 1 : 0) + width_of(word);
    }
    std::cout << '\n';
}

} // namespace

void print_findings(const diagnosis& found) {
    constexpr std::size_t indent = severity_width + topic_width;
    constexpr std::string_view arrow = "-> ";
    std::cout << std::left;
    for (const holdfast::finding& each : found.findings) {
        std::cout << std::setw(severity_width) << to_string(each.how_bad) << std::setw(topic_width)
                  << each.topic;
        print_wrapped(each.what, indent);
        if (each.remedy.empty())
            continue;
        std::cout << std::string(indent, ' ') << arrow;
        print_wrapped(each.remedy, indent + arrow.size());
    }
}

boost::json::object diagnosis_to_json(const diagnosis& found) {
    boost::json::array all;
    for (const holdfast::finding& each : found.findings)
        all.push_back({{"severity", to_string(each.how_bad)},
                       {"topic", each.topic},
                       {"what", text_in_json(each.what)},
                       {"remedy", text_in_json(each.remedy)}});
    return {{"worst", to_string(found.worst())}, {"findings", std::move(all)}};
}

} // namespace cli
