// SPDX-License-Identifier: Apache-2.0
// lock_token.lua, release_token.lua and renew_tokens.lua, and what the inspection reports about
// strings.
#include "scripts_fixture.hpp"
#include "store/redis/inspector.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Le;

class TokenScripts : public on_limited_scripts {
protected:
    using on_limited_scripts::on_limited_scripts;

    static constexpr const char* ours = "aaaaaaaa-0000-8fd5-8000-000000000001:1";
    static constexpr const char* theirs = "bbbbbbbb-0000-8fd5-8000-000000000002:2";
    static constexpr const char* python = "6fdc9f0e70e311eeb9620242ac120002"; // uuid1().hex

    redis::reply take(const std::string& owner, std::int64_t lease = 30'000,
                      std::int64_t deadline = 0) {
        return run(redis::scripts::lock_token, {name_},
                   {std::to_string(lease), owner, std::to_string(deadline)});
    }
    redis::reply give_back(const std::string& owner) {
        return run(redis::scripts::release_token, {name_}, {owner, told_on_, "PUBLISH"});
    }
    redis::reply renew_tokens(std::vector<std::string> names, std::int64_t lease,
                              std::vector<std::string> owners) {
        owners.insert(owners.begin(), {std::to_string(lease), ""});
        return run(redis::scripts::renew_tokens, std::move(names), std::move(owners));
    }
    redis::reply force_any(const std::string& only_from, const std::string& mode,
                           std::int64_t deadline = 0) {
        return run(redis::scripts::force_lock, {name_},
                   {std::to_string(deadline), only_from, "PUBLISH", channel_, "rw", "queue",
                    "deadlines", mode, told_on_});
    }
    std::optional<lock_state> described() {
        std::vector<std::string> belongings(7, "of no matter");
        belongings.push_back(told_on_);
        const redis::reply told = run(redis::scripts::describe_locks, {name_}, belongings);
        return redis::lock_state_in(name_, told.items.at(0));
    }
    std::string value() { return server().command({"GET", name_}).text; }
    void others_take(const std::string& token) { server().command({"SET", name_, token}); }

    const std::string told_on_ = "holdfast_token_lock:{L}";
};
HOLDFAST_ON_EACH_SERVER(TokenScripts);

TEST_P(TokenScripts, AFreeLockIsTaken) {
    const std::int64_t before = server_micros();
    const numbers said = integers_of(take(ours));
    EXPECT_THAT(said, ElementsAre(1, 0, AllOf(Gt(before), Le(server_micros())), 0));
    EXPECT_EQ(value(), ours);
    EXPECT_THAT(time_left(), AllOf(Gt(24'000), Le(30'000)));
    EXPECT_EQ(server().command({"SET", name_, python, "NX", "PX", "1000"}).type,
              redis::reply::kind::nil)
        << "as the others try";
}

