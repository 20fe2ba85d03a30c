// SPDX-License-Identifier: Apache-2.0
// `holdfast doctor`: checks whether a server is suitable for locks, and prints a report as text or
// as JSON.
#include "cli/look/doctor.hpp"

#include "cli/command_line.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/looking.hpp"
#include "cli/look/quorum.hpp"
#include "cli/terminal/output.hpp"
#include "cli/text/text.hpp"

#include <holdfast/mutex.hpp>
#include <holdfast/quorum_mutex.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json/array.hpp>

#include <algorithm>
#include <future>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

namespace cli {

using holdfast::diagnosis;

namespace {

constexpr std::size_t severity_width = 9, topic_width = 13;

/// Prints the text, wrapped to the terminal's width. The cursor is already at column `indent`, and
/// the further lines begin there, too.
void print_wrapped(const std::string& text, std::size_t indent) {
    constexpr std::size_t least = 30; // least width; a narrower terminal wraps the lines again
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

namespace {

using holdfast::severity;

constexpr std::string_view doctor_help =
    R"(Checks whether a server is fit for locks: whether it can be reached, which
rights this user has, what happens when its memory or disk is full, and whether
its replicas and its clock endanger locks. To check the rights, it takes a lock
and releases it.

Behind Sentinels and in a cluster, all servers are examined, also replicas and
Sentinels: which server is the primary, what is missing, how long a failover
takes compared with the lease, whether clocks differ, and whether other clients
use another form of Pub/Sub. If this user has no right to ask for something,
this is reported.

A server that cannot be reached is reported at once. Unlike the other verbs,
this verb does not wait for the new primary during a failover.

In a database, the settings, the user's rights and the tables for locks are
examined. In ZooKeeper, each server of the ensemble and the session that it
grants are examined.

Usage: holdfast doctor [OPTIONS] [NAME]

  NAME                 the lock that is taken (default holdfast-doctor); choose
                       a name that this user has the right to lock
      --create-tables  for mysql:// and mariadb://: create the missing tables,
                       which requires the rights CREATE, SELECT and INSERT;
                       existing tables do not change
      --json           for programs: {"worst": ..., "findings": [{"severity",
                       "topic", "what", "remedy"}, ...]}
      --url URL        the server, as for 'holdfast run'. For a quorum, each
                       node is examined, and a lock is taken on all of them. For
                       programs there is then also {"nodes": [{"server",
                       "worst", "findings"}, ...]}, and "findings" is about the
                       quorum as a whole
  -h, --help           print this text

The severity of a finding is 'fine', 'note', 'warning' or 'danger'. A warning
means that locks work, but not as expected in some event, or that something
could not be examined. A danger means that locks do not work, or that everyday
events end them.

Exit status:
    0   no finding is worse than a note
    1   there is a warning or a danger
   64   the command line or a variable is wrong
   69   the server cannot be reached, or refuses the request

Examples:
  holdfast doctor --url 'redis+cluster://node-a,node-b?required_replicas=1'
  holdfast doctor --create-tables --url mysql://admin@db.internal/shop
  holdfast doctor --json |
      jq -r '.findings[] | select(.severity == "danger") | .remedy'
)";

/// Creates the tables of the store, and returns findings about what was created. Throws
/// `usage_error` if the store needs no tables.
std::vector<holdfast::finding> tables_made(holdfast::client& home) {
    try {
        return home.set_up().findings;
    } catch (const boost::system::system_error& failure) {
        if (failure.code() != holdfast::errc::invalid_argument)
            throw;
        throw usage_error{"--create-tables is for mysql:// and mariadb://: other stores need no "
                          "tables"};
    }
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
    bool create_tables = false;
    CLI::App expected{"", "doctor"};
    expected.add_flag("--create-tables", create_tables);
    if (!parse_look(expected, given, lock_word::optional, std::move(all), doctor_help))
        return success;

    if (asks_quorum(given)) {
        if (create_tables)
            throw usage_error{"--create-tables accepts only one URL: run the command once for "
                              "each database"};
        return examine_quorum(given);
    }
    return ask_server(inherited, given, [&](holdfast::client& home) {
        diagnosis found;
        if (create_tables)
            found.findings = tables_made(home);
        std::ranges::move(home.doctor({given.name}).findings, std::back_inserter(found.findings));
        given.json ? write_json(diagnosis_to_json(found)) : print_findings(found);
        return status_of(found);
    });
}

// `holdfast doctor` on a quorum: checks each server alone, and then takes one lock on all servers.

namespace {

using holdfast::finding;

bool was_reached(const diagnosis& found) {
    return std::ranges::none_of(found.findings, [](const finding& each) {
        return each.topic == "reach" && each.how_bad == severity::danger;
    });
}

std::vector<diagnosis> examine_each(node_list& of, const std::string& name) {
    std::list<std::future<diagnosis>> answers;
    for (node& each : of)
        answers.push_back(each.home.async_doctor(name, holdfast::asio::use_future));
    std::vector<diagnosis> all;
    for (std::future<diagnosis>& each : answers)
        all.push_back(each.get());
    return all;
}

/// Returns the votes of the lock after all nodes have replied, or after a timeout. A wait is
/// needed, because the lock is granted as soon as a majority has replied.
holdfast::quorum_votes votes_of_all(const holdfast::lease& held) {
    constexpr std::chrono::milliseconds timeout{1000}, look_again{10};
    const holdfast::time_point give_up_at = holdfast::boot_clock::now() + timeout;
    for (;;) {
        const holdfast::quorum_votes votes = holdfast::quorum_mutex::votes(held);
        if (votes.held == votes.nodes || holdfast::boot_clock::now() >= give_up_at)
            return votes;
        std::this_thread::sleep_for(look_again);
    }
}

constexpr std::string_view remedy_for_votes =
    "If a node cannot be reached, repair this node. A restarted node votes again when the longest "
    "lease has passed since its start.";

finding words_on_votes(const holdfast::quorum_votes& votes) {
    const std::string count = std::to_string(votes.held) + " of " + std::to_string(votes.nodes);
    if (votes.held == votes.nodes)
        return {severity::fine, "quorum", count + " nodes voted for the lock.", ""};
    return {severity::warning, "quorum",
            "Only " + count + " nodes voted for the lock. The lock needs " +
                std::to_string(votes.majority) + " votes.",
            std::string{remedy_for_votes}};
}

/// Takes the lock with a blocking call, and returns the text of its error. (The error of an
/// asynchronous call has a code, but no text.)
std::string why_not(holdfast::quorum_mutex& lock) {
    try {
        if (lock.try_lock())
            lock.unlock();
    } catch (const boost::system::system_error& failure) {
        std::string text = failure.what();
        if (const std::string general = ": " + failure.code().message();
            text.find(general) != text.npos)
            text.erase(text.find(general));
        return text;
    }
    return "The nodes could not be asked in the first attempt.";
}

/// Takes a lock on all nodes, as a program would do. Returns a finding about the votes.
finding examine_together(node_list& of, const std::string& name) {
    holdfast::quorum_mutex::nodes all;
    for (node& each : of)
        all.emplace_back(each.home);
    holdfast::quorum_mutex lock{all, name};
    try {
        const std::optional<holdfast::lease> held =
            lock.async_try_lock_for(std::chrono::seconds{1}, holdfast::asio::use_future).get();
        if (held)
            return words_on_votes(votes_of_all(*held));
        if (std::ranges::any_of(inspect_all(of, name), &node_state::is_held))
            return {severity::warning, "quorum",
                    "Another client holds the lock '" + name +
                        "', so the doctor could not take this lock.",
                    "Run the doctor with another name: holdfast doctor NAME"};
        return {severity::danger, "quorum", "No majority of the nodes voted within one second.",
                std::string{remedy_for_votes}};
    } catch (const boost::system::system_error& failure) {
        const bool wrong = failure.code() == holdfast::errc::invalid_argument;
        return {severity::danger, "quorum", why_not(lock),
                wrong ? "Replace one of the two URLs by the URL of another server. A server has "
                        "only one vote."
                      : "Repair the nodes. Without the votes of " +
                            std::to_string(majority_of(of.size())) +
                            " nodes, no client gets the lock."};
    }
}

/// Returns the URLs of the nodes that could not be reached, separated by commas.
std::string servers_without_answer(const node_list& of, const std::vector<diagnosis>& each) {
    std::string servers;
    auto found = each.begin();
    for (const node& one : of)
        if (!was_reached(*found++))
            servers += (servers.empty() ? "" : ", ") + one.server;
    return servers;
}

void print_quorum_lines(const node_list& of, const std::vector<diagnosis>& each,
                        const diagnosis& together) {
    auto found = each.begin();
    for (const node& one : of) {
        std::cout << printable(one.server) << '\n';
        print_findings(*found++);
    }
    std::cout << "all nodes together\n";
    print_findings(together);
}

void print_quorum_json(const node_list& of, const std::vector<diagnosis>& each,
                       const diagnosis& together, severity worst) {
    boost::json::array all;
    auto found = each.begin();
    for (const node& one : of) {
        boost::json::object told = diagnosis_to_json(*found++);
        told["server"] = text_in_json(one.server);
        all.push_back(std::move(told));
    }
    boost::json::object whole = diagnosis_to_json(together);
    whole["worst"] = to_string(worst);
    whole["nodes"] = std::move(all);
    write_json(whole);
}

} // namespace

int examine_quorum(const look_options& given) {
    node_list all = connect_all(given, std::nullopt);
    const std::vector<diagnosis> each = examine_each(all, given.name);
    const auto reached = static_cast<std::size_t>(std::ranges::count_if(each, was_reached));
    diagnosis together;
    together.findings.push_back(examine_together(all, given.name));
    if (reached < all.size())
        together.findings.push_back(
            {reached < majority_of(all.size()) ? severity::danger : severity::warning, "nodes",
             std::to_string(reached) + " of " + std::to_string(all.size()) +
                 " nodes replied. These nodes did not reply: " + servers_without_answer(all, each),
             "Read the findings about each of these nodes."});
    severity worst = together.worst();
    // A quorum works without an unreachable node, so this finding is only a warning.
    for (const diagnosis& one : each)
        worst = std::max(worst, was_reached(one) ? one.worst() : severity::warning);
    given.json ? print_quorum_json(all, each, together, worst)
               : print_quorum_lines(all, each, together);
    if (reached < majority_of(all.size()))
        return unavailable;
    return worst < severity::warning ? success : found_trouble;
}

} // namespace cli
