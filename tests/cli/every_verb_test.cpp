// SPDX-License-Identifier: Apache-2.0
// Behaviour that all verbs have in common when they cannot ask the server: the message and the exit
// status.
#include "cli/program.hpp"
#include "cli/server_test.hpp"
#include "cli/terminal_session.hpp"

#include <csignal>

namespace holdfast::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct wrong_url {
    std::string url;
    std::string told;
};

void PrintTo(const wrong_url& one, std::ostream* out) {
    *out << one.url;
}

class WrongUrl : public ::testing::TestWithParam<wrong_url> {};

INSTANTIATE_TEST_SUITE_P(
    OfEachKind, WrongUrl,
    ::testing::Values(wrong_url{"gopher://hole", "there is no scheme \"gopher\"; redis://"},
                      wrong_url{"localhost", "does not begin with a scheme; redis://"},
                      wrong_url{"redis://127.0.0.1:99999", "must be a number from 1 to 65535"},
                      wrong_url{"redis://127.0.0.1?lease_tme=9s", "do you mean lease_time?"},
                      wrong_url{"redis://127.0.0.1?frob=9s",
                                "the allowed parameters are lease_time, "},
                      wrong_url{"zk://", "it names no host, as in zk://127.0.0.1:2181"},
                      wrong_url{"zk://zk1?rot=/a", "do you mean root?"},
                      wrong_url{"redis://127.0.0.1?lease_time=9", "has no unit"}));

TEST_P(WrongUrl, Is64AndWhereItStandsIsTold) {
    for (std::vector<std::string> verb : asking_verbs()) {
        SCOPED_TRACE(verb.front());
        const ended variable = run(verb, GetParam().url);
        EXPECT_EQ(variable.status, 64);
        EXPECT_EQ(variable.out, "");
        EXPECT_THAT(variable.err,
                    AllOf(StartsWith("holdfast: HOLDFAST_URL: "), HasSubstr(GetParam().told)));

        verb.insert(verb.begin() + 1, {"--url", GetParam().url});
        const ended option = run(verb, "redis://elsewhere");
        EXPECT_EQ(option.status, 64);
        EXPECT_THAT(option.err, StartsWith("holdfast: --url: "));
    }
}

TEST(NoServer, IsThereInMemory) {
    for (const std::vector<std::string>& verb : asking_verbs()) {
        SCOPED_TRACE(verb.front());
        const ended alone = run(verb, "memory:here");
        EXPECT_EQ(alone.status, 64);
        EXPECT_THAT(alone.err, HasSubstr("lives inside one process"));
    }
}

TEST(NoServer, IsToldAtOnceByEachVerb) {
    for (const std::vector<std::string>& verb : asking_verbs()) {
        SCOPED_TRACE(verb.front());
        const ended told = run(verb, "unix:///no/such/folder/socket?unavailable_timeout=1h");
        EXPECT_EQ(told.status, 69);
        const bool is_finding = verb.front() == "doctor";
        EXPECT_THAT(is_finding ? told.out : told.err, HasSubstr("No such file or directory"));
        EXPECT_THAT(told.err, StartsWith(is_finding ? "" : "holdfast: cannot reach unix:///no/"));
    }
}

TEST(NoServer, IsWaitedForVisiblyOnATerminal) {
    const std::string nobody = "HOLDFAST_URL=redis+sentinel://127.0.0.1:1/service";
    for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{
             {"ls"}, {"inspect", "job"}, {"wait", "job"}, {"latch", "set", "gate", "1"}}) {
        std::vector<std::string> words{program_path()};
        words.insert(words.end(), verb.begin(), verb.end());
        terminal_session terminal{words, {nobody, "TERM=xterm"}};
        terminal.expect("waiting for the server, ");
    }
    terminal_session terminal{{program_path(), "run", "job", "true"}, {nobody, "TERM=xterm"}};
    terminal.expect("waiting for lock 'job', ");
    EXPECT_THAT(terminal.expect("\x1b[K"), Not(HasSubstr(";"))) << "before the server was asked";
}

