// SPDX-License-Identifier: Apache-2.0
// Processes that the demo starts. They read the URL of the server from HOLDFAST_URL, because other
// users could see a password on a command line. A worker's stdin is the file with the number. A
// worker writes one byte to stdout for each addition. A holder writes one byte to stdout when it
// has the lock.
#include "cli/exit_status.hpp"
#include "cli/look/reaching.hpp"
#include "cli/server/chosen_server.hpp"
#include "cli/terminal/last_words.hpp"
#include "cli/terminal/say.hpp"
#include "cli/verbs.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <unistd.h>

namespace cli {
namespace {

using namespace std::chrono_literals;

void report_one() {
    if (::write(STDOUT_FILENO, ".", 1) != 1)
        std::exit(internal_error); // the demo process has ended
}

/// Adds one to the number in the file: reads, works, writes. Without a lock, additions get lost.
void add_one_to_file() {
    char text[16] = {};
    if (::pread(STDIN_FILENO, text, sizeof text - 1, 0) < 0)
        std::exit(internal_error);
    const long number = std::strtol(text, nullptr, 10);

    std::this_thread::sleep_for(2ms); // simulates the work between read and write

    const int length = std::snprintf(text, sizeof text, "%08ld\n", number + 1);
    if (::pwrite(STDIN_FILENO, text, static_cast<std::size_t>(length), 0) != length)
        std::exit(internal_error);
    report_one();
}

void add_without_lock(int count) {
    for (; count > 0; --count)
        add_one_to_file();
}

void add_with_lock(int count, const std::string& url, const std::string& name) {
    holdfast::client home{reaching(url)};
    holdfast::mutex lock{home, name};
    for (; count > 0; --count) {
        const std::scoped_lock held{lock};
        add_one_to_file();
    }
}

} // namespace

int demo_worker(const inheritance&, arguments given) {
    if (given.empty())
        throw usage_error{"demo-worker is for 'holdfast demo' only"};
    const int count = std::atoi(given[0].c_str());
    if (given.size() == 1) {
        add_without_lock(count);
        return success;
    }
    const std::string url = server_url(std::nullopt);
    try {
        add_with_lock(count, url, given[1]);
        return success;
    } catch (const boost::system::system_error& failure) {
        return last_words{}.report(failure, url);
    }
}

int demo_holder(const inheritance&, arguments given) {
    if (given.size() != 2)
        throw usage_error{"demo-holder is for 'holdfast demo' only"};
    const std::string url = server_url(std::nullopt);
    try {
        const holdfast::lease_time lease{parse_time("lease", given[1])};
        holdfast::options how = reaching(url);
        how.lease_time = lease.value; // on ZooKeeper this is the timeout of the session
        holdfast::client home{std::move(how)};
        holdfast::mutex lock{home, given[0], lease};
        const std::scoped_lock held{lock};
        report_one();
        for (;;)
            ::pause();
    } catch (const boost::system::system_error& failure) {
        return last_words{}.report(failure, url);
    }
}

} // namespace cli
