// SPDX-License-Identifier: Apache-2.0
// Tests the rights in docs/security: they are sufficient, none is superfluous, and if one is
// missing, the error names it.
#include "server_in_trouble.hpp"
#include "store_fixture.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/redis_replicas.hpp"
#include "support/source_tree.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::thrown_by;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using acl_rules = std::vector<std::string>;

class LeastPrivilege : public support::on_each_server {
protected:
    void grant(const acl_rules& all) {
        const auto answer = server().command(support::acl_setuser("app", "its", all));
        ASSERT_EQ(answer.text, "OK");
        server().command({"SCRIPT", "FLUSH"});
    }

    client connect(bool direct_hand_off = false) {
        redis::options where;
        where.direct_hand_off = direct_hand_off;
        where.unix_socket = server().socket_path();
        where.user = "app";
        where.password = "its";
        options how;
        how.store = redis::make_store(where);
        how.unavailable_timeout = 100ms;
        how.observer = told_;
        return client{std::move(how)};
    }

    static void use_tokens(client& home, const std::string& name) {
        fenced_mutex lock{home, name};
        if (lock.try_lock())
            lock.unlock();
        (void)lock.last_token();
    }

    static void use_token_lock(client& home, client& another, const std::string& name) {
        token_mutex mine{home, name}, others{another, name};
        if (!mine.try_lock())
            return;
        (void)others.try_lock_for(20ms);
        (void)mine.is_locked();
        (void)home.inspect(name);
        error_code failed;
        mine.unlock(failed);
    }

    static void use_counters(client& home, client& another, const std::string& name) {
        {
            counting_semaphore mine{home, name}, others{another, name};
            (void)mine.try_set_permits(1);
            mine.acquire();
            (void)others.try_acquire_for(20ms);
            mine.release();
            (void)mine.erase();
        }
        latch mine{home, name}, others{another, name};
        (void)mine.try_set_count(1);
        (void)others.wait_for(20ms);
        mine.count_down();
    }

    static void use_leased_permits(client& home, const std::string& name) {
        leased_semaphore seats{home, name};
        seats.set_permits(2);
        lease held = seats.acquire();
        (void)seats.acquired_permits();
        held.extend(lease_time{5s});
        held.unlock();
        (void)seats.erase();
    }

    static void use_rate(client& home, const std::string& name) {
        rate_limiter mails{home, name};
        mails.set_rate({.permits = 1, .per = 20ms});
        mails.acquire();
        mails.acquire(); // when the first draw counts no more
        mails.release();
        (void)mails.erase();
    }

    /// All that a lock is used for, and everything that anybody said of it.
    std::string all_that_is_said(const std::string& name) {
        told_->clear();
        client first = connect(), second = connect();
        mutex mine{first, name}, others{second, name};
        std::string said;
        const auto add = [&said](const support::thrown& why) { said += why.text + "\n"; };
        add(thrown_by([&] { mine.lock(); }));
        add(thrown_by([&] { (void)others.try_lock_for(20ms); }));
        add(thrown_by([&] { (void)mine.is_locked(); }));
        add(thrown_by([&] { (void)second.ask_for(name, "why"); }));
        if (mine.is_held_by_this_thread()) {
            error_code failed;
            mine.unlock(failed);
        }
        server().command({"HSET", name, "8743c9c0-0795-4907-87fd-6c719a6b4586:1", "1"});
        add(thrown_by([&] { (void)mine.force_unlock(); }));
        server().command({"DEL", name});
        add(thrown_by([&] { use_tokens(first, name); }));
        server().command({"DEL", name});
        add(thrown_by([&] { use_token_lock(first, second, name); }));
        server().command({"DEL", name});
        add(thrown_by([&] { use_counters(first, second, name); }));
        server().command({"DEL", name});
        add(thrown_by([&] { use_leased_permits(first, name); }));
        server().command({"DEL", name});
        add(thrown_by([&] { use_rate(first, name); }));
        server().command({"DEL", name});
        first.close();
        second.close();
        for (const support::told& each : told_->all())
            said += each.text + "\n";
        said.erase(std::unique(said.begin(), said.end(),
                               [](char a, char b) { return a == '\n' && b == '\n'; }),
                   said.end());
        return said == "\n" ? "" : said;
    }

