// SPDX-License-Identifier: Apache-2.0
// What the doctor finds at a server that has replicas, and nobody who watches over them.
#include "support/diagnosed.hpp"
#include "support/on_each_server.hpp"
#include "support/redis_replicas.hpp"

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::diagnosed;
using support::redis_replicas;
using support::said_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class DoctorAtReplicas : public support::on_each_kind_of_server {
protected:
    static diagnosis examined(redis_replicas& all, unsigned replicas = 0) {
        redis::options where;
        where.port = all.port_of(all.primary());
        return diagnosed(where, replicas);
    }
};
HOLDFAST_ON_EACH_SERVER(DoctorAtReplicas);

TEST_P(DoctorAtReplicas, SaysWhatIsThere) {
    redis_replicas all{GetParam(), {.arguments = {"--appendonly", "yes"}}};
    const diagnosis found = examined(all);
    EXPECT_THAT(said_of("topology", found),
                HasSubstr("fine: it is a primary: 127.0.0.1:" +
                          std::to_string(all.port_of(all.primary())) + " (replicas: 127.0.0.1:" +
                          std::to_string(all.port_of(all.replica())) + ")"));
    EXPECT_THAT(said_of("failover", found), IsEmpty());
    EXPECT_THAT(said_of("replicas", found), HasSubstr("note: "));
    EXPECT_THAT(said_of("persistence", found),
                HasSubstr("note: appendfsync is everysec: a machine that loses its power may "
                          "forget the latest locks (both servers)"));
    EXPECT_THAT(said_of("listening", found), HasSubstr("fine: releases will be heard"));
}

TEST_P(DoctorAtReplicas, FindsAReplicaWhoseClockIsAhead) {
    redis_replicas all{GetParam(), {.own_clocks = true}};
    EXPECT_THAT(said_of("clocks", examined(all)), HasSubstr("fine: "));
    all.replica().step_clock(20s);
    EXPECT_THAT(said_of("clocks", examined(all)),
                AllOf(HasSubstr("warning: the clock of the replica "), HasSubstr(" ahead of "),
                      Not(HasSubstr("fine"))));
}

TEST_P(DoctorAtReplicas, SaysWhichReplicaCannotBeAsked) {
    redis_replicas all{GetParam(), {}};
    all.replica().pause();
    EXPECT_THAT(said_of("topology", examined(all)),
                HasSubstr("warning: the replica 127.0.0.1:" +
                          std::to_string(all.port_of(all.replica())) + " could not be asked: "));
    all.replica().resume();
}

TEST_P(DoctorAtReplicas, FindsThatWaitIsDenied) {
    redis_replicas all{GetParam(), {}};
    all.primary().command({"ACL", "SETUSER", "default", "-wait"});
    EXPECT_THAT(said_of("replicas", examined(all)),
                HasSubstr("required_replicas cannot be used here"));
    EXPECT_THAT(said_of("replicas", examined(all, 1)), HasSubstr("danger: WAIT is refused"));
}

} // namespace
} // namespace holdfast
