// SPDX-License-Identifier: Apache-2.0
// How many commands `holdfast run` lets run at once, with one lock, several locks, slots or a rate.
#include "cli/server_test.hpp"
#include "support/redis_server.hpp"

#include <boost/json.hpp>

#include <filesystem>
#include <fstream>
#include <memory>

namespace holdfast::cli_test {
namespace {

// The main job: never two commands at once.

namespace fs = std::filesystem;

class Contenders : public on_server {
protected:
    Contenders() {
        std::string pattern = fs::temp_directory_path() / "holdfast-cli-XXXXXX";
        folder = ::mkdtemp(pattern.data());
    }
    ~Contenders() override { fs::remove_all(folder); }

    std::vector<std::string> journal() const {
        std::ifstream file{folder / "journal"};
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);)
            lines.push_back(line);
        return lines;
    }

    fs::path folder;
};
HOLDFAST_ON_EACH_SERVER(Contenders);

TEST_P(Contenders, NeverOverlap) {
    constexpr int contenders = 4;
    constexpr int turns = 5;
    // Each command takes its while (a process is started in it), and notes when it came and went.
    const std::string command = "cd '" + folder.string() +
                                "'; echo begin >>journal; mkdir inside && rmdir inside; "
                                "echo end >>journal";
    const std::string loop = "for i in 1 2 3 4 5; do '" + program_path() + "' run job -- sh -c \"" +
                             command + "\" || exit; done";
    std::vector<std::unique_ptr<program>> all;
    for (int i = 0; i < contenders; ++i)
        all.push_back(std::make_unique<program>(program::exactly{{"sh", "-c", loop}}, url()));
    for (const auto& each : all) {
        const ended one = each->end();
        EXPECT_EQ(one.status, 0);
        EXPECT_EQ(one.err, "");
    }

    std::vector<std::string> one_at_a_time;
    for (int i = 0; i < contenders * turns; ++i)
        one_at_a_time.insert(one_at_a_time.end(), {"begin", "end"});
    EXPECT_EQ(journal(), one_at_a_time);
    EXPECT_FALSE(is_locked());
}

TEST_P(Contenders, AWaiterGetsTheLockOfAHolderThatWasKilledWhenItsLeaseEnds) {
    program holder{until_closed({"--lease", "5s"}), url()};
    ASSERT_EQ(holder.line(), "held");
    program waiter{shell("echo mine"), url()};
    await_waiter();

    holder.signal(SIGKILL);
    EXPECT_TRUE(holder.end().by_signal);
    EXPECT_EQ(waiter.line(), "mine");
    EXPECT_EQ(waiter.end().status, 0);
}

TEST_P(Contenders, SpinningOnesListenToNobodyAndTellNobody) {
    program holder{until_closed({"--spin"}), url()};
    ASSERT_EQ(holder.line(), "held");
    support::redis_connection listener{server().socket_path()};
    listener.command({"PSUBSCRIBE", "*"});
    program waiter{shell("echo mine", {"--spin", "-v"}), url()};
    EXPECT_TRUE(eventually([&] { return waiter.said("waiting for lock 'job'"); }));
    EXPECT_EQ(run(shell("true", {"-n"}), url()).status, 1) << "it is a plain lock's key";
    EXPECT_EQ(server().command({"PUBSUB", "CHANNELS"}).items.size(), 0U);
    holder.close_stdin();
    EXPECT_EQ(waiter.line(), "mine");
    EXPECT_EQ(waiter.end().status, 0);
    server().command({"PUBLISH", "end", ""});
    EXPECT_EQ(listener.next_message(duration{far_too_long}).value().items.at(2).text, "end");
}

TEST_P(Contenders, FairOnesAreServedInOrderOfArrival) {
    const auto stand_in_queue = [this](std::int64_t count) {
        return eventually([&] {
            return server().command({"LLEN", "redisson_lock_queue:{job}"}).integer == count;
        });
    };
    program holder{until_closed({"--fair"}), url()};
    ASSERT_EQ(holder.line(), "held");
    std::vector<std::unique_ptr<program>> line;
    for (const char* who : {"first", "second", "third"}) {
        const std::string note =
            "echo " + std::string{who} + " >>'" + folder.string() + "/journal'";
        line.push_back(std::make_unique<program>(shell(note, {"--fair"}), url()));
        ASSERT_TRUE(stand_in_queue(static_cast<std::int64_t>(line.size())));
    }
    EXPECT_EQ(run(shell("true", {"--fair", "-n"}), url()).status, 1) << "it overtakes";
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 0);
    for (const auto& each : line)
        EXPECT_EQ(each->end().status, 0);
    EXPECT_EQ(journal(), (std::vector<std::string>{"first", "second", "third"}));
    EXPECT_TRUE(stand_in_queue(0));
}

