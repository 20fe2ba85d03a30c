// SPDX-License-Identifier: Apache-2.0
// The main job: never two commands at once.
#include "cli/server_test.hpp"

#include <filesystem>
#include <fstream>
#include <memory>

namespace holdfast::cli_test {
namespace {

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
    program holder{until_closed({"--lease", "1s"}), url()};
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
    EXPECT_EQ(listener.next_message(duration{5'000}).value().items.at(2).text, "end");
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

} // namespace
} // namespace holdfast::cli_test
