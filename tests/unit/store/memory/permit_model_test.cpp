// SPDX-License-Identifier: Apache-2.0
// Random histories of leased permits, beside a model that knows only how many there are in all and
// which are held until when: what is free is the rest. The table counts what is free instead.
#include "sim/dice.hpp"
#include "store/memory/permit_table.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::memory {
namespace {

using namespace std::chrono_literals;

constexpr duration memory_of_requests = 60s;

class permit_world {
public:
    explicit permit_world(std::uint64_t seed)
        : dice_{seed} {}

    void run(int steps) {
        for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
            SCOPED_TRACE("step " + std::to_string(i));
            now_ += dice_.one_of<duration>({0ms, 0ms, 1ms, 300ms, 3s});
            purge();
            act();
            compare();
        }
    }
    int granted() const { return granted_; }
    int ended() const { return ended_; } ///< by themselves

private:
    using ids = std::vector<std::string>;
    struct known {
        counter_change what;
        counter_answer said;
        time_point at;
    };

    void act() {
        const int what = dice_.between(0, 99);
        if (what < 35)
            take();
        else if (what < 55)
            release();
        else if (what < 70)
            renew();
        else if (what < 80 && !requests_.empty())
            repeat();
        else
            change();
    }

    // Each of them as the table does it, and as the model has it.

    void take() {
        ask want{"n", draw_owner(), lock_kind::permit};
        want.permits = draw_count();
        want.lease_time = draw_lease();
        const ids wanted = ids_of(want);
        const verdict_on_look said = table_.look(want);
        const bool enough = exists_ && missing(wanted) <= std::max<std::int64_t>(free(), 0);
        EXPECT_EQ(said.said == verdict::granted, enough);
        for (const std::string& id : wanted) {
            if (!enough)
                held_.erase(id);
            else
                held_[id] = std::max(held_[id], now_ + want.lease_time);
        }
        granted_ += enough ? 1 : 0;
        EXPECT_EQ(said.left, enough ? std::nullopt : first_end());
    }

    void release() {
        hold what{"n", draw_owner(), lock_kind::permit};
        what.permits = draw_count();
        const ids given = ids_of(what);
        const permit_table::left said = table_.release(what);
        const std::int64_t lacking = missing(given);
        for (const std::string& id : given)
            held_.erase(id);
        EXPECT_EQ(said.was_ours, lacking == 0);
        const bool any = lacking < static_cast<std::int64_t>(given.size());
        EXPECT_EQ(said.rings, any ? free() : 0);
    }

    void renew() {
        hold what{"n", draw_owner(), lock_kind::permit};
        what.permits = draw_count();
        const duration length = dice_.percent(20) ? 0ms : draw_lease();
        const ids kept = ids_of(what);
        const bool all = missing(kept) == 0;
        EXPECT_EQ(table_.renew(what, length), all);
        for (const std::string& id : kept)
            if (all)
                held_[id] = std::max(held_[id], now_ + length);
    }

    void change() {
        counter_change what{"n", {{'r'}, ++last_request_}, counter_kind::permits, draw_verb(), 0};
        what.amount = dice_.between(0, 4);
        what.kept = draw_lease();
        what.permit = permit_id(draw_owner());
        const change_verdict said = table_.change(what, memory_of_requests);
        const bool was_told = said.rings > 0;
        EXPECT_EQ(said.what.done, model(what));
        EXPECT_EQ(said.what.value, free());
        const bool more = what.verb == counter_verb::give_back ||
                          (what.verb != counter_verb::set_lease && freed_ > 0);
        EXPECT_EQ(was_told, said.what.done && more && free() > 0);
        requests_.push_back({what, said.what, now_});
        if (requests_.size() > 20)
            requests_.pop_front();
    }

    /// Whatever became of it meanwhile, it is answered as before, and changes nothing.
    void repeat() {
        const known& before = requests_[dice_.below(requests_.size())];
        if (now_ - before.at >= memory_of_requests)
            return;
        const change_verdict said = table_.change(before.what, memory_of_requests);
        EXPECT_EQ(said.what.done, before.said.done);
        EXPECT_EQ(said.what.value, before.said.value);
        EXPECT_EQ(said.rings, 0);
    }

