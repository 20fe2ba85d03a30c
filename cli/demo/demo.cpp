// SPDX-License-Identifier: Apache-2.0
// The three scenes of the demo: lost additions without a lock, the same work with a lock, and the
// death of a lock holder.
#include "cli/demo/demo_counting.hpp"
#include "cli/demo/demo_killing.hpp"
#include "cli/demo/demo_screen.hpp"
#include "cli/exit_status.hpp"
#include "cli/look/lock_words.hpp"
#include "cli/look/measurement.hpp"
#include "cli/look/reaching.hpp"
#include "cli/run/inheritance.hpp"
#include "cli/server/chosen_server.hpp"
#include "cli/terminal/last_words.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/say.hpp"
#include "cli/verbs.hpp"

#include <holdfast/client.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>

namespace cli {
namespace {

using holdfast::boot_clock;

constexpr std::string_view demo_help =
    R"(Shows what a lock is for, in three acts of a few seconds each. First, four
processes overwrite each other's updates. Then the same four processes use a
lock. At last, a process waits for a lock whose holder is killed.

Usage: holdfast demo [OPTIONS]

      --url URL        the server, as for 'holdfast run'
  -h, --help           print this text

The demo uses one lock with a name of its own, and leaves nothing behind.

Exit status:
    0   success
    1   the count with the lock was wrong
   64   the command line or a variable is wrong
   69   the server cannot be reached, or refuses
)";

/// Returns a lock name that no other run uses. Takes and releases this lock once, to check that the
/// server grants locks.
std::string try_server(const std::string& url) {
    holdfast::client home{reaching(url)};
    std::string name = "holdfast-demo:" + home.id().substr(0, 8);
    try_out(home, name);
    return name;
}

void act_one(demo_screen& screen, const inheritance& inherited) {
    std::cout << "\n1. Without a lock\n" << std::flush;
    const counting how;
    const counted got = count_with_processes(screen, how, inherited);
    const long lost = how.workers * how.adds_each - got.number;
    std::cout << "   The number is " << got.number << ": " << lost << " updates were lost.\n";
}

/// Runs the second scene. Returns false if the result was wrong.
bool act_two(demo_screen& screen, const inheritance& inherited, const std::string& url,
             const std::string& lock) {
    std::cout << "\n2. With a lock: " << lock << "\n   on " << printable(without_password(url), 70)
              << '\n'
              << std::flush;
    const counting how{.lock = lock};
    const auto start = boot_clock::now();
    const counted got = count_with_processes(screen, how, inherited);
    const long lost = how.workers * how.adds_each - got.number;
    if (!got.all_finished || lost != 0) {
        std::cout << "   The number is " << got.number << ". That is wrong.\n" << std::flush;
        return false;
    }
    std::cout << "   The number is " << got.number << ": no update was lost ("
              << in_words(boot_clock::now() - start) << ").\n";
    return true;
}

bool act_three(demo_screen& screen, const inheritance& inherited, const std::string& url,
               const std::string& lock) {
    std::cout << "\n3. A holder is killed\n" << std::flush;
    const auto wait = wait_behind_killed_holder(screen, url, lock, inherited);
    if (!wait) {
        std::cout << "   The lock was ours while its holder still lived. That is wrong.\n";
        return false;
    }
    std::cout << "   Nobody released the lock, and " << in_words(*wait)
              << " after the kill it was ours:\n   its lease had ended.\n";
    return true;
}

/// Returns the command that starts this program from the current directory.
std::string our_name() {
    namespace fs = std::filesystem;
    std::error_code unknown;
    const fs::path here = fs::read_symlink("/proc/self/exe", unknown);
    const fs::path installed = here.parent_path();
    const bool in_path = installed == "/usr/bin" || installed == "/usr/local/bin";
    if (in_path || unknown)
        return "holdfast";
    const std::string from_here = fs::proximate(here, unknown).string();
    return unknown || from_here.starts_with("..") ? here.string() : from_here;
}

void print_next_steps() {
    const std::string name = our_name();
    std::cout << "\nTry next\n   " << name
              << " run job -- sleep 20\n      a lock, held by a command\n   " << name
              << " run -n job -- echo mine\n      in another terminal: it is busy\n"
              << "   export HOLDFAST_URL=redis://HOST:PORT\n"
                 "      the same on your own server, for many machines\n"
                 "   examples/01_first_lock.cpp\n      a lock in C++, in 20 lines\n"
                 "   README.md\n      what it guarantees, and what not\n"
              << std::flush;
}

int play(const inheritance& inherited, const std::string& url) {
    const std::string lock = try_server(url);
    ::setenv("HOLDFAST_URL", url.c_str(), 1); // for the workers
    std::cout << "Four processes each add 1 to the same number in a file, 250 times:\n"
                 "read it, work for 2 ms, write it back. It should end at 1000.\n";
    demo_screen screen;
    act_one(screen, inherited);
    if (!act_two(screen, inherited, url, lock) || !act_three(screen, inherited, url, lock))
        return wrong_result;
    print_next_steps();
    return success;
}

} // namespace

int demo(const inheritance& inherited, arguments all) {
    std::optional<std::string> given_url;
    CLI::App expected{"", "demo"};
    expected.add_option("--url", given_url);
    if (!parse(expected, std::move(all), demo_help))
        return success;
    reject_surplus(expected);
    const std::string url = server_url(given_url);
    end_with_reader(inherited); // a pipe's reader, such as `head`, may close the pipe early
    try {
        return play(inherited, url);
    } catch (const boost::system::system_error& failure) {
        return last_words{}.report(failure, url);
    }
}

} // namespace cli
