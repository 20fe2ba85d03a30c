// SPDX-License-Identifier: Apache-2.0
// `holdfast doctor`: what a server is like for locks, as lines for people or as JSON for programs.
#include "cli/exit_status.hpp"
#include "cli/look/lock_json.hpp"
#include "cli/look/looking.hpp"
#include "cli/terminal/say.hpp"
#include "cli/verbs.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/array.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>

namespace cli {
namespace {

using holdfast::diagnosis;
using holdfast::severity;

constexpr std::string_view doctor_help =
    R"(Examines a server: whether it can be reached, which rights this user has (a lock
is taken and released to find out), what happens when memory or disk is full,
and whether replicas and the clock are a danger for locks.

Usage: holdfast doctor [OPTIONS] [NAME]

  NAME                 the lock that is taken (default holdfast-doctor); choose
                       one that this user may take
      --json           for programs: {"worst": ..., "findings": [{"severity",
                       "topic", "what", "remedy"}, ...]}
      --url URL        the server, as for 'holdfast run'
  -h, --help           print this text

The severity of a finding is 'fine', 'note', 'warning' or 'danger'. A warning:
locks work, but not as expected in some event; or something could not be
examined. A danger: locks do not work, or everyday events end them.

Exit status:
    0   no finding is worse than a note
    1   there is a warning or a danger
   64   the command line or a variable is wrong
   69   the server cannot be reached, or refuses

Example:
  holdfast doctor --json |
      jq -r '.findings[] | select(.severity == "danger") | .remedy'
)";

void print_lines(const diagnosis& found) {
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

void print_json(const diagnosis& found) {
    boost::json::array all;
    for (const holdfast::finding& each : found.findings)
        all.push_back({{"severity", to_string(each.how_bad)},
                       {"topic", each.topic},
                       {"what", text_in_json(each.what)},
                       {"remedy", text_in_json(each.remedy)}});
    write_json(
        boost::json::object{{"worst", to_string(found.worst())}, {"findings", std::move(all)}});
}

int status_of(const diagnosis& found) {
    if (found.worst() < severity::warning)
        return success;
    const bool reached = std::ranges::none_of(found.findings, [](const holdfast::finding& each) {
        return each.topic == "reach" && each.how_bad == severity::danger;
    });
    return reached ? found_trouble : unavailable;
}

} // namespace

int doctor(const inheritance& inherited, arguments all) {
    look_options given;
    given.name = "holdfast-doctor";
    CLI::App expected{"", "doctor"};
    if (!parse_look(expected, given, lock_word::optional, std::move(all), doctor_help))
        return success;

    return ask_server(inherited, given, [&](holdfast::client& home) {
        const diagnosis found = home.doctor({given.name});
        given.json ? print_json(found) : print_lines(found);
        return status_of(found);
    });
}

} // namespace cli
