// SPDX-License-Identifier: Apache-2.0
// `holdfast ls`, `holdfast inspect` and `holdfast doctor`.
#include "cli/json_shape.hpp"
#include "cli/server_test.hpp"
#include "cli/terminal_session.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <sstream>

#include <unistd.h>

namespace holdfast::cli_test {
namespace {

// `holdfast ls` and `holdfast inspect`: who holds what, for people and for programs.

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* jvm = "8743c9c0-0795-4907-87fd-6c719a6b4586:49";

class Look : public on_server {
protected:
    void let_jvm_hold(const std::string& lock) {
        server().command({"HSET", lock, jvm, "2"});
        server().command({"PEXPIRE", lock, "30000"});
    }

    /// A program that holds `job`, and has said who it is.
    std::unique_ptr<program> hold() {
        auto holder = std::make_unique<program>(until_closed(), url());
        EXPECT_EQ(holder->line(), "held");
        await_known_client();
        return holder;
    }

    boost::json::value told_of(const std::string& lock) {
        return boost::json::parse(run({"inspect", "--json", lock}, url()).out);
    }
};
HOLDFAST_ON_EACH_SERVER(Look);

TEST_P(Look, AtNothingFindsNothing) {
    const ended nothing = run({"ls"}, url());
    EXPECT_EQ(nothing.status, 0) << nothing.err;
    EXPECT_EQ(nothing.out, "");
    EXPECT_EQ(run({"ls", "--json"}, url()).out,
              "{\"locks\":[],\"counters\":[],\"complete\":true,\"server\":\"" + url() + "\"}\n");
    const ended free = run({"inspect", "job"}, url());
    EXPECT_EQ(free.status, 1);
    EXPECT_EQ(free.out, "'job' is free\n");
    EXPECT_FALSE(told_of("job").at("held").as_bool());
    EXPECT_EQ(server().command({"DBSIZE"}).integer, 0) << "who looks leaves nothing behind";
}

TEST_P(Look, JsonHasTheFieldsOfTheHelp) {
    json_has_one_shape(url(), name);
}

TEST_P(Look, JsonOfAFreeFencedLockHasItsLastToken) {
    ASSERT_EQ(run({"run", "--fenced", name, "true"}, url()).status, 0);
    const boost::json::value free = told_of(name);
    EXPECT_FALSE(free.at("held").as_bool());
    EXPECT_EQ(free.at("last_token").as_int64(), 1);
    EXPECT_TRUE(free.at("token").is_null());
}

TEST_P(Look, TellsOursByProcessAndHost) {
    const auto holder = hold();
    std::array<char, 256> host{};
    ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
    const std::string where = std::string{host.data()} + ":" + std::to_string(holder->id()) + " sh";
    EXPECT_THAT(run({"ls"}, url()).out,
                AllOf(HasSubstr("NAME"), HasSubstr("job   lock"), HasSubstr(where)));
    const ended told = run({"inspect", name}, url());
    EXPECT_EQ(told.status, 0);
    EXPECT_THAT(told.out, AllOf(HasSubstr("kind       lock\n"),
                                HasSubstr("process " + std::to_string(holder->id())),
                                HasSubstr("listening  0 connection(s)")));
    const boost::json::value all = told_of(name);
    EXPECT_TRUE(all.at("held").as_bool());
    EXPECT_EQ(all.at("kind").as_string(), "lock");
    EXPECT_EQ(all.at("owners").at(0).at("client").at("pid").as_int64(), holder->id());
    EXPECT_EQ(all.at("owners").at(0).at("client").at("program").as_string(), "holdfast");
    EXPECT_EQ(all.at("owners").at(0).at("client").at("label").as_string(), "sh") << "what it runs";
    EXPECT_GT(all.at("lease_left_ms").as_int64(), 0);
}

TEST_P(Look, CountsWhoWaits) {
    const auto holder = hold();
    const program waiter{shell("true"), url()};
    await_waiter();
    EXPECT_EQ(told_of(name).at("listeners").as_int64(), 1);
}

TEST_P(Look, TellsJvmsAndReadersToo) {
    let_jvm_hold("jvms");
    server().command(
        {"HSET", "rw", "mode", "read", jvm, "1", "8743c9c0-0795-4907-87fd-6c719a6b4586:50", "1"});
    EXPECT_THAT(run({"ls"}, url()).out,
                AllOf(HasSubstr("jvms  lock     Redisson 8743c9c0 thread 49"),
                      HasSubstr("rw    rw lock  Redisson 8743c9c0 thread 49 and 1 more")));
    EXPECT_THAT(run({"inspect", "jvms"}, url()).out,
                AllOf(HasSubstr("Redisson client 8743c9c0-0795-4907-87fd-6c719a6b4586, thread 49, "
                                "entered 2 times"),
                      HasSubstr("lease left 2")));
    EXPECT_THAT(run({"inspect", "rw"}, url()).out, HasSubstr("lease left no end"));
}

TEST_P(Look, TellsWhoWaitsForAFairLockInOrder) {
    program holder{until_closed({"--fair"}), url()};
    ASSERT_EQ(holder.line(), "held");
    const std::string stranger = "8743c9c0-0795-4907-87fd-6c719a6b4586:50";
    server().command({"RPUSH", "redisson_lock_queue:{job}", stranger});
    server().command({"ZADD", "redisson_lock_timeout:{job}", "1", stranger});
    const program waiter{shell("true", {"--fair"}), url()};
    ASSERT_TRUE(eventually([&] { return told_of(name).at("listeners").as_int64() == 1; }));
    EXPECT_THAT(run({"ls"}, url()).out, HasSubstr("fair lock"));
    const boost::json::value all = told_of(name);
    const boost::json::array waiters = all.at("waiters").as_array();
    ASSERT_FALSE(waiters.empty());
    const boost::json::value last = waiters.at(waiters.size() - 1);
    EXPECT_EQ(all.at("waiting").as_int64(), static_cast<std::int64_t>(waiters.size()));
    EXPECT_GT(last.at("place_left_ms").as_int64(), 0);
    EXPECT_TRUE(last.at("listens").as_bool());
    EXPECT_TRUE(last.at("is_holdfast").as_bool());
    EXPECT_TRUE(eventually([&] {
        const boost::json::value one = told_of(name).at("waiters").as_array().back();
        return one.at("client").is_object() && one.at("client").at("pid").as_int64() == waiter.id();
    }));
    EXPECT_THAT(run({"inspect", name}, url()).out,
                AllOf(HasSubstr("kind       fair lock\n"), HasSubstr("\nnext       "),
                      HasSubstr("its place lasts ")));
}

TEST_P(Look, TellsWhoseTurnItIsAtAFreeFairLock) {
    const std::string stranger = "8743c9c0-0795-4907-87fd-6c719a6b4586:50";
    server().command({"RPUSH", "redisson_lock_queue:{job}", stranger});
    server().command({"ZADD", "redisson_lock_timeout:{job}", "9999999999999", stranger});
    const ended told = run({"inspect", name}, url());
    EXPECT_EQ(told.status, 1);
    EXPECT_THAT(told.out,
                AllOf(HasSubstr("held by    nobody; the next waiting program may take it\n"),
                      HasSubstr("next       Redisson client 8743c9c0-0795-4907-87fd-6c719a6b4586, "
                                "thread 50, its place lasts "),
                      HasSubstr(", does not listen\n")));
    EXPECT_FALSE(told_of(name).at("held").as_bool());
    EXPECT_EQ(run({"ls"}, url()).out, "");
    EXPECT_EQ(run({"unlock", "--force", "--yes", name}, url()).err, "holdfast: 'job' was free\n");
    EXPECT_EQ(run({"wait", "-w", "0", name}, url()).status, 0);
    program patient{shell("true", {"--fair", "-v", "-w", "5"}), url()};
    EXPECT_TRUE(eventually([&] { return patient.said("free, and it is the turn of Redisson"); }));
}

TEST_P(Look, TellsReadersTheirLeasesAndWhoWaitsToWrite) {
    program reader{until_closed({"-s"}), url()};
    ASSERT_EQ(reader.line(), "held");
    const program writer{shell("true", {"-x"}), url()};
    ASSERT_TRUE(eventually([&] { return !told_of(name).at("waiters").as_array().empty(); }));
    const boost::json::value all = told_of(name);
    EXPECT_EQ(all.at("kind").as_string(), "read-write lock");
    EXPECT_GT(all.at("owners").at(0).at("lease_left_ms").as_int64(), 0);
    EXPECT_FALSE(all.at("owners").at(0).at("writes").as_bool());
    EXPECT_THAT(run({"inspect", name}, url()).out,
                AllOf(HasSubstr("kind       read-write lock\n"), HasSubstr(", reads for another "),
                      HasSubstr("\nto write   ")));
}

TEST_P(Look, TellsAWriterFirst) {
    server().command({"HSET", "rw", "mode", "write", jvm, "1", std::string{jvm} + ":write", "1"});
    EXPECT_THAT(run({"ls"}, url()).out, HasSubstr("thread 49 (writes) and 1 more"));
    EXPECT_THAT(run({"inspect", "rw"}, url()).out, HasSubstr("thread 49, to write\n"));
    EXPECT_TRUE(told_of("rw").at("owners").at(0).at("writes").as_bool());
}

TEST_P(Look, TellsTheLastTokenOfAFencedLock) {
    let_jvm_hold("jvms");
    EXPECT_THAT(run({"inspect", "jvms"}, url()).out, Not(HasSubstr("token")));
    EXPECT_TRUE(told_of("jvms").at("last_token").is_null());
    server().command({"SET", "redisson_lock_token:{jvms}", "17"});
    EXPECT_THAT(run({"inspect", "jvms"}, url()).out, HasSubstr("last token 17\n"));
    EXPECT_EQ(told_of("jvms").at("last_token").as_int64(), 17);
    server().command({"SET", "redisson_lock_token:{jvms}", "seven"});
    EXPECT_TRUE(told_of("jvms").at("last_token").is_null());
}

TEST_P(Look, TellsLocksOfTokensOursInTheListAndOtherProgramsByName) {
    constexpr const char* ours = "8743c9c0-0795-8fd5-87fd-6c719a6b4586:7";
    constexpr const char* python = "6fdc9f0e70e311eeb9620242ac120002";
    server().command({"SET", "ours", ours, "PX", "30000"});
    server().command({"SET", "python", python});
    EXPECT_EQ(run({"ls", "-1"}, url()).out, "ours\n");
    EXPECT_THAT(run({"ls"}, url()).out, HasSubstr("ours  token lock  holdfast 8743c9c0"));
    EXPECT_THAT(run({"inspect", "python"}, url()).out,
                AllOf(HasSubstr("kind       token lock\n"),
                      HasSubstr(std::string{"another program, "} + python + "\n"),
                      HasSubstr("lease left no end")));
    const boost::json::value told = told_of("ours");
    EXPECT_EQ(told.at("kind").as_string(), "token lock");
    EXPECT_EQ(told.at("owners").at(0).at("owner").as_string(), ours);
    EXPECT_EQ(run({"unlock", "--force", "--yes", "ours"}, url()).status, 0);
    EXPECT_EQ(run({"wait", "-w", "0", "ours"}, url()).status, 0);
    EXPECT_EQ(server().command({"DBSIZE"}).integer, 1);
}

TEST_P(Look, TakesAwayAnotherProgramsStringOnlyIfToldThatItIsALock) {
    server().command({"SET", "session", "6fdc9f0e70e311eeb9620242ac120002"});
    const ended refused = run({"unlock", "--force", "--yes", "session"}, url());
    EXPECT_EQ(refused.status, 65);
    EXPECT_THAT(refused.err, HasSubstr("give --type token"));
    const ended told = run({"unlock", "--force", "--yes", "--json", "session"}, url());
    EXPECT_EQ(told.status, 65);
    EXPECT_THAT(told.out, HasSubstr("\"released\":false"));
    EXPECT_EQ(server().command({"EXISTS", "session"}).integer, 1);
    EXPECT_EQ(run({"unlock", "--force", "--yes", "--type", "spin", "session"}, url()).status, 64);
    server().command({"HSET", "lock", "8743c9c0-0795-4907-87fd-6c719a6b4586:7", "1"});
    EXPECT_EQ(run({"unlock", "--force", "--yes", "--type", "token", "lock"}, url()).status, 65);
    EXPECT_EQ(server().command({"EXISTS", "lock"}).integer, 1);
    EXPECT_EQ(run({"unlock", "--force", "--yes", "--type", "token", "session"}, url()).status, 0);
    EXPECT_EQ(server().command({"EXISTS", "session"}).integer, 0);
}

TEST_P(Look, TakesAwayAStringOfAnyFormIfToldThatItIsALock) {
    server().command({"SET", "short", "locked"});
    server().command({"SET", "one", "1", "PX", "3600000"});
    server().command({"SET", "seats", "5"});
    for (const char* const key : {"short", "one"}) {
        EXPECT_EQ(run({"unlock", "--force", "--yes", key}, url()).status, 65) << key;
        EXPECT_EQ(run({"unlock", "--force", "--yes", "--type", "token", key}, url()).status, 0)
            << key;
        EXPECT_EQ(server().command({"EXISTS", key}).integer, 0) << key;
    }
    const ended counter = run({"unlock", "--force", "--yes", "--type", "token", "seats"}, url());
    EXPECT_EQ(counter.status, 65);
    EXPECT_THAT(counter.err, HasSubstr("a semaphore or a latch"));
    EXPECT_EQ(server().command({"GET", "seats"}).text, "5");
}

TEST_P(Look, TellsALockWithVeryManyReadersFromAnyOtherHash) {
    server().command({"HSET", "rw", "mode", "read"});
    for (int i = 0; i < 150; ++i) {
        const std::string reader = "8743c9c0-0795-4907-87fd-6c719a6b4586:" + std::to_string(i);
        server().command({"HSET", "rw", reader, "1"});
        server().command({"HSET", "session", "field " + std::to_string(i), "1"});
    }
    EXPECT_EQ(run({"ls", "-1"}, url()).out, "rw\n");
    EXPECT_THAT(run({"ls"}, url()).out, HasSubstr("rw lock  many"));
    EXPECT_EQ(run({"inspect", "session"}, url()).status, 65);
}

TEST_P(Look, SaysWhatIsNoLock) {
    server().command({"SET", "text", "x"});
    const ended told = run({"inspect", "text"}, url());
    EXPECT_EQ(told.status, 65);
    EXPECT_THAT(told.out, HasSubstr("not a known kind of lock, but a string"));
    EXPECT_EQ(run({"ls"}, url()).out, "");
}

TEST_P(Look, ListsOnlyWhatMatches) {
    for (const char* each : {"shop:1", "shop:2", "till"})
        let_jvm_hold(each);
    EXPECT_EQ(run({"ls", "-1", "shop:*"}, url()).out, "shop:1\nshop:2\n");
    EXPECT_EQ(run({"ls", "--names", "????"}, url()).out, "till\n");
    const ended some = run({"ls", "-1", "--limit", "2"}, url());
    EXPECT_EQ(some.status, 0);
    EXPECT_EQ(std::ranges::count(some.out, '\n'), 2);
    EXPECT_THAT(some.err, HasSubstr("the list is not complete: there are more than 2 locks"));
    EXPECT_THAT(run({"ls", "-1", "--limit", "1"}, url()).err, HasSubstr("more than 1 lock,"));
    EXPECT_THAT(run({"ls", "--json", "--limit", "2"}, url()).out, HasSubstr("\"complete\":false"));
}

TEST_P(Look, ShowsNoByteThatATerminalWouldObey) {
    const std::string wicked = "a\x1b[31m\x9b\xc2\x9b\n\xff";
    let_jvm_hold(wicked);
    let_jvm_hold("b\u00e4r");
    for (const char* verb : {"ls", "inspect"}) {
        const ended told =
            verb == std::string{"ls"} ? run({"ls"}, url()) : run({"inspect", wicked}, url());
        EXPECT_THAT(told.out, HasSubstr("a?[31m????")) << verb;
        EXPECT_THAT(told.out, Not(HasSubstr("\x1b"))) << verb;
    }
    EXPECT_THAT(run({"ls"}, url()).out, HasSubstr("b\u00e4r         lock"));
    const boost::json::value all = told_of(wicked);
    EXPECT_EQ(all.at("name_hex").as_string(), "611b5b33316d9bc29b0aff");
    EXPECT_FALSE(told_of("b\u00e4r").as_object().contains("name_hex"));
}

TEST_P(Look, EndsQuietlyWhenNobodyReads) {
    for (int i = 0; i < 2000; ++i)
        let_jvm_hold("a lock with a name that is rather long, number " + std::to_string(i));
    const program::exactly closed{
        {"sh", "-c", "\"$0\" ls --limit 5000 | head -n 1", program_path()}};
    program piped{closed, url()};
    const ended told = piped.end();
    EXPECT_EQ(told.err, "");
    EXPECT_THAT(told.out, HasSubstr("NAME"));
    const std::string ignoring = "trap '' PIPE; { \"$0\" ls --limit 5000; echo $? >&2; } | true";
    program unread{program::exactly{{"sh", "-c", ignoring, program_path()}}, url()};
    EXPECT_EQ(unread.end().err, "74\n") << "as quietly where SIGPIPE is ignored";
    program full{program::exactly{{"sh", "-c", "\"$0\" ls > /dev/full", program_path()}}, url()};
    const ended stuck = full.end();
    EXPECT_EQ(stuck.status, 74);
    EXPECT_THAT(stuck.err, HasSubstr("the output could not be written"));
}

TEST_P(Look, KeepsWithinATerminalAndIsColouredThereOnly) {
    let_jvm_hold(std::string(70, 'n'));
    const auto on_terminal = [this](const std::string& settings) {
        program shown{program::exactly{{"script", "-qec",
                                        "stty cols 80; " + settings + " " + program_path() + " ls",
                                        "/dev/null"}},
                      url()};
        return shown.end().out;
    };
    const std::string plain = on_terminal("TERM=xterm NO_COLOR=1");
    EXPECT_THAT(plain, AllOf(HasSubstr("NAME"), Not(HasSubstr("\x1b"))));
    std::istringstream lines{plain};
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), 81U) << line; // with its carriage return
    EXPECT_THAT(on_terminal("TERM=xterm NO_COLOR="), HasSubstr("\x1b[1mNAME"));
    EXPECT_THAT(on_terminal("TERM=dumb"), Not(HasSubstr("\x1b")));
    EXPECT_THAT(run({"ls"}, url()).out, Not(HasSubstr("\x1b")));
}