TEST_P(TokenScripts, TakingAgainExtendsAndNeverShortensAndIsWritten) {
    take(ours);
    const std::int64_t before = changes();
    EXPECT_EQ(integers_of(take(ours, 1'000))[0], 1);
    EXPECT_GT(time_left(), 24'000);
    EXPECT_EQ(changes(), before + 1);
    EXPECT_EQ(integers_of(take(ours, 60'000))[0], 1);
    EXPECT_GT(time_left(), 54'000);
}

TEST_P(TokenScripts, AHoldThatSomebodyMadeEndlessStaysSo) {
    take(ours);
    server().command({"PERSIST", name_});
    EXPECT_EQ(integers_of(take(ours))[0], 1);
    EXPECT_THAT(integers_of(renew_tokens({name_}, 30'000, {ours})), ElementsAre(1));
    EXPECT_EQ(time_left(), -1);
    EXPECT_THAT(integers_of(give_back(ours)), ElementsAre(1, 0));
    EXPECT_FALSE(exists());
}

TEST_P(TokenScripts, BusySaysForHowLongAndThatItsHolderIsOneOfOurs) {
    take(theirs, 10'000);
    const std::int64_t before = changes();
    EXPECT_THAT(integers_of(take(ours, 60'000)),
                ElementsAre(0, AllOf(Gt(9'000), Le(10'000)), Gt(0), 1));
    EXPECT_EQ(changes(), before);
    EXPECT_EQ(value(), theirs);
}

TEST_P(TokenScripts, OfAnotherProgramItSaysThatItTellsNobody) {
    for (const std::string token :
         {python, "+Zb3cGqNQ4kzLwS5x0Q1vA==", "1", "", "aaaaaaaa-0000-4000-8000-000000000001:1",
          "aaaaaaaa-0000-8fd5-8000-000000000001:1x"}) {
        server().command({"SET", name_, token, "PX", "10000"});
        EXPECT_THAT(integers_of(take(ours)), ElementsAre(0, Gt(9'000), Gt(0), 0)) << token;
        EXPECT_EQ(value(), token);
    }
}

TEST_P(TokenScripts, AKeyWithoutALeaseIsBusyWithoutAnEnd) {
    others_take(python);
    EXPECT_THAT(integers_of(take(ours)), ElementsAre(0, -1, Gt(0), 0));
    EXPECT_EQ(time_left(), -1);
}

TEST_P(TokenScripts, ALateRequestTakesNothing) {
    EXPECT_THAT(integers_of(take(ours, 30'000, server_micros() - 1)), ElementsAre(2, 0, Gt(0), 0));
    EXPECT_FALSE(exists());
    EXPECT_EQ(integers_of(take(ours, 30'000, server_micros() + 60'000'000))[0], 1);
}

TEST_P(TokenScripts, AReleaseEndsOnlyItsOwnersHoldAndMayBeRepeated) {
    take(ours);
    EXPECT_THAT(integers_of(give_back(theirs)), ElementsAre(0, 0));
    EXPECT_EQ(value(), ours);
    EXPECT_THAT(integers_of(give_back(ours)), ElementsAre(1, 0));
    EXPECT_FALSE(exists());
    EXPECT_THAT(integers_of(give_back(ours)), ElementsAre(0, 0));
    others_take(python);
    EXPECT_THAT(integers_of(give_back(ours)), ElementsAre(0, 0));
    EXPECT_EQ(value(), python);
}

TEST_P(TokenScripts, AReleaseTellsWhoListens) {
    support::redis_connection listener{server().socket_path()};
    listener.command({"SUBSCRIBE", told_on_});
    take(ours);
    EXPECT_THAT(integers_of(give_back(theirs)), ElementsAre(0, 0));
    EXPECT_THAT(integers_of(give_back(ours)), ElementsAre(1, 1));
    EXPECT_EQ(listener.next_message(duration{5'000}).value().items[2].text, "0");
}

TEST_P(TokenScripts, RenewalExtendsWhatIsStillItsOwnersAndNothingElse) {
    take(ours, 10'000);
    server().command({"SET", "mine too", ours, "PX", "60000"});
    server().command({"SET", "another's", theirs, "PX", "10000"});
    server().command({"HSET", "a hash", ours, "1"});
    EXPECT_THAT(integers_of(renew_tokens({name_, "mine too", "another's", "gone", "a hash"}, 30'000,
                                         {ours, ours, ours, ours, ours})),
                ElementsAre(1, 1, 0, 0, 0));
    EXPECT_THAT(time_left(), AllOf(Gt(24'000), Le(30'000)));
    EXPECT_GT(ask({"PTTL", "mine too"}), 54'000);
    EXPECT_LE(ask({"PTTL", "another's"}), 10'000);
    EXPECT_EQ(ask({"EXISTS", "gone"}), 0);
}

TEST_P(TokenScripts, AskingExtendsNothingAndIsWritten) {
    take(ours, 10'000);
    const std::int64_t before = changes();
    EXPECT_THAT(integers_of(renew_tokens({name_}, 0, {ours})), ElementsAre(1));
    EXPECT_LE(time_left(), 10'000);
    EXPECT_EQ(changes(), before + 1);
}

TEST_P(TokenScripts, AKeyOfAnotherTypeIsNamedAndNeverTouched) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> others{
        {{"HSET", name_, alice, "1"}, "the key is a hash"},
        {{"RPUSH", name_, "x"}, "neither a hash nor a string"}};
    for (const auto& [other, named] : others) {
        server().command({"DEL", name_});
        server().command(other);
        const std::string before = server().command({"DUMP", name_}).text;
        const redis::reply said = take(ours);
        EXPECT_TRUE(is_error(said, "WRONGTYPE")) << other[0];
        EXPECT_THAT(said.text, HasSubstr(named));
        EXPECT_THAT(integers_of(give_back(ours)), ElementsAre(0, 0)) << other[0];
        EXPECT_EQ(server().command({"DUMP", name_}).text, before) << other[0];
    }
}

TEST_P(TokenScripts, OtherKindsOfLocksSayThatTheKeyIsAString) {
    take(ours);
    const std::string writers = "holdfast_writers:{L}", timer = "{L}:" + std::string{alice};
    const std::vector<redis::reply> all{
        lock(alice, 30'000), fence(alice),
        run(redis::scripts::lock_fair, {name_, "queue", "deadlines"},
            {"30000", alice, "0", channel_, "PUBLISH", "1", "20000", "300000"}),
        run(redis::scripts::lock_read, {name_, timer, writers}, {"30000", alice, "0", ""}),
        run(redis::scripts::lock_write, {name_, writers},
            {"30000", alice, "0", "", "{L}", "5000", "100"})};
    for (const redis::reply& said : all) {
        EXPECT_TRUE(is_error(said, "WRONGTYPE"));
        EXPECT_THAT(said.text, HasSubstr("the key is a string"));
    }
    EXPECT_EQ(value(), ours);
    EXPECT_EQ(ask({"DBSIZE"}), 1);
}

TEST_P(TokenScripts, ALeaseThatIsNoLengthOfTimeLeavesNothing) {
    EXPECT_EQ(run(redis::scripts::lock_token, {name_}, {"99999999999999999999", ours, "0"}).type,
              redis::reply::kind::error);
    EXPECT_EQ(take(ours, 0).type, redis::reply::kind::error);
    EXPECT_FALSE(exists());
}

TEST_P(TokenScripts, AFullServerGrantsNothingButRenewsAndReleases) {
    take(ours, 10'000);
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_THAT(integers_of(renew_tokens({name_}, 30'000, {ours})), ElementsAre(1));
    EXPECT_GT(time_left(), 24'000);
    EXPECT_THAT(integers_of(give_back(ours)), ElementsAre(1, 0));
    EXPECT_TRUE(is_error(take(theirs), "OOM"));
    EXPECT_FALSE(exists());
}

TEST_P(TokenScripts, WithoutTheRightToReadOrWriteNothingIsDoneAndItIsNamed) {
    for (const std::string right : {"get", "set"}) {
        deny(right);
        const redis::reply said = take(ours);
        EXPECT_EQ(said.type, redis::reply::kind::error) << right;
        allow_all();
        EXPECT_FALSE(exists()) << right;
    }
    take(ours, 10'000);
    deny("get");
    for (const redis::reply& said :
         {give_back(ours), renew_tokens({name_}, 30'000, {ours}), inspect()})
        EXPECT_EQ(said.type, redis::reply::kind::error) << "not: it is gone";
    deny("publish");
    EXPECT_THAT(integers_of(give_back(ours)), ElementsAre(1, -1));
    EXPECT_FALSE(exists());
}

TEST_P(TokenScripts, WithoutTheRightToTellTimeThereIsNoDeadline) {
    const std::int64_t long_ago = server_micros() - 1'000'000;
    deny("time");
    EXPECT_THAT(integers_of(take(ours, 30'000, long_ago)), ElementsAre(1, 0, 0, 0));
}

TEST_P(TokenScripts, LookingTellsTheTokenApartFromAHashsOwner) {
    take(ours);
    const redis::reply said = inspect();
    ASSERT_EQ(said.items.size(), 2u);
    EXPECT_THAT(said.items[0].integer, AllOf(Gt(24'000), Le(30'000)));
    ASSERT_EQ(said.items[1].items.size(), 1u);
    EXPECT_EQ(said.items[1].items[0].text, ours);
}

TEST_P(TokenScripts, ItIsDescribedWithItsListeners) {
    take(ours);
    support::redis_connection listener{server().socket_path()};
    listener.command({"SUBSCRIBE", told_on_});
    const lock_state seen = described().value();
    EXPECT_EQ(seen.kind, key_kind::token_lock);
    EXPECT_EQ(seen.type, "string");
    ASSERT_EQ(seen.owners.size(), 1u);
    EXPECT_EQ(seen.owners[0].text, ours);
    EXPECT_TRUE(seen.owners[0].is_holdfast);
    EXPECT_THAT(seen.remaining.value(), AllOf(Gt(duration{24'000}), Le(duration{30'000})));
    EXPECT_EQ(seen.listeners, 1u);
    others_take(python);
    EXPECT_FALSE(described().value().owners.at(0).is_holdfast);
    EXPECT_FALSE(described()->remaining);
    for (const std::string& text :
         {std::string{"x"}, std::string(10'000, 'x'), std::string{"a sentence with some words"}}) {
        others_take(text);
        EXPECT_EQ(described().value().kind, key_kind::other) << text;
    }
}

TEST_P(TokenScripts, OfAllStringsOurTokensAreFound) {
    take(ours);
    for (const std::string other : {"text", "python", "huge", "almost"})
        server().command({"SET", other,
                          other == "python"   ? python
                          : other == "huge"   ? std::string(100'000, 'x')
                          : other == "almost" ? "aaaaaaaa-0000-8fd5-8000-000000000001:1 and more"
                                              : "text"});
    server().command({"HSET", "hash", alice, "1"});
    server().command({"RPUSH", "list", ours});
    const redis::reply found = run(redis::scripts::find_locks, {}, {"0", "*", "1000"});
    std::vector<std::string> names;
    for (const redis::reply& each : found.items)
        names.push_back(each.text);
    EXPECT_THAT(names, ::testing::UnorderedElementsAre("0", name_, "hash"));
}

TEST_P(TokenScripts, ForcingEndsAnybodysHoldAndWakesWhoWaits) {
    support::redis_connection listener{server().socket_path()};
    listener.command({"SUBSCRIBE", told_on_});
    for (const std::string holder : {ours, python}) {
        others_take(holder);
        const redis::reply said = force_any({}, "token");
        EXPECT_THAT(integers_of(said).at(0), 1);
        EXPECT_EQ(said.items.at(2).text, holder);
        EXPECT_FALSE(exists());
        EXPECT_TRUE(listener.next_message(duration{5'000}));
    }
    EXPECT_EQ(integers_of(force_any({}, "token"))[0], 0);
}

TEST_P(TokenScripts, ForcingEndsNoHoldButTheOneItIsMeantFor) {
    others_take(python);
    EXPECT_EQ(force_any(ours, {}).items.at(0).integer, 3);
    EXPECT_TRUE(is_error(force_any({}, "read"), "WRONGTYPE"));
    EXPECT_TRUE(is_error(force_any({}, "mutex"), "WRONGTYPE"));
    EXPECT_EQ(force_any({}, {}, server_micros() - 1).items.at(0).integer, 2);
    EXPECT_EQ(value(), python);
    EXPECT_EQ(force_any(python, {}).items.at(0).integer, 1);
    lock(alice, 30'000);
    EXPECT_TRUE(is_error(force_any({}, "token"), "WRONGTYPE"));
    EXPECT_EQ(count_of(alice), "1");
}

TEST_P(TokenScripts, AStringThatIsNotOursIsEndedOnlyWhereALockIsMeant) {
    others_take(ours);
    EXPECT_EQ(force_any({}, {}).items.at(0).integer, 1);
    // A token of redis-py's looks like anybody's key of a session.
    for (const std::string& text : {std::string{"some text of a user"}, std::string{python}}) {
        others_take(text);
        EXPECT_TRUE(is_error(force_any({}, {}), "WRONGTYPE")) << text;
        EXPECT_EQ(value(), text);
        EXPECT_EQ(force_any({}, "token").items.at(0).integer, 1) << text;
        EXPECT_FALSE(exists());
    }
    others_take("1"); // without an end it is a semaphore or a latch
    for (const char* const mode : {"", "token"})
        EXPECT_TRUE(is_error(force_any({}, mode), "WRONGTYPE")) << mode;
    EXPECT_EQ(value(), "1");
    server().command({"PEXPIRE", name_, "30000"});
    EXPECT_EQ(force_any({}, "token").items.at(0).integer, 1);
}

/// The test controls the date of this server.
class TokenScriptsInTime : public TokenScripts {
protected:
    TokenScriptsInTime()
        : TokenScripts{{.own_clock = true}} {}
};
HOLDFAST_ON_EACH_SERVER(TokenScriptsInTime);

TEST_P(TokenScriptsInTime, AHoldThatIsOverIsGone) {
    take(ours, 5'000);
    const std::int64_t deadline = server_micros() + 3'000'000;
    server().step_clock(std::chrono::seconds{6});
    EXPECT_EQ(integers_of(take(ours, 5'000, deadline))[0], 2) << "what was delayed";
    EXPECT_EQ(integers_of(take(theirs))[0], 1);
    EXPECT_THAT(integers_of(renew_tokens({name_}, 60'000, {ours})), ElementsAre(0));
    EXPECT_THAT(integers_of(give_back(ours)), ElementsAre(0, 0));
    EXPECT_EQ(value(), theirs);
}

} // namespace
} // namespace holdfast
