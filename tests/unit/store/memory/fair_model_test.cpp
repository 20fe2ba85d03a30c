// SPDX-License-Identifier: Apache-2.0
// Random worlds for the queue of a fair lock: waiters of ours beside JVMs, which reckon as Redisson
// does. Some die, some give up, holds are short or long. No live waiter of ours may be thrown out.
#include "sim/dice.hpp"
#include "store/memory/fair_table.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::memory {
namespace {

using namespace std::chrono_literals;

constexpr duration poll_bound = 5s;
constexpr duration patience = 21s;
constexpr duration renewed_lease = 30s;

struct mixture {
    int ours; ///< per cent
    duration longest_hold;
    duration longest_gap; ///< between two who come
    int die, give_up;     ///< per cent
};

class fair_world {
public:
    fair_world(std::uint64_t seed, const mixture& m)
        : dice_{seed}
        , how_{m} {}

    void run(int waiters) {
        duration comes{};
        for (int i = 0; i < waiters; ++i) {
            comes += dice_.between(duration{0}, how_.longest_gap);
            at(comes, [this, i] { arrive(i); });
        }
        while (!events_.empty()) {
            const event next = events_.top();
            events_.pop();
            now_ = std::get<0>(next);
            const auto act = acts_.extract(std::get<1>(next)).mapped();
            act();
            check();
        }
        EXPECT_TRUE(alive_.empty()) << alive_.size() << " wait for ever";
    }

    duration longest_pause() const { return longest_pause_; }
    int granted() const { return granted_; }

private:
    using event = std::tuple<duration, int>;

    void at(duration when, std::function<void()> act) {
        acts_.emplace(++last_, std::move(act));
        events_.emplace(std::max(when, now_), last_);
    }
    void in(duration wait, std::function<void()> act) { at(now_ + wait, std::move(act)); }

    bool is_ours(int who) const { return ours_.contains(who); }
    static owner_id id_of(int who) { return {.client = {7}, .number = std::uint64_t(who) + 1}; }
    std::string name_of(int who) const {
        return is_ours(who) ? to_string(id_of(who)) : "jvm:" + std::to_string(who);
    }

    void arrive(int who) {
        if (dice_.percent(how_.ours))
            ours_.insert(who);
        alive_.insert(who);
        by_name_[name_of(who)] = who;
        if (dice_.percent(how_.give_up)) {
            const duration wait = dice_.between(1s, 200s);
            waits_[who] = wait;
            in(wait, [this, who] { give_up(who); });
        }
        if (dice_.percent(how_.die))
            in(dice_.between(duration{1}, 100s), [this, who] { alive_.erase(who); });
        look(who, 0);
    }
    duration wait_of(int who) const {
        return waits_.contains(who) ? waits_.at(who) : fair_rules{}.jvm_wait;
    }

    void look(int who, int turn) {
        if (!alive_.contains(who) || turn != turns_[who])
            return;
        ++turns_[who];
        is_ours(who) ? look_as_ours(who) : look_as_jvm(who);
    }
    void look_as_ours(int who) {
        ask want{"desk", id_of(who), lock_kind::fair};
        want.lease_time = renewed_lease;
        want.outlasts = patience;
        fair_table::owners told;
        const verdict_on_look got = queues_.look(want, told);
        wake(told);
        if (got.said == verdict::granted)
            return take(who);
        EXPECT_EQ(got.joined_now, joined_.insert(who).second) << name_of(who) << " lost its place";
        again_in(who,
                 std::min(got.left.value() + 2ms, dice_.between(poll_bound * 4 / 5, poll_bound)));
    }
    void look_as_jvm(int who) {
        if (queues_.stranger_takes_or_queues("desk", name_of(who), wait_of(who), renewed_lease))
            return take(who);
        const auto held = locks_.inspect("desk");
        again_in(who, held ? held->remaining.value() : 250ms);
    }
    void again_in(int who, duration wait) {
        in(wait, [this, who, turn = turns_[who]] { look(who, turn); });
    }
    void wake(const fair_table::owners& told) {
        for (const std::string& name : told)
            if (const int who = by_name_.at(name); alive_.contains(who))
                again_in(who, 1ms);
    }

