// SPDX-License-Identifier: Apache-2.0
// Clients that end, and processes that fork, where Sentinels appoint the primary.
#include "sentinel/with_sentinels.hpp"
#include "support/diagnosed.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/redis_replicas.hpp"
#include "support/source_tree.hpp"

#include <boost/asio/use_future.hpp>

#include <future>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::soon;
using support::thrown_by;

class ClientsOfSentinels : public with_sentinels {};
HOLDFAST_ON_EACH_SERVER(ClientsOfSentinels);

TEST_P(ClientsOfSentinels, TheEndOfAClientWaitsForNoneOfThemWhenAllAreDown) {
    holdfast::options patient = how();
    patient.unavailable_timeout = 24h;
    patient.close_timeout = 0ms;
    auto home = std::make_unique<client>(patient);
    mutex lock{*home, "L"};
    lock.lock();
    for (const std::size_t each : {0U, 1U, 2U}) {
        servers().server(each).stop();
        servers().sentinel(each).stop();
    }
    auto waiting = std::async(std::launch::async, [&] {
        return thrown_by([&] { mutex{*home, "other"}.lock(); });
    });
    ASSERT_TRUE(told(event_kind::disconnected));
    home->close();
    EXPECT_EQ(soon(std::move(waiting)).code, errc::closed);
    soon(std::async(std::launch::async, [&] { home.reset(); }));
}