TEST_P(Look, SaysOnATerminalWhoseLocksTheseAre) {
    const std::vector<std::string> here{"HOLDFAST_URL=" + url(), "TERM=dumb"};
    terminal_session none{{program_path(), "ls"}, here};
    none.expect("holdfast: no lock is held on " + url());
    let_jvm_hold("jvms");
    terminal_session one{{program_path(), "ls"}, here};
    one.expect("thread 49");
    one.expect("holdfast: 1 lock on " + url());
    EXPECT_EQ(run({"ls"}, url()).err, "") << "no terminal";
}

TEST_P(Look, ShowsTheHolderOfALockWithALongName) {
    let_jvm_hold(std::string(200, 'n'));
    terminal_session table{{program_path(), "ls"}, {"HOLDFAST_URL=" + url(), "TERM=dumb"}};
    EXPECT_THAT(table.expect("Redisson 8743c9c0 thread 49"), HasSubstr("nnn..."));
    table.expect("some names are cut; with -1 they are printed whole");
}

TEST_P(Look, SaysWhichRightIsMissing) {
    server().command({"ACL", "SETUSER", "default", "-scan", "-pubsub"});
    let_jvm_hold("jvms");
    const ended refused = run({"ls"}, url());
    EXPECT_EQ(refused.status, 69);
    EXPECT_THAT(refused.err, AllOf(HasSubstr(" refused: "), HasSubstr("granted: +scan")));
    EXPECT_THAT(run({"inspect", "jvms"}, url()).out, HasSubstr("listening  not known"));
}

