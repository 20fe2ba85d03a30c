// SPDX-License-Identifier: Apache-2.0
#include "cli/look/diagnoses.hpp"

#include "cli/look/lock_json.hpp"
#include "cli/terminal/say.hpp"

#include <boost/json/array.hpp>

#include <iomanip>
#include <iostream>

namespace cli {

using holdfast::diagnosis;

void print_findings(const diagnosis& found) {
    constexpr int severity_width = 9, topic_width = 13;
    std::cout << std::left;
    for (const holdfast::finding& each : found.findings) {
        std::cout << std::setw(severity_width) << to_string(each.how_bad) << std::setw(topic_width)
                  << each.topic << printable(on_one_line(each.what), each.what.size()) << '\n';
        if (!each.remedy.empty())
            std::cout << std::setw(severity_width + topic_width) << ""
                      << "-> " << printable(on_one_line(each.remedy), each.remedy.size()) << '\n';
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
