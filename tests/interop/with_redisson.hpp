// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interop/peer.hpp"
#include "support/on_each_server.hpp"

namespace holdfast::interop {

/// Skips the running test with the reason, or fails it where servers are required.
inline void miss_redisson() {
    constexpr const char* why = "these tests need a JVM with Redisson: ./dev interop";
    if (support::servers_are_required())
        FAIL() << why;
    GTEST_SKIP() << why;
}

/// For tests that mix versions of Redisson: once on each server.
class with_redisson : public support::on_each_server {
protected:
    with_redisson()
        : on_each_server{{.tcp = true}} {}

    void SetUp() override {
        if (redisson_versions().empty())
            return miss_redisson();
        on_each_server::SetUp();
    }
};

} // namespace holdfast::interop