    /// Whether it is done.
    bool model(const counter_change& what) {
        const std::int64_t before = free();
        const auto found = held_.find(what.permit);
        bool done = true;
        switch (what.verb) {
        case counter_verb::add:
            all_ += what.amount;
            break;
        case counter_verb::take_back:
            all_ -= what.amount;
            break;
        case counter_verb::set_new:
            done = !exists_;
            all_ = done ? what.amount : all_;
            break;
        case counter_verb::set:
            all_ = what.amount;
            break;
        case counter_verb::erase:
            done = exists_;
            held_.clear();
            all_ = 0;
            exists_ = false;
            return done;
        case counter_verb::give_back:
            done = found != held_.end();
            if (done)
                held_.erase(found);
            return done;
        default:
            done = found != held_.end();
            if (done)
                found->second = now_ + what.kept;
            return done;
        }
        exists_ = true;
        freed_ = free() - before;
        return done;
    }

    void purge() {
        ended_ += static_cast<int>(
            std::erase_if(held_, [this](const auto& each) { return each.second <= now_; }));
    }

    void compare() {
        const std::optional<counter_state> seen = table_.inspect("n");
        ASSERT_EQ(seen.has_value(), exists_);
        if (!seen)
            return;
        EXPECT_EQ(seen->value, free());
        EXPECT_EQ(seen->taken, static_cast<std::int64_t>(held_.size()));
        std::map<std::string, duration> left;
        for (const auto& [id, end] : held_)
            left[id] = end - now_;
        EXPECT_EQ(table_.held("n"), left);
    }

    std::int64_t free() const { return all_ - static_cast<std::int64_t>(held_.size()); }
    std::int64_t missing(const ids& wanted) const {
        return std::ranges::count_if(wanted,
                                     [this](const auto& id) { return !held_.contains(id); });
    }
    std::optional<duration> first_end() const {
        std::optional<duration> first;
        for (const auto& [id, end] : held_)
            first = std::min(first.value_or(duration::max()), end - now_);
        return first;
    }
    static ids ids_of(const hold& what) {
        ids all;
        for (std::uint32_t i = 0; i < what.permits; ++i)
            all.push_back(permit_id({what.owner.client, what.owner.number + i}));
        return all;
    }

    /// Few, so that holds have parts in common, which no client's have.
    owner_id draw_owner() {
        return {.client = {static_cast<std::uint8_t>(dice_.between(1, 2))},
                .number = static_cast<std::uint64_t>(dice_.between(1, 6))};
    }
    std::uint32_t draw_count() { return static_cast<std::uint32_t>(dice_.between(1, 3)); }
    duration draw_lease() { return dice_.one_of<duration>({1ms, 500ms, 5s, 30s}); }
    counter_verb draw_verb() {
        using enum counter_verb;
        return dice_.one_of({add, add, take_back, set, set, set_new, give_back, give_back,
                             set_lease, dice_.percent(20) ? erase : set_lease});
    }

    sim::dice dice_;
    time_point now_{};
    server_clock clock_{[this] { return now_; }};
    permit_table table_{clock_};
    bool exists_ = false;
    std::int64_t all_ = 0; ///< the held ones, too
    std::map<std::string, time_point> held_;
    std::deque<known> requests_;
    std::int64_t freed_ = 0; ///< by the last change of how many there are
    std::uint64_t last_request_ = 0;
    int granted_ = 0, ended_ = 0;
};

TEST(PermitModel, TheTableCountsWhatTheModelKnows) {
    int granted = 0, ended = 0;
    for (std::uint64_t seed = 1; seed <= 200 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        permit_world w{seed};
        w.run(200);
        granted += w.granted();
        ended += w.ended();
    }
    EXPECT_GT(granted, 1'000);
    EXPECT_GT(ended, 1'000);
}

} // namespace
} // namespace holdfast::memory