// `holdfast run -s` and `-x`: many at once, or one alone.

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SharedRun : public on_server {
protected:
    std::string mode() { return server().command({"HGET", name, "mode"}).text; }

    /// Returns when a waiter for a lock of this kind has made its first attempt and has subscribed.
    void await_shared_waiter() {
        ASSERT_TRUE(eventually([&] {
            const std::string channel = "redisson_rwlock:{" + name + "}";
            return server().command({"PUBSUB", "NUMSUB", channel}).items.at(1).integer > 0;
        })) << "nobody waits for the lock";
    }

    int tries(const char* option) { return run(shell("true", {"-n", option}), url()).status; }
};
HOLDFAST_ON_EACH_SERVER(SharedRun);

TEST_P(SharedRun, ManyAtOnceAndNobodyElse) {
    program one{until_closed({"-s"}), url()}, another{until_closed({"--shared"}), url()};
    ASSERT_EQ(one.line(), "held");
    ASSERT_EQ(another.line(), "held");
    EXPECT_EQ(mode(), "read");
    EXPECT_EQ(tries("-s"), 0);
    EXPECT_EQ(tries("-x"), 1);
    one.close_stdin();
    EXPECT_EQ(one.end().status, 0);
    EXPECT_EQ(tries("-x"), 1) << "the other one goes on";
    another.close_stdin();
    EXPECT_EQ(another.end().status, 0);
    EXPECT_EQ(tries("-x"), 0);
    EXPECT_THAT(support::lock_keys(server()), IsEmpty());
}

TEST_P(SharedRun, OneAloneExcludesBothSides) {
    program alone{until_closed({"--exclusive"}), url()};
    ASSERT_EQ(alone.line(), "held");
    EXPECT_EQ(mode(), "write");
    EXPECT_EQ(tries("-x"), 1);
    EXPECT_EQ(tries("-s"), 1);
    alone.close_stdin();
    EXPECT_EQ(alone.end().status, 0);
    EXPECT_FALSE(is_locked());
}

TEST_P(SharedRun, WhoWaitsIsWoken) {
    program alone{until_closed({"-x"}), url() + "?poll_bound=1h"};
    ASSERT_EQ(alone.line(), "held");
    program reader{until_closed({"-s"}), url() + "?poll_bound=1h"};
    await_shared_waiter();
    alone.close_stdin();
    ASSERT_EQ(reader.line(), "held");
    program writer{shell("echo mine", {"-x"}), url() + "?poll_bound=1h"};
    await_shared_waiter();
    reader.close_stdin();
    EXPECT_EQ(writer.line(), "mine");
    EXPECT_EQ(writer.end().status, 0);
}

TEST_P(SharedRun, AWriterThatWaitsKeepsNewReadersAway) {
    program reader{until_closed({"-s"}), url()};
    ASSERT_EQ(reader.line(), "held");
    program writer{shell("echo mine", {"-x"}), url()};
    await_shared_waiter();
    EXPECT_EQ(tries("-s"), 1);
    reader.close_stdin();
    EXPECT_EQ(writer.line(), "mine");
}

TEST_P(SharedRun, ALockOfAnotherKindIsRefusedAtOnce) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    for (const char* const option : {"-s", "-x"}) {
        const ended refused = run(shell("true", {option}), url());
        EXPECT_EQ(refused.status, 65) << option;
        EXPECT_THAT(refused.err,
                    AllOf(HasSubstr("WRONGTYPE"),
                          HasSubstr("choose a NAME that is used only with -s and -x")));
    }
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 0);
    program reader{until_closed({"-s"}), url()};
    ASSERT_EQ(reader.line(), "held");
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{"-n"}, {}, {"--fair"}, {"--fenced", "-w", "1m"}}) {
        const ended refused = run(shell("echo ran", options), url());
        EXPECT_EQ(refused.status, 65);
        EXPECT_EQ(refused.out, "");
        EXPECT_THAT(refused.err, HasSubstr("the key is a hash (a read-write lock), and a "));
    }
    reader.close_stdin();
    EXPECT_EQ(reader.end().status, 0);
    server().command({"SET", name, "somebody's data"});
    const ended none = run(shell("true", {"-s"}), url());
    EXPECT_EQ(none.status, 65);
    EXPECT_THAT(none.err, HasSubstr("WRONGTYPE"));
}

