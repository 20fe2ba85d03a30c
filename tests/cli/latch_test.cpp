// SPDX-License-Identifier: Apache-2.0
// `holdfast latch`.
#include "cli/server_test.hpp"

#include <boost/json.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace holdfast::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Latch : public on_server {
protected:
    ended latch(std::vector<std::string> words) {
        words.insert(words.begin(), "latch");
        return run(std::move(words), url());
    }

    boost::json::value told(std::vector<std::string> words) {
        words.insert(words.begin() + 1, "--json");
        return boost::json::parse(latch(std::move(words)).out);
    }

    /// How often the server was asked for a script. This number only grows.
    std::int64_t scripts_asked() {
        const std::string all = server().command({"INFO", "commandstats"}).text;
        std::int64_t sum = 0;
        for (const std::string line : {"cmdstat_eval:calls=", "cmdstat_evalsha:calls="})
            if (const std::size_t at = all.find(line); at != std::string::npos)
                sum += std::stoll(all.substr(at + line.size()));
        return sum;
    }

    /// Somebody waits for it to open.
    void await_listener() {
        const std::string channel = "redisson_countdownlatch__channel__{gate}";
        ASSERT_TRUE(eventually([&] {
            return server().command({"PUBSUB", "NUMSUB", channel}).items.at(1).integer > 0;
        })) << "nobody waits for the latch";
    }
};
HOLDFAST_ON_EACH_SERVER(Latch);

TEST_P(Latch, IsClosedUntilItWasCountedDownSoOften) {
    EXPECT_EQ(latch({"wait", "gate"}).status, 0) << "nobody has set it, so it is open";
    EXPECT_EQ(latch({"set", "gate", "3"}).status, 0);
    EXPECT_EQ(server().command({"GET", "gate"}).text, "3") << "as Redisson keeps it";
    EXPECT_EQ(latch({"wait", "-w", "0", "gate"}).status, 1);
    EXPECT_EQ(latch({"down", "gate"}).status, 0);
    EXPECT_EQ(latch({"count", "gate"}).out, "2\n");
    EXPECT_EQ(latch({"down", "gate", "7"}).status, 0);
    EXPECT_EQ(latch({"count", "gate"}).out, "0\n");
    EXPECT_EQ(latch({"wait", "-w", "0", "gate"}).status, 0);
}

TEST_P(Latch, LetsWhoWaitsGoOnWhenItOpens) {
    ASSERT_EQ(latch({"set", "gate", "1"}).status, 0);
    program waiter{{"latch", "wait", "gate"}, url() + "?poll_bound=1h"};
    await_listener();
    EXPECT_EQ(latch({"down", "gate"}).status, 0);
    EXPECT_EQ(waiter.end().status, 0);
}

TEST_P(Latch, LetsWhoWaitsGoOnWhenItIsErased) {
    ASSERT_EQ(latch({"set", "gate", "5"}).status, 0);
    program waiter{{"latch", "wait", "gate"}, url() + "?poll_bound=1h"};
    await_listener();
    EXPECT_EQ(latch({"erase", "gate"}).status, 0);
    EXPECT_EQ(waiter.end().status, 0);
    const ended again = latch({"erase", "gate"});
    EXPECT_EQ(again.status, 1);
    EXPECT_EQ(again.err, "holdfast: 'gate' was open\n");
}

TEST_P(Latch, WaitForTheSettingSurvivesARestartOfTheServer) {
    program waiter{{"latch", "wait", "--set", "gate"}, url() + "?unavailable_timeout=1h"};
    observed_process process{waiter.id()};
    // A server that goes away before its first answer is an error. So the test waits until the
    // program has asked several times.
    ASSERT_TRUE(eventually([&] { return scripts_asked() >= 5; })) << "it does not ask again";
    server().stop();
    EXPECT_FALSE(process.ended_within(std::chrono::seconds{1})) << "it asks five times a second";
    server().start();
    EXPECT_EQ(latch({"set", "gate", "1"}).status, 0);
    EXPECT_EQ(waiter.end().status, 0);
}

TEST_P(Latch, ThatIsClosedStaysAsItIs) {
    ASSERT_EQ(latch({"set", "gate", "2"}).status, 0);
    const ended again = latch({"set", "gate", "9"});
    EXPECT_EQ(again.status, 1);
    EXPECT_EQ(again.err, "holdfast: 'gate' is closed already: 2 to go\n");
    EXPECT_EQ(latch({"count", "gate"}).out, "2\n");
}

