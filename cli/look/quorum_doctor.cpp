// SPDX-License-Identifier: Apache-2.0
// `holdfast doctor` on a quorum: checks each server alone, and then checks whether all servers
// together work as one lock.
#include "cli/exit_status.hpp"
#include "cli/look/diagnoses.hpp"
#include "cli/look/lock_json.hpp"
#include "cli/look/nodes.hpp"
#include "cli/terminal/say.hpp"

#include <holdfast/mutex.hpp>
#include <holdfast/quorum_mutex.hpp>

#include <boost/asio/use_future.hpp>
#include <boost/json/array.hpp>

#include <algorithm>
#include <future>
#include <iostream>

namespace cli {
namespace {

using holdfast::diagnosis;
using holdfast::finding;
using holdfast::severity;

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

finding words_on_votes(const holdfast::quorum_votes& votes) {
    const std::string count = std::to_string(votes.held) + " of " + std::to_string(votes.nodes);
    if (votes.held == votes.nodes)
        return {severity::fine, "quorum", count + " nodes vote", ""};
    return {severity::warning, "quorum",
            "a lock was taken with " + count + " votes; " + std::to_string(votes.majority) +
                " are needed",
            "mend the node that is away; one that was restarted votes again when the longest lease "
            "since then is over"};
}

/// Returns why the nodes could not be asked. It uses a blocking call, because an asynchronous call
/// reports only an error code and no text.
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
    return "the nodes could not be asked at first";
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
            return words_on_votes(holdfast::quorum_mutex::votes(*held));
        return {severity::warning, "quorum", "the lock '" + name + "' is held by somebody",
                "try another NAME"};
    } catch (const boost::system::system_error& failure) {
        const bool wrong = failure.code() == holdfast::errc::invalid_argument;
        return {severity::danger, "quorum", why_not(lock),
                wrong ? "give another server in place of one of them: the same server has one vote"
                      : "with fewer than " + std::to_string(majority_of(of.size())) +
                            " nodes nobody gets a lock"};
    }
}

void print_quorum_lines(const node_list& of, const std::vector<diagnosis>& each,
                        const diagnosis& together) {
    auto found = each.begin();
    for (const node& one : of) {
        std::cout << printable(one.server) << '\n';
        print_findings(*found++);
    }
    std::cout << "all of them\n";
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
    node_list all = connect_all(given);
    const std::vector<diagnosis> each = examine_each(all, given.name);
    const auto reached = static_cast<std::size_t>(std::ranges::count_if(each, was_reached));
    diagnosis together;
    together.findings.push_back(examine_together(all, given.name));
    if (reached < all.size())
        together.findings.push_back(
            {reached < majority_of(all.size()) ? severity::danger : severity::warning, "nodes",
             std::to_string(reached) + " of " + std::to_string(all.size()) + " nodes answer",
             "see what is said of the others above"});
    severity worst = together.worst();
    // A quorum tolerates an unreachable node, so an unreachable node is only a warning.
    for (const diagnosis& one : each)
        worst = std::max(worst, was_reached(one) ? one.worst() : severity::warning);
    given.json ? print_quorum_json(all, each, together, worst)
               : print_quorum_lines(all, each, together);
    if (reached < majority_of(all.size()))
        return unavailable;
    return worst < severity::warning ? success : found_trouble;
}

} // namespace cli