    /// Returns the inspection of a held lock, as an operator sees it.
    std::optional<lock_state> seen_by_operator(const std::string& name) {
        client holder = connect(), looker = connect();
        mutex lock{holder, name};
        const std::scoped_lock held{lock};
        const std::string key = "holdfast_client:" + holder.id();
        EXPECT_TRUE(support::eventually([&] {
            return server().command({"EXISTS", key}).integer == 1;
        }));
        EXPECT_EQ(looker.list("app:*").locks.size(), 1u);
        return looker.inspect(name);
    }

    const acl_rules all_ = support::rules_of_acl_file("app:");
    const acl_rules operators_ = support::rules_of_acl_file("app:", "operator.acl");
    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
};
HOLDFAST_ON_EACH_SERVER(LeastPrivilege);

bool is_of_fair_locks(const std::string& right) {
    const acl_rules commands{"+lrange", "+lpop", "+lrem", "+rpush", "+zadd", "+zrem", "+zscore"};
    return std::ranges::count(commands, right) > 0 || right.starts_with("~redisson_lock_");
}

const acl_rules of_hand_off{"+zpopmin",
                            "~holdfast_waiting:{app:*",
                            "~holdfast_waiting:app:*",
                            "&holdfast_waiting:{app:*",
                            "&holdfast_waiting:app:*",
                            "&holdfast_inbox:{app:*",
                            "&holdfast_inbox:app:*"};

TEST_P(LeastPrivilege, IsEnough) {
    grant(all_);
    EXPECT_THAT(all_that_is_said("app:stock"), IsEmpty());
    EXPECT_THAT(all_that_is_said("app:{tag}stock"), IsEmpty());
}

/// `holdfast wait`, `holdfast inspect` and `holdfast unlock --force` ask in this way.
TEST_P(LeastPrivilege, IsEnoughToWaitForALockAndToInspectAndForceIt) {
    grant(all_);
    client holder = connect(), looker = connect();
    const std::string name = "app:stock";
    mutex plain{holder, name};
    fair_mutex fair{holder, name};
    token_mutex token{holder, name};
    shared_mutex written{holder, name};
    const std::vector<basic_mutex*> all{&plain, &fair, &token, &written, &written.shared()};
    for (basic_mutex* const lock : all) {
        lock->lock();
        const std::optional<lock_state> seen = looker.inspect(name);
        ASSERT_TRUE(seen && seen->is_held && seen->owners.size() == 1);
        EXPECT_FALSE(looker.wait_free(name, 0ms));
        EXPECT_TRUE(looker.force_unlock(name, seen->owners.front().text));
        EXPECT_TRUE(looker.wait_free(name, 0ms));
        const std::optional<lock_state> left = looker.inspect(name);
        EXPECT_FALSE(left && left->is_held);
        error_code lost;
        lock->unlock(lost);
    }
}

TEST_P(LeastPrivilege, EachRightThatIsTakenAwayIsNamed) {
    // Locks can do without these, and then nobody is told.
    acl_rules silent{"+ping", "+role", "+client|setname", "+select", "+unsubscribe", "+info"};
    silent.emplace_back("+wait"); // but not where replicas are required: see below
    // Of locks that can be shared alone: the conformance suite runs with them.
    for (const char* shared :
         {"+hexists", "+hgetall", "+hvals", "+pubsub|numsub", "~holdfast_writers:{app:*",
          "~holdfast_writers:app:*", "&redisson_rwlock:{app:*", "&redisson_rwlock:app:*",
          "&holdfast_asked:{app:*", "&holdfast_asked:app:*"})
        silent.emplace_back(shared);
    silent.emplace_back("~holdfast_clients"); // only the times of holds and waits are missing then
    // Of a direct hand-off alone: without them, clients wait as if it were off; see below.
    silent.insert(silent.end(), of_hand_off.begin(), of_hand_off.end());
    for (const std::string& taken : all_) {
        if (is_of_fair_locks(taken))
            continue;
        acl_rules rest = all_;
        std::erase(rest, taken);
        grant(rest);
        // A name with a tag of its own has a channel of another form.
        const bool of_tags = taken != "~app:*" && taken.ends_with(":app:*");
        const std::string name = of_tags ? "app:{tag}stock" : "app:stock";
        const std::string said = all_that_is_said(name);
        if (std::ranges::count(silent, taken) > 0) {
            EXPECT_THAT(said, IsEmpty()) << "without " << taken;
            continue;
        }
        const bool of_latch = taken.find("__{") != taken.npos; // braces of its own
        const std::string belonging = of_tags ? ":" + name : ":{" + name + "}";
        const std::string named = taken == "~app:*"    ? "~" + name
                                  : taken == "~{app:*" ? "~{" + name + "}"
                                  : of_latch ? taken.substr(0, taken.find("app:")) + name + "}"
                                  : taken.find("app:*") != taken.npos
                                      ? taken.substr(0, taken.find(':')) + belonging
                                      : taken;
        EXPECT_THAT(said, AllOf(HasSubstr("granted: "), HasSubstr(named))) << "without " << taken;
    }
}

