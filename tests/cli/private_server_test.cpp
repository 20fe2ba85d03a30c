// SPDX-License-Identifier: Apache-2.0
// The private server: how it starts and ends, what disturbs it, and what the user is told.
#include "cli/private_server.hpp"
#include "cli/program.hpp"
#include "support/redis_connection.hpp"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace holdfast::cli_test {
namespace {

// Locks without a server of the user's: one is started, found by all, and ended.

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class PrivateServer : public with_private_server {};
HOLDFAST_ON_EACH_SERVER(PrivateServer);

TEST_P(PrivateServer, IsStartedWhenItIsNeededAndFoundByTheNext) {
    EXPECT_FALSE(runs());
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_TRUE(runs());
    EXPECT_EQ(run({"run", "-n", "job", "--", "true"}).status, 1) << "a second server?";
    EXPECT_EQ(run({"run", "-n", "other", "--", "true"}).status, 0);
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 0);
}

TEST_P(PrivateServer, IsOneForTwentyThatStartAtOnce) {
    constexpr std::int64_t many = 20;
    std::vector<std::unique_ptr<program>> all;
    for (std::int64_t i = 0; i < many; ++i)
        all.push_back(std::make_unique<program>(holding("job" + std::to_string(i))));
    for (const auto& each : all)
        ASSERT_EQ(each->line(), "held");
    // All of them hold now, and one server has them all.
    EXPECT_GE(status().at("keys").as_int64(), many);
    EXPECT_GE(status().at("connections").as_int64(), many);
}

TEST_P(PrivateServer, EndsWhenNobodyUsesItAndLeavesNoProcess) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    observed_process server{process()};
    observed_process keeper{supervisor()};
    holder.close_stdin();
    holder.end();
    EXPECT_TRUE(server.ended_within(far_too_long));
    EXPECT_TRUE(keeper.ended_within(far_too_long));
    EXPECT_FALSE(fs::exists(folder / "holdfast" / "socket"));
}

TEST_P(PrivateServer, EndsAlthoughItHasGivenFencingTokensAndTheNextOnesAreGreater) {
    const auto token = [this] {
        return std::stoull(run({"run", "--fenced", "job", "printenv", "HOLDFAST_TOKEN"}).out);
    };
    program holder{holding("other")};
    ASSERT_EQ(holder.line(), "held");
    const std::uint64_t first = token();
    observed_process server{process()};
    holder.close_stdin();
    holder.end();
    EXPECT_TRUE(server.ended_within(far_too_long)) << "for its counter";
    EXPECT_GT(token(), first);
}

TEST_P(PrivateServer, EndsAlthoughAKilledWaiterHasLeftAPlaceInAQueue) {
    program holder{holding("job", {"--fair"})};
    ASSERT_EQ(holder.line(), "held");
    program waiter{holding("job", {"--fair"})};
    {
        support::redis_connection look{folder / "holdfast" / "socket"};
        ASSERT_TRUE(eventually([&] {
            return look.command({"LLEN", "redisson_lock_queue:{job}"}).integer == 1;
        }));
    }
    waiter.signal(SIGKILL);
    waiter.end();
    observed_process server{process()};
    holder.close_stdin();
    holder.end();
    EXPECT_TRUE(server.ended_within(far_too_long));
}

TEST_P(PrivateServer, LingersForTheNextCommandOfAScript) {
    EXPECT_EQ(run({"run", "job", "--", "true"}, {"HOLDFAST_SERVER_LINGER=1h"}).status, 0);
    const pid_t first = process();
    EXPECT_EQ(run({"run", "job", "--", "true"}).status, 0);
    EXPECT_EQ(process(), first);
}

TEST_P(PrivateServer, StaysAsLongAsAKilledHoldersLeaseRuns) {
    program holder{holding("job", {"--lease", "9s"})};
    ASSERT_EQ(holder.line(), "held");
    observed_process server{process()};
    holder.signal(SIGKILL);
    holder.end();
    EXPECT_EQ(run({"run", "-n", "job", "--", "true"}).status, 1) << "the lock was forgotten";
    EXPECT_TRUE(server.ended_within(far_too_long));
}