// `holdfast run --slots` and `--rate`: many at once, but not more than that.

class Slots : public on_server {};
HOLDFAST_ON_EACH_SERVER(Slots);

TEST_P(Slots, AsManyRunAtOnceAsThereAre) {
    program first{until_closed({"--slots", "2"}), url()};
    program second{until_closed({"--slots", "2"}), url()};
    EXPECT_EQ(first.line(), "held");
    EXPECT_EQ(second.line(), "held");
    const ended third = run(shell("true", {"-n", "--slots", "2"}), url());
    EXPECT_EQ(third.status, 1);
    EXPECT_THAT(third.err, HasSubstr("a slot of 'job' is busy"));
    first.close_stdin();
    EXPECT_EQ(first.end().status, 0);
    EXPECT_EQ(run(shell("exit 7", {"-n", "--slots", "2"}), url()).status, 7);
    second.close_stdin();
    EXPECT_EQ(second.end().status, 0);
    EXPECT_EQ(server().command({"GET", "job"}).text, "2");
}

TEST_P(Slots, OneWhoWaitsHasTheSlotThatIsGivenBack) {
    program holder{until_closed({"--slots", "1"}), url()};
    EXPECT_EQ(holder.line(), "held");
    program waiter{shell("echo mine", {"-v", "--slots", "1"}), url() + "?poll_bound=1h"};
    ASSERT_TRUE(eventually([&] { return waiter.said("1 of 1 slot are taken"); }));
    holder.close_stdin();
    EXPECT_EQ(waiter.line(), "mine");
    EXPECT_EQ(waiter.end().status, 0);
}

TEST_P(Slots, AKilledHoldersSlotComesBack) {
    program holder{until_closed({"--slots", "1", "--lease", "5s"}), url()};
    EXPECT_EQ(holder.line(), "held");
    holder.signal(SIGKILL);
    EXPECT_EQ(run(shell("true", {"-w", "20", "--slots", "1"}), url()).status, 0);
}

TEST_P(Slots, ALostSlotStopsTheCommand) {
    program holder{until_closed({"--slots", "1", "--lease", "6s"}), url()};
    EXPECT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"unlock", "--force", "--yes", "--type", "permits", "job"}, url()).status, 0);
    const ended lost = holder.end();
    EXPECT_EQ(lost.status, 75);
    EXPECT_THAT(lost.err, HasSubstr("a slot of 'job' was lost"));
}

TEST_P(Slots, RefusalNamesTheSlotOrTheStart) {
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    const ended slot = run(shell("true", {"-n", "--slots", "1"}), url());
    const ended start = run(shell("true", {"-n", "--rate", "1/1m"}), url());
    server().command({"CONFIG", "SET", "maxmemory", "0"});
    EXPECT_EQ(slot.status, 69);
    EXPECT_THAT(slot.err, HasSubstr(" did not give the slot: "));
    EXPECT_EQ(start.status, 69);
    EXPECT_THAT(start.err, HasSubstr(" did not allow the start: "));
}

TEST_P(Slots, RefusedQueryNamesTheMissingRight) {
    EXPECT_EQ(run(shell("true", {"--slots", "2"}), url()).status, 0);
    EXPECT_EQ(run({"run", "--rate", "5/1h", "mails", "true"}, url()).status, 0);
    server().command({"ACL", "SETUSER", "default", "-zcard", "-zrangebyscore"});
    const ended slot = run(shell("true", {"-n", "--slots", "2"}), url());
    EXPECT_EQ(slot.status, 69);
    EXPECT_THAT(slot.err, HasSubstr("granted: +zcard"));
    const ended start = run({"run", "-n", "--rate", "5/1h", "mails", "true"}, url());
    EXPECT_EQ(start.status, 69);
    EXPECT_THAT(start.err, HasSubstr("granted: +zrangebyscore"));
}

/// Options of a wait for a server that is away. Without -n, -w and a signal, it would last an hour.
class SlotsWithoutServer : public on_server {
protected:
    void SetUp() override {
        on_server::SetUp();
        if (!IsSkipped())
            server().stop();
    }

    std::vector<std::string> counted(std::vector<std::string> kind,
                                     const std::vector<std::string>& more) {
        kind.insert(kind.end(), more.begin(), more.end());
        return shell("echo ran", kind);
    }