TEST_P(LeastPrivilege, WithoutTheRightsForWishesOnlyWishesAreLost) {
    acl_rules rest = all_;
    std::erase_if(
        rest, [](const std::string& right) { return right.find("holdfast_asked") != right.npos; });
    grant(rest);
    client holder = connect(), other = connect();
    mutex lock{holder, "app:stock"};
    lease held = support::soon(lock.async_lock(asio::use_future));
    const std::stop_token asked = held.asked();
    const support::thrown why = thrown_by([&] { (void)other.ask_for("app:stock"); });
    EXPECT_EQ(why.code, errc::refused);
    EXPECT_THAT(why.text, HasSubstr("~holdfast_asked:{app:stock}"));
    held.extend(lease_time{1min});
    EXPECT_TRUE(held.owns_lock());
    EXPECT_FALSE(asked.stop_requested());
    error_code outcome;
    held.unlock(outcome);
    EXPECT_EQ(outcome, error_code{});
    EXPECT_THAT(told_->of(event_kind::disconnected), IsEmpty());
}

TEST_P(LeastPrivilege, IsEnoughToListActiveLocks) {
    grant(all_);
    client holder = connect(), looker = connect();
    mutex lock{holder, "app:stock"};
    const std::scoped_lock held{lock};
    EXPECT_TRUE(support::eventually([&] {
        const lock_list seen = looker.list_active();
        return seen.locks.size() == 1 && seen.locks[0].owners.at(0).held_for;
    }));
}

TEST_P(LeastPrivilege, WithoutTheIndexOfClientsOnlyTheListOfActiveLocksIsRefused) {
    acl_rules rest = all_;
    std::erase(rest, "~holdfast_clients");
    grant(rest);
    EXPECT_THAT(all_that_is_said("app:stock"), IsEmpty());
    client holder = connect(), looker = connect();
    mutex lock{holder, "app:stock"};
    const std::scoped_lock held{lock};
    EXPECT_TRUE(support::eventually([&] {
        const std::string key = "holdfast_client:" + holder.id();
        return server().command({"GET", key}).text.find("\"holds\"") != std::string::npos;
    })) << "the client still describes itself";
    const std::optional<lock_state> seen = looker.inspect("app:stock");
    ASSERT_TRUE(seen);
    EXPECT_TRUE(seen->owners.at(0).client);
    EXPECT_FALSE(seen->owners.at(0).held_for);
    const support::thrown why = thrown_by([&] { (void)looker.list_active(); });
    EXPECT_EQ(why.code, errc::refused);
    EXPECT_THAT(why.text, HasSubstr("~holdfast_clients"));
}

TEST_P(LeastPrivilege, IsEnoughForADirectHandOff) {
    grant(all_);
    client holder = connect(true), waiter = connect(true);
    mutex mine{holder, "app:stock"}, others{waiter, "app:stock"};
    lease held = support::soon(mine.async_lock(asio::use_future));
    std::future<lease> next = others.async_lock(asio::use_future);
    EXPECT_TRUE(support::eventually([&] {
        return server().command({"ZCARD", "holdfast_waiting:{app:stock}"}).integer == 1;
    }));
    held.unlock();
    EXPECT_TRUE(support::soon(std::move(next)).owns_lock());
    const std::string said = server().command({"INFO", "commandstats"}).text;
    EXPECT_THAT(said, HasSubstr("cmdstat_zpopmin:calls=1,"));
    EXPECT_THAT(told_->of(event_kind::disconnected), IsEmpty());
}

