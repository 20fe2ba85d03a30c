// SPDX-License-Identifier: Apache-2.0
// docs/security: it is enough, it is not too much, and each right that is taken away is named by
// whoever misses it.
#include "support/acl_file.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/thrown.hpp"

#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <iterator>
#include <memory>

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
using rules = std::vector<std::string>;

class LeastPrivilege : public support::on_each_server {
protected:
    void grant(const rules& all) {
        const auto answer = server().command(support::acl_setuser("app", "its", all));
        ASSERT_EQ(answer.text, "OK");
        server().command({"SCRIPT", "FLUSH"});
    }

    client connect() {
        redis::options where;
        where.unix_socket = server().socket_path();
        where.user = "app";
        where.password = "its";
        options how;
        how.store = redis::make_store(where);
        how.unavailable_patience = 100ms;
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

    /// What is told of a lock that is held, as an operator may see it.
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

    const rules all_ = support::rules_of_acl_file("app:");
    const rules operators_ = support::rules_of_acl_file("app:", "operator.acl");
    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
};
HOLDFAST_ON_EACH_SERVER(LeastPrivilege);

bool is_of_fair_locks(const std::string& right) {
    const rules commands{"+lrange", "+lpop", "+lrem", "+rpush", "+zadd", "+zrem", "+zscore"};
    return std::ranges::count(commands, right) > 0 || right.starts_with("~redisson_lock_");
}

TEST_P(LeastPrivilege, IsEnough) {
    grant(all_);
    EXPECT_THAT(all_that_is_said("app:stock"), IsEmpty());
    EXPECT_THAT(all_that_is_said("app:{tag}stock"), IsEmpty());
}

TEST_P(LeastPrivilege, EachRightThatIsTakenAwayIsNamed) {
    // Locks can do without these, and then nobody is told.
    rules silent{"+ping", "+role", "+client|setname", "+select", "+unsubscribe", "+info"};
    silent.emplace_back("+wait"); // but where replicas are required: acl_replicas_test.cpp
    // Of locks that can be shared alone: the conformance suite runs with them.
    for (const char* shared :
         {"+hgetall", "+hvals", "+pubsub|numsub", "~holdfast_writers:{app:*",
          "~holdfast_writers:app:*", "&redisson_rwlock:{app:*", "&redisson_rwlock:app:*"})
        silent.emplace_back(shared);
    for (const std::string& taken : all_) {
        if (is_of_fair_locks(taken))
            continue;
        rules rest = all_;
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

TEST_P(LeastPrivilege, WithoutTimeTokensCannotBeDated) {
    rules rest = all_;
    std::erase(rest, "+time");
    grant(rest);
    client home = connect();
    fenced_mutex dated{home, "app:stock", {.numbers = fencing::dated}};
    const support::thrown why = thrown_by([&] { dated.lock(); });
    EXPECT_EQ(why.code, errc::refused);
    EXPECT_THAT(why.text, AllOf(HasSubstr("granted: "), HasSubstr("+time")));
    const rules keys{"EXISTS", "app:stock", "redisson_lock_token:{app:stock}"};
    EXPECT_EQ(server().command(keys).integer, 0);
}

/// What leaves a queue again is not among these: the conformance suite runs with all of them.
TEST_P(LeastPrivilege, EachRightThatIsTakenFromAFairLockIsNamed) {
    const std::string queue = "~redisson_lock_queue:{app:",
                      deadlines = "~redisson_lock_timeout:{app:";
    for (const std::string& taken :
         rules{"+time", "+lrange", "+rpush", "+zadd", queue + "*", deadlines + "*"}) {
        ASSERT_GT(std::ranges::count(all_, taken), 0) << taken;
        rules rest = all_;
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
    rules both = all_;
    both.insert(both.end(), operators_.begin(), operators_.end());
    grant(both);
    const std::optional<lock_state> seen = seen_by_operator("app:stock");
    ASSERT_TRUE(seen && seen->owners.size() == 1);
    EXPECT_TRUE(seen->owners.front().client);
    EXPECT_TRUE(seen->listeners);
}

TEST_P(LeastPrivilege, OfAnOperatorIsEnoughToWakeWhoWaitsForAForcedLock) {
    rules both = all_;
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
        rules rest = all_;
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
    rules both = all_;
    both.insert(both.end(), operators_.begin(), operators_.end());
    for (const std::string taken : {"", "+type", "+getrange"}) {
        rules rest = both;
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
    rules both = all_;
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
    rules both = all_;
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
        rules rest = all_;
        std::ranges::copy_if(operators_, std::back_inserter(rest),
                             [&](const std::string& each) { return each != taken; });
        grant(rest);
        std::optional<lock_state> seen;
        const support::thrown why = thrown_by([&] { seen = seen_by_operator("app:stock"); });
        if (taken == "+getrange") // of locks of tokens alone
            continue;
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
    const std::vector<rules> denied{{"KEYS", "*"},
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
    for (const rules& words : denied) {
        const redis::reply answer = app.command(words);
        EXPECT_EQ(answer.type, redis::reply::kind::error) << words.front();
        EXPECT_THAT(answer.text, AnyOf(HasSubstr("NOPERM"), HasSubstr("ACL"), HasSubstr("can't")))
            << words.front();
    }
}

} // namespace
} // namespace holdfast
