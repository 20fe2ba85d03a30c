// SPDX-License-Identifier: Apache-2.0
// Server processes of the tests.
#include "support/server_process.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace holdfast::support {
namespace {

using ::testing::HasSubstr;

void start(server_process& one, const std::string& program, const std::string& script) {
    bool asked = false;
    one.start({program, "-c", script}, {}, [&asked] { return std::exchange(asked, true); });
}

TEST(ServerProcess, HasASessionOfItsOwnSoThatAPauseLasts) {
    // When the leader of a process group ends, the kernel continues the stopped processes of the
    // group. A paused server must not be in such a group.
    server_process one;
    start(one, "/bin/sh", "exec sleep 1000");
    EXPECT_EQ(getsid(one.pid()), one.pid());
}

TEST(ServerProcess, AProgramThatEndsAtOnceFailsTheTest) {
    server_process one;
    try {
        one.start({"/bin/sh", "-c", "echo no room; exit 3"}, {}, [] { return false; });
        FAIL() << "the program has ended";
    } catch (const server_unavailable& why) {
        FAIL() << "this would skip the test: " << why.what();
    } catch (const std::runtime_error& why) {
        EXPECT_THAT(why.what(), HasSubstr("does not start. It printed: no room"));
    }
}

TEST(ServerProcess, AProgramThatDoesNotExistSkipsTheTest) {
    server_process one;
    EXPECT_THROW(one.start({"/there/is/no/such/server"}, {}, [] { return false; }),
                 server_unavailable);
}

} // namespace
} // namespace holdfast::support
