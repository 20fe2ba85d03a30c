// SPDX-License-Identifier: Apache-2.0
#include "bench/figures/tally.hpp"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

std::string refusal(std::string_view line) try {
    read_tally(line);
    return "none";
} catch (const std::runtime_error& said) {
    return said.what();
}

TEST(Tally, IsReadFromALine) {
    const tally told = read_tally("3 100000000 144000 150000 9223372036854775807");
    EXPECT_EQ(told.done, 3);
    EXPECT_EQ(told.elapsed, 100ms);
    EXPECT_THAT(told.samples, ElementsAre(144us, 150us, nanoseconds::max()));
}

TEST(Tally, MayHaveDoneMoreThanItSampledOrNothing) {
    EXPECT_EQ(read_tally("1000 5 7").done, 1000);
    EXPECT_THAT(read_tally("0 5").samples, IsEmpty());
}

TEST(Tally, IsReadAsItWasWritten) {
    const tally told = read_tally(line_of({.done = 2, .elapsed = 1s, .samples = {3us, 4us}}));
    EXPECT_EQ(told.done, 2);
    EXPECT_EQ(told.elapsed, 1s);
    EXPECT_THAT(told.samples, ElementsAre(3us, 4us));
    EXPECT_EQ(line_of({}), "0 0");
    EXPECT_EQ(refusal(line_of_failure("two\nlines")), "two lines");
}

TEST(Tally, OfAFailureThrowsItsWords) {
    EXPECT_EQ(refusal("failed java.lang.IllegalMonitorStateException: not ours"),
              "java.lang.IllegalMonitorStateException: not ours");
}

TEST(Tally, IsNotReadFromAnythingElse) {
    for (const char* line : {"", " ", "1", "1 ", "1  2", "1 2 ", " 1 2", "1 2 x", "1 -2", "1 2.5",
                             "1 2\t3", "1 99999999999999999999", "failed", "ready"})
        EXPECT_EQ(refusal(line), "this is no answer: " + std::string{line});
}

TEST(Tally, ThatIsRefusedIsNotRepeatedAtLength) {
    EXPECT_LT(refusal(std::string(100'000, 'x')).size(), 300);
}

} // namespace
} // namespace holdfast::bench
