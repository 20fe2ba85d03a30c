// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/cluster/slot_map.hpp"
#include "redis/link/inquiries.hpp"
#include "redis/node_context.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace holdfast::redis {

/// One round of questions to the nodes of a cluster: who has which slots?
///
/// A few members are asked at first. More are asked when answers differ from what is known, and
/// when answers are missing. The round is over when most of the members that can be reached agree.
/// An answer of another cluster has no vote: addresses are reused.
class map_poll {
public:
    /// How a node is asked over a connection that there is anyway.
    struct ways {
        std::function<bool(const server_address&)> is_connected;
        std::function<asio::awaitable<reply>(server_address)> ask;
    };
    struct plan {
        bool urgent = false; ///< asks many at once
        bool lonely = false; ///< no member answered the last time: seeds and former nodes are asked
        std::vector<server_address> seeds;
    };

    map_poll(known_context, const ways&, const slot_map&, plan, alarm& wake);
    ~map_poll() { round_->end(); }
    map_poll(const map_poll&) = delete;

    /// Asks, and returns when the round is over or `closed` returns true.
    asio::awaitable<void> run(std::function<bool()> closed);

    /// The answers that count.
    const std::vector<slot_ranges>& maps() const { return ours_; }
    /// How many members could have answered, at least as many as there are `maps()`.
    std::size_t voters() const;
    /// Whether all servers whose answers count know sharded messages.
    bool all_know_shards() const { return all_know_shards_; }

    /// The maps of seeds that are from another cluster, if most seeds are: a cluster that was set
    /// up anew at its addresses.
    std::vector<slot_ranges> maps_of_strange_seeds() const;

    std::string troubles() const; ///< of the nodes that do not answer, in words
    const std::optional<net::failure>& refused() const { return refused_; }

private:
    static constexpr std::size_t few = 3;
    static constexpr std::size_t many = 16;
    static constexpr std::size_t most = 128;
    /// So many more are asked each time when answers are missing for so long.
    static constexpr duration step{300};

    void queue_members();
    void queue_others();
    void queue(std::vector<server_address>, bool first = false);
    void shuffle(std::vector<server_address>&);
    void ask_up_to(std::size_t count);
    void ask_more(time_point& next_step);
    void ask_one(const server_address&);
    void take_in();
    void judge();
    bool is_over() const;
    bool is_disputed() const;
    bool may_ask_more() const { return !queue_.empty() && asked_.size() < most; }
    std::size_t pending_members() const;
    time_point now() const { return context_->home.time.now(); }

    const known_context context_;
    const ways& ways_;
    const slot_map& map_;
    const plan plan_;
    alarm& wake_;
    const cluster_members known_;
    const std::shared_ptr<inquiries> round_;
    const time_point began_;
    time_point limit_{};
    std::deque<server_address> queue_; // to be asked
    std::set<std::string> queued_;     // all that ever were
    std::set<std::string> asked_;
    std::set<std::string> told_;    // have answered or failed
    std::set<std::string> members_; // as known, or as told in the answers that count
    std::size_t answers_taken_ = 0, failures_taken_ = 0;
    bool others_queued_ = false;
    bool timed_out_ = false; // what has not answered is taken for away
    std::vector<map_vote> votes_;
    std::vector<bool> votes_know_shards_;
    std::vector<slot_ranges> ours_;
    std::size_t agreeing_ = 0;    // of ours_
    bool ours_are_whole_ = false; // those know all slots
    bool differs_ = false;        // any of ours_ from the map
    bool all_know_shards_ = true;
    std::string troubles_;
    std::optional<net::failure> refused_;
};

} // namespace holdfast::redis