TEST_P(Latch, WaitSaysThatTheLatchIsOpenOrNotSet) {
    const ended missing = latch({"wait", "gate"});
    EXPECT_EQ(missing.status, 0);
    EXPECT_EQ(missing.err,
              "holdfast: 'gate' is open, or has never been set; there is nothing to wait for\n");
    EXPECT_EQ(latch({"wait", "--json", "gate"}).err, "");
    ASSERT_EQ(latch({"set", "gate", "1"}).status, 0);
    EXPECT_EQ(latch({"wait", "-w", "0", "gate"}).err, "");
}

TEST_P(Latch, DownReportsThatNothingWasCountedIfTheLatchIsNotSet) {
    const ended missing = latch({"down", "gate"});
    EXPECT_EQ(missing.status, 1);
    EXPECT_EQ(missing.err,
              "holdfast: 'gate' is open, or has never been set; nothing was counted\n");
    EXPECT_FALSE(told({"down", "gate"}).at("counted").as_bool());
    ASSERT_EQ(latch({"set", "gate", "1"}).status, 0);
    EXPECT_TRUE(told({"down", "gate"}).at("counted").as_bool());
    EXPECT_EQ(latch({"down", "gate"}).status, 1);
}

TEST_P(Latch, DownSucceedsForOneOfSeveralProcessesIfTheCountIsOne) {
    constexpr int rounds = 3, processes = 8;
    for (int round = 0; round < rounds; ++round) {
        ASSERT_EQ(latch({"set", "gate", "1"}).status, 0);
        std::vector<std::unique_ptr<program>> all;
        for (int i = 0; i < processes; ++i)
            all.push_back(std::make_unique<program>(
                std::vector<std::string>{"latch", "down", "gate"}, url()));
        int done = 0;
        for (const auto& each : all)
            done += each->end().status == 0 ? 1 : 0;
        EXPECT_EQ(done, 1);
    }
}

TEST_P(Latch, IsToldToPrograms) {
    boost::json::value all = told({"set", "gate", "2"});
    EXPECT_EQ(all, (boost::json::value{{"name", "gate"}, {"set", true}, {"count", 2}}));
    all = told({"set", "gate", "1"});
    EXPECT_EQ(all, (boost::json::value{{"name", "gate"}, {"set", false}, {"count", 2}}));
    all = told({"wait", "-w", "0", "gate"});
    EXPECT_FALSE(all.at("open").as_bool());
    EXPECT_GE(all.at("waited_ms").as_int64(), 0);
    EXPECT_EQ(told({"down", "gate"}).at("count").as_int64(), 1);
    EXPECT_TRUE(told({"erase", "gate"}).at("erased").as_bool());
    EXPECT_EQ(told({"count", "gate"}).at("count").as_int64(), 0);
}

TEST_P(Latch, ChangeThatTooFewReplicasConfirmIsReportedAsDone) {
    const auto changed = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"latch", "--replicas", "1"});
        return run(std::move(words), url() + "?unavailable_timeout=200ms");
    };
    const ended set = changed({"set", "gate", "2"});
    EXPECT_EQ(set.status, 69);
    EXPECT_THAT(set.err, HasSubstr("'gate' is closed on unix://"));
    const ended down = changed({"down", "gate"});
    EXPECT_EQ(down.status, 69);
    EXPECT_THAT(down.err, HasSubstr("'gate' is counted down, if it was closed, on unix://"));
    EXPECT_EQ(latch({"count", "gate"}).out, "1\n");
    const ended erased = changed({"erase", "gate"});
    EXPECT_EQ(erased.status, 69);
    EXPECT_THAT(erased.err, HasSubstr("'gate' is open on unix://"));
    for (const std::string& words : {set.err, down.err, erased.err}) {
        EXPECT_THAT(words, HasSubstr("but 0 of 1 replicas confirmed the write in time."));
        EXPECT_THAT(words, Not(HasSubstr("did not answer")));
        EXPECT_THAT(words, Not(HasSubstr("You hold nothing")));
    }
}