TEST_P(Look, ListsTheLocksToWhomMayNotReadWhatIsCounted) {
    let_jvm_hold("jvms");
    ASSERT_EQ(run({"run", "--rate", "5/1h", "mails", "true"}, url()).status, 0);
    server().command({"ACL", "SETUSER", "default", "-zrangebyscore"});
    const ended found = run({"ls"}, url());
    EXPECT_EQ(found.status, 0);
    EXPECT_THAT(found.out, AllOf(HasSubstr("jvms"), Not(HasSubstr("mails"))));
    EXPECT_THAT(found.err, AllOf(HasSubstr("'rate' is not listed"), HasSubstr("+zrangebyscore"),
                                 Not(HasSubstr("["))))
        << "the code of the error is not for users";
}

// `holdfast doctor`: what it says, and what it ends with.

class Doctor : public on_server {
protected:
    /// Returns the findings about one topic, as `severity: what`.
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
    EXPECT_THAT(told.out, AllOf(HasSubstr("The doctor took, renewed and released the"),
                                HasSubstr("This client can subscribe to notifications of"),
                                HasSubstr("maxmemory-policy is noeviction")));
    EXPECT_EQ(server().command({"DBSIZE"}).integer, 0);
}

TEST_P(Doctor, SaysTheSameToPrograms) {
    const ended told = run({"doctor", "--json"}, url());
    EXPECT_EQ(told.status, 0);
    EXPECT_EQ(boost::json::parse(told.out).at("worst").as_string(), "note");
    EXPECT_EQ(says_of("rights"),
              "fine: The doctor took, renewed and released the lock 'holdfast-doctor'.");
}

