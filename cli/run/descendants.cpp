// SPDX-License-Identifier: Apache-2.0
#include "cli/run/descendants.hpp"

#include <holdfast/time.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/prctl.h>
#include <sys/wait.h>

namespace cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// False: there was none.
bool kill_children() {
    bool found = false;
    std::error_code gone;
    for (const fs::directory_entry& thread : fs::directory_iterator{"/proc/self/task", gone}) {
        std::ifstream children{thread.path() / "children"};
        for (pid_t each = 0; children >> each; found = true)
            ::kill(each, SIGKILL);
    }
    return found;
}

} // namespace

void adopt_descendants() noexcept {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void bury_adopted(pid_t command) noexcept {
    siginfo_t ended{};
    while (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0 &&
           ended.si_pid != command) {
        ::waitpid(ended.si_pid, nullptr, WNOHANG);
        ended = {};
    }
}

void kill_descendants() {
    const auto give_up_at = holdfast::boot_clock::now() + 1s;
    // With each one that dies, its children become ours.
    while (kill_children() && holdfast::boot_clock::now() < give_up_at) {
        std::this_thread::sleep_for(1ms);
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
    }
}

} // namespace cli
