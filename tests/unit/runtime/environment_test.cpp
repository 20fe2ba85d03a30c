// SPDX-License-Identifier: Apache-2.0
#include "runtime/environment.hpp"

#include <holdfast/credentials.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast {
namespace {

class Environment : public ::testing::Test {
protected:
    Environment() { clear(); }
    ~Environment() override { clear(); }
    static void clear() {
        ::unsetenv("HOLDFAST_USERNAME");
        ::unsetenv("HOLDFAST_PASSWORD");
    }
};

TEST_F(Environment, WithoutEitherVariableThereIsNoProvider) {
    EXPECT_FALSE(credentials_from_environment());
}

TEST_F(Environment, OneOfThemIsEnough) {
    ::setenv("HOLDFAST_PASSWORD", "hunter2", 1);
    EXPECT_EQ(credentials_from_environment()().password.reveal(), "hunter2");
    EXPECT_EQ(credentials_from_environment()().user, "");
    clear();
    ::setenv("HOLDFAST_USERNAME", "me", 1);
    EXPECT_EQ(credentials_from_environment()().user, "me");
    EXPECT_TRUE(credentials_from_environment()().password.empty());
}

TEST_F(Environment, IsReadOnceAndNotAtEachConnection) {
    ::setenv("HOLDFAST_PASSWORD", "hunter2", 1);
    const credential_provider provider = credentials_from_environment();
    clear();
    EXPECT_EQ(provider().password.reveal(), "hunter2");
    EXPECT_EQ(provider().password.reveal(), "hunter2");
}

} // namespace
} // namespace holdfast

namespace holdfast::runtime {
namespace {

TEST(Random, EveryBitIsSetAboutHalfTheTime) {
    const auto random = system_random();
    std::array<int, 64> ones{};
    constexpr int draws = 4'000;
    for (int i = 0; i < draws; ++i) {
        const std::uint64_t drawn = random();
        for (unsigned bit = 0; bit < ones.size(); ++bit)
            ones[bit] += int(drawn >> bit & 1);
    }
    for (const int count : ones) // ten standard deviations
        EXPECT_NEAR(count, draws / 2, 320);
}

TEST(Random, ThreadsDrawDifferentNumbers) {
    const auto random = system_random();
    std::vector<std::vector<std::uint64_t>> drawn(4);
    {
        std::vector<std::jthread> threads;
        for (auto& own : drawn)
            threads.emplace_back([&] { std::generate_n(std::back_inserter(own), 1'000, random); });
    }
    std::set<std::uint64_t> all;
    for (const auto& own : drawn)
        all.insert(own.begin(), own.end());
    EXPECT_EQ(all.size(), 4'000u);
}

TEST(Random, AForkedChildDrawsItsOwnNumbers) {
    const auto random = system_random();
    (void)random(); // seeded before the fork
    std::array<int, 2> pipe_ends{};
    ASSERT_EQ(::pipe(pipe_ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const std::uint64_t of_child = random();
        ::_exit(::write(pipe_ends[1], &of_child, sizeof of_child) == sizeof of_child ? 0 : 1);
    }
    const std::uint64_t of_parent = random();
    std::uint64_t of_child = 0;
    EXPECT_EQ(::read(pipe_ends[0], &of_child, sizeof of_child), ssize_t{sizeof of_child});
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_NE(of_child, of_parent);
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
}

} // namespace
} // namespace holdfast::runtime
