// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/server_findings.hpp"

#include <string>
#include <utility>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

server_seen server(std::string address, std::string role, std::string trouble = {}) {
    server_seen one;
    one.address = std::move(address);
    one.role = std::move(role);
    one.trouble = std::move(trouble);
    one.version = one.role.empty() ? "" : "3.8.0";
    one.epoch = one.role.empty() ? 0 : 7;
    return one;
}

std::string said_of(std::vector<server_seen> servers, bool over_tls = true) {
    std::string text;
    for (const finding& each : judge_servers({over_tls, std::move(servers)}))
        text += std::string{to_string(each.how_bad)} + " " + each.topic + ": " + each.what + "\n";
    return text;
}

TEST(ServerFindings, TellEachServerAndWhoLeads) {
    EXPECT_THAT(said_of({server("zk1:2181", "follower"), server("zk2:2181", "leader")}),
                AllOf(HasSubstr("fine servers: zk1:2181: answers within 0 ms, follower, version "
                                "3.8.0\n"),
                      HasSubstr("fine leader: zk2:2181 leads, in epoch 7\n"),
                      HasSubstr("fine tls:"), Not(HasSubstr("note")), Not(HasSubstr("warning"))));
}

TEST(ServerFindings, AServerThatIsAwayIsAWarning) {
    EXPECT_THAT(said_of({server("zk1:2181", "leader"), server("zk2:2181", "", "refused")}),
                HasSubstr("warning servers: zk2:2181: refused\n"));
}

TEST(ServerFindings, AServerThatSaysNothingIsANote) {
    EXPECT_THAT(said_of({server("zk1:2181", ""), server("zk2:2181", "follower")}),
                AllOf(HasSubstr("note servers: 1 of 2 do not say"), Not(HasSubstr("leads"))));
}

TEST(ServerFindings, ALeaderOutsideTheListIsANote) {
    EXPECT_THAT(said_of({server("zk1:2181", "follower"), server("zk2:2181", "observer")}),
                HasSubstr("note leader: none of the servers in the URL leads"));
    EXPECT_THAT(said_of({server("zk1:2181", "follower"), server("zk2:2181", "", "refused")}),
                Not(HasSubstr("note leader")));
}

TEST(ServerFindings, ServersOfSeveralEnsemblesAreADanger) {
    EXPECT_THAT(said_of({server("zk1:2181", "leader"), server("zk2:2181", "leader")}),
                HasSubstr("danger leader: two servers lead"));
    EXPECT_THAT(said_of({server("zk1:2181", "standalone"), server("zk2:2181", "follower")}),
                HasSubstr("danger leader: one of several servers is an ensemble of its own"));
    EXPECT_THAT(said_of({server("zk1:2181", "standalone")}),
                AllOf(Not(HasSubstr("danger")), Not(HasSubstr("leader:"))));
}

TEST(ServerFindings, AWayWithoutTlsIsANote) {
    EXPECT_THAT(said_of({server("zk1:2181", "standalone")}, false), HasSubstr("note tls:"));
}

} // namespace
} // namespace holdfast::zookeeper
