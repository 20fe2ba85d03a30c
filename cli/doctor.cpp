// SPDX-License-Identifier: Apache-2.0
// `holdfast doctor`: what a server is like for locks, as lines for people or as JSON for programs.
#include "cli/exit_status.hpp"
#include "cli/last_words.hpp"
#include "cli/output.hpp"
#include "cli/reaching.hpp"
#include "cli/say.hpp"
#include "cli/verbs.hpp"

#include <holdfast/client.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <optional>

namespace cli {
namespace {

using holdfast::diagnosis;
using holdfast::severity;

constexpr std::string_view help =
    R"(Looks at a server with a locksmith's eyes: is it reached, which rights has this
user (tried out with a lock), what happens when memory or disk run out, what do
replicas and clock say?

Usage: holdfast doctor [OPTIONS] [NAME]

  NAME                 the lock to try (default holdfast-doctor); one that this
                       user may take
      --json           for programs: {"worst": ..., "findings": [{"severity",
                       "topic", "what", "remedy"}, ...]}
      --url URL        as for 'holdfast run'
  -h, --help           this text

Each finding is fine, a note, a warning (in some event locks will not do what is
expected), or a danger (they do not work, or are lost in everyday events).

Exit status:
    0   nothing worse than a note
    1   a warning or a danger was found
   64   the command line is wrong
   69   the server cannot be reached, or refuses

Example:
  holdfast doctor --json |
      jq -r '.findings[] | select(.severity == "danger") | .remedy'
)";

struct given_options {
    bool json = false;
    std::optional<std::string> url;
    std::string name = "holdfast-doctor";
};

void print_lines(const diagnosis& found) {
    constexpr int severity_width = 9, topic_width = 13;
    std::cout << std::left;
    for (const holdfast::finding& each : found.findings) {
        std::cout << std::setw(severity_width) << to_string(each.how_bad) << std::setw(topic_width)
                  << each.topic << printable(each.what, each.what.size()) << '\n';
        if (!each.remedy.empty())
            std::cout << std::setw(severity_width + topic_width) << ""
                      << "-> " << printable(each.remedy, each.remedy.size()) << '\n';
    }
}

void print_json(const diagnosis& found) {
    boost::json::array all;
    for (const holdfast::finding& each : found.findings)
        all.push_back({{"severity", to_string(each.how_bad)},
                       {"topic", each.topic},
                       {"what", each.what},
                       {"remedy", each.remedy}});
    const boost::json::object whole{{"worst", to_string(found.worst())},
                                    {"findings", std::move(all)}};
    std::cout << boost::json::serialize(whole) << '\n';
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
    given_options given;
    CLI::App expected{"", "doctor"};
    expected.add_flag("--json", given.json);
    expected.add_option("--url", given.url);
    expected.add_option("NAME", given.name);
    if (!parse(expected, std::move(all), help))
        return success;
    reject_surplus(expected);

    const std::string url = server_url(given.url);
    end_with_reader(inherited);
    try {
        holdfast::client home{reaching(url)};
        const diagnosis found = home.doctor({given.name});
        given.json ? print_json(found) : print_lines(found);
        return after_output(status_of(found));
    } catch (const boost::system::system_error& failure) {
        return last_words{}.report(failure, url);
    }
}

} // namespace cli