TEST_P(ClientsOfSentinels, AForkedProcessHasNothingAndDisturbsNobody) {
    client home{how()};
    mutex lock{home, "L"};
    const lease held = soon(mutex{home, "held"}.async_lock(asio::use_future));
    await_replicas();
    const pid_t child = ::fork();
    if (child == 0) {
        const bool is_forked = thrown_by([&] { lock.lock(); }).code == errc::forked;
        ::_exit(is_forked ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    servers().failover();
    ASSERT_TRUE(told(event_kind::moved));
    const std::scoped_lock here{lock};
    EXPECT_TRUE(is_at_primary("L"));
    EXPECT_FALSE(held.lost().stop_requested());
}

// The user that docs/security has for Sentinels, and one who may do less.

using support::eventually;
using ::testing::AllOf;
using ::testing::HasSubstr;
using rules = std::vector<std::string>;

class SentinelUser : public with_sentinels {
protected:
    void grant(const rules& all) {
        for (const std::size_t each : {0U, 1U, 2U})
            ASSERT_EQ(
                servers().sentinel(each).command(support::acl_setuser("app", "its", all)).text,
                "OK");
    }
    redis::options as_app(const std::string& password = "its") {
        redis::options where = servers().client_options();
        where.sentinel->user = "app";
        where.sentinel->password = secret{password};
        return where;
    }
    std::string heard_by_sentinel(std::size_t which) {
        return servers().sentinel(which).command({"CLIENT", "LIST", "TYPE", "pubsub"}).text;
    }
    bool some_is_listened_to_by(const std::string& user) {
        for (const std::size_t each : {0U, 1U, 2U})
            if (heard_by_sentinel(each).find("user=" + user) != std::string::npos)
                return true;
        return false;
    }

    const rules all_ = support::rules_of_acl_file("app:", "sentinel.acl");
};
HOLDFAST_ON_EACH_SERVER(SentinelUser);

TEST_P(SentinelUser, OfDocsSecurityIsEnough) {
    grant(all_);
    client home{how(as_app())};
    mutex lock{home, "L"};
    { const std::scoped_lock before{lock}; }
    ASSERT_TRUE(eventually([&] { return some_is_listened_to_by("app"); }));
    follow_a_failover(home);
    EXPECT_THAT(told_->last(event_kind::moved)->text, HasSubstr("a Sentinel"))
        << "it was told, and did not only ask";
}

TEST_P(SentinelUser, WithoutTheOthersIsEnoughToFindThePrimary) {
    grant({"+sentinel|get-master-addr-by-name"});
    client home{how(as_app())};
    follow_a_failover(home);
}

TEST_P(SentinelUser, WithoutTheRightToAskIsToldWhatIsMissing) {
    rules rest = all_;
    std::erase(rest, "+sentinel|get-master-addr-by-name");
    grant(rest);
    client home{hasty(as_app())};
    const auto why = thrown_by([&] { (void)mutex{home, "L"}.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_THAT(why.text, AllOf(HasSubstr("no Sentinel returned its address"), HasSubstr("NOPERM"),
                                HasSubstr("get-master-addr-by-name")));
}

TEST_P(SentinelUser, MayDoNothingElse) {
    grant(all_);
    support::redis_connection app{servers().sentinel(0).socket_path()};
    ASSERT_EQ(app.command({"AUTH", "app", "its"}).text, "OK");
    for (const rules& words :
         {rules{"SENTINEL", "FAILOVER", "locks"}, rules{"SENTINEL", "REMOVE", "locks"},
          rules{"SENTINEL", "SET", "locks", "quorum", "1"}, rules{"SENTINEL", "RESET", "*"},
          rules{"SUBSCRIBE", "+sdown"}, rules{"PUBLISH", "+switch-master", "x"},
          rules{"ACL", "LIST"}, rules{"INFO"}})
        EXPECT_THAT(app.command(words).text, ::testing::StartsWith("NOPERM")) << words[0];
}

TEST_P(SentinelUser, WhosePasswordIsWrongIsToldSo) {
    grant(all_);
    client home{hasty(as_app("wrong-one"))};
    const auto why = thrown_by([&] { (void)mutex{home, "L"}.try_lock(); });
    EXPECT_THAT(why.text,
                AllOf(HasSubstr("AUTH: WRONGPASS"), ::testing::Not(HasSubstr("wrong-one"))));
}

// Sentinels with passwords and certificates of their own.

class GuardedSentinels : public with_sentinels {
protected:
    GuardedSentinels()
        : with_sentinels{{.password = "servers'", .sentinel_password = "sentinels'"}} {}
};
HOLDFAST_ON_EACH_SERVER(GuardedSentinels);

TEST_P(GuardedSentinels, HaveAPasswordOfTheirOwn) {
    client home{how()};
    follow_a_failover(home);
}

TEST_P(GuardedSentinels, ThatAreToldNoPasswordSaySo) {
    redis::options where = servers().client_options();
    where.password = {};
    where.sentinel->password = {};
    client home{hasty(where)};
    const auto why = thrown_by([&] { (void)mutex{home, "L"}.try_lock(); });
    EXPECT_THAT(why.text, HasSubstr("NOAUTH"));
}

class OpenSentinels : public with_sentinels {
protected:
    OpenSentinels()
        : with_sentinels{{.password = "servers'"}} {}
};
HOLDFAST_ON_EACH_SERVER(OpenSentinels);

TEST_P(OpenSentinels, ThatWantNoPasswordAreAskedWithoutTheServers) {
    client home{how()};
    follow_a_failover(home);
}

class EncryptedSentinels : public with_sentinels {
protected:
    EncryptedSentinels()
        : with_sentinels{{.tls = true,
                          .password = "servers'",
                          .sentinel_tls = true,
                          .sentinel_password = "sentinels'"}} {}
};
HOLDFAST_ON_EACH_SERVER(EncryptedSentinels);

TEST_P(EncryptedSentinels, HaveCertificatesOfTheirOwn) {
    client home{how()};
    follow_a_failover(home);
}

TEST_P(EncryptedSentinels, AreAskedNothingIfTheyAreNotTrusted) {
    redis::options where = servers().client_options();
    where.sentinel->tls = where.tls; // the servers' authority has not signed theirs
    client home{hasty(where)};
    const auto why = thrown_by([&] { (void)mutex{home, "L"}.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_THAT(why.text, HasSubstr("certificate"));
}

TEST_P(EncryptedSentinels, SayWhereTlsIsMissing) {
    redis::options where = servers().client_options();
    where.sentinel->tls.reset();
    client home{hasty(where)};
    const auto why = thrown_by([&] { (void)mutex{home, "L"}.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_THAT(why.text, HasSubstr("TLS"));
}

// Sentinels that are lost, or know less than the others.

class LostSentinels : public with_sentinels {
protected:
    void lock_and_unlock(client& home) {
        mutex lock{home, "L"};
        lock.lock();
        EXPECT_TRUE(is_at_primary("L"));
        lock.unlock();
    }
};
HOLDFAST_ON_EACH_SERVER(LostSentinels);

TEST_P(LostSentinels, OneOfThemIsNoMatter) {
    for (const std::size_t lost : {0U, 1U}) { // whichever it listens to
        client home{how()};
        lock_and_unlock(home);
        servers().sentinel(lost).stop();
        const std::size_t before = told_->count(event_kind::moved);
        servers().failover();
        ASSERT_TRUE(told(event_kind::moved, before + 1));
        lock_and_unlock(home);
        servers().restore();
    }
}

TEST_P(LostSentinels, TheLastOneThatIsLeftIsEnoughToFindThePrimary) {
    servers().failover();
    redis_server& primary = servers().primary();
    servers().sentinel(0).stop();
    servers().sentinel(1).pause();
    ASSERT_TRUE(eventually([&] { return servers().named_by(servers().sentinel(2)) == &primary; }));
    client home{how()};
    mutex lock{home, "L"};
    lock.lock();
    EXPECT_EQ(exists(primary, "L"), 1);
    lock.unlock();
}

TEST_P(LostSentinels, WithoutAnyOfThemLocksGoOn) {
    holdfast::options brief = how();
    brief.lease_time = 15s;
    client home{brief}, other{how()};
    mutex held{home, "held"}, theirs{other, "held"};
    redis_server& primary = servers().primary();
    lease kept = soon(held.async_lock(asio::use_future));
    EXPECT_FALSE(theirs.try_lock());
    for (const std::size_t each : {0U, 1U, 2U})
        servers().sentinel(each).stop();
    const auto end = end_of(kept);
    EXPECT_TRUE(eventually([&] { return end_of(kept) > end + 500ms; })) << "it is renewed";
    auto waiting = std::async(std::launch::async, [&] { theirs.lock(lease_time{1min}); });
    kept.unlock();
    soon(std::move(waiting));
    EXPECT_EQ(exists(primary, "held"), 1);
    primary.command({"CLIENT", "KILL", "TYPE", "normal"});
    mutex free{home, "free"};
    free.lock(); // the server is where it was
    EXPECT_EQ(exists(primary, "free"), 1);
    free.unlock();
    EXPECT_EQ(told_->count(event_kind::lost), 0u);
}

TEST_P(LostSentinels, WithoutAnyOfThemNobodyKnowsWhereToBegin) {
    for (const std::size_t each : {0U, 1U, 2U})
        servers().sentinel(each).stop();
    client home{hasty(servers().client_options())};
    mutex lock{home, "L"};
    const auto why = thrown_by([&] { (void)lock.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_THAT(why.text, AllOf(HasSubstr("the primary of 'locks'"),
                                HasSubstr("no Sentinel returned its address"),
                                HasSubstr(address_of(servers().sentinel(2)))));
}

TEST_P(LostSentinels, AServiceThatTheyDoNotKnowIsToldInWords) {
    redis::options where = servers().client_options();
    where.sentinel->service = "orders";
    client home{hasty(where)};
    mutex lock{home, "L"};
    const auto why = thrown_by([&] { (void)lock.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_THAT(why.text, AllOf(HasSubstr("the Sentinels do not know the service 'orders'"),
                                HasSubstr("SENTINEL MASTERS")));
}

TEST_P(LostSentinels, ASentinelWhereAServerShouldBeIsToldWithTheUrlToUse) {
    redis::options where;
    where.port = servers().sentinel(0).port();
    client home{how(where)};
    mutex lock{home, "L"};
    const auto why = thrown_by([&] { lock.lock(); });
    EXPECT_EQ(why.code, make_error_code(store_errc::wrong_address)) << why.text;
    EXPECT_THAT(why.text,
                HasSubstr("redis+sentinel://127.0.0.1:" + std::to_string(where.port) + "/locks"));
}

class CutOffSentinel : public with_sentinels {
protected:
    CutOffSentinel()
        : with_sentinels{{.can_be_cut = true}} {}
};
HOLDFAST_ON_EACH_SERVER(CutOffSentinel);

TEST_P(CutOffSentinel, LeadsNobodyToTheOldPrimary) {
    client home{how()};
    mutex lock{home, "L"};
    { const std::scoped_lock before{lock}; }
    redis_server& old = servers().primary();
    redis_server& alone = servers().sentinel(1);
    servers().cut({&alone}, support::partition::clients::pass);
    servers().failover();
    ASSERT_TRUE(told(event_kind::moved));
    ASSERT_EQ(servers().named_by(alone), &old);
    client other{how()};
    mutex theirs{other, "L"};
    old.command({"CONFIG", "RESETSTAT"});
    for (int i = 0; i < 20; ++i) {
        drop_clients(servers().primary());
        for (mutex* const each : {&lock, &theirs}) {
            each->lock();
            EXPECT_TRUE(is_at_primary("L"));
            each->unlock();
        }
    }
    EXPECT_EQ(scripts_at(old), 0);
    EXPECT_EQ(told_->count(event_kind::moved), 1u);
}

// Findings of the doctor behind Sentinels.

using support::diagnosed;
using support::redis_sentinels;
using support::redis_server;
using support::said_of;
using ::testing::Not;

class SentinelDoctor : public support::on_each_topology<redis_sentinels> {
protected:
    diagnosis examined(unsigned replicas = 0, duration lease = 30s) {
        return diagnosed(servers().client_options(), replicas, lease);
    }
    std::string address_of(const redis_server& one) {
        return "127.0.0.1:" + std::to_string(servers().port_of(one));
    }
};
HOLDFAST_ON_EACH_SERVER(SentinelDoctor);

TEST_P(SentinelDoctor, SaysWhatIsThere) {
    const diagnosis found = examined();
    EXPECT_THAT(said_of("topology", found),
                AllOf(HasSubstr("fine: According to the Sentinels, the primary of 'locks' is " +
                                address_of(servers().primary()) + " (replicas: "),
                      HasSubstr(address_of(servers().replica(0))),
                      HasSubstr(address_of(servers().replica(1))), Not(HasSubstr("warning"))));
    EXPECT_THAT(said_of("failover", found), HasSubstr("fine: A failover takes about 1.7 s "
                                                      "(down-after-milliseconds is 200 ms)"));
    EXPECT_THAT(said_of("replicas", found), HasSubstr("note: There are replicas, but no"));
    EXPECT_THAT(said_of("persistence", found), HasSubstr("This finding is about all 3 servers."));
    EXPECT_THAT(said_of("clocks", found), HasSubstr("fine: "));
    EXPECT_THAT(said_of("rights", found),
                HasSubstr("fine: The doctor took, renewed and released the lock"));
    EXPECT_EQ(found.worst(), severity::warning);
}

TEST_P(SentinelDoctor, FindsAFailoverThatTakesLongerThanALease) {
    EXPECT_THAT(
        said_of("failover", examined(0, 300ms)),
        HasSubstr("danger: Every held lock is lost in a failover. A failover takes about 1.7 s "
                  "(down-after-milliseconds is 200 ms). A lock with a lease time of 300 ms "
                  "survives a failover of at most 195 ms."));
}

TEST_P(SentinelDoctor, MissesASentinel) {
    servers().sentinel(1).stop();
    EXPECT_THAT(said_of("topology", examined()),
                HasSubstr("warning: The Sentinel " + address_of(servers().sentinel(1)) +
                          " did not return the address of the primary: "));
}

TEST_P(SentinelDoctor, CountsTheReplicasThatAreRequired) {
    EXPECT_THAT(said_of("replicas", examined(1)),
                HasSubstr("warning: More replicas are online (2) than are required (1)"));
    EXPECT_THAT(said_of("replicas", examined(2)),
                AllOf(HasSubstr("note: "), Not(HasSubstr("warning")), Not(HasSubstr("danger"))));
    EXPECT_THAT(said_of("replicas", examined(3)), HasSubstr("danger: "));
}

} // namespace
} // namespace holdfast