TEST_P(Latch, IsNotWhatSomebodyElseHasUnderThatName) {
    server().command({"SET", "gate", "a picture"});
    for (const char* word : {"down", "wait", "count"}) {
        SCOPED_TRACE(word);
        const ended refused = latch({word, "gate"});
        EXPECT_EQ(refused.status, 65);
        EXPECT_EQ(refused.err,
                  "holdfast: 'gate' is of another kind: the key is a string (a token lock, or "
                  "another program's data), and a latch was asked for\n");
    }
    EXPECT_EQ(server().command({"GET", "gate"}).text, "a picture");
}

TEST_P(Latch, MessageOfAnotherKindNamesBothKinds) {
    server().command({"HSET", "gate", "8743c9c0-0795-4907-87fd-6c719a6b4586:49", "1"});
    const std::string there = "holdfast: 'gate' is of another kind: the key is a hash (a mutex), ";
    EXPECT_EQ(latch({"set", "gate", "1"}).err, there + "and a latch was asked for\n");
    const std::pair<const char*, const char*> types[] = {{"semaphore", "a semaphore"},
                                                         {"permits", "a leased semaphore"},
                                                         {"latch", "a latch"},
                                                         {"rate", "a rate limiter"}};
    for (const auto& [type, words] : types) {
        const std::string told = there + "and " + words + " was asked for\n";
        EXPECT_EQ(run({"inspect", "--type", type, "gate"}, url()).err, told);
        EXPECT_EQ(run({"unlock", "--force", "--yes", "--type", type, "gate"}, url()).err, told);
    }
    EXPECT_EQ(server().command({"EXISTS", "gate"}).integer, 1);
}

class InspectCounter : public on_server {};
HOLDFAST_ON_EACH_SERVER(InspectCounter);

TEST_P(InspectCounter, TellsWhatASemaphoreHas) {
    server().command({"SET", "seats", "3"});
    const ended told = run({"inspect", "--type", "semaphore", "seats"}, url());
    EXPECT_EQ(told.status, 0);
    EXPECT_EQ(told.out, "name       seats\nkind       semaphore\npermits    3\n"
                        "listening  0 connection(s) wait for permits\n");
    const ended none = run({"inspect", "--type", "semaphore", "stools"}, url());
    EXPECT_EQ(none.status, 1);
    EXPECT_EQ(none.out, "'stools': there is no such semaphore\n");
    EXPECT_EQ(run({"inspect", "seats"}, url()).status, 65) << "it could be anybody's number";
}

TEST_P(InspectCounter, NameOfACounterWithoutTypeNamesTheTypes) {
    ASSERT_EQ(run({"latch", "set", "gate", "2"}, url()).status, 0);
    ASSERT_EQ(run({"run", "--rate", "3/1m", "mails", "true"}, url()).status, 0);
    program slot{until_closed({"--slots", "2"}), url()};
    ASSERT_EQ(slot.line(), "held");
    const std::vector<std::pair<std::string, std::string>> types{
        {"gate", "--type permits|latch|semaphore"},
        {"mails", "--type rate"},
        {"job", "--type permits"}};
    for (const auto& [counter, option] : types) {
        SCOPED_TRACE(counter);
        const ended told = run({"inspect", counter}, url());
        EXPECT_EQ(told.status, 65);
        EXPECT_THAT(told.out, HasSubstr("holdfast inspect " + option + " "));
        const ended kept = run({"unlock", "--force", "--yes", counter}, url());
        EXPECT_EQ(kept.status, 65);
        EXPECT_THAT(kept.err, HasSubstr("'holdfast inspect " + option + "'"));
        const ended no_wait = run({"wait", counter}, url());
        EXPECT_EQ(no_wait.status, 65);
        EXPECT_THAT(no_wait.err, HasSubstr("'holdfast inspect " + option + "'"));
    }
}

TEST_P(InspectCounter, TellsWhatALatchHasToPrograms) {
    server().command({"SET", "gate", "2"});
    program waiter{{"latch", "wait", "gate"}, url()};
    const auto told = [&] {
        return boost::json::parse(run({"inspect", "--json", "--type", "latch", "gate"}, url()).out);
    };
    const boost::json::value expected{
        {"name", "gate"}, {"kind", "latch"}, {"exists", true}, {"count", 2}, {"listeners", 1}};
    EXPECT_TRUE(eventually([&] { return told() == expected; }));
    server().command({"SET", "gate", "a picture"});
    EXPECT_EQ(run({"inspect", "--type", "latch", "gate"}, url()).status, 65);
}

} // namespace
} // namespace holdfast::cli_test
