// SPDX-License-Identifier: Apache-2.0
// `holdfast top`, on a terminal and without one, and the times that `ls` and `inspect` print.
#include "cli/server_test.hpp"
#include "cli/terminal_session.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/json.hpp>

#include <csignal>
#include <memory>
#include <regex>
#include <sstream>
#include <thread>

namespace holdfast::cli_test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Top : public on_server {
protected:
    boost::json::object told(std::vector<std::string> options = {}) {
        options.insert(options.begin(), {"top", "--json", "--count", "1"});
        const ended line = run(options, url());
        EXPECT_EQ(line.status, 0) << line.err;
        return boost::json::parse(line.out).as_object();
    }
    /// Waits until the lists of the clients have reached the server.
    void await_locks(std::size_t count) {
        ASSERT_TRUE(eventually([&] { return told().at("locks").as_array().size() == count; }));
    }
    client connect() { return client{url()}; }

    /// Writes locks and their holders' descriptions, as `count` / 100 clients do it. The last lock
    /// of each client has the oldest hold.
    void make_locks(int count) {
        const std::string script = R"(
            for c = 1, ARGV[1] / 100 do
                local uuid = string.format('8743c9c0-0795-8fd5-87fd-%012d', c)
                local holds = {}
                for i = 1, 100 do
                    local name = string.format('lock-%05d', (c - 1) * 100 + i)
                    redis.call('hset', name, uuid .. ':' .. i, 1)
                    redis.call('pexpire', name, 600000)
                    holds[i] = {name = name, kind = 'plain', owner = tostring(i), renewed = true,
                                since = ARGV[2] - i * 1000}
                end
                local card = {host = 'web' .. c, pid = c, program = 'shop', label = '', since = 0,
                              holds = holds, holds_total = 100}
                redis.call('set', 'holdfast_client:' .. uuid, cjson.encode(card))
                redis.call('zadd', 'holdfast_clients', 99999999999999, uuid)
            end
            return 'OK')";
        const std::string now = server().command({"TIME"}).items.at(0).text + "000";
        ASSERT_EQ(server().command({"EVAL", script, "0", std::to_string(count), now}).text, "OK");
    }
};
HOLDFAST_ON_EACH_SERVER(Top);

TEST_P(Top, PrintsNothingIfNoLockIsUsed) {
    const ended none = run({"top"}, url());
    EXPECT_EQ(none.status, 0);
    EXPECT_EQ(none.out, "");
    EXPECT_EQ(none.err, "");
}

TEST_P(Top, PrintsOneTableWithoutATerminal) {
    client home = connect();
    mutex job{home, name};
    const std::scoped_lock held{job};
    await_locks(1);
    const ended table = run({"top"}, url());
    EXPECT_EQ(table.status, 0);
    EXPECT_THAT(table.out, AllOf(HasSubstr("NAME"), HasSubstr("OLDEST"), HasSubstr("job   lock"),
                                 HasSubstr("cli_test")));
    EXPECT_EQ(run({"top", "desk"}, url()).out, "") << "no name contains this text";
}

TEST_P(Top, FilterAndOrderApplyBeforeTheLimit) {
    make_locks(300);
    const ended filtered = run({"top", "--limit", "10", "lock-00001"}, url());
    EXPECT_THAT(filtered.out, HasSubstr("lock-00001 "));
    EXPECT_EQ(filtered.err, "");
    const ended by_name = run({"top", "--limit", "10", "--sort", "name"}, url());
    EXPECT_THAT(by_name.out, AllOf(HasSubstr("lock-00001 "), HasSubstr("lock-00010 "),
                                   Not(HasSubstr("lock-00011"))));
    EXPECT_THAT(by_name.err, StartsWith("holdfast: the list is not complete: "));
    const ended by_hold = run({"top", "--limit", "10", "--sort", "held"}, url());
    EXPECT_THAT(by_hold.out, AllOf(HasSubstr("lock-00300 "), Not(HasSubstr("lock-00001 "))));
}