    std::string patient_url() { return url() + "?unavailable_timeout=1h"; }

    const std::vector<std::vector<std::string>> kinds{{"--slots", "2"}, {"--rate", "2/1h"}};
};
HOLDFAST_ON_EACH_SERVER(SlotsWithoutServer);

TEST_P(SlotsWithoutServer, RunThatDoesNotWaitFailsAtOnce) {
    for (const auto& kind : kinds) {
        const ended failed = run(counted(kind, {"-n"}), patient_url());
        EXPECT_EQ(failed.status, 69);
        EXPECT_THAT(failed.err, HasSubstr("cannot reach "));
    }
}

TEST_P(SlotsWithoutServer, RunThatWaitsForATimeEndsAfterIt) {
    for (const auto& kind : kinds) {
        const ended failed = run(counted(kind, {"-w", "0.1"}), patient_url());
        EXPECT_EQ(failed.status, 69);
        EXPECT_THAT(failed.err, HasSubstr("cannot reach "));
    }
}

TEST_P(SlotsWithoutServer, SignalEndsTheWait) {
    for (const auto& kind : kinds) {
        program waiter{counted(kind, {"-v"}), patient_url()};
        ASSERT_TRUE(eventually([&] { return waiter.said("asking "); }));
        waiter.signal(SIGTERM);
        EXPECT_EQ(waiter.end().status, 128 + SIGTERM);
    }
}

TEST_P(Slots, SlotsWhoseHoldersWereLostAreSetAnew) {
    EXPECT_EQ(run(shell("true", {"--slots", "2"}), url()).status, 0);
    server().command({"SET", "job", "0"}); // both were held, and the set of holders was evicted
    EXPECT_EQ(run(shell("true", {"-n", "--slots", "2"}), url()).status, 0);
    EXPECT_EQ(server().command({"GET", "job"}).text, "2");
}

TEST_P(Slots, InspectTellsOfSlotsWhoseHoldersWereLost) {
    server().command({"SET", "job", "0"});
    const ended told = run({"inspect", "job"}, url());
    EXPECT_EQ(told.status, 65);
    EXPECT_THAT(told.out, HasSubstr("their holders were lost"));
    EXPECT_THAT(told.out, HasSubstr("unlock --force --type permits"));
    EXPECT_THAT(told.out, testing::Not(HasSubstr("all free")));
    const ended slots = run({"inspect", "--type", "permits", "job"}, url());
    EXPECT_EQ(slots.status, 0);
    EXPECT_THAT(slots.out, HasSubstr("no permit can become free"));
    EXPECT_EQ(run({"ls"}, url()).out, "") << "it may be a number of another program";
    EXPECT_EQ(run({"ls", "--type", "permits"}, url()).out, "");
    EXPECT_THAT(run({"ls", "--type", "semaphore"}, url()).out, HasSubstr("job"));
}

TEST_P(Slots, AnotherNumberIsRefusedWithBoth) {
    EXPECT_EQ(run(shell("true", {"--slots", "2"}), url()).status, 0);
    const ended other = run(shell("echo ran", {"--slots", "3"}), url());
    EXPECT_EQ(other.status, 65);
    EXPECT_EQ(other.out, "");
    EXPECT_THAT(other.err, HasSubstr("has 2 slots, but --slots is 3"));
    EXPECT_THAT(other.err, HasSubstr("holdfast unlock --force --type permits 'job'"));
    EXPECT_EQ(run({"unlock", "--force", "--yes", "--type", "permits", "job"}, url()).status, 0);
    EXPECT_EQ(run(shell("true", {"--slots", "3"}), url()).status, 0);
}

TEST_P(Slots, WhatHasTheNameAlreadyIsLeftAlone) {
    server().command({"RPUSH", "job", "x"});
    EXPECT_EQ(run(shell("true", {"--slots", "2"}), url()).status, 65);
    EXPECT_EQ(run(shell("true", {"--rate", "2/1m"}), url()).status, 65);
    EXPECT_EQ(server().command({"LLEN", "job"}).integer, 1);
}

