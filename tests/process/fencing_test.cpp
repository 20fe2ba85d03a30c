// SPDX-License-Identifier: Apache-2.0
// Level C of docs/guarantees.md: a holder was stopped for longer than its lease and writes too
// late. The resource refuses the write because of its fencing token.
#include "process/with_server.hpp"

#include <holdfast/fenced_mutex.hpp>

#include <boost/asio/use_future.hpp>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace holdfast::process {
namespace {

namespace fs = std::filesystem;

/// As in docs/howto/fencing.md: the file has the greatest token that it has seen, and the text of
/// whoever had it.
class fenced_file {
public:
    explicit fenced_file(fs::path where)
        : where_{std::move(where)}
        , fd_{::open((where_.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)} {}
    fenced_file(const fenced_file&) = delete;
    ~fenced_file() { ::close(fd_); }

    bool write(std::uint64_t token, std::string_view text) {
        ::flock(fd_, LOCK_EX);
        const bool is_older = token < content().first;
        if (!is_older) {
            const fs::path next = where_.string() + ".next";
            std::ofstream{next} << token << ' ' << text << std::flush;
            fs::rename(next, where_);
        }
        ::flock(fd_, LOCK_UN);
        return !is_older;
    }

    std::pair<std::uint64_t, std::string> content() const {
        std::pair<std::uint64_t, std::string> found;
        std::ifstream{where_} >> found.first >> found.second;
        return found;
    }

private:
    const fs::path where_;
    const int fd_;
};

options short_leased(const std::vector<std::string>& arguments) {
    options how = quick(arguments.at(0));
    how.lease_time = 600ms;
    return how;
}

fencing numbers_of(const std::vector<std::string>& arguments) {
    return arguments.at(2) == "dated" ? fencing::dated : fencing::counted;
}

/// Tells its token, writes when it is told to, and never asks whether it still has the lock.
const named_story writes_late{
    "writes late", [](const auto& arguments) {
        client home{short_leased(arguments)};
        fenced_mutex stock{home, "stock", {.numbers = numbers_of(arguments)}};
        const lease held = soon(stock.async_lock(asio::use_future));
        std::cout << held.fencing_token() << std::endl;
        std::string line;
        std::getline(std::cin, line);
        fenced_file file{arguments.at(1)};
        const bool written = file.write(held.fencing_token(), "late");
        std::cout << (written ? "written" : "refused") << std::endl;
        std::getline(std::cin, line);
        return 0;
    }};

const named_story writes_now{
    "writes now", [](const auto& arguments) {
        client home{quick(arguments.at(0))};
        fenced_mutex stock{home, "stock", {.numbers = numbers_of(arguments)}};
        const std::scoped_lock held{stock};
        fenced_file file{arguments.at(1)};
        const bool written = file.write(stock.fencing_token(), "now");
        std::cout << (written ? "written" : "refused") << std::endl;
        return 0;
    }};

class Fencing : public with_server, public testing::WithParamInterface<const char*> {
protected:
    Fencing() { fs::create_directory(folder_); }
    ~Fencing() override { fs::remove_all(folder_); }

    child start(const char* story) {
        return child{story, {.arguments = {url(), file().string(), GetParam()}}};
    }
    fs::path file() const { return folder_ / "file"; }
    bool is_lost() {
        return eventually([&] { return is_free("stock"); });
    }

private:
    const fs::path folder_ =
        fs::temp_directory_path() / ("holdfast-fencing-" + std::to_string(::getpid()));
};
INSTANTIATE_TEST_SUITE_P(Numbers, Fencing, testing::Values("counted", "dated"),
                         [](const auto& one) { return std::string{one.param}; });

TEST_P(Fencing, AHolderThatWasStoppedBeyondItsLeaseIsRefused) {
    child older = start("writes late");
    const std::uint64_t token = std::stoull(older.next_line());
    older.signal(SIGSTOP);
    ASSERT_TRUE(is_lost());
    child newer = start("writes now");
    EXPECT_EQ(newer.next_line(), "written");
    EXPECT_EQ(newer.wait(), 0);
    older.say("write");
    older.signal(SIGCONT);
    EXPECT_EQ(older.next_line(), "refused");
    const auto [greatest, text] = fenced_file{file()}.content();
    EXPECT_GT(greatest, token);
    EXPECT_EQ(text, "now");
    older.say("enough");
    EXPECT_EQ(older.wait(), 0);
}

TEST_P(Fencing, AHolderThatIsLateButStillTheLastMayWrite) {
    child holder = start("writes late");
    const std::uint64_t token = std::stoull(holder.next_line());
    holder.signal(SIGSTOP);
    ASSERT_TRUE(is_lost());
    holder.say("write");
    holder.signal(SIGCONT);
    EXPECT_EQ(holder.next_line(), "written");
    EXPECT_EQ(fenced_file{file()}.content(), std::pair(token, std::string{"late"}));
    holder.say("enough");
    EXPECT_EQ(holder.wait(), 0);
}

TEST_P(Fencing, OneWhoHasTheLockWritesAsOftenAsItLikes) {
    child holder = start("writes late");
    const std::uint64_t token = std::stoull(holder.next_line());
    EXPECT_TRUE((fenced_file{file()}.write(token, "before")));
    holder.say("write");
    EXPECT_EQ(holder.next_line(), "written");
    holder.say("enough");
    EXPECT_EQ(holder.wait(), 0);
}

} // namespace
} // namespace holdfast::process