TEST_P(Top, JsonHasTheTimesOfHoldersAndWaiters) {
    client home = connect(), other = connect();
    mutex job{home, name}, waits{other, name};
    job.lock();
    std::thread waiter{[&] {
        if (waits.try_lock_for(1h))
            waits.unlock();
    }};
    boost::json::object line;
    EXPECT_TRUE(eventually([&] {
        line = told();
        const boost::json::array& locks = line.at("locks").as_array();
        return locks.size() == 1 && !locks[0].at("waiters").as_array().empty() &&
               !locks[0].at("owners").at(0).at("held_ms").is_null();
    })) << boost::json::serialize(line);
    const ended inspected = run({"inspect", name}, url());
    const ended listed = run({"ls"}, url());
    job.unlock();
    waiter.join();
    const boost::json::value& lock = line.at("locks").at(0);
    EXPECT_GE(lock.at("owners").at(0).at("held_ms").as_int64(), 1000);
    EXPECT_TRUE(lock.at("owners").at(0).at("held_since").is_string());
    EXPECT_GE(lock.at("waiters").at(0).at("waiting_ms").as_int64(), 1000);
    EXPECT_EQ(lock.at("waiters").at(0).at("wants").as_string(), "plain");
    EXPECT_FALSE(lock.at("waiters").at(0).at("registered").as_bool());
    EXPECT_GT(line.at("requests").as_int64(), 0);
    EXPECT_TRUE(line.at("complete").as_bool());
    EXPECT_THAT(inspected.out, AllOf(HasSubstr("has held it for "), HasSubstr("has waited for "),
                                     HasSubstr("kind       lock\n")));
    EXPECT_THAT(listed.out, AllOf(HasSubstr("HELD"), HasSubstr("WAITED")));
}

TEST_P(Top, IndexOfAnotherProgramIsNamedAndEndsWith69) {
    server().command({"SET", "holdfast_clients", "text"});
    const ended refused = run({"top"}, url());
    EXPECT_EQ(refused.status, 69);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("the key holdfast_clients has a value of another"),
                                   Not(HasSubstr("another name"))));
}

TEST_P(Top, JsonIsOneLinePerSecondUntilTheCount) {
    const ended lines = run({"top", "--json", "--count", "2"}, url());
    EXPECT_EQ(std::ranges::count(lines.out, '\n'), 2);
}

TEST_P(Top, JsonContinuesAfterASilenceOfTheServer) {
    program lines{{"top", "--json"}, url()};
    EXPECT_TRUE(boost::json::parse(lines.line()).at("failure").is_null());
    server().pause();
    boost::json::value silent;
    EXPECT_TRUE(eventually([&] {
        silent = boost::json::parse(lines.line());
        return silent.at("failure").is_string();
    }));
    server().resume();
    EXPECT_TRUE(silent.at("locks").as_array().empty());
    EXPECT_FALSE(silent.at("complete").as_bool());
    EXPECT_TRUE(
        eventually([&] { return boost::json::parse(lines.line()).at("failure").is_null(); }));
}

TEST_P(Top, PrefixOfTheUrlIsLeftOut) {
    options how{url() + (url().find('?') == std::string::npos ? "?" : "&") + "prefix=shop:"};
    client home{std::move(how)};
    mutex job{home, name};
    const std::scoped_lock held{job};
    await_locks(1);
    const std::string with_prefix =
        url() + (url().find('?') == std::string::npos ? "?" : "&") + "prefix=shop:";
    EXPECT_THAT(run({"top"}, with_prefix).out, AllOf(HasSubstr("job"), Not(HasSubstr("shop:"))));
    EXPECT_THAT(run({"top"}, url()).out, HasSubstr("shop:job"));
}

TEST_P(Top, TextMayContainWildcardsAndNeverMatchesAnEmptyName) {
    client home = connect();
    mutex job{home, name}, star{home, "a*b"}, prefix{home, "app:"};
    const std::scoped_lock held{job, star, prefix};
    await_locks(3);
    EXPECT_THAT(run({"top", "*"}, url()).out, AllOf(HasSubstr("a*b"), Not(HasSubstr("job"))));
    const std::string with_prefix =
        url() + (url().find('?') == std::string::npos ? "?" : "&") + "prefix=app:";
    EXPECT_EQ(run({"top"}, with_prefix).out, "") << "the name would be empty";
}

/// A frame is what `top` draws at a time: the text between these two sequences.
const std::string frame_begin = "\x1b[H", frame_end = "\x1b[m";