TEST_P(PrivateServer, DoesNotStayBecauseAKilledHolderIsKnown) {
    program holder{holding("job", {"--lease", "9s"})};
    ASSERT_EQ(holder.line(), "held");
    observed_process server{process()};
    std::string known;
    {
        support::redis_connection look{folder / "holdfast" / "socket"};
        ASSERT_TRUE(eventually([&] {
            const redis::reply all = look.command({"KEYS", "holdfast_client:*"});
            return !all.items.empty() && !(known = all.items.front().text).empty();
        }));
        ASSERT_GT(look.command({"PTTL", known}).integer, duration{far_too_long}.count());
    }
    EXPECT_EQ(status().at("keys").as_int64(), 1) << "the lock alone";
    holder.signal(SIGKILL);
    holder.end();
    EXPECT_TRUE(server.ended_within(far_too_long));
}

TEST_P(PrivateServer, IsLookedAtByAllVerbs) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"ls", "--names"}).out, "job\n");
    EXPECT_EQ(run({"inspect", "job"}).status, 0);
    EXPECT_EQ(run({"wait", "-w", "0", "job"}).status, 1);
    EXPECT_EQ(run({"unlock", "--force", "--yes", "job"}).status, 0);
    EXPECT_EQ(run({"wait", "-w", "0", "job"}).status, 0);
}

TEST_P(PrivateServer, OutlivesWhoStartedIt) {
    program starter{holding("one")};
    ASSERT_EQ(starter.line(), "held");
    program other{holding("two")};
    ASSERT_EQ(other.line(), "held");
    const pid_t before = process();
    starter.signal(SIGKILL);
    starter.end();
    EXPECT_EQ(process(), before);
    EXPECT_EQ(run({"run", "-n", "two", "--", "true"}).status, 1);
    other.close_stdin();
    EXPECT_EQ(other.end().status, 0);
}

TEST_P(PrivateServer, HoldsNobodysOutputOpen) {
    const std::string piped = "'" + program_path() + "' run job -- echo done | cat";
    const program::exactly script = [&] {
        program::exactly words = holdfast({}, {"HOLDFAST_SERVER_LINGER=1h"});
        words.command.back() = "sh"; // in the place of the program
        words.command.insert(words.command.end(), {"-c", piped});
        return words;
    }();
    EXPECT_EQ(program{script}.end().out, "done\n");
    EXPECT_TRUE(runs());
}

TEST_P(PrivateServer, IsOnNoNetwork) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    std::set<std::string> sockets;
    for (const auto& each : fs::directory_iterator{"/proc/" + std::to_string(process()) + "/fd"}) {
        std::error_code is_closed; // by the server, in the meantime
        const std::string what = fs::read_symlink(each, is_closed).string();
        if (what.starts_with("socket:["))
            sockets.insert(what.substr(8, what.size() - 9));
    }
    EXPECT_FALSE(sockets.empty());
    for (const char* const kind : {"tcp", "tcp6", "udp", "udp6"}) {
        std::ifstream table{std::string{"/proc/net/"} + kind};
        for (std::string line; std::getline(table, line);) {
            std::istringstream words{line};
            for (std::string word; words >> word;)
                EXPECT_FALSE(word.size() > 3 && sockets.contains(word)) << kind << ": " << line;
        }
    }
}

TEST_P(PrivateServer, IsReplacedWhenItWasKilled) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    observed_process keeper{supervisor()};
    ::kill(process(), SIGKILL);
    EXPECT_EQ(run({"run", "other", "--", "echo", "fine"}).out, "fine\n");
    EXPECT_TRUE(keeper.ended_within(far_too_long));
}

TEST_P(PrivateServer, EndsWithItsSupervisorAndIsReplaced) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    observed_process server{process()};
    ::kill(supervisor(), SIGKILL);
    EXPECT_TRUE(server.ended_within(far_too_long));
    EXPECT_EQ(run({"run", "other", "--", "echo", "fine"}).out, "fine\n");
}

TEST_P(PrivateServer, EndsWhenItsFolderIsGoneBecauseTheNextOneWouldKnowNothingOfItsLocks) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    observed_process server{process()};
    fs::remove_all(folder / "holdfast");
    EXPECT_TRUE(server.ended_within(far_too_long));
}

TEST_P(PrivateServer, DoesNotMindStrangeNames) {
    folder /= "a b%20?#";
    fs::create_directory(folder);
    EXPECT_EQ(run({"run", "job", "--", "echo", "fine"}).out, "fine\n");
}

