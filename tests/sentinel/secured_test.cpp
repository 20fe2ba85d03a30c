// SPDX-License-Identifier: Apache-2.0
// Sentinels with users, passwords and certificates of their own.
#include "sentinel/with_sentinels.hpp"
#include "support/acl_file.hpp"

#include <algorithm>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::thrown_by;
using ::testing::AllOf;
using ::testing::HasSubstr;
using rules = std::vector<std::string>;

class SecuredSentinels : public with_sentinels {
protected:
    using with_sentinels::with_sentinels;

    void grant(const rules& all) {
        for (const std::size_t each : {0U, 1U, 2U})
            ASSERT_EQ(
                servers().sentinel(each).command(support::acl_setuser("app", "its", all)).text,
                "OK");
    }
    holdfast::options as_app() {
        redis::options where = servers().client_options();
        where.sentinel->user = "app";
        where.sentinel->password = "its";
        return how(where);
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
    void follow_a_failover(client& home) {
        mutex lock{home, "L"};
        lock.lock();
        EXPECT_TRUE(is_at_primary("L"));
        lock.unlock();
        servers().failover();
        ASSERT_TRUE(told(event_kind::moved));
        lock.lock();
        EXPECT_TRUE(is_at_primary("L"));
        lock.unlock();
    }

    const rules all_ = support::rules_of_acl_file("app:", "sentinel.acl");
};

class SentinelUser : public SecuredSentinels {};
HOLDFAST_ON_EACH_SERVER(SentinelUser);

TEST_P(SentinelUser, OfDocsSecurityIsEnough) {
    grant(all_);
    client home{as_app()};
    mutex lock{home, "L"};
    { const std::scoped_lock before{lock}; }
    ASSERT_TRUE(eventually([&] { return some_is_listened_to_by("app"); }));
    follow_a_failover(home);
    EXPECT_THAT(told_->last(event_kind::moved)->text, HasSubstr("a Sentinel"))
        << "it was told, and did not only ask";
}

TEST_P(SentinelUser, WithoutTheOthersIsEnoughToFindThePrimary) {
    grant({"+sentinel|get-master-addr-by-name"});
    client home{as_app()};
    follow_a_failover(home);
}

TEST_P(SentinelUser, WithoutTheRightToAskIsToldWhatIsMissing) {
    rules rest = all_;
    std::erase(rest, "+sentinel|get-master-addr-by-name");
    grant(rest);
    client home{as_app()};
    const auto why = thrown_by([&] { (void)mutex{home, "L"}.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_THAT(why.text, AllOf(HasSubstr("no Sentinel answers"), HasSubstr("NOPERM"),
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
    redis::options where = servers().client_options();
    where.sentinel->user = "app";
    where.sentinel->password = "wrong-one";
    client home{how(where)};
    const auto why = thrown_by([&] { (void)mutex{home, "L"}.try_lock(); });
    EXPECT_THAT(why.text,
                AllOf(HasSubstr("AUTH: WRONGPASS"), ::testing::Not(HasSubstr("wrong-one"))));
}

class GuardedSentinels : public SecuredSentinels {
protected:
    GuardedSentinels()
        : SecuredSentinels{{.password = "servers'", .sentinel_password = "sentinels'"}} {}
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
    client home{how(where)};
    const auto why = thrown_by([&] { (void)mutex{home, "L"}.try_lock(); });
    EXPECT_THAT(why.text, HasSubstr("NOAUTH"));
}

class OpenSentinels : public SecuredSentinels {
protected:
    OpenSentinels()
        : SecuredSentinels{{.password = "servers'"}} {}
};
HOLDFAST_ON_EACH_SERVER(OpenSentinels);

TEST_P(OpenSentinels, ThatWantNoPasswordAreAskedWithoutTheServers) {
    client home{how()};
    follow_a_failover(home);
}

class EncryptedSentinels : public SecuredSentinels {
protected:
    EncryptedSentinels()
        : SecuredSentinels{{.tls = true,
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
    client home{how(where)};
    const auto why = thrown_by([&] { (void)mutex{home, "L"}.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_THAT(why.text, HasSubstr("certificate"));
}

TEST_P(EncryptedSentinels, SayWhereTlsIsMissing) {
    redis::options where = servers().client_options();
    where.sentinel->tls.reset();
    client home{how(where)};
    const auto why = thrown_by([&] { (void)mutex{home, "L"}.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_THAT(why.text, HasSubstr("TLS"));
}

} // namespace
} // namespace holdfast