/// Returns the lines of a frame without the sequences that control the terminal.
std::vector<std::string> lines_of(const std::string& frame) {
    const std::string plain = std::regex_replace(frame, std::regex{"\x1b\\[[0-9?]*[a-zA-Z]"}, "");
    std::vector<std::string> lines;
    std::istringstream in{plain};
    for (std::string line; std::getline(in, line, '\n');) {
        line.erase(std::min(line.find('\r'), line.size())); // the terminal adds another one
        lines.push_back(line);
    }
    return lines;
}

class TopOnTerminal : public Top {
protected:
    std::unique_ptr<terminal_session> start(const std::string& options = {},
                                            terminal_size size = {}) {
        return std::make_unique<terminal_session>(
            std::vector<std::string>{"sh", "-c",
                                     program_path() + " top " + options +
                                         "; echo status $?.; stty -a | tr '\\n' ' '; echo ' over'"},
            std::vector<std::string>{"HOLDFAST_URL=" + url(), "TERM=xterm"}, size);
    }

    /// Waits for the next frame with the text. Returns the bytes of the frame.
    static std::string bytes_of_frame_with(terminal_session& terminal, const std::string& text) {
        const time_point give_up_at = boot_clock::now() + far_too_long;
        for (;;) {
            terminal.expect(frame_begin);
            std::string frame = terminal.expect(frame_end);
            if (frame.find(text) != frame.npos)
                return frame;
            if (boot_clock::now() > give_up_at)
                throw too_late{"no frame with '" + text + "', but: " + frame};
        }
    }

    /// Waits for the next frame with the text. Returns the lines of the frame.
    static std::vector<std::string> frame_with(terminal_session& terminal,
                                               const std::string& text) {
        return lines_of(bytes_of_frame_with(terminal, text));
    }

    static void expect_to_fit(const std::vector<std::string>& lines, terminal_size size) {
        EXPECT_LE(lines.size(), size.rows);
        for (const std::string& each : lines)
            EXPECT_LE(each.size(), size.columns) << each;
    }

    static void expect_restored(terminal_session& terminal) {
        terminal.expect("\x1b[?25h\x1b[?1049l");
        EXPECT_THAT(terminal.expect(" over"), AllOf(HasSubstr(" icanon"), HasSubstr(" echo "),
                                                    HasSubstr(" isig"), HasSubstr(" ixon")));
    }
};
HOLDFAST_ON_EACH_SERVER(TopOnTerminal);

TEST_P(TopOnTerminal, KeysSortFilterOpenPauseAndQuit) {
    client home = connect();
    mutex job{home, name}, desk{home, "desk"};
    const std::scoped_lock held{job, desk};
    await_locks(2);
    const auto terminal = start();
    terminal->expect("\x1b[?1049h");
    frame_with(*terminal, "2 locks, sorted by wait, 3 requests/s on ");
    terminal->type("s");
    frame_with(*terminal, "sorted by held");
    terminal->type("s");
    const auto by_name = frame_with(*terminal, "sorted by name");
    ASSERT_EQ(by_name.size(), 5u);
    EXPECT_THAT(by_name[2], AllOf(HasSubstr("NAME"), HasSubstr("TOKEN")));
    EXPECT_THAT(by_name[3], StartsWith("desk "));
    EXPECT_THAT(by_name[4], StartsWith("job "));
    terminal->type("\x1b[B"); // down
    frame_with(*terminal, "\x1b[7mjob ");
    terminal->type("/dek\x7fs");
    frame_with(*terminal, "/des_");
    terminal->type("\n");
    const auto filtered = frame_with(*terminal, "1 lock, ");
    EXPECT_THAT(filtered.back(), StartsWith("desk "));
    terminal->type("\n");
    const auto opened = frame_with(*terminal, "owner      ");
    expect_to_fit(opened, {});
    EXPECT_THAT(testing::PrintToString(opened),
                AllOf(HasSubstr("name       desk"),
                      ContainsRegex("has[^a-z]+held[^a-z]+it[^a-z]+for"), HasSubstr("listening ")));
    terminal->type("p");
    frame_with(*terminal, "paused");
    terminal->type("\x1b");
    frame_with(*terminal, "NAME");
    terminal->type("q");
    terminal->expect("status 0.");
    EXPECT_EQ(terminal->end(), 0);
}

