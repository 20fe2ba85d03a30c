// SPDX-License-Identifier: Apache-2.0
// `holdfast top`, on a terminal and without one, and the times that `ls` and `inspect` print.
#include "cli/server_test.hpp"
#include "cli/terminal_session.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/json.hpp>

#include <sstream>
#include <thread>

namespace holdfast::cli_test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

TEST_P(Top, JsonIsOneLinePerSecondUntilTheCount) {
    const ended lines = run({"top", "--json", "--count", "2"}, url());
    EXPECT_EQ(std::ranges::count(lines.out, '\n'), 2);
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

TEST_P(Top, OnATerminalKeysSortFilterOpenPauseAndQuit) {
    client home = connect();
    mutex job{home, name}, desk{home, "desk"};
    const std::scoped_lock held{job, desk};
    await_locks(2);
    terminal_session terminal{{"sh", "-c", program_path() + " top; echo status $?."},
                              {"HOLDFAST_URL=" + url(), "TERM=xterm"}};
    terminal.expect("\x1b[?1049h");
    terminal.expect("2 locks on ");
    terminal.expect("sorted by wait");
    terminal.expect("/s"); // requests each second
    terminal.expect("NAME");
    terminal.type("s");
    terminal.expect("sorted by held");
    terminal.type("s");
    terminal.expect("sorted by name");
    terminal.type("/de\n");
    terminal.expect("1 lock on ");
    terminal.expect("/de");
    terminal.expect("desk");
    terminal.type("\n");
    terminal.expect("owner      ");
    terminal.expect("listening ");
    terminal.type("p");
    terminal.expect("paused");
    terminal.type("\x1b");
    terminal.expect("NAME");
    terminal.type("q");
    terminal.expect("\x1b[?1049l");
    terminal.expect("status 0.");
}

TEST_P(Top, TheTerminalIsRestoredAfterCtrlCAndATermination) {
    for (const bool by_signal : {false, true}) {
        terminal_session terminal{
            {"sh", "-c", program_path() + " top; stty -a | tr -d '\\n'; echo ' over'"},
            {"HOLDFAST_URL=" + url(), "TERM=xterm"}};
        terminal.expect("0 locks on ");
        if (by_signal)
            terminal.type(ctrl_c);
        else
            terminal.type("/x" + ctrl_c);
        terminal.expect("\x1b[?1049l");
        EXPECT_THAT(terminal.expect(" over"), AllOf(HasSubstr(" icanon"), HasSubstr(" echo ")));
    }
}

TEST_P(Top, NamesCannotControlTheTerminal) {
    client home = connect();
    mutex odd{home, "evil\x1b[2Jname\u202e"};
    const std::scoped_lock held{odd};
    await_locks(1);
    EXPECT_THAT(run({"top"}, url()).out,
                AllOf(HasSubstr("evil"), Not(HasSubstr("\x1b")), Not(HasSubstr("\u202e"))));
}

} // namespace
} // namespace holdfast::cli_test