TEST_P(PrivateServer, IsToldNoPasswordWhichIsForAnotherServer) {
    EXPECT_EQ(run({"run", "job", "--", "echo", "fine"}, {"HOLDFAST_PASSWORD=secret"}).out,
              "fine\n");
}

TEST_P(PrivateServer, StopsWhenItIsToldUnlessItIsInUse) {
    EXPECT_EQ(run({"server", "stop"}).status, 0) << "there is none";
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    const ended refused = run({"server", "stop"});
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, HasSubstr("is in use"));
    EXPECT_TRUE(runs());

    observed_process server{process()};
    EXPECT_EQ(run({"server", "stop", "--force"}).status, 0);
    EXPECT_TRUE(server.ended_within(duration::zero()));
    EXPECT_EQ(run({"server", "status"}).status, 1);
}

TEST_P(PrivateServer, IsNamedToPeople) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"run", "-n", "job", "true"}).err,
              "holdfast: lock 'job' is busy on this machine's private server\n");
    EXPECT_THAT(run({"run", "-v", "other", "true"}).err,
                HasSubstr("asking this machine's private server for lock 'other'\n"));
}

TEST_P(PrivateServer, ThatDoesNotRunHasNothingKnown) {
    const boost::json::object told = status();
    EXPECT_FALSE(told.at("running").as_bool());
    for (const char* const each :
         {"url", "program", "process", "uptime_seconds", "connections", "keys"})
        EXPECT_TRUE(told.at(each).is_null()) << each;
}

TEST_P(PrivateServer, ThatIsStoppedIsAnErrorSoon) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    ::kill(process(), SIGSTOP);
    const ended silent = run({"run", "other", "true"}); // which ends within `far_too_long`
    EXPECT_EQ(silent.status, 69);
    EXPECT_THAT(silent.err, HasSubstr("does not answer; 'holdfast server stop --force' ends it"));
}

TEST_P(PrivateServer, ThatIsStuckCanBeEnded) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    ::kill(process(), SIGSTOP);
    const ended silent = run({"server", "status"});
    EXPECT_EQ(silent.status, 69);
    EXPECT_THAT(silent.err, HasSubstr("server stop --force"));
    EXPECT_EQ(run({"server", "stop", "--force"}).status, 0);
    EXPECT_EQ(run({"run", "job", "--", "echo", "fine"}).out, "fine\n");
}

// The private server when its files are removed, when it is stopped, and when the program that
// starts it has resource limits. Also the environment of commands that use it.

class PrivateServerLife : public with_private_server {
protected:
    /// The words of a shell script in which `$h` is the program.
    program::exactly script(const std::string& text,
                            const std::vector<std::string>& environment = {}) const {
        program::exactly words = holdfast({}, environment);
        words.command.back() = "h=" + program_path(); // the program's own place, behind `env`
        words.command.insert(words.command.end(), {"sh", "-c", text});
        return words;
    }

    fs::path file(const char* name) const { return folder / "holdfast" / name; }
};
HOLDFAST_ON_EACH_SERVER(PrivateServerLife);

TEST_P(PrivateServerLife, NoSecondServerStartsIfTheLockFileIsRemovedWhileTheServerStandsStill) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    const pid_t first = process();
    fs::remove(file("lock"));
    ::kill(first, SIGSTOP);
    const ended refused = run({"run", "-n", "job", "--", "echo", "ran"});
    ::kill(first, SIGCONT);
    EXPECT_EQ(refused.status, 69);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("does not answer; 'holdfast server stop --force' ends it"));
    EXPECT_EQ(process(), first);
    EXPECT_EQ(run({"run", "-n", "job", "--", "true"}).status, 1) << "a second holder";
}

TEST_P(PrivateServerLife, NoSecondServerStartsBeforeTheFirstHasEndedIfItsFilesAreRemoved) {
    for (const bool whole_folder : {false, true}) {
        SCOPED_TRACE(whole_folder);
        program holder{holding("job")};
        ASSERT_EQ(holder.line(), "held");
        observed_process server{process()};
        const pid_t keeper = supervisor();
        ::kill(keeper, SIGSTOP); // or it would end the server within a moment
        if (whole_folder)
            fs::remove_all(folder / "holdfast");
        else
            for (const char* const each : {"lock", "socket", "log"})
                fs::remove(file(each));
        program next{holdfast({"run", "-v", "job", "--", "echo", "ran"})};
        EXPECT_FALSE(server.ended_within(std::chrono::seconds{1}));
        ::kill(keeper, SIGCONT);
        EXPECT_EQ(next.line(), "ran");
        EXPECT_TRUE(server.ended_within(duration::zero())) << "two servers at a time";
        EXPECT_EQ(next.end().status, 0);
        holder.signal(SIGKILL);
        holder.end();
        run({"server", "stop", "--force"});
    }
}

