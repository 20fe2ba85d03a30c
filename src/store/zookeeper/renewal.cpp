// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/renewal.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::zookeeper {
namespace {

constexpr std::size_t batch_max = 500;

/// Whose nodes are asked about together.
struct batch_of_holds {
    std::vector<std::size_t> which; ///< of the list: one for each path
    std::vector<std::string> paths;
};

using said = std::vector<std::optional<bool>>; // of each hold: nothing before it is asked about

/// Those that went with their session are answered; the rest is shared out. A hold of several nodes
/// may be in two batches.
std::vector<batch_of_holds> shared_out(const household& home, hold_list holds, said& known) {
    std::vector<batch_of_holds> all;
    for (std::size_t i = 0; i < holds.size(); ++i) {
        const std::vector<own_node>* const nodes = home.held.find(*holds[i]);
        const auto lives = [&](const own_node& each) { return home.lives(each); };
        if (!nodes || !std::ranges::all_of(*nodes, lives)) {
            known[i] = false;
            continue;
        }
        for (const own_node& each : *nodes) {
            if (all.empty() || all.back().paths.size() == batch_max)
                all.emplace_back();
            all.back().which.push_back(i);
            all.back().paths.push_back(each.path);
        }
    }
    return all;
}

void note(const batch_of_holds& some, const std::vector<bool>& there, said& known) {
    for (std::size_t i = 0; i < some.which.size(); ++i)
        known[some.which[i]] = known[some.which[i]].value_or(true) && there.at(i);
}

} // namespace

asio::awaitable<void> renew_holds(std::shared_ptr<household> home, hold_list holds,
                                  renewal_sink& to) {
    const time_point began = home->context.time.now();
    said known(holds.size());
    std::vector<bool> failed(holds.size());
    const std::int64_t session = home->at->state().id;
    const std::vector<batch_of_holds> batches = shared_out(*home, holds, known);
    for (const batch_of_holds& each : batches) {
        std::optional<boost::system::system_error> trouble;
        try {
            const std::vector<bool> there = co_await home->at->confirm(each.paths);
            note(each, there, known);
        } catch (const boost::system::system_error& why) {
            trouble = why;
        }
        if (!trouble)
            continue;
        for (const std::size_t which : each.which)
            if (!failed[which]) {
                failed[which] = true;
                to.failed(which, *trouble);
            }
    }
    const bool goes_on = home->at->state().id == session;
    const duration term = home->term_since(began);
    for (std::size_t i = 0; i < holds.size(); ++i) {
        if (failed[i])
            continue;
        const bool held = goes_on && known[i].value_or(false);
        to.renewed(i, held ? answer{.granted = true, .term = term} : answer{});
    }
}

} // namespace holdfast::zookeeper
