// SPDX-License-Identifier: Apache-2.0
// Operators' functions on ZooKeeper: inspection, forced release and the doctor.
#include "store/zookeeper/inspector.hpp"
#include "store/zookeeper/zookeeper_store.hpp"
#include "support/recorder.hpp"
#include "unit/store/zookeeper/world.hpp"

#include <holdfast/error.hpp>

#include <string>
#include <utility>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class Inspector : public world {
protected:
    static constexpr const char* curators = "0f9ac3b6-3dcb-4e8b-a1d5-54c2a8ae6e2d";

    inspector& view(party& who) { return who.store->operators_view(); }
    std::string stranger_enters(const std::string& name, const std::string& mark = "-lock-") {
        return model.make("/holdfast/" + name + "/_c_" + curators + mark,
                          node_mode::ephemeral_sequential, 0x57, "192.0.2.1");
    }
    static std::vector<std::string> names_in(const lock_list& all) {
        std::vector<std::string> names;
        for (const lock_state& each : all.locks)
            names.push_back(each.name);
        return names;
    }
};

TEST_F(Inspector, TellsHoldersAndWaitersWhoeverTheyAre) {
    party& one = enter();
    EXPECT_FALSE(run(view(one).describe({"lock"})));
    EXPECT_FALSE(run(view(one).inspect({"lock"})));
    const ask held = one.wish("lock");
    const answer grant = one.look(*one.line_up(held));
    stranger_enters("lock");
    const auto seen = run(view(one).describe({"lock"}));
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->kind, key_kind::lock);
    EXPECT_EQ(seen->token, grant.token);
    EXPECT_EQ(seen->last_token, grant.token);
    ASSERT_THAT(seen->owners, SizeIs(1));
    EXPECT_EQ(seen->owners[0].text, to_string(held.owner));
    EXPECT_TRUE(seen->owners[0].is_holdfast);
    ASSERT_TRUE(seen->owners[0].client);
    EXPECT_EQ(seen->owners[0].client->label, "party");
    ASSERT_THAT(seen->waiters, SizeIs(1));
    EXPECT_EQ(seen->waiters[0].text, curators);
    EXPECT_FALSE(seen->waiters[0].is_holdfast);
    EXPECT_EQ(seen->waiting, 1u);
    EXPECT_EQ(run(view(one).last_token({"lock"})), grant.token);
    EXPECT_THAT(run(view(one).inspect({"lock"}))->owners, ElementsAre(to_string(held.owner)));
}

TEST_F(Inspector, LastTokenOfAFreeLockIsBetweenTheLastHoldAndTheNext) {
    party& one = enter();
    const auto last = [&] { return run(view(one).last_token({"lock"})); };
    EXPECT_EQ(last(), 0u) << "no node was ever created";
    std::uint64_t before = 0;
    for (const bool path_is_deleted : {false, true, true}) {
        const ask held = one.wish("lock");
        const std::uint64_t token = one.look(*one.line_up(held)).token;
        EXPECT_GT(token, before);
        EXPECT_EQ(last(), token);
        EXPECT_TRUE(one.release(held));
        if (path_is_deleted)
            model.erase_if_empty("/holdfast/lock");
        before = last();
        EXPECT_GE(before, token);
    }
}

TEST_F(Inspector, DoesNotTellTheLastTokenWhileReadersHold) {
    party& one = enter();
    stranger_enters("lock", "-__READ__");
    const lock_state seen = run(view(one).describe({"lock"})).value();
    EXPECT_GT(seen.token, 0u);
    EXPECT_EQ(seen.last_token, 0u) << "a reader that has left may have had a greater token";
}

TEST_F(Inspector, EndsTheHoldItWasMeantForAndWakesTheNext) {
    party& one = enter();
    stranger_enters("lock");
    const auto waits = one.line_up(one.wish("lock"));
    EXPECT_FALSE(one.look(*waits).granted);
    EXPECT_FALSE(run(view(one).force_release({"lock"}, "somebody else")).was_locked);
    const forced done = run(view(one).force_release({"lock"}, curators));
    EXPECT_TRUE(done.was_locked);
    EXPECT_THAT(done.owners, ElementsAre(curators));
    EXPECT_TRUE(one.look(*waits).granted);
    EXPECT_FALSE(run(view(one).force_release({"lock"}, curators)).was_locked) << "a repetition";
    EXPECT_TRUE(run(view(one).force_release({"lock"}, "")).was_locked);
    EXPECT_FALSE(run(view(one).force_release({"lock"}, "")).was_locked);
}

