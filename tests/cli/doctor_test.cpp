// SPDX-License-Identifier: Apache-2.0
// `holdfast doctor`: what it says, and what it ends with.
#include "cli/server_test.hpp"

#include <boost/json.hpp>

namespace holdfast::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Doctor : public on_server {
protected:
    /// What it says of one topic, as `severity: what`.
    std::string says_of(const std::string& topic) {
        const ended told = run({"doctor", "--json"}, url());
        const boost::json::value whole = boost::json::parse(told.out);
        std::string all;
        for (const auto& each : whole.at("findings").as_array())
            if (each.at("topic").as_string() == topic)
                all.append(each.at("severity").as_string().c_str())
                    .append(": ")
                    .append(each.at("what").as_string().c_str());
        return all;
    }
};
HOLDFAST_ON_EACH_SERVER(Doctor);

TEST_P(Doctor, FindsAServerFitAndLeavesNothingThere) {
    const ended told = run({"doctor"}, url());
    EXPECT_EQ(told.status, 0) << told.out << told.err;
    EXPECT_THAT(told.out, AllOf(HasSubstr("a lock was taken, renewed and released"),
                                HasSubstr("releases will be heard"),
                                HasSubstr("maxmemory-policy is noeviction")));
    EXPECT_EQ(server().command({"DBSIZE"}).integer, 0);
}

TEST_P(Doctor, SaysTheSameToPrograms) {
    const ended told = run({"doctor", "--json"}, url());
    EXPECT_EQ(told.status, 0);
    EXPECT_EQ(boost::json::parse(told.out).at("worst").as_string(), "note");
    EXPECT_EQ(says_of("rights"),
              "fine: a lock was taken, renewed and released ('holdfast-doctor')");
}

TEST_P(Doctor, FindsWhatEndsLocksEveryDay) {
    server().command({"CONFIG", "SET", "maxmemory", "100mb"});
    server().command({"CONFIG", "SET", "maxmemory-policy", "volatile-lru"});
    const ended told = run({"doctor"}, url());
    EXPECT_EQ(told.status, 1);
    EXPECT_THAT(told.out, AllOf(HasSubstr("danger   eviction"), HasSubstr("drops locks"),
                                HasSubstr("-> CONFIG SET maxmemory-policy noeviction")));
}

TEST_P(Doctor, FindsWhatAUserMayNotDo) {
    server().command({"ACL", "SETUSER", "default", "-publish", "-time", "-subscribe"});
    EXPECT_THAT(says_of("rights"), HasSubstr("warning: PUBLISH is denied"));
    EXPECT_THAT(says_of("clock"), HasSubstr("warning: TIME is denied"));
    EXPECT_THAT(says_of("listening"), HasSubstr("warning: releases are not heard"));
    server().command({"ACL", "SETUSER", "default", "-hset"});
    EXPECT_THAT(says_of("rights"), AllOf(HasSubstr("danger: "), HasSubstr("+hset")));
}

TEST_P(Doctor, DoesNotCallAServerFitThatItMayNotExamine) {
    server().command({"ACL", "SETUSER", "default", "-info"});
    const ended told = run({"doctor"}, url());
    EXPECT_EQ(told.status, 1);
    EXPECT_THAT(told.out, AllOf(HasSubstr("warning  rights"), HasSubstr("were not looked at"),
                                HasSubstr("-> Grant +info")));
}

TEST_P(Doctor, FindsAServerThatGrantsNothing) {
    server().command({"REPLICAOF", "127.0.0.1", "1"});
    const ended told = run({"doctor"}, url());
    EXPECT_EQ(told.status, 69);
    EXPECT_THAT(told.out,
                AllOf(HasSubstr("danger   reach"), HasSubstr("replica"), HasSubstr("-> ")));
}

TEST_P(Doctor, SaysThatNobodyIsThere) {
    server().stop();
    const ended told = run({"doctor"}, url());
    EXPECT_EQ(told.status, 69);
    EXPECT_THAT(told.out, HasSubstr("danger   reach"));
}

TEST_P(Doctor, TriesALockOfAnotherNameIfAsked) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    const ended told = run({"doctor", "job"}, url());
    EXPECT_EQ(told.status, 0);
    EXPECT_THAT(told.out, HasSubstr("'job' is held by somebody else"));
    EXPECT_TRUE(is_locked());
}

} // namespace
} // namespace holdfast::cli_test