TEST_P(Doctor, FindsWhatEndsLocksEveryDay) {
    server().command({"CONFIG", "SET", "maxmemory", "100mb"});
    server().command({"CONFIG", "SET", "maxmemory-policy", "volatile-lru"});
    const ended told = run({"doctor"}, url());
    EXPECT_EQ(told.status, 1);
    EXPECT_THAT(told.out, AllOf(HasSubstr("danger   eviction"), HasSubstr("can delete the"),
                                HasSubstr("-> Turn eviction off: CONFIG SET maxmemory-policy")));
}

TEST_P(Doctor, FindsWhatAUserMayNotDo) {
    server().command({"ACL", "SETUSER", "default", "-publish", "-time", "-subscribe"});
    EXPECT_THAT(says_of("rights"), HasSubstr("warning: PUBLISH is denied"));
    EXPECT_THAT(says_of("clock"), HasSubstr("warning: TIME is denied"));
    EXPECT_THAT(says_of("listening"), HasSubstr("warning: This client cannot subscribe to"));
    server().command({"ACL", "SETUSER", "default", "-hset"});
    EXPECT_THAT(says_of("rights"), AllOf(HasSubstr("danger: "), HasSubstr("+hset")));
}

TEST_P(Doctor, DoesNotCallAServerFitThatItMayNotExamine) {
    server().command({"ACL", "SETUSER", "default", "-info"});
    const ended told = run({"doctor"}, url());
    EXPECT_EQ(told.status, 1);
    EXPECT_THAT(told.out, AllOf(HasSubstr("warning  rights"), HasSubstr("could not check the"),
                                HasSubstr("ACL SETUSER"), HasSubstr("USERNAME +info")));
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
    EXPECT_THAT(told.out, HasSubstr("Another client holds the lock 'job', so the"));
    EXPECT_TRUE(is_locked());
}

} // namespace
} // namespace holdfast::cli_test