TEST_P(PrivateServerLife, AServerWithoutItsSocketCanBeStopped) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    observed_process server{process()};
    const pid_t keeper = supervisor();
    ::kill(keeper, SIGSTOP);
    fs::remove(file("socket"));
    fs::remove(file("lock"));
    EXPECT_EQ(run({"server", "stop", "--force"}).status, 0);
    EXPECT_TRUE(server.ended_within(far_too_long));
}

TEST_P(PrivateServerLife, TheLimitsOfItsStarterAreNotItsOwn) {
    program holder{script("ulimit -S -t 1000; ulimit -S -n 64; ulimit -S -f 100000; "
                          "exec \"$h\" run job sh -c 'echo held; read nothing'")};
    ASSERT_EQ(holder.line(), "held");
    std::ifstream limits{"/proc/" + std::to_string(process()) + "/limits"};
    std::map<std::string, std::string> soft;
    for (std::string line; std::getline(limits, line);) {
        const std::size_t value = line.find("  ");
        std::istringstream words{line.substr(value)};
        words >> soft[line.substr(0, value)];
    }
    EXPECT_EQ(soft.count("Max cpu time"), 1U);
    EXPECT_NE(soft["Max cpu time"], "1000");
    EXPECT_NE(soft["Max open files"], "64");
    EXPECT_NE(soft["Max file size"], "51200000");
}

TEST_P(PrivateServerLife, SlotsAndRatesThatLimitNobodyDoNotKeepIt) {
    ASSERT_EQ(run({"run", "--slots", "2", "seats", "true"}).status, 0);
    ASSERT_EQ(run({"run", "--rate", "9/100ms", "my {mails}", "true"}).status, 0);
    EXPECT_TRUE(eventually([&] { return run({"server", "stop"}).status == 0; }));
    EXPECT_EQ(run({"server", "status"}).status, 1);
}

TEST_P(PrivateServerLife, ItStaysWhileASlotIsHeldARateCountsOrALatchIsSet) {
    ASSERT_EQ(run({"run", "--rate", "1/1h", "mails", "true"}).status, 0);
    EXPECT_EQ(run({"server", "stop"}).status, 1);
    ASSERT_EQ(run({"server", "stop", "--force"}).status, 0);
    ASSERT_EQ(run({"latch", "set", "gate", "1"}).status, 0);
    EXPECT_EQ(run({"server", "stop"}).status, 1);
    ASSERT_EQ(run({"server", "stop", "--force"}).status, 0);
    program holder{holding("seats", {"--slots", "1"})};
    ASSERT_EQ(holder.line(), "held");
    holder.signal(SIGKILL);
    (void)holder.end();
    EXPECT_EQ(run({"server", "stop"}).status, 1) << "the lease of the slot has not ended";
}

TEST_P(PrivateServerLife, RequireServerForbidsItInsideOfARunOnItToo) {
    for (const char* const elsewhere : {"", "env -u XDG_RUNTIME_DIR "}) {
        const ended refused =
            program{script("\"$h\" run outer -- " + std::string{elsewhere} +
                           "env HOLDFAST_REQUIRE_SERVER=1 \"$h\" run inner echo ran")}
                .end();
        EXPECT_EQ(refused.status, 64);
        EXPECT_EQ(refused.out, "");
        EXPECT_THAT(refused.err, HasSubstr("HOLDFAST_REQUIRE_SERVER=1 forbids it"));
    }
    EXPECT_EQ(program{script("\"$h\" run outer -- \"$h\" run inner echo ran")}.end().out, "ran\n");
}

