// SPDX-License-Identifier: Apache-2.0
// A program that is started by one that holds locks inherits nothing of ours: else a connection
// would stay open, and the server would think us alive, as long as that program runs.
#include "process/belongings.hpp"

#include <filesystem>
#include <iostream>

namespace holdfast::process {
namespace {

namespace fs = std::filesystem;

/// What this process has open, each with its kind; but for standard input, output and error.
const named_story tells_what_it_has{
    "tells what it has", [](const auto&) {
        for (const fs::directory_entry& each : fs::directory_iterator{"/proc/self/fd"})
            if (std::stoi(each.path().filename()) > 2 && fs::is_symlink(each)) {
                const std::string kind = fs::read_symlink(each);
                if (!kind.starts_with("/proc/")) // the folder that is being read
                    std::cout << each.path().filename().string() + " " + kind + "\n";
            }
        std::cout << "that is all" << std::endl;
        return 0;
    }};

class Exec : public with_server, public testing::WithParamInterface<child::start> {
protected:
    Exec()
        : with_server{{.tcp = true}} {}

    static std::vector<std::string> inherited() {
        child started{"tells what it has", {.how = GetParam()}};
        std::vector<std::string> all;
        for (std::string line = started.next_line(); line != "that is all";
             line = started.next_line())
            all.push_back(line);
        EXPECT_EQ(started.wait(), 0);
        return all;
    }

    /// With a mouth, an ear and a timer at work.
    void expect_nothing_inherited(const std::string& url) {
        const std::vector<std::string> before = inherited();
        belongings my{quick(url)};
        client rival{quick(url)};
        mutex same{rival, "stock"};
        std::future<lease> waiting = same.async_lock(asio::use_future);
        EXPECT_TRUE(eventually([&] { return is_waited_for("stock"); }));
        EXPECT_EQ(inherited(), before);
        my.held.unlock();
        EXPECT_TRUE(soon(std::move(waiting)).owns_lock()) << "starting it did harm";
        my.shelf.unlock();
    }
};

TEST_P(Exec, InheritsNothingOnAUnixSocket) {
    expect_nothing_inherited("unix://" + server().socket_path());
}

TEST_P(Exec, InheritsNothingOnTcp) {
    expect_nothing_inherited(url());
}

TEST_P(Exec, InheritsNothingWhereANameIsLookedUp) {
    expect_nothing_inherited("redis://localhost:" + std::to_string(server().port()));
}

std::string name_of(const testing::TestParamInfo<child::start>& tested) {
    switch (tested.param) {
    case child::start::posix_spawn:
        return "posix_spawn";
    case child::start::fork:
        return "fork";
    case child::start::vfork:
        break;
    }
    return "vfork";
}

INSTANTIATE_TEST_SUITE_P(By, Exec,
                         testing::Values(child::start::posix_spawn, child::start::fork,
                                         child::start::vfork),
                         name_of);

} // namespace
} // namespace holdfast::process