TEST_P(LeastPrivilege, WithoutARightOfTheDirectHandOffTheWaiterStillGetsTheLock) {
    acl_rules all = of_hand_off;
    all.insert(all.end(), {"+zcard", "+zadd", "+zrem", "+zscore", "+pubsub|numsub"});
    for (const std::string& taken : all) {
        acl_rules rest = all_;
        std::erase(rest, taken);
        grant(rest);
        const std::string name = taken.ends_with(":app:*") ? "app:{tag}stock" : "app:stock";
        client holder = connect(true), waiter = connect(true);
        mutex mine{holder, name}, others{waiter, name};
        lease held = support::soon(mine.async_lock(asio::use_future));
        std::future<lease> next = others.async_lock(asio::use_future);
        EXPECT_TRUE(support::eventually([&] {
            return server()
                       .command({"PUBSUB", "NUMSUB",
                                 "redisson_lock__channel:" +
                                     (name == "app:stock" ? "{" + name + "}" : name)})
                       .items[1]
                       .integer == 1;
        })) << taken;
        error_code outcome;
        held.unlock(outcome);
        EXPECT_EQ(outcome, error_code{}) << taken;
        EXPECT_TRUE(support::soon(std::move(next)).owns_lock()) << taken;
    }
}

TEST_P(LeastPrivilege, WithoutTheChannelOfWishesTheHolderReadsTheStoredWish) {
    acl_rules rest = all_;
    std::erase(rest, "&holdfast_asked:{app:*");
    grant(rest);
    client holder = connect(), other = connect();
    mutex lock{holder, "app:stock"};
    lease held = support::soon(lock.async_lock(asio::use_future));
    EXPECT_EQ(other.ask_for("app:stock").size(), 1u);
    const std::stop_token asked = held.asked();
    EXPECT_TRUE(support::eventually([&] { return asked.stop_requested(); }));
}

TEST_P(LeastPrivilege, WithoutTimeTokensCannotBeDated) {
    acl_rules rest = all_;
    std::erase(rest, "+time");
    grant(rest);
    client home = connect();
    fenced_mutex dated{home, "app:stock", {.numbers = fencing::dated}};
    const support::thrown why = thrown_by([&] { dated.lock(); });
    EXPECT_EQ(why.code, errc::refused);
    EXPECT_THAT(why.text, AllOf(HasSubstr("granted: "), HasSubstr("+time")));
    const acl_rules keys{"EXISTS", "app:stock", "redisson_lock_token:{app:stock}"};
    EXPECT_EQ(server().command(keys).integer, 0);
}

/// What leaves a queue again is not among these: the conformance suite runs with all of them.
TEST_P(LeastPrivilege, EachRightThatIsTakenFromAFairLockIsNamed) {
    const std::string queue = "~redisson_lock_queue:{app:",
                      deadlines = "~redisson_lock_timeout:{app:";
    for (const std::string& taken :
         acl_rules{"+time", "+lrange", "+rpush", "+zadd", queue + "*", deadlines + "*"}) {
        ASSERT_GT(std::ranges::count(all_, taken), 0) << taken;
        acl_rules rest = all_;
        std::erase(rest, taken);
        grant(rest);
        client first = connect(), second = connect();
        fair_mutex mine{first, "app:stock"}, theirs{second, "app:stock"};
        const std::string said = thrown_by([&] {
                                     mine.lock();
                                     (void)theirs.try_lock_for(duration{50});
                                 }).text;
        const std::string named =
            taken.starts_with('~') ? taken.substr(0, taken.size() - 1) + "stock}" : taken;
        EXPECT_THAT(said, AllOf(HasSubstr("granted: "), HasSubstr(named))) << "without " << taken;
        if (mine.is_held_by_this_thread())
            mine.unlock();
        server().command({"FLUSHALL"});
    }
}

TEST_P(LeastPrivilege, OfAnOperatorIsEnough) {
    acl_rules both = all_;
    both.insert(both.end(), operators_.begin(), operators_.end());
    grant(both);
    const std::optional<lock_state> seen = seen_by_operator("app:stock");
    ASSERT_TRUE(seen && seen->owners.size() == 1);
    EXPECT_TRUE(seen->owners.front().client);
    EXPECT_TRUE(seen->listeners);
}

