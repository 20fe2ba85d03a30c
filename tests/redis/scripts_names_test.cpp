// SPDX-License-Identifier: Apache-2.0
// Any bytes are a name, and a cluster can hold what is not objected to.
#include "scripts_fixture.hpp"
#include "store/redis/names.hpp"

#include <iterator>
#include <sstream>
#include <thread>

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::ElementsAre;

std::vector<std::string> odd_names() {
    return {std::string{"CR\r\nLF"},      std::string{"N\0L", 3},     std::string(100'000, 'x'),
            std::string{"\xff\xfe\x80"},  std::string{"a{b}c"},       std::string{"*?[a]"},
            std::string{"\" ' \\ $1 %s"}, std::string{"return 1 --"}, std::string{" "}};
}

class OddNames : public on_scripts {};
HOLDFAST_ON_EACH_SERVER(OddNames);

TEST_P(OddNames, AreLockedToldOfAndReleasedAsAnyOther) {
    support::redis_connection listener{server().socket_path()};
    for (const std::string& each : odd_names()) {
        name_ = each;
        channel_ = redis::lock_channel(each).text;
        listener.command({"SUBSCRIBE", channel_});
        EXPECT_EQ(integers_of(lock(alice, 30'000))[0], 1);
        EXPECT_EQ(integers_of(lock(bob, 30'000))[0], 0);
        EXPECT_EQ(count_of(alice), "1");
        EXPECT_THAT(integers_of(renew({name_}, 60'000, {alice})), ElementsAre(1));
        EXPECT_EQ(inspect().items.at(1).text, alice);
        EXPECT_THAT(integers_of(release(alice)), ElementsAre(1, 1));
        EXPECT_EQ(listener.next_message(duration{5'000})->items[1].text, channel_);
        EXPECT_EQ(ask({"DBSIZE"}), 0);
    }
}

TEST_P(OddNames, OwnersAreAnyBytesToo) {
    const std::string owner{"a\r\n\0\xff{}", 7};
    EXPECT_EQ(integers_of(lock(owner, 30'000))[0], 1);
    EXPECT_EQ(integers_of(release(owner))[0], 1);
}

class InACluster : public on_scripts {
protected:
    InACluster()
        : on_scripts{{.cluster = true}} {}

    void serve_all_slots() {
        server().command({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
        const auto is_up = [this] {
            return server().command({"CLUSTER", "INFO"}).text.find("cluster_state:ok") !=
                   std::string::npos;
        };
        for (int polls = 0; !is_up() && polls < 5'000; ++polls) // it hesitates for two seconds
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }

    std::int64_t slot(const std::string& key) { return ask({"CLUSTER", "KEYSLOT", key}); }

    /// Key, channel and the latch key of a Redisson that unlocks it, on one node?
    bool one_slot(const std::string& name) {
        const std::string latch =
            redis::with_prefix("redisson_unlock_latch", name) + ":" + std::string(32, '0');
        return slot(name) == slot(redis::lock_channel(name).text) && slot(name) == slot(latch);
    }
};
HOLDFAST_ON_EACH_SERVER(InACluster);

TEST_P(InACluster, ExactlyTheNamesItCanHoldAreAllowed) {
    for (const char* good : {"plain", "a{b}c", "{b}", "}a{b}", "a{b}{", "a{b}}", "a{b}{}", "{{b}",
                             "{b}{c}", "a:{b:c}"}) {
        EXPECT_EQ(redis::objection_to_name(good, 100), std::nullopt) << good;
        EXPECT_TRUE(one_slot(good)) << good;
    }
    for (const char* bad : {"na}me", "na{me", "}", "{", "{}", "a{}", "{}a", "a{}{b}", "}{", "}a{b",
                            "}}", "{{", "{}}"}) {
        EXPECT_NE(redis::objection_to_name(bad, 100), std::nullopt) << bad;
        EXPECT_FALSE(one_slot(bad)) << bad;
    }
}

TEST_P(InACluster, ALockIsTakenRenewedAndReleased) {
    serve_all_slots();
    for (const char* each : {"plain", "a{b}c", "}a{b}"}) {
        name_ = each;
        channel_ = redis::lock_channel(name_).text;
        EXPECT_EQ(integers_of(lock(alice, 30'000))[0], 1);
        EXPECT_THAT(integers_of(renew({name_}, 60'000, {alice})), ElementsAre(1));
        EXPECT_EQ(integers_of(release(alice))[0], 1);
        lock(bob, 30'000);
        EXPECT_EQ(integers_of(force()).at(0), 1);
    }
}

/// The rights that docs/protocol/mutex.md says are enough.
class LeastRights : public on_scripts {
protected:
    redis::reply run(const redis::script& what, std::vector<std::string> keys,
                     std::vector<std::string> arguments) override {
        return support::run_script(*application_, what, std::move(keys), std::move(arguments));
    }
    std::optional<support::redis_connection> application_;
};
HOLDFAST_ON_EACH_SERVER(LeastRights);

TEST_P(LeastRights, AreEnough) {
    const std::string rights =
        "resetkeys resetchannels -@all +eval +evalsha +time +pttl +pexpire +hset +hexists +hlen "
        "+hkeys +hdel +del +publish +subscribe +unsubscribe ~app:* &redisson_lock__channel:{app:*";
    std::vector<std::string> words{"ACL", "SETUSER", "app", "on", ">secret"};
    std::istringstream each{rights};
    words.insert(words.end(), std::istream_iterator<std::string>{each}, {});
    const redis::reply made = server().command(words);
    ASSERT_EQ(made.text, "OK");
    application_.emplace(server().socket_path());
    application_->command({"AUTH", "app", "secret"});
    name_ = "app:lock";
    channel_ = redis::lock_channel(name_).text;

    EXPECT_THAT(integers_of(lock(alice, 30'000)), ElementsAre(1, 0, ::testing::Gt(0)));
    EXPECT_EQ(integers_of(lock(alice, 60'000))[0], 1);
    EXPECT_EQ(integers_of(lock(bob, 30'000))[0], 0);
    EXPECT_THAT(integers_of(renew({name_}, 90'000, {alice})), ElementsAre(1));
    EXPECT_EQ(inspect().items.size(), 2u);
    EXPECT_THAT(integers_of(release(alice)), ElementsAre(1, 0));
    lock(bob, 30'000);
    EXPECT_EQ(integers_of(force()).at(0), 1);
    EXPECT_EQ(application_->command({"SUBSCRIBE", channel_}).items.size(), 3u);
}

} // namespace
} // namespace holdfast