TEST_P(PrivateServerLife, AProcessThatOutlivesItsRunFindsAServerAgain) {
    program starter{script("\"$h\" run outer -- sh -c 'setsid sh -c \"echo \\$\\$; read x; "
                           "env -u XDG_RUNTIME_DIR $h run inner echo ran\" <&5 5<&- &' 5<&0")};
    observed_process left{std::stoi(starter.line())};
    EXPECT_TRUE(eventually([this] { return !runs(); })) << "the run has not ended";
    starter.close_stdin();
    EXPECT_EQ(starter.line(), "ran");
    EXPECT_TRUE(left.ended_within(far_too_long));
    EXPECT_EQ(starter.end().status, 0);
}

TEST_P(PrivateServerLife, NoNameAndPasswordForAnotherServerReachACommandOnIt) {
    const std::vector<std::string> given{"HOLDFAST_USERNAME=me", "HOLDFAST_PASSWORD=secret"};
    const std::string show = "env | grep -E \"^HOLDFAST_(USERNAME|PASSWORD)\"; true";
    EXPECT_EQ(run({"run", "job", "sh", "-c", show}, given).out, "");
    EXPECT_EQ(run({"run", "--rate", "10/1m", "mails", "sh", "-c", show}, given).out, "");
    const ended inner = program{script("\"$h\" run outer -- env HOLDFAST_PASSWORD=secret "
                                       "\"$h\" run inner sh -c '" +
                                       show + "; echo fine'")}
                            .end();
    EXPECT_EQ(inner.out, "fine\n") << inner.err;
}

TEST_P(PrivateServerLife, NeitherItNorItsSupervisorHasTheNameAndPasswordForAnotherServer) {
    program holder{
        script("echo $$; exec \"$h\" run job sh -c 'echo held; read nothing'",
               {"HOLDFAST_USERNAME=user-of-another", "HOLDFAST_PASSWORD=secret-of-another"})};
    const std::string runner = holder.line();
    ASSERT_EQ(holder.line(), "held");
    for (const std::string& each :
         {std::to_string(process()), std::to_string(supervisor()), runner}) {
        std::ifstream variables{"/proc/" + each + "/environ"};
        const std::string all{std::istreambuf_iterator<char>{variables}, {}};
        EXPECT_FALSE(all.empty()) << each;
        EXPECT_EQ(all.find("-of-another"), std::string::npos) << each;
    }
}

TEST_P(PrivateServerLife, HardLimitThatIsTooLowIsNamed) {
    const ended files = program{script("ulimit -n 20; \"$h\" run job true")}.end();
    EXPECT_EQ(files.status, 69);
    EXPECT_THAT(files.err, HasSubstr("open files (ulimit -Hn) are 20, and must be 64 or more"));
    EXPECT_THAT(files.err, HasSubstr("or give a server: --url"));
    const ended memory = program{script("ulimit -d 20000; \"$h\" run job true")}.end();
    EXPECT_EQ(memory.status, 69);
    EXPECT_THAT(memory.err,
                HasSubstr("data memory (ulimit -Hd) are 20000, and must be 131072 or more"));
}

TEST_P(PrivateServerLife, HardLimitOfTheSizeOfFilesDoesNotEndIt) {
    const ended ran = program{script("ulimit -f 1; \"$h\" run job echo ran")}.end();
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.out, "ran\n");
    EXPECT_TRUE(runs());
}

TEST_P(PrivateServerLife, OneThatACommandOfALostRunHasStartedLives) {
    support::redis_server other{GetParam()};
    program outer{script("\"$h\" run --url " + other.url() +
                             " --on-loss TERM:1s outer -- env -u HOLDFAST_URL \"$h\" run inner "
                             "sh -c 'echo held; read nothing'",
                         {"HOLDFAST_SERVER_LINGER=1h"})};
    ASSERT_EQ(outer.line(), "held");
    const pid_t server = process();
    other.command({"DEL", "outer"});
    EXPECT_EQ(outer.end().status, 75);
    ASSERT_TRUE(runs());
    EXPECT_EQ(process(), server);
}

TEST_P(PrivateServerLife, WorksWhereTheSystemHasNoPidfd) {
    program::exactly words = holding("job");
    words.without_pidfd = true;
    program holder{words};
    ASSERT_EQ(holder.line(), "held");
    observed_process server{process()};
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 0);
    EXPECT_TRUE(server.ended_within(far_too_long));

    program told{words};
    ASSERT_EQ(told.line(), "held");
    told.signal(SIGTERM);
    EXPECT_EQ(told.end().status, 128 + SIGTERM);
}