TEST_P(LeastPrivilege, OfAnOperatorIsEnoughToWakeWhoWaitsForAForcedLock) {
    acl_rules both = all_;
    both.insert(both.end(), operators_.begin(), operators_.end());
    grant(both);
    client home = connect();
    const std::string owner = "8743c9c0-0795-4907-87fd-6c719a6b4586:1";
    support::redis_connection waiter{server().socket_path()};
    for (const std::string name : {"app:stock", "app:{tag}stock"}) {
        const std::string belongs = name == "app:stock" ? ":{" + name + "}" : ":" + name;
        server().command({"HSET", name, owner, "1"});
        server().command({"RPUSH", "redisson_lock_queue" + belongs, "dead", "next"});
        server().command({"ZADD", "redisson_lock_timeout" + belongs, "1", "dead"});
        waiter.command({"SUBSCRIBE", "redisson_lock__channel" + belongs + ":next"});
        EXPECT_TRUE(home.force_unlock(name));
        EXPECT_TRUE(waiter.next_message(duration{5'000})) << name;
        server().command({"HSET", name, "mode", "read", owner, "1"});
        waiter.command({"SUBSCRIBE", "redisson_rwlock" + belongs});
        EXPECT_TRUE(home.force_unlock(name));
        EXPECT_TRUE(waiter.next_message(duration{5'000})) << name;
    }
}

TEST_P(LeastPrivilege, EachRightThatALockOfTokensNeedsIsNamedByWhoeverMissesIt) {
    for (const std::string right : {"+get", "+set", "+del"}) {
        acl_rules rest = all_;
        ASSERT_EQ(std::erase(rest, right), 1u) << right;
        grant(rest);
        client home = connect();
        token_mutex lock{home, "app:stock"};
        std::string said = thrown_by([&] {
                               lock.lock();
                               (void)lock.force_unlock();
                           }).text;
        server().command({"SET", "app:stock", "another program's"});
        said += thrown_by([&] { (void)lock.is_locked(); }).text;
        server().command({"DEL", "app:stock"});
        EXPECT_THAT(said, AllOf(HasSubstr("granted: "), HasSubstr(right))) << "without " << right;
    }
}

TEST_P(LeastPrivilege, OfAnOperatorIsEnoughForLocksOfTokensAndEachIsNamed) {
    acl_rules both = all_;
    both.insert(both.end(), operators_.begin(), operators_.end());
    for (const std::string taken : {"", "+type", "+getrange"}) {
        acl_rules rest = both;
        std::erase(rest, taken);
        grant(rest);
        client home = connect();
        token_mutex lock{home, "app:stock"};
        const std::scoped_lock held{lock};
        const support::thrown why = thrown_by([&] {
            const std::optional<lock_state> seen = home.inspect("app:stock");
            ASSERT_TRUE(seen);
            EXPECT_EQ(seen->kind, key_kind::token_lock);
            EXPECT_EQ(home.list().locks.size(), 1u);
        });
        if (taken.empty())
            EXPECT_THAT(why.text, IsEmpty());
        else
            EXPECT_THAT(why.text, HasSubstr("granted: " + taken)) << "without " << taken;
    }
}

TEST_P(LeastPrivilege, WithoutTheRightToAskWhoClientsAreLocksAreStillSeen) {
    acl_rules both = all_;
    both.insert(both.end(), operators_.begin(), operators_.end());
    std::erase(both, "~holdfast_client:*");
    grant(both);
    client holder = connect(), looker = connect();
    mutex lock{holder, "app:stock"};
    const std::scoped_lock held{lock};
    const lock_list seen = looker.list();
    ASSERT_EQ(seen.locks.size(), 1u);
    EXPECT_TRUE(seen.locks[0].owners.at(0).is_holdfast);
    EXPECT_FALSE(seen.locks[0].owners.at(0).client);
}

TEST_P(LeastPrivilege, WithoutTheRightToSeeTokensLocksAreStillSeen) {
    acl_rules both = all_;
    both.insert(both.end(), operators_.begin(), operators_.end());
    grant(both);
    client home = connect();
    fenced_mutex lock{home, "app:stock"};
    const std::scoped_lock held{lock};
    EXPECT_EQ(home.inspect("app:stock")->last_token, lock.fencing_token());
    std::erase(both, "~redisson_lock_token:{app:*");
    grant(both);
    const std::optional<lock_state> seen = connect().inspect("app:stock");
    ASSERT_TRUE(seen && seen->owners.size() == 1);
    EXPECT_EQ(seen->last_token, 0u);
}

TEST_P(LeastPrivilege, EachRightThatIsTakenFromAnOperatorIsNamedOrDoneWithout) {
    for (const std::string& taken : operators_) {
        acl_rules rest = all_;
        std::ranges::copy_if(operators_, std::back_inserter(rest),
                             [&](const std::string& each) { return each != taken; });
        grant(rest);
        std::optional<lock_state> seen;
        const support::thrown why = thrown_by([&] { seen = seen_by_operator("app:stock"); });
        const bool wakes_only = taken.starts_with("~redisson") || taken.starts_with("&redisson") ||
                                taken == "+lrange" || taken == "+llen" || taken == "+zscore";
        if (wakes_only)
            EXPECT_THAT(why.text, IsEmpty()) << "without " << taken;
        else if (taken == "+pubsub|numsub")
            EXPECT_FALSE(seen.value().listeners);
        else
            EXPECT_THAT(why.text, HasSubstr("granted: " + taken)) << "without " << taken;
    }
}

TEST_P(LeastPrivilege, IsNotTooMuch) {
    grant(all_);
    support::redis_connection app{server().socket_path()};
    ASSERT_EQ(app.command({"AUTH", "app", "its"}).text, "OK");
    const std::vector<acl_rules> denied{{"KEYS", "*"},
                                        {"SCAN", "0"},
                                        {"GET", "other"},
                                        {"HSET", "other", "f", "1"},
                                        {"INCRBY", "other", "1"},
                                        {"EVAL", "return redis.call('del', KEYS[1])", "1", "other"},
                                        {"EVAL", "return redis.call('flushall')", "0"},
                                        {"PUBLISH", "elsewhere", "x"},
                                        {"SUBSCRIBE", "elsewhere"},
                                        {"PSUBSCRIBE", "*"},
                                        {"FLUSHALL"},
                                        {"CONFIG", "GET", "*"},
                                        {"SCRIPT", "FLUSH"},
                                        {"CLIENT", "LIST"}};
    for (const acl_rules& words : denied) {
        const redis::reply answer = app.command(words);
        EXPECT_EQ(answer.type, redis::reply::kind::error) << words.front();
        EXPECT_THAT(answer.text, AnyOf(HasSubstr("NOPERM"), HasSubstr("ACL"), HasSubstr("can't")))
            << words.front();
    }
}

// docs/security where replicas are required: it is enough, and the right that is missing is named.

class LeastPrivilegeWithReplicas : public support::on_each_kind_of_server {
protected:
    /// Returns the error text of taking a lock that one replica must confirm.
    static std::string said_by_lock(support::redis_replicas& all,
                                    const std::vector<std::string>& rules) {
        const auto granted = all.primary().command(support::acl_setuser("app", "its", rules)).text;
        EXPECT_EQ(granted, "OK");
        options how;
        redis::options where;
        where.unix_socket = all.primary().socket_path();
        where.user = "app";
        where.password = "its";
        how.store = redis::make_store(where);
        how.required_replicas = 1;
        client home{how};
        mutex lock{home, "app:stock"};
        return support::thrown_by([&] {
                   lock.lock();
                   lock.unlock();
               })
            .text;
    }
};
HOLDFAST_ON_EACH_SERVER(LeastPrivilegeWithReplicas);

TEST_P(LeastPrivilegeWithReplicas, IsEnoughAndWaitIsNamed) {
    support::redis_replicas all{GetParam(), {}};
    std::vector<std::string> rules = support::rules_of_acl_file("app:");
    EXPECT_THAT(said_by_lock(all, rules), IsEmpty());
    ASSERT_EQ(std::erase(rules, "+wait"), 1u);
    EXPECT_THAT(said_by_lock(all, rules), AllOf(HasSubstr("granted: "), HasSubstr("+wait")));
}

// Rights that a server denies and that locks do not strictly need: the observer is notified once.

class StoreDenied : public on_scripted_node {
protected:
    StoreDenied() {
        context_.tell = [this](const event& what) { told_.notify(what); };
    }

    bool take() { return complete(store_.line_up(want(duration::max()), *wake_)->look()).granted; }

    support::recorder told_;
};

TEST_F(StoreDenied, NothingTellsNothing) {
    node_.will_answer({1, 0, server_time});
    EXPECT_TRUE(take());
    node_.will_answer({1, 0});
    EXPECT_TRUE(complete(store_.release(want({}))));
    node_.will_answer({0, 0});
    EXPECT_FALSE(complete(store_.release(want({}))));
    EXPECT_TRUE(told_.all().empty());
}

TEST_F(StoreDenied, TimeLocksStillWorkAndThePriceIsToldOnce) {
    for (int i = 0; i < 3; ++i) {
        node_.will_answer({1, 0, 0});
        EXPECT_TRUE(take());
    }
    ASSERT_EQ(told_.all().size(), 1u);
    const support::told told = told_.last(event_kind::impaired).value();
    EXPECT_EQ(told.name, "L");
    EXPECT_EQ(told.code, errc::refused);
    EXPECT_THAT(told.text, HasSubstr("granted: +time"));
}

TEST_F(StoreDenied, PublishLocksAreStillReleasedAndThePriceIsToldOnce) {
    for (int i = 0; i < 3; ++i) {
        node_.will_answer({1, -1});
        EXPECT_TRUE(complete(store_.release(want({}))));
    }
    ASSERT_EQ(told_.all().size(), 1u);
    EXPECT_THAT(told_.last(event_kind::impaired).value().text,
                HasSubstr("granted: +publish &redisson_lock__channel:{L}"));
}

TEST_F(StoreDenied, PublishOfWhatAPlaceGivesBackIsToldToo) {
    const auto spot = store_.line_up(want(duration::max()), *wake_);
    node_.will_answer({1, 0, server_time});
    EXPECT_TRUE(complete(spot->look()).granted);
    node_.will_answer({1, -1});
    complete(spot->leave());
    EXPECT_EQ(told_.count(event_kind::impaired), 1u);
}

// Functions of a lock while a real server replies but does not serve requests: the error code, the
// text, and waiting if it helps (docs/errors.md).

class Refusals
    : public ::testing::TestWithParam<std::tuple<support::server_binary, holdfast::trouble>> {
protected:
    void SetUp() override {
        try {
            at_.emplace(std::get<0>(GetParam()));
        } catch (const support::server_unavailable& why) {
            if (support::servers_are_required())
                FAIL() << why.what();
            GTEST_SKIP() << why.what();
        }
        how_.url = at_->server().url();
        how_.observer = told_;
        how_.unavailable_timeout = how_.release_timeout = 100ms;
    }

    const holdfast::trouble& trouble() const { return std::get<1>(GetParam()); }
    errc meaning() const {
        return trouble().code == store_errc::out_of_memory ? errc::refused : errc::unreachable;
    }
    /// The connection ends with the first answer, and the next one asks for the role before
    /// anything else: what is repeated hears that.
    error_code code_when_repeated() const {
        const bool is_left =
            trouble().code == store_errc::read_only || trouble().code == store_errc::master_down;
        return make_error_code(is_left ? store_errc::read_only : trouble().code);
    }
    std::string words_when_repeated() const {
        return code_when_repeated() == store_errc::read_only ? "ROLE: it is a replica"
                                                             : trouble().words;
    }
    void begin_trouble() { at_->begin(trouble()); }
    void end_trouble() { at_->end(trouble()); }
    bool is_locked() { return at_->server().command({"EXISTS", "L"}).integer == 1; }

    std::optional<server_in_trouble> at_;
    options how_;
    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
};

std::string name_of_case(const ::testing::TestParamInfo<Refusals::ParamType>& info) {
    const auto& [server, trouble] = info.param;
    return support::test_name_of({server, 0}) + "_" + trouble.label;
}

INSTANTIATE_TEST_SUITE_P(Servers, Refusals,
                         ::testing::Combine(::testing::ValuesIn(support::servers()),
                                            ::testing::ValuesIn(troubles())),
                         name_of_case);

TEST_P(Refusals, OfALockAreInTheServersWordsAndSayWhatToDo) {
    client c{how_};
    mutex lock{c, "L"};
    lock.lock();
    lock.unlock();
    begin_trouble();
    const support::thrown why = thrown_by([&] { lock.lock(); });
    EXPECT_EQ(why.code, code_when_repeated());
    EXPECT_EQ(why.code, meaning());
    EXPECT_THAT(why.text, AllOf(HasSubstr(words_when_repeated()), HasSubstr(why.code.message())));
    EXPECT_EQ(told_->last(event_kind::waited).value().code, meaning());
}

TEST_P(Refusals, OfAConnectionAreTypedToo) {
    begin_trouble();
    client c{how_};
    mutex lock{c, "L"};
    const support::thrown why = thrown_by([&] { lock.lock(); });
    EXPECT_EQ(why.code, meaning()) << why.text;
    EXPECT_STREQ(why.code.category().name(), "holdfast.store");
}

TEST_P(Refusals, AreWaitedOutIfTheyMayPassAndElseFailAtOnce) {
    how_.unavailable_timeout = support::far_too_long;
    client c{how_};
    begin_trouble();
    auto taken = std::async(std::launch::async, [&] {
        mutex lock{c, "L"};
        lock.lock();
        lock.unlock();
    });
    if (meaning() == errc::refused) {
        EXPECT_THROW(support::soon(std::move(taken)), boost::system::system_error);
        return;
    }
    EXPECT_EQ(taken.wait_for(300ms), std::future_status::timeout);
    end_trouble();
    support::soon(std::move(taken));
    EXPECT_EQ(told_->count(event_kind::acquired), 1u);
}

TEST_P(Refusals, OfAReleaseAreToldAndTheReleaseIsRepeated) {
    client c{how_};
    mutex lock{c, "L"};
    lock.lock();
    begin_trouble();
    error_code failed;
    lock.unlock(failed);
    EXPECT_EQ(failed, trouble().only_grants ? error_code{} : code_when_repeated());
    end_trouble();
    EXPECT_TRUE(support::eventually([&] { return !is_locked(); }));
    EXPECT_TRUE(support::eventually([&] { return told_->count(event_kind::released) == 1; }));
}

TEST_P(Refusals, OfARenewalAreToldAndTheHoldSurvives) {
    how_.lease_time = 9s;
    client c{how_};
    mutex lock{c, "L"};
    lock.lock();
    begin_trouble();
    if (!trouble().only_grants) {
        ASSERT_TRUE(support::eventually([&] { return told_->count(event_kind::renewal_failed); }));
        // A replica is left as soon as it says what it is, by the renewal's answer or by its ROLE.
        const std::string said = told_->of(event_kind::renewal_failed).front().text;
        EXPECT_THAT(said, AnyOf(HasSubstr(make_error_code(trouble().code).message()),
                                HasSubstr("ROLE: it is a replica")));
        end_trouble();
    }
    const auto renewed = [&] { return lock.remaining_lease().value_or(0ms) > 7s; };
    EXPECT_TRUE(support::eventually(renewed));
    EXPECT_EQ(told_->count(event_kind::lost), 0u);
    lock.unlock();
}

class OtherRefusals : public support::on_each_server {
protected:
    support::thrown lock_at(redis::options where) {
        where.unix_socket = server().socket_path();
        options how;
        how.store = redis::make_store(where);
        how.unavailable_timeout = 100ms;
        client c{std::move(how)};
        mutex lock{c, "L"};
        return thrown_by([&] { lock.lock(); });
    }
};
HOLDFAST_ON_EACH_SERVER(OtherRefusals);

TEST_P(OtherRefusals, OneClientTooMany) {
    const auto one_more = [&] { return support::redis_connection{server().socket_path()}; };
    support::redis_connection keeps_a_place = one_more();
    keeps_a_place.command({"PING"});
    server().command({"CONFIG", "SET", "maxclients", "2"});
    const support::thrown why = lock_at({});
    EXPECT_EQ(why.code, make_error_code(store_errc::too_many_clients)) << why.text;
    EXPECT_THAT(why.text, AllOf(HasSubstr("max number of clients"), HasSubstr("maxclients")));
    server().command({"CONFIG", "SET", "maxclients", "100"});
    EXPECT_FALSE(lock_at({}).code);
}

TEST_P(OtherRefusals, NoPasswordAWrongOneAndAnUnknownUser) {
    server().command({"CONFIG", "SET", "requirepass", "right"});
    redis::options wrong, stranger, right;
    wrong.password = "wrong";
    stranger.user = "stranger";
    stranger.password = right.password = "right";
    EXPECT_THAT(lock_at({}).text, HasSubstr("NOAUTH"));
    for (const redis::options& who : {redis::options{}, wrong, stranger}) {
        const support::thrown why = lock_at(who);
        EXPECT_EQ(why.code, make_error_code(store_errc::not_authenticated)) << why.text;
        EXPECT_THAT(why.text, HasSubstr("ACL LIST"));
    }
    EXPECT_FALSE(lock_at(right).code);
}

TEST_P(OtherRefusals, AUserWhoIsGone) {
    server().command({"ACL", "SETUSER", "me", "on", ">mine", "~*", "&*", "+@all"});
    redis::options me;
    me.unix_socket = server().socket_path();
    me.user = "me";
    me.password = "mine";
    options how;
    how.store = redis::make_store(me);
    client c{std::move(how)};
    mutex lock{c, "L"};
    lock.lock();
    lock.unlock();
    server().command({"ACL", "DELUSER", "me"});
    const support::thrown why = thrown_by([&] { lock.lock(); });
    EXPECT_EQ(why.code, make_error_code(store_errc::not_authenticated)) << why.text;
    EXPECT_THAT(why.text, HasSubstr("WRONGPASS"));
}

} // namespace
} // namespace holdfast