TEST_P(TopOnTerminal, PausedTableIsKeptAlthoughALockIsOpenedAndLeft) {
    client home = connect();
    mutex job{home, name}, desk{home, "desk"};
    const std::scoped_lock held{job};
    await_locks(1);
    const auto terminal = start();
    frame_with(*terminal, "1 lock, ");
    terminal->type("p");
    frame_with(*terminal, "paused");
    const std::scoped_lock later{desk};
    await_locks(2);
    terminal->type("\n\x1b"); // opens and leaves the lock before the server has answered
    for (const std::string by : {"held", "name", "wait"}) {
        (void)told(); // the server answers this request after the requests before it
        terminal->type("s");
        const auto paused = frame_with(*terminal, "sorted by " + by);
        EXPECT_THAT(paused[0], StartsWith("holdfast top: 1 lock, "));
        EXPECT_THAT(paused.back(), StartsWith("job "));
    }
    terminal->type("p");
    frame_with(*terminal, "2 locks, ");
    terminal->type("q");
    terminal->expect("status 0.");
}

TEST_P(TopOnTerminal, TerminalWithoutATypeGetsTheTableOnce) {
    client home = connect();
    mutex job{home, name};
    const std::scoped_lock held{job};
    await_locks(1);
    for (const char* const type : {"TERM=", "TERM=dumb"}) {
        terminal_session terminal{{program_path(), "top"}, {"HOLDFAST_URL=" + url(), type}};
        EXPECT_THAT(terminal.expect("job "), Not(HasSubstr("\x1b"))) << type;
        EXPECT_EQ(terminal.end(), 0) << type;
    }
}

TEST_P(TopOnTerminal, IsRestoredHoweverTheProgramEnds) {
    using namespace std::string_literals;
    for (const std::string& keys : {"q"s, ctrl_c, "/x" + ctrl_c, "\x1b[5~\x1bOAq"s}) {
        const auto terminal = start();
        frame_with(*terminal, "0 locks, ");
        terminal->type(keys);
        expect_restored(*terminal);
    }
    for (const int number : {SIGTERM, SIGHUP, SIGINT}) {
        // The shell prints the id of the process that becomes the program.
        const auto terminal = std::make_unique<terminal_session>(
            std::vector<std::string>{"sh", "-c",
                                     "sh -c 'echo id $$.; exec " + program_path() +
                                         " top'; echo status $?.; stty -a | tr '\\n' ' '; "
                                         "echo ' over'"},
            std::vector<std::string>{"HOLDFAST_URL=" + url(), "TERM=xterm"});
        terminal->expect("id ");
        const auto id = static_cast<pid_t>(std::stol(terminal->expect(".")));
        frame_with(*terminal, "0 locks, ");
        ASSERT_EQ(::kill(id, number), 0);
        terminal->expect("\x1b[?1049l");
        if (number == SIGINT)
            continue; // the shell ends, too
        terminal->expect("status " + std::to_string(128 + number) + ".");
        EXPECT_THAT(terminal->expect(" over"), AllOf(HasSubstr(" icanon"), HasSubstr(" echo ")));
    }
}

TEST_P(TopOnTerminal, IsRestoredAtAStopAndShownAgainAfterIt) {
    const std::string prompt = "ready> ";
    terminal_session shell{{"bash", "--norc", "--noprofile", "--noediting", "-i"},
                           {"HOLDFAST_URL=" + url(), "PS1=" + prompt, "TERM=xterm",
                            "h=" + program_path(), "HISTFILE="}};
    shell.expect(prompt);
    shell.type("$h top\n");
    frame_with(shell, "0 locks, ");
    const pid_t top = shell.foreground();
    const auto continue_it = [&] {
        shell.type("fg\n");
        shell.expect("\x1b[?1049h");
        frame_with(shell, "0 locks, ");
        shell.type("s"); // the key needs no Enter
        frame_with(shell, "sorted by held");
        shell.type("ss");
        frame_with(shell, "sorted by wait");
    };
    for (const bool by_key : {true, false}) {
        if (by_key)
            shell.type(ctrl_z);
        else
            ASSERT_EQ(::kill(top, SIGTSTP), 0);
        shell.expect("\x1b[?25h\x1b[?1049l");
        shell.expect("Stopped");
        shell.expect(prompt);
        shell.type("stty -a | tr '\\n' ' '; echo 'ov''er'\n");
        EXPECT_THAT(shell.expect("over"), AllOf(HasSubstr(" icanon"), HasSubstr(" echo ")));
        shell.expect(prompt);
        continue_it();
    }
    ASSERT_EQ(::kill(top, SIGSTOP), 0);
    shell.expect("Stopped");
    shell.expect(prompt);
    continue_it();
    shell.type("q");
    shell.expect("\x1b[?25h\x1b[?1049l");
    shell.expect(prompt);
    shell.type("stty -a | tr '\\n' ' '; echo 'ov''er'\n");
    EXPECT_THAT(shell.expect("over"), AllOf(HasSubstr(" icanon"), HasSubstr(" echo ")));
}

