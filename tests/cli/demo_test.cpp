// SPDX-License-Identifier: Apache-2.0
#include "cli/server_test.hpp"
#include "support/lock_keys.hpp"

#include <algorithm>

namespace holdfast::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Demo : public on_server {};
HOLDFAST_ON_EACH_SERVER(Demo);

TEST_P(Demo, TellsItsStoryInAPipeAndLeavesNothingBehind) {
    const ended demo = run({"demo", "--url", url()});
    EXPECT_EQ(demo.status, 0) << demo.err;
    EXPECT_EQ(demo.err, "");
    EXPECT_THAT(demo.out, HasSubstr("updates were lost."));
    EXPECT_THAT(demo.out, HasSubstr("The number is 1000: no update was lost"));
    EXPECT_THAT(demo.out, HasSubstr("after the kill it was ours"));
    EXPECT_THAT(demo.out, HasSubstr("Try next"));
    EXPECT_THAT(demo.out, Not(HasSubstr("\x1b"))) << "no terminal, no cursor movement";

    std::istringstream lines{demo.out};
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), 80U) << line;
    EXPECT_THAT(support::lock_keys(server()), testing::IsEmpty());
}

} // namespace
} // namespace holdfast::cli_test
