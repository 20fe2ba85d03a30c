// SPDX-License-Identifier: Apache-2.0
// The user that docs/security has for Sentinels, and one who may do less.
#include "sentinel/with_sentinels.hpp"
#include "support/acl_file.hpp"

#include <vector>

namespace holdfast {
namespace {

using support::eventually;
using support::thrown_by;
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
    EXPECT_THAT(why.text, AllOf(HasSubstr("no Sentinel says where it is"), HasSubstr("NOPERM"),
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

} // namespace
} // namespace holdfast
