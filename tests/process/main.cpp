// SPDX-License-Identifier: Apache-2.0
// Runs the tests, or one story of a child process.
#include "process/with_server.hpp"

#include <gmock/gmock.h>

#ifdef __SANITIZE_THREAD__
// A forked child may start threads: that is what some of these tests are about.
extern "C" const char* __tsan_default_options() {
    return "die_after_fork=0";
}
#endif

int main(int argc, char** argv) {
    if (int exit_status = 0; holdfast::process::plays_a_story(argc, argv, exit_status))
        return exit_status;
    testing::InitGoogleMock(&argc, argv);
    return RUN_ALL_TESTS();
}