TEST_F(Inspector, OwnerBehindManyReadersIsFound) {
    party& one = enter();
    for (std::size_t i = 0; i < owners_told_max; ++i)
        stranger_enters("lock", "-__READ__");
    const std::string last = "1f9ac3b6-3dcb-4e8b-a1d5-54c2a8ae6e2d";
    model.make("/holdfast/lock/_c_" + last + "-__READ__", node_mode::ephemeral_sequential);
    const forced done = run(view(one).force_release({"lock"}, last));
    EXPECT_TRUE(done.was_locked);
    EXPECT_THAT(done.owners, SizeIs(owners_told_max));
    EXPECT_THAT(model.children("/holdfast/lock"), SizeIs(0));
}

TEST_F(Inspector, EndsOneSideOnly) {
    party& one = enter();
    stranger_enters("lock", "-__READ__");
    stranger_enters("lock", "-__READ__");
    EXPECT_FALSE(run(view(one).force_kind({"lock"}, lock_kind::write)).was_locked);
    for (const lock_kind other : {lock_kind::token, lock_kind::plain})
        EXPECT_EQ(support::code_of([&] { run(view(one).force_kind({"lock"}, other)); }),
                  store_errc::wrong_type);
    EXPECT_THAT(run(view(one).force_kind({"lock"}, lock_kind::read)).owners, SizeIs(2));
    stranger_enters("lock", "-__WRIT__");
    EXPECT_FALSE(run(view(one).force_kind({"lock"}, lock_kind::read)).was_locked);
    EXPECT_TRUE(run(view(one).force_kind({"lock"}, lock_kind::write)).was_locked);
}

TEST_F(Inspector, ListsWhatIsHeldInTheOrderOfNames) {
    party& one = enter();
    for (const char* name : {"b", "a%2F1", "a:2"})
        stranger_enters(name);
    model.make("/holdfast/free", node_mode::container, 0);
    model.make("/holdfast/%zz/_c_x-lock-", node_mode::ephemeral_sequential); // no name of ours
    EXPECT_THAT(names_in(run(view(one).list("*", 100))), ElementsAre("a/1", "a:2", "b"));
    EXPECT_THAT(names_in(run(view(one).list("a[:]*", 100))), ElementsAre("a:2"));
    const lock_list some = run(view(one).list("*", 2));
    EXPECT_THAT(some.locks, SizeIs(2));
    EXPECT_FALSE(some.complete);
    EXPECT_TRUE(run(view(one).list("*", 3)).complete);
}

TEST_F(Inspector, WhereNamesArePathsItLooksInTheFoldersOfThePattern) {
    party& one = enter({.names_are_paths = true});
    for (const char* path : {"/app/one", "/app/deep/two", "/other/three"})
        model.make(std::string{path} + "/_c_x-lock-", node_mode::ephemeral_sequential);
    EXPECT_THAT(names_in(run(view(one).list("/app/*", 100))),
                ElementsAre("/app/deep/two", "/app/one"));
    EXPECT_THAT(names_in(run(view(one).list("*", 100))), SizeIs(3));
    EXPECT_TRUE(run(view(one).describe({"/other/three"})));
}

TEST_F(Inspector, ListeningRingsForWhateverHappensInTheLine) {
    party& one = enter();
    const std::string first = stranger_enters("lock");
    const std::string second = stranger_enters("lock");
    const auto wake = clock.make_alarm();
    const auto listens = run(view(one).listen({"lock"}, *wake));
    ASSERT_TRUE(listens);
    for (const std::string& node : {first, second}) {
        const auto woken = woken_by(*wake);
        EXPECT_FALSE(*woken);
        model.erase(node);
        settle();
        EXPECT_TRUE(*woken);
        run(wake->wait_until(clock.now())); // what was kept of its rings
    }
}