// Messages for a user when the private server cannot be used.

class NoPrivateServer : public with_private_server {
protected:
    void is_refused_because(const std::string& why) {
        std::vector<std::vector<std::string>> verbs = asking_verbs();
        verbs.insert(verbs.end(), {{"server", "status"}, {"server", "stop"}});
        for (const std::vector<std::string>& verb : verbs) {
            SCOPED_TRACE(verb.front());
            const ended refused = run(verb);
            EXPECT_EQ(refused.status, 69);
            EXPECT_EQ(refused.out, "");
            EXPECT_THAT(refused.err, HasSubstr(why));
        }
    }
};
HOLDFAST_ON_EACH_SERVER(NoPrivateServer);

TEST_P(NoPrivateServer, WithoutAProgramForIt) {
    const ended missing = run({"run", "job", "--", "echo", "ran"}, {"PATH=/nowhere"});
    EXPECT_EQ(missing.status, 69);
    EXPECT_EQ(missing.out, "");
    EXPECT_THAT(missing.err, HasSubstr("apt install redis-server"));
    EXPECT_THAT(missing.err, HasSubstr("HOLDFAST_URL"));
}

TEST_P(NoPrivateServer, WithAProgramThatDoesNotStartWhoseWordsAreTold) {
    const fs::path broken = folder / "redis-server";
    std::ofstream{broken} << "#!/bin/sh\necho 'there is sand'\necho 'in the gears'\nexit 1\n";
    fs::permissions(broken, fs::perms::owner_all);
    const ended failed = run({"run", "job", "--", "echo", "ran"}, {"PATH=" + folder.string()});
    EXPECT_EQ(failed.status, 69);
    EXPECT_THAT(failed.err, HasSubstr(broken.string() + " does not start"));
    EXPECT_THAT(failed.err, HasSubstr("It said: there is sand in the gears\n"));
}

TEST_P(NoPrivateServer, WithATimeToLingerThatIsNone) {
    const ended wrong = run({"run", "job", "--", "echo", "ran"}, {"HOLDFAST_SERVER_LINGER=soon"});
    EXPECT_EQ(wrong.status, 64);
    EXPECT_THAT(wrong.err, HasSubstr("HOLDFAST_SERVER_LINGER: 'soon' is not a duration"));
}

TEST_P(NoPrivateServer, WhereAFolderWasChosenThatCannotBeUsed) {
    const fs::path file = folder / "file";
    std::ofstream{file} << "x";
    const std::vector<std::pair<std::string, std::string>> choices{
        {file.string(), "it is not a folder that this user owns and can write to"},
        {(folder / "nothing").string(), "it is not a folder"},
        {"runtime", "it is not an absolute path"}};
    for (const auto& [chosen, why] : choices) {
        const ended told = run({"server", "status"}, {"XDG_RUNTIME_DIR=" + chosen});
        EXPECT_THAT(told.err, HasSubstr("XDG_RUNTIME_DIR=" + chosen + " is not used (" + why));
        EXPECT_THAT(told.err, HasSubstr("the private server is in /tmp/holdfast-"));
    }
    const ended login = run({"server", "status"}, {"XDG_RUNTIME_DIR=/run/user/4711"});
    EXPECT_EQ(login.err, "") << "a login's own, which never counts";
}

TEST_P(NoPrivateServer, InAFolderThatOthersMayEnter) {
    fs::create_directory(folder / "holdfast");
    fs::permissions(folder / "holdfast", fs::perms::owner_all | fs::perms::others_read);
    is_refused_because("is open to others");
    fs::permissions(folder / "holdfast", fs::perms::owner_all);
}

TEST_P(NoPrivateServer, InAFolderThatIsALinkToElsewhere) {
    fs::create_directory(folder / "elsewhere");
    fs::permissions(folder / "elsewhere", fs::perms::owner_all);
    fs::create_symlink(folder / "elsewhere", folder / "holdfast");
    is_refused_because("cannot be opened");
    EXPECT_TRUE(fs::is_empty(folder / "elsewhere"));
    fs::remove(folder / "holdfast");
}

