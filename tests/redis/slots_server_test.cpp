// SPDX-License-Identifier: Apache-2.0
// What real nodes of a cluster say about slots, against what we compute and read.
#include "redis/cluster/redirection.hpp"
#include "redis/cluster/slot.hpp"
#include "redis/cluster/slots_answer.hpp"
#include "support/on_each_server.hpp"

#include <boost/system/system_error.hpp>

#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using ::testing::IsEmpty;

const redis::server_address asked{"asked.internal", 1};

class Slots : public support::on_each_server {
protected:
    Slots()
        : on_each_server{{.tcp = true, .cluster = true}} {}

    std::int64_t slot_by_server(const std::string& key) {
        const redis::reply said = server().command({"CLUSTER", "KEYSLOT", key});
        EXPECT_EQ(said.type, redis::reply::kind::integer) << said.text;
        return said.integer;
    }
    void set(const std::string& name, const std::string& value) {
        EXPECT_EQ(server().command({"CONFIG", "SET", name, value}).text, "OK") << name;
    }
    redis::slot_ranges told() {
        return redis::read_slots(server().command({"CLUSTER", "SLOTS"}), asked);
    }
    std::string host_told() { return told().at(0).primary.host; }
};
HOLDFAST_ON_EACH_SERVER(Slots);

TEST_P(Slots, AreComputedAsTheServerDoes) {
    for (const std::string key :
         {"", "foo", "{", "}", "{}", "{}a", "a{b}", "a{b}{c}", "a{{b}}", "a}{b}", "a{}{b}", "a{b",
          "redisson_lock__channel:{stock}", "\xC3\xA9", "{\xFF}\x80"})
        EXPECT_EQ(redis::key_slot(key), slot_by_server(key)) << key;
    std::minstd_rand random{1};
    for (int i = 0; i < 300; ++i) {
        std::string key(random() % 40, '\0');
        for (char& c : key)
            c = random() % 4 == 0 ? "{}"[random() % 2] : static_cast<char>(random() % 256);
        EXPECT_EQ(redis::key_slot(key), slot_by_server(key)) << testing::PrintToString(key);
    }
}

TEST_P(Slots, AreReadAsTheServerTellsThem) {
    EXPECT_THAT(told(), IsEmpty());
    server().command({"CLUSTER", "ADDSLOTS", "0", "1", "2", "16383"});
    const redis::slot_ranges ranges = told();
    ASSERT_EQ(ranges.size(), 2u);
    EXPECT_EQ(ranges[0].first, 0);
    EXPECT_EQ(ranges[0].last, 2);
    EXPECT_EQ(ranges[1].first, 16383);
    EXPECT_EQ(ranges[1].last, 16383);
    for (const redis::slot_range& each : ranges) {
        // It has met nobody, so it does not know its address.
        EXPECT_EQ(each.primary, (redis::server_address{"asked.internal", server().port()}));
        EXPECT_THAT(each.replicas, IsEmpty());
    }
}

TEST_P(Slots, ComeWithTheNameThatANodePrefers) {
    server().command({"CLUSTER", "ADDSLOTS", "0"});
    set("cluster-announce-ip", "10.0.0.7");
    EXPECT_EQ(host_told(), "10.0.0.7");
    set("cluster-preferred-endpoint-type", "hostname"); // and it has none: it tells "?"
    EXPECT_EQ(host_told(), "10.0.0.7");
    set("cluster-announce-hostname", "db1.internal");
    EXPECT_EQ(host_told(), "db1.internal");
    set("cluster-preferred-endpoint-type", "unknown-endpoint"); // it tells nothing
    EXPECT_EQ(host_told(), "asked.internal");
}

/// What a script is told that reads `a`, in a cluster that is down, for it does not serve all
/// slots.
class SlotsOfAScript : public Slots {
protected:
    redis::redirection meant(const std::string& keys) {
        const redis::reply said =
            server().command({"EVAL", "return redis.call('get', 'a')", keys, "a"});
        EXPECT_EQ(said.type, redis::reply::kind::error);
        error_ = said.text;
        return redis::read_redirection(said.text, asked.host);
    }
    void serve_it() {
        const std::string slot = std::to_string(redis::key_slot("a"));
        EXPECT_EQ(server().command({"CLUSTER", "ADDSLOTS", slot}).text, "OK");
    }

    std::string error_;
};
HOLDFAST_ON_EACH_SERVER(SlotsOfAScript);

using enum redis::redirection::outcome;
using kind_of_place = redis::redirection::kind;

TEST_P(SlotsOfAScript, ThatNobodyServesAreWaitedForIfItsKeyIsDeclared) {
    const redis::redirection told = meant("1");
    EXPECT_EQ(told.what, kind_of_place::pause) << error_;
    EXPECT_EQ(told.done, not_carried_out) << error_;
}

TEST_P(SlotsOfAScript, ThatNobodyServesAreNotHereIfItsKeyIsNotDeclared) {
    const redis::redirection told = meant("0");
    EXPECT_EQ(told.what, kind_of_place::not_here) << error_;
    EXPECT_EQ(told.done, unknown) << error_;
}

TEST_P(SlotsOfAScript, AreWaitedForWhereTheClusterIsDown) {
    serve_it();
    for (const char* keys : {"1", "0"}) {
        const redis::redirection told = meant(keys);
        EXPECT_EQ(told.what, kind_of_place::pause) << error_;
        EXPECT_EQ(told.done, not_carried_out) << error_;
    }
}

TEST_P(Slots, AreNotToldByAServerThatIsNoNode) {
    support::redis_server single{GetParam()};
    const redis::reply said = single.command({"CLUSTER", "SLOTS"});
    EXPECT_THROW((void)redis::read_slots(said, asked), boost::system::system_error);
    EXPECT_EQ(redis::read_redirection(said.text, asked.host).what, redis::redirection::kind::none);
}

} // namespace
} // namespace holdfast