    void take(int who) {
        ++granted_;
        alive_.erase(who);
        joined_.erase(who);
        EXPECT_FALSE(holder_) << "two have it";
        holder_ = who;
        const duration holds = dice_.between(duration{1}, how_.longest_hold);
        keep(who, now_ + holds);
        in(holds, [this, who] { release(who); });
    }
    void keep(int who, duration until) {
        if (holder_ != who || now_ >= until)
            return;
        locks_.occupy("desk", name_of(who), renewed_lease);
        in(renewed_lease / 3, [this, who, until] { keep(who, until); });
    }
    void release(int who) {
        holder_.reset();
        fair_table::owners told;
        if (is_ours(who)) {
            queues_.release({"desk", id_of(who), lock_kind::fair}, told);
        } else {
            locks_.erase("desk");
            told = queues_.next("desk");
        }
        wake(told);
    }
    void give_up(int who) {
        if (alive_.erase(who) == 0)
            return;
        joined_.erase(who);
        fair_table::owners told;
        if (is_ours(who))
            queues_.release({"desk", id_of(who), lock_kind::fair}, told);
        else
            queues_.stranger_leaves("desk", name_of(who), wait_of(who));
        wake(told);
    }

    void check() {
        const fair_table::owners waiting = queues_.waiting("desk");
        for (const int who : joined_) {
            const bool stands = std::count(waiting.begin(), waiting.end(), name_of(who)) == 1;
            EXPECT_TRUE(stands || !alive_.contains(who))
                << name_of(who) << " was thrown out at " << now_.count();
        }
        if (holder_ || alive_.empty())
            idle_since_.reset();
        else if (!idle_since_)
            idle_since_ = now_;
        if (idle_since_)
            longest_pause_ = std::max(longest_pause_, now_ - *idle_since_);
    }

    sim::dice dice_;
    const mixture how_;
    duration now_{};
    server_clock clock_{[this] { return time_point{now_}; }};
    exclusive_table locks_{clock_};
    fair_table queues_{clock_, locks_};
    std::priority_queue<event, std::vector<event>, std::greater<>> events_;
    std::map<int, std::function<void()>> acts_;
    std::map<std::string, int> by_name_;
    std::map<int, duration> waits_;
    std::map<int, int> turns_;
    std::set<int> ours_, alive_, joined_;
    std::optional<int> holder_;
    std::optional<duration> idle_since_;
    duration longest_pause_{};
    int granted_ = 0;
    int last_ = 0;
};

/// All mixtures of how long holds are, who dies, who gives up.
template <typename Work>
void in_all_mixtures(int ours, Work work) {
    for (const auto& [hold, gap] :
         {std::pair<duration, duration>{200ms, 100ms}, std::pair<duration, duration>{10s, 5s},
          std::pair<duration, duration>{60s, 20s}})
        for (const auto& [die, give_up] : {std::pair{0, 0}, std::pair{10, 0}, std::pair{10, 30}})
            for (std::uint64_t seed = 1; seed <= 2; ++seed) {
                const mixture m{ours, hold, gap, die, give_up};
                SCOPED_TRACE("hold " + std::to_string(hold.count()) + " die " +
                             std::to_string(die) + " give up " + std::to_string(give_up) +
                             " seed " + std::to_string(seed));
                fair_world w{seed, m};
                w.run(60);
                work(w);
                if (testing::Test::HasFailure())
                    return;
            }
}

TEST(FairModel, AmongOursTheDeadAreWaitedForNoLongerThanTheirPatience) {
    in_all_mixtures(
        100, [](const fair_world& w) { EXPECT_LE(w.longest_pause(), patience + poll_bound); });
}

class FairModelBesideJvms : public testing::TestWithParam<int> {};

TEST_P(FairModelBesideJvms, NoLiveWaiterOfOursIsThrownOut) {
    in_all_mixtures(GetParam(), [](const fair_world& w) { EXPECT_GT(w.granted(), 0); });
}
INSTANTIATE_TEST_SUITE_P(Shares, FairModelBesideJvms, testing::Values(20, 50, 80));

} // namespace
} // namespace holdfast::memory