TEST_P(TopOnTerminal, LastColumnOfAFullLineIsNotErased) {
    make_locks(100);
    const terminal_size size{40, 12};
    const auto terminal = start("", size);
    std::istringstream frame{bytes_of_frame_with(*terminal, "100 locks")};
    bool any_full = false;
    for (std::string line; std::getline(frame, line);) {
        const std::size_t erased = line.rfind("\x1b[K");
        ASSERT_NE(erased, line.npos);
        EXPECT_THAT(lines_of(line.substr(0, erased)), Each(IsEmpty()))
            << "text before it is erased";
        any_full |= lines_of(line)[0].size() == size.columns;
    }
    EXPECT_TRUE(any_full);
    terminal->type("q");
    terminal->expect("status 0.");
}

TEST_P(TopOnTerminal, EndsAlthoughTheTerminalTakesNoOutput) {
    make_locks(300);
    const auto start_large = [&] {
        return std::make_unique<terminal_session>(
            std::vector<std::string>{"sh", "-c",
                                     "sh -c 'echo id $$.; exec " + program_path() +
                                         " top --limit 1000'; echo status $?."},
            std::vector<std::string>{"HOLDFAST_URL=" + url(), "TERM=xterm"},
            terminal_size{500, 200});
    };
    for (const int number : {SIGTERM, SIGHUP, 0}) {
        const auto terminal = start_large();
        terminal->expect("id ");
        const auto id = static_cast<pid_t>(std::stol(terminal->expect(".")));
        // Each key draws a frame of 100 kB, and nobody reads it.
        terminal->type("ssssss");
        EXPECT_TRUE(eventually([&] { return terminal->is_full(); }));
        if (number == 0)
            terminal->type("q");
        else
            ASSERT_EQ(::kill(id, number), 0);
        EXPECT_TRUE(eventually([&] { return ::kill(id, 0) != 0; }));
        terminal->expect("status " + std::to_string(number == 0 ? 0 : 128 + number) + ".");
    }
}

TEST_P(TopOnTerminal, FitsEachSizeAndFollowsAChange) {
    make_locks(300);
    const terminal_size small{80, 24}, large{200, 60}, tiny{20, 2};
    const auto terminal = start("--limit 1000", small);
    auto lines = frame_with(*terminal, "300 locks");
    expect_to_fit(lines, small);
    EXPECT_EQ(lines.size(), 24u);
    EXPECT_THAT(lines[2], HasSubstr("TOKEN"));
    terminal->type("p"); // only a change of the size draws now
    frame_with(*terminal, "paused");
    terminal->resize(large);
    do
        lines = frame_with(*terminal, "300 locks");
    while (lines.size() == 24);
    expect_to_fit(lines, large);
    EXPECT_EQ(lines.size(), 60u);
    terminal->resize(tiny);
    do
        lines = frame_with(*terminal, "holdfast");
    while (lines.size() == 60);
    expect_to_fit(lines, tiny);
    terminal->type("q");
    terminal->expect("status 0.");
}

TEST_P(TopOnTerminal, KeysWorkAtOnceIfALockHasManyWaiters) {
    const std::string script = R"(
        redis.call('hset', 'job', '8743c9c0-0795-8fd5-87fd-000000000000:1', 1)
        for c = 1, 200 do
            local uuid = string.format('8743c9c0-0795-8fd5-87fd-%012d', c)
            local waits = {}
            for i = 1, 100 do
                waits[i] = {name = 'job', kind = 'plain', since = ARGV[1] - i * 1000}
            end
            local card = {host = 'web' .. c, pid = c, program = 'shop', label = '', since = 0,
                          waits = waits, waits_total = 100}
            redis.call('set', 'holdfast_client:' .. uuid, cjson.encode(card))
            redis.call('zadd', 'holdfast_clients', 99999999999999, uuid)
        end
        return 'OK')";
    const std::string now = server().command({"TIME"}).items.at(0).text + "000";
    ASSERT_EQ(server().command({"EVAL", script, "0", now}).text, "OK");
    const auto repeated = [](const std::string& key) {
        std::string keys;
        for (int i = 0; i < 200; ++i)
            keys += key;
        return keys;
    };
    const auto terminal = start();
    frame_with(*terminal, "1 lock, ");
    const time_point before = boot_clock::now();
    terminal->type(repeated("\x1b[B") + "\n");
    frame_with(*terminal, "held by ");
    terminal->type(repeated("\x1b[6~")); // page down
    frame_with(*terminal, "19900 more");
    terminal->type("q");
    terminal->expect("status 0.");
    EXPECT_LT(boot_clock::now() - before, 10s);
}