TEST_P(NoPrivateServer, InAFolderOfSomebodyElse) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root can make one";
    fs::create_directory(folder / "holdfast");
    ASSERT_EQ(::chown((folder / "holdfast").c_str(), 12345, 12345), 0);
    is_refused_because("belongs to another user");
    fs::remove(folder / "holdfast");
}

/// Listens on a unix socket, and closes each connection before it has replied. A server that is
/// ending does that to a connection that it has just accepted.
class ending_server {
public:
    explicit ending_server(const fs::path& socket) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        socket.string().copy(address.sun_path, sizeof address.sun_path - 1);
        if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
            ::listen(listener_, SOMAXCONN) != 0)
            throw std::system_error{errno, std::generic_category(), socket.string()};
        closer_ = std::thread{[this] {
            for (int fd = -1; (fd = ::accept(listener_, nullptr, nullptr)) >= 0;)
                ::close(fd);
        }};
    }
    ending_server(const ending_server&) = delete;
    ending_server& operator=(const ending_server&) = delete;
    ~ending_server() {
        ::shutdown(listener_, SHUT_RDWR); // ends accept()
        closer_.join();
        ::close(listener_);
    }

private:
    int listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::thread closer_;
};

TEST_P(NoPrivateServer, IfItEndsBeforeItReplies) {
    fs::create_directory(folder / "holdfast");
    fs::permissions(folder / "holdfast", fs::perms::owner_all);
    const ending_server ending{folder / "holdfast" / "socket"};
    const ended told = run({"server", "status"});
    EXPECT_EQ(told.status, 1);
    EXPECT_EQ(told.out, "not running; it starts when it is needed\n");
    EXPECT_EQ(told.err, "");
    EXPECT_EQ(boost::json::parse(run({"server", "status", "--json"}).out).at("running"), false);
    for (const std::vector<std::string>& stop :
         {std::vector<std::string>{"server", "stop"}, {"server", "stop", "--force"}}) {
        const ended stopped = run(stop);
        EXPECT_EQ(stopped.status, 0);
        EXPECT_EQ(stopped.err, "");
    }
}

TEST_P(NoPrivateServer, WithALockThatIsALinkToElsewhere) {
    fs::create_directory(folder / "holdfast");
    fs::permissions(folder / "holdfast", fs::perms::owner_all);
    fs::create_symlink(folder / "victim", folder / "holdfast" / "lock");
    const ended refused = run({"run", "job", "--", "echo", "ran"});
    EXPECT_EQ(refused.status, 69);
    EXPECT_FALSE(fs::exists(folder / "victim"));
}

TEST_P(NoPrivateServer, OnAReadOnlyFileSystemThePathAndTheRemedyAreNamed) {
    if (std::system("unshare -m true 2>/dev/null") != 0) // NOLINT
        GTEST_SKIP() << "this user may not make mounts";
    fs::create_directory(folder / "holdfast");
    fs::permissions(folder / "holdfast", fs::perms::owner_all);
    std::vector<std::string> words{
        "unshare",
        "-m",
        "sh",
        "-c",
        "mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\" && "
        "exec \"$@\"",
        (folder / "holdfast").string()};
    for (const std::string& each : holdfast({"run", "job", "true"}).command)
        words.push_back(each);
    const ended refused = program{program::exactly{words}}.end();
    EXPECT_EQ(refused.status, 69);
    EXPECT_THAT(refused.err, HasSubstr((folder / "holdfast").string() +
                                       " cannot be written (Read-only file system)"));
    EXPECT_THAT(refused.err, HasSubstr("Set XDG_RUNTIME_DIR to a folder of yours"));
}

TEST_P(NoPrivateServer, IsNeededBecauseOfAUmaskThatRemovesTheRightsOfTheUser) {
    std::vector<std::string> words{"sh", "-c", "umask 0177; exec \"$0\" \"$@\""};
    for (const std::string& each : holdfast({"run", "job", "true"}).command)
        words.push_back(each);
    EXPECT_EQ(program{program::exactly{words}}.end().status, 0);
    EXPECT_EQ(fs::status(folder / "holdfast").permissions(), fs::perms::owner_all);
    // A folder that an earlier version has left is repaired.
    fs::permissions(folder / "holdfast", fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(run({"run", "job", "true"}).status, 0);
    EXPECT_EQ(fs::status(folder / "holdfast").permissions(), fs::perms::owner_all);
}

} // namespace
} // namespace holdfast::cli_test
