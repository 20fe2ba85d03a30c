// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/program.hpp"
#include "support/on_each_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli_test {

/// Fixture of the tests of `holdfast run`: a server, a holder of the lock, and functions that
/// inspect the lock.
class on_server : public support::on_each_server {
protected:
    const std::string name = "job";

    std::string url() { return server().url(); }

    /// Arguments for `program`: `run [options] job -- sh -c script`.
    std::vector<std::string> shell(const std::string& script,
                                   std::vector<std::string> options = {}) {
        options.insert(options.begin(), "run");
        for (const char* word : {"job", "--", "sh", "-c"})
            options.emplace_back(word);
        options.push_back(script);
        return options;
    }

    /// A command that says `held` when it runs, and ends when its stdin is closed.
    std::vector<std::string> until_closed(std::vector<std::string> options = {}) {
        return shell("echo held; read nothing; echo done", std::move(options));
    }

    bool is_locked() { return server().command({"EXISTS", name}).integer == 1; }

    /// Waits until the holder of the lock has stored its description.
    void await_known_client() {
        ASSERT_TRUE(eventually([&] {
            return !server().command({"KEYS", "holdfast_client:*"}).items.empty();
        })) << "nobody says who it is";
    }

    /// Somebody else's client has listened for the release, so it waits.
    void await_waiter() {
        const std::string channel = "redisson_lock__channel:{" + name + "}";
        ASSERT_TRUE(eventually([&] {
            return server().command({"PUBSUB", "NUMSUB", channel}).items.at(1).integer > 0;
        })) << "nobody waits for the lock";
    }
};

} // namespace holdfast::cli_test