TEST_F(Inspector, TheEnsembleIsToldByItsRoot) {
    party& one = enter();
    EXPECT_EQ(one.store->identity({"lock"}).id, "") << "nothing was asked yet";
    EXPECT_TRUE(one.look(*one.line_up(one.wish("lock"))).granted);
    settle();
    const std::string id = one.store->identity({"lock"}).id;
    EXPECT_NE(id, "");
    party& two = enter();
    EXPECT_FALSE(two.look(*two.line_up(two.wish("lock"))).granted);
    settle();
    EXPECT_EQ(two.store->identity({"other"}).id, id);
}

TEST_F(Inspector, TheDoctorFindsWhatIsWrong) {
    party& one = enter();
    const auto said = [](const std::vector<finding>& all) {
        std::string text;
        for (const finding& each : all)
            text +=
                std::string{to_string(each.how_bad)} + " " + each.topic + ": " + each.what + "\n";
        return text;
    };
    std::string found = said(run(one.store->examine(one.wish("doctor"))));
    EXPECT_NE(found.find("took, renewed and released the lock"), std::string::npos) << found;
    EXPECT_THAT(model.children("/holdfast/doctor"), SizeIs(0));
    stranger_enters("mixed");
    model.make("/holdfast/mixed/514e5a831836450cb1a56c741e990fd8__lock__",
               node_mode::ephemeral_sequential);
    stranger_enters("doctor");
    found = said(run(one.store->examine(one.wish("doctor"))));
    EXPECT_NE(found.find("do not exclude each other"), std::string::npos) << found;
    EXPECT_NE(found.find("Another client holds the lock"), std::string::npos) << found;
    server_seen away;
    away.address = "zk3:2181";
    away.trouble = "Connection refused";
    model.set_servers({false, {away}});
    found = said(run(one.store->examine(one.wish("doctor"))));
    EXPECT_NE(found.find("The server zk3:2181 could not be asked: Connection refused"),
              std::string::npos)
        << found;
}

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
    EXPECT_THAT(
        said_of({server("zk1:2181", "follower"), server("zk2:2181", "leader")}),
        AllOf(HasSubstr("fine servers: The server zk1:2181 replied within 0 ms. Its role is "
                        "follower. Its version is 3.8.0.\n"),
              HasSubstr("fine leader: The leader is zk2:2181, in epoch 7.\n"),
              HasSubstr("fine tls:"), Not(HasSubstr("note")), Not(HasSubstr("warning"))));
}

TEST(ServerFindings, AServerThatIsAwayIsAWarning) {
    EXPECT_THAT(said_of({server("zk1:2181", "leader"), server("zk2:2181", "", "refused")}),
                HasSubstr("warning servers: The server zk2:2181 could not be asked: refused\n"));
}

TEST(ServerFindings, AServerThatSaysNothingIsANote) {
    EXPECT_THAT(said_of({server("zk1:2181", ""), server("zk2:2181", "follower")}),
                AllOf(HasSubstr("note servers: 1 of 2 servers did not reply to the command srvr."),
                      Not(HasSubstr("The leader is"))));
}

TEST(ServerFindings, ALeaderOutsideTheListIsANote) {
    EXPECT_THAT(said_of({server("zk1:2181", "follower"), server("zk2:2181", "observer")}),
                HasSubstr("note leader: None of the servers in the URL is the leader."));
    EXPECT_THAT(said_of({server("zk1:2181", "follower"), server("zk2:2181", "", "refused")}),
                Not(HasSubstr("note leader")));
}

TEST(ServerFindings, ServersOfSeveralEnsemblesAreADanger) {
    EXPECT_THAT(said_of({server("zk1:2181", "leader"), server("zk2:2181", "leader")}),
                HasSubstr("danger leader: Two servers are leaders."));
    EXPECT_THAT(
        said_of({server("zk1:2181", "standalone"), server("zk2:2181", "follower")}),
        HasSubstr("danger leader: One of the servers runs without an ensemble (standalone)."));
    EXPECT_THAT(said_of({server("zk1:2181", "standalone")}),
                AllOf(Not(HasSubstr("danger")), Not(HasSubstr("leader:"))));
}

TEST(ServerFindings, AWayWithoutTlsIsANote) {
    EXPECT_THAT(said_of({server("zk1:2181", "standalone")}, false), HasSubstr("note tls:"));
}

} // namespace
} // namespace holdfast::zookeeper
