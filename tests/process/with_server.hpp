// SPDX-License-Identifier: Apache-2.0
// For tests whose processes meet at one real server.
#pragma once

#include "process/child.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"
#include "support/thrown.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/recursive_mutex.hpp>

#include <chrono>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

namespace holdfast::process {

using namespace std::chrono_literals;
using support::eventually;
using support::thrown_by;

/// What all of them use, and what they leave alone.
inline options quick(const std::string& url) {
    return {.url = url, .close_patience = 0ms, .poll_bound = 25ms};
}

class with_server : public testing::Test {
protected:
    void SetUp() override {
        try {
            server_.emplace(support::servers().front(),
                            support::redis_server::options{.own_clock = true});
        } catch (const support::server_unavailable& why) {
            if (support::servers_are_required())
                FAIL() << why.what();
            GTEST_SKIP() << why.what();
        }
    }

    support::redis_server& server() { return *server_; }
    std::string url() const { return server_->url(); }
    bool is_free(const std::string& name) {
        return server_->command({"EXISTS", name}).integer == 0;
    }

private:
    std::optional<support::redis_server> server_;
};

} // namespace holdfast::process