TEST_P(TopOnTerminal, WideCharactersAreShownInAWindowOfTwoColumns) {
    client home = connect();
    mutex wide{home, "漢字漢字漢字"};
    const std::scoped_lock held{wide};
    await_locks(1);
    for (const unsigned short columns : {2, 3, 4}) {
        const auto terminal = start("", {columns, 10});
        frame_with(*terminal, "");
        terminal->type("\n");
        frame_with(*terminal, "漢");
        terminal->type("q");
        terminal->expect("status 0.");
    }
}

TEST_P(TopOnTerminal, ShowsAndScrollsTenThousandLocks) {
    make_locks(10'000);
    const auto terminal = start("--limit 20000 --sort name");
    auto lines = frame_with(*terminal, "10000 locks, ");
    expect_to_fit(lines, {});
    EXPECT_THAT(lines[3], StartsWith("lock-00001 "));
    terminal->type("\x1b[6~"); // page down
    frame_with(*terminal, "\x1b[7mlock-00022 ");
    terminal->type("\x1b[5~");
    frame_with(*terminal, "\x1b[7mlock-00001 ");
    terminal->type("/09999\n");
    lines = frame_with(*terminal, "1 lock, ");
    EXPECT_THAT(lines.back(), StartsWith("lock-09999 "));
    terminal->type("\n");
    frame_with(*terminal, "shop, process 100 on web100");
    terminal->type("q");
    terminal->expect("status 0.");
}

TEST_P(TopOnTerminal, NamesCannotControlTheTerminal) {
    client home = connect();
    const std::string evil = "evil\x1b[2J\r\n\x9b"
                             "2Jname\u202e\u2066\x7f";
    mutex odd{home, evil};
    const std::scoped_lock held{odd};
    await_locks(1);
    const auto harmless =
        AllOf(HasSubstr("evil?[2J"), Not(HasSubstr("\x1b[2J")), Not(HasSubstr("\x9b")),
              Not(HasSubstr("\u202e")), Not(HasSubstr("\u2066")), Not(HasSubstr("\x7f")));
    const auto terminal = start();
    frame_with(*terminal, "1 lock, ");
    terminal->expect(frame_begin);
    EXPECT_THAT(terminal->expect(frame_end), harmless);
    terminal->type("\n");
    terminal->expect("name       ");
    EXPECT_THAT("name" + terminal->expect(frame_end), harmless);
    terminal->type("q");
    terminal->expect("status 0.");
    EXPECT_THAT(run({"top"}, url()).out, AllOf(harmless, Not(HasSubstr("\x1b"))));
}

TEST_P(TopOnTerminal, AServerThatGoesAwayAndComesBackIsReported) {
    const auto terminal = start();
    frame_with(*terminal, "0 locks, ");
    server().stop();
    frame_with(*terminal, "no reply for ");
    terminal->type("s"); // keys work meanwhile
    frame_with(*terminal, "sorted by held");
    server().restart();
    frame_with(*terminal, "s sort, / filter");
    make_locks(100);
    frame_with(*terminal, "100 locks, ");
    terminal->type("q");
    terminal->expect("status 0.");
}

TEST_P(TopOnTerminal, QuitsAlthoughTheServerHangs) {
    const auto terminal = start();
    frame_with(*terminal, "0 locks, ");
    server().pause();
    frame_with(*terminal, "no reply for ");
    const time_point before = boot_clock::now();
    terminal->type("q");
    expect_restored(*terminal);
    EXPECT_LT(boot_clock::now() - before, 5s);
    server().resume();
}

} // namespace
} // namespace holdfast::cli_test