TEST_P(Slots, ASlotIsHeldForAsLongAsWasAsked) {
    program holder{shell("echo done", {"-v", "--slots", "1", "--hold-for", "1h"}), url()};
    EXPECT_EQ(holder.line(), "done");
    ASSERT_TRUE(eventually([&] { return holder.said("a slot of 'job' is held for"); }));
    EXPECT_EQ(run(shell("true", {"-n", "--slots", "1"}), url()).status, 1);
    holder.signal(SIGTERM);
    EXPECT_EQ(holder.end().status, 0);
    EXPECT_EQ(run(shell("true", {"-n", "--slots", "1"}), url()).status, 0);
}

TEST_P(Slots, TheyAreSeenByInspect) {
    program holder{until_closed({"--slots", "3"}), url()};
    EXPECT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"inspect", "--type", "permits", "job"}, url()).out,
              "name       job\nkind       permits\npermits    2\nheld       1\n"
              "listening  0 connection(s) wait for permits\n");
    const auto told =
        boost::json::parse(run({"inspect", "--json", "--type", "permits", "job"}, url()).out);
    EXPECT_EQ(told.at("count").as_int64(), 2);
    EXPECT_EQ(told.at("taken").as_int64(), 1);
}

TEST_P(Slots, TheyAreListedWithTheirType) {
    program holder{until_closed({"--slots", "3"}), url()};
    EXPECT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"run", "--rate", "5/1h", "mails", "true"}, url()).status, 0);
    server().command({"SET", "gate", "4"});
    server().command({"SET", "text", "4 and more"});
    server().command({"SET", "redisson_lock_token:{job}", "4"});
    const ended seats = run({"ls", "--type", "permits"}, url());
    EXPECT_EQ(seats.status, 0);
    EXPECT_THAT(seats.out, testing::MatchesRegex("NAME .*\njob +permits +2 permits, 1 held +0\n"));
    const ended rates = run({"ls", "--type", "rate"}, url());
    EXPECT_THAT(rates.out, testing::HasSubstr("4 left of 5 permits in any 1h"));
    for (const char* const type : {"latch", "semaphore"})
        EXPECT_EQ(run({"ls", "-1", "--type", type}, url()).out, "gate\n");
    const auto told = boost::json::parse(run({"ls", "--json", "--type", "permits"}, url()).out);
    EXPECT_EQ(told.at("counters").at(0).at("taken").as_int64(), 1);
    EXPECT_TRUE(told.at("complete").as_bool());
    EXPECT_EQ(run({"ls", "--type", "permits", "none*"}, url()).out, "");
    EXPECT_EQ(run({"ls", "-1"}, url()).out, "") << "none of these is a lock";
}

TEST_P(Slots, WhatItsOwnKeysTellIsListedBesideTheLocks) {
    program holder{until_closed({"--slots", "3"}), url()};
    EXPECT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"run", "--rate", "5/1h", "mails", "true"}, url()).status, 0);
    server().command({"SET", "gate", "4"});
    server().command({"HSET", "lock", "8743c9c0-0795-4907-87fd-6c719a6b4586:49", "1"});
    EXPECT_THAT(run({"ls"}, url()).out,
                testing::MatchesRegex("NAME .*\nlock +lock +Redisson .*\n"
                                      "job +permits +2 permits, 1 held +- +- +0\n"
                                      "mails +rate +4 left of 5 permits in any 1h +- +- +-\n"));
    const auto told = boost::json::parse(run({"ls", "--json"}, url()).out);
    EXPECT_EQ(told.at("locks").as_array().size(), 1u);
    EXPECT_EQ(told.at("counters").at(0).at("kind").as_string(), "permits");
    EXPECT_EQ(told.at("counters").at(1).at("name").as_string(), "mails");
    EXPECT_THAT(run({"ls", "m*"}, url()).out, testing::Not(HasSubstr("job")));
}

class Rate : public on_server {};
HOLDFAST_ON_EACH_SERVER(Rate);

TEST_P(Rate, NoMoreStartThanItAllows) {
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(run(shell("exit 7", {"-n", "--rate", "2/1h"}), url()).status, 7);
    const ended third = run(shell("echo ran", {"-n", "--rate", "2/1h"}), url());
    EXPECT_EQ(third.status, 1);
    EXPECT_EQ(third.out, "");
    EXPECT_THAT(third.err, HasSubstr("the rate of 'job' allows no more starts now"));
    EXPECT_EQ(run(shell("true", {"-w", "0.2", "-E", "9", "--rate", "2/1h"}), url()).status, 9);
}

TEST_P(Rate, OneWhoWaitsStartsWhenItsTurnHasCome) {
    const time_point start = boot_clock::now();
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(run(shell("true", {"--rate", "1/300ms"}), url()).status, 0);
    EXPECT_GE(boot_clock::now() - start, std::chrono::milliseconds{598});
}