TEST(NoServer, IsNoOutputForProgramsButADoctors) {
    for (const std::vector<std::string>& verb : asking_verbs_in_json()) {
        SCOPED_TRACE(verb.front());
        const ended told = run(verb, "unix:///no/such/folder/socket");
        EXPECT_EQ(told.status, 69);
        EXPECT_THAT(told.out, StartsWith(verb.front() == "doctor" ? "{\"worst\":\"danger\"" : ""));
        EXPECT_EQ(told.out.empty(), verb.front() != "doctor");
    }
}

class EveryVerb : public on_server {
protected:
    std::string url_of(const std::string& user) {
        const std::string plain = url();
        const std::size_t authority = plain.find("://") + 3;
        return plain.substr(0, authority) + user + "@" + plain.substr(authority);
    }

    void is_refused_with(const std::string& user, const std::string& words) {
        for (const std::vector<std::string>& verb : asking_verbs()) {
            SCOPED_TRACE(verb.front());
            const ended refused = run(verb, url_of(user));
            EXPECT_EQ(refused.status, 69);
            EXPECT_THAT(refused.out + refused.err, AllOf(HasSubstr(words), Not(HasSubstr("hush"))));
        }
    }

    /// Its output goes where `redirection` says, and starts to when its stdin is closed.
    program::exactly started(const std::vector<std::string>& verb, const std::string& redirection) {
        std::vector<std::string> words{"sh", "-c", "read go; exec \"$0\" \"$@\" " + redirection,
                                       program_path()};
        words.insert(words.end(), verb.begin(), verb.end());
        return {std::move(words)};
    }
};
HOLDFAST_ON_EACH_SERVER(EveryVerb);

TEST_P(EveryVerb, TellsAWrongPasswordAndNotWhich) {
    server().command({"ACL", "SETUSER", "me", "on", ">right", "~*", "&*", "+@all"});
    is_refused_with("me:hush", "WRONGPASS");
}

TEST_P(EveryVerb, TellsTheRightThatIsMissing) {
    server().command({"ACL", "SETUSER", "weak", "on", ">hush", "~*", "&*", "+ping"});
    is_refused_with("weak:hush", "to be granted: +evalsha");
}

TEST_P(EveryVerb, EndsQuietlyWhenNobodyReads) {
    for (const std::vector<std::string>& verb : asking_verbs_in_json()) {
        SCOPED_TRACE(verb.front());
        program unread{started(verb, ""), url()};
        unread.close_stdout();
        unread.close_stdin();
        const ended quiet = unread.end();
        EXPECT_EQ(quiet.status, 128 + SIGPIPE);
        EXPECT_EQ(quiet.err, "");
    }
}

TEST_P(EveryVerb, SaysThatItsOutputCouldNotBeWritten) {
    std::vector<std::vector<std::string>> verbs = asking_verbs_in_json();
    verbs.insert(verbs.end(), {{"server", "status"}, {"--help"}, {"run", "--help"}, {"--version"}});
    for (const std::vector<std::string>& verb : verbs) {
        SCOPED_TRACE(verb.front());
        program full{started(verb, "> /dev/full"), url()};
        full.close_stdin();
        const ended stuck = full.end();
        EXPECT_EQ(stuck.status, 74);
        EXPECT_EQ(stuck.err, "holdfast: the output could not be written: is the disk full?\n");
    }
}

TEST_P(EveryVerb, TakesANameThatLooksLikeAnOptionBehindDashes) {
    server().command({"HSET", "--odd", "8743c9c0-0795-4907-87fd-6c719a6b4586:49", "1"});
    EXPECT_EQ(run({"ls", "-1", "--", "--o*"}, url()).out, "--odd\n");
    EXPECT_THAT(run({"inspect", "--", "--odd"}, url()).out, HasSubstr("name       --odd\n"));
    EXPECT_EQ(run({"wait", "-w", "0", "--", "--odd"}, url()).status, 1);
    EXPECT_EQ(run({"unlock", "--force", "-y", "--", "--odd"}, url()).status, 0);
    EXPECT_EQ(run({"wait", "-w", "0", "--", "--odd"}, url()).status, 0);
}

} // namespace
} // namespace holdfast::cli_test
