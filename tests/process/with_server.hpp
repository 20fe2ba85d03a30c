// SPDX-License-Identifier: Apache-2.0
// For tests whose processes meet at one real server.
#pragma once

#include "process/child.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"
#include "support/thrown.hpp"

#include <holdfast/holdfast.hpp>

#include <chrono>
#include <csignal>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::process {

using namespace std::chrono_literals;
using support::eventually;
using support::soon;
using support::thrown_by;

/// What all of them use, and what they leave alone.
inline options quick(const std::string& url) {
    return {.url = url, .close_timeout = 0ms, .poll_bound = 25ms};
}

/// What a story tells the test.
inline void say(const char* words) {
    std::cout << words << std::endl;
}

/// Of a story that is given the server's URL, and perhaps a lease in ms.
inline options of_story(const std::vector<std::string>& arguments) {
    options how = quick(arguments.at(0));
    if (arguments.size() > 1)
        how.lease_time = std::chrono::milliseconds{std::stoi(arguments.at(1))};
    return how;
}

class with_server : public testing::Test {
protected:
    explicit with_server(support::redis_server::options how = {})
        : how_{std::move(how)} {
        how_.own_clock = true;
    }
    void SetUp() override;

    support::redis_server& server() { return *server_; }
    std::string url() const { return server_->url(); }

    static void kill(child& victim) {
        victim.signal(SIGKILL);
        EXPECT_EQ(victim.wait(), 128 + SIGKILL);
    }
    /// One that waits for a line on its standard input.
    static void end(child& other) {
        other.say("enough");
        EXPECT_EQ(other.wait(), 0);
    }

    /// The server's date passes the end of every lease of the default length.
    void outlive_leases() { server().step_clock(options{}.lease_time + 1s); }

    bool is_free(const std::string& name);
    bool is_renewed(const std::string& name); ///< waits until it is
    bool is_waited_for(const std::string& name);
    /// How many scripts it was asked to run until now.
    std::int64_t scripts_asked();
    /// Who is connected, by the server's numbers; but for the one who asks.
    std::set<std::string> connections();

private:
    support::redis_server::options how_;
    std::optional<support::redis_server> server_;
};

} // namespace holdfast::process