TEST_P(Rate, NothingIsHeldWhileTheCommandRuns) {
    program first{shell("echo \"held <$HOLDFAST_LOCK>\"; read nothing", {"--rate", "2/1h"}), url()};
    EXPECT_EQ(first.line(), "held <>");
    EXPECT_EQ(run({"unlock", "--force", "--yes", "--type", "rate", "job"}, url()).status, 0);
    first.close_stdin();
    EXPECT_EQ(first.end().status, 1) << "that of the command's read";
    EXPECT_EQ(server().command({"EXISTS", "job"}).integer, 0);
}

TEST_P(Rate, AnotherRateIsRefusedWithBoth) {
    EXPECT_EQ(run(shell("true", {"--rate", "2/1m"}), url()).status, 0);
    const ended other = run(shell("echo ran", {"--rate", "2/61"}), url());
    EXPECT_EQ(other.status, 65);
    EXPECT_EQ(other.out, "");
    EXPECT_THAT(other.err, HasSubstr("has a rate of 2 starts in any 1m, but --rate is 2 starts "
                                     "in any 61s"));
    EXPECT_EQ(run({"inspect", "--type", "rate", "job"}, url()).out,
              "name       job\nkind       rate\npermits    1\nrate       2 permits in any 1m\n");
}

// `holdfast run --with`: several locks as one.

class With : public on_server {
protected:
    const std::string h = "'" + program_path() + "' ";
};
HOLDFAST_ON_EACH_SERVER(With);

TEST_P(With, AllAreHeldWhileTheCommandRunsAndFreeBehindIt) {
    const ended told =
        run(shell(h + "ls --names | sort | xargs", {"--with", "a", "--with", "b"}), url());
    EXPECT_EQ(told.status, 0) << told.err;
    EXPECT_EQ(told.out, "a b job\n");
    EXPECT_EQ(run({"ls", "--names"}, url()).out, "");
}

TEST_P(With, OneThatIsBusyIsEnoughToBeBusyAndNothingIsKept) {
    program holder{{"run", "b", "sh", "-c", "echo held; read nothing"}, url()};
    ASSERT_EQ(holder.line(), "held");
    const ended busy = run(shell("true", {"-n", "--with", "a", "--with", "b"}), url());
    EXPECT_EQ(busy.status, 1);
    EXPECT_EQ(busy.err, "holdfast: lock 'job + a + b' is busy on " + url() + "\n");
    EXPECT_FALSE(is_locked());
}

TEST_P(With, TheLossOfOneIsTheLossOfAll) {
    program holder{shell("echo held; sleep 60", {"--lease", "9", "--with", "a"}), url()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"unlock", "--force", "--yes", "a"}, url()).status, 0);
    EXPECT_EQ(holder.end().status, 75);
    EXPECT_FALSE(is_locked());
}

TEST_P(With, TheCommandKnowsThemAll) {
    const ended told =
        run(shell("printenv HOLDFAST_LOCK HOLDFAST_LOCKS", {"--with", "a", "--with", "b"}), url());
    EXPECT_EQ(told.out, "job\na\nb\njob\n");
}

TEST_P(With, OneThatIsHeldAroundIsToldAsSuch) {
    const ended busy = run(shell(h + "run -n --with a other true", {"--with", "a"}), url());
    EXPECT_EQ(busy.status, 1);
    EXPECT_THAT(busy.err, HasSubstr("a 'holdfast run' around this command holds it"));
}

TEST_P(With, EachHasAToken) {
    const ended told =
        run(shell("printenv HOLDFAST_TOKEN HOLDFAST_TOKENS", {"--fenced", "--with", "a"}), url());
    EXPECT_EQ(told.out, "1\n1\n1\n");
    const ended one = run(shell("printenv HOLDFAST_TOKENS", {"--fenced"}), url());
    EXPECT_EQ(one.status, 1);
}

TEST_P(With, SeveralAreSharedByManyAtOnce) {
    program reader{until_closed({"-s", "--with", "a"}), url()};
    ASSERT_EQ(reader.line(), "held");
    EXPECT_EQ(run(shell("true", {"-n", "-s", "--with", "a"}), url()).status, 0);
    EXPECT_EQ(run(shell("true", {"-n", "-x", "--with", "a"}), url()).status, 1);
}

} // namespace
} // namespace holdfast::cli_test
