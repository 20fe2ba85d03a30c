// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/renewal.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::zookeeper {
namespace {

constexpr std::size_t batch_max = 500;

/// Holds with nodes that one request checks together.
struct batch_of_holds {
    std::vector<std::size_t> which{}; ///< indexes of these holds in the list of holds
    std::vector<std::size_t> ends{};  ///< for each hold: index after its last path
    std::vector<std::string> paths{};
};

/// Groups the holds into batches. All nodes of a hold are in the same batch. Appends the indexes of
/// holds to `gone` if their session has ended.
std::vector<batch_of_holds> batches_of(const household& home, hold_list holds,
                                       std::vector<std::size_t>& gone) {
    std::vector<batch_of_holds> all;
    for (std::size_t i = 0; i < holds.size(); ++i) {
        const std::vector<own_node>* const nodes = home.held.find(*holds[i]);
        const auto lives = [&](const own_node& each) { return home.lives(each); };
        if (!nodes || !std::ranges::all_of(*nodes, lives)) {
            gone.push_back(i);
            continue;
        }
        if (all.empty() || all.back().paths.size() + nodes->size() > batch_max)
            all.emplace_back();
        batch_of_holds& to = all.back();
        for (const own_node& each : *nodes)
            to.paths.push_back(each.path);
        to.which.push_back(i);
        to.ends.push_back(to.paths.size());
    }
    return all;
}

/// Removes a lost hold. Also deletes its remaining nodes, because no release will follow.
void give_up(household& home, const hold& lost) {
    const std::vector<own_node>* const nodes = home.held.find(lost);
    if (!nodes)
        return;
    if (nodes->size() > 1)
        for (const own_node& each : *nodes)
            home.left_behind.add(each);
    home.forget(lost);
}

void report(household& home, hold_list holds, const batch_of_holds& some,
            const std::vector<bool>& there, duration term, renewal_sink& to) {
    auto from = there.begin();
    for (std::size_t i = 0; i < some.which.size(); ++i) {
        const auto end = there.begin() + static_cast<std::ptrdiff_t>(some.ends[i]);
        const bool held = std::all_of(from, end, [](bool is_there) { return is_there; });
        if (!held)
            give_up(home, *holds[some.which[i]]);
        to.renewed(some.which[i], held ? answer{.granted = true, .term = term} : answer{});
        from = end;
    }
}

void report(const batch_of_holds& some, const boost::system::system_error& why, renewal_sink& to) {
    for (const std::size_t which : some.which)
        to.failed(which, why);
}

} // namespace

asio::awaitable<void> renew_holds(std::shared_ptr<household> home, hold_list holds,
                                  time_point answer_by, renewal_sink& to) {
    const std::int64_t session = home->at->state().id;
    std::vector<std::size_t> gone;
    const std::vector<batch_of_holds> batches = batches_of(*home, holds, gone);
    for (const std::size_t which : gone) {
        give_up(*home, *holds[which]);
        to.renewed(which, answer{});
    }
    // Set after a batch got no answer. The other batches would get no answer either.
    std::optional<boost::system::system_error> silent;
    for (const batch_of_holds& each : batches) {
        if (silent) {
            report(each, *silent, to);
            continue;
        }
        const time_point began = home->context.time.now();
        std::vector<bool> there;
        std::optional<boost::system::system_error> trouble;
        try {
            there = co_await home->at->confirm(each.paths, answer_by);
        } catch (const boost::system::system_error& why) {
            trouble = why;
        }
        if (trouble) {
            report(each, *trouble, to);
            if (trouble->code() != errc::refused)
                silent.emplace(make_error_code(errc::unreachable), trouble->what());
            continue;
        }
        if (home->at->state().id != session)
            there.assign(each.paths.size(), false);
        report(*home, holds, each, there, home->term_since(began), to);
    }
}

} // namespace holdfast::zookeeper
