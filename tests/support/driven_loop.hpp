// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/clock.hpp"
#include "support/eventually.hpp"
#include "support/recorder.hpp"

#include <holdfast/store.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>

#include <gtest/gtest.h>

namespace holdfast::support {

/// Base of fixtures that test a store without a client. It makes the `store_context` that a client
/// would give to its store. The test's own thread runs the executor.
class driven_loop {
protected:
    store_context context() {
        auto tell = [this](const event& what) { told_.notify(what); };
        return {io_.get_executor(), clock_, [this] { return ++random_; }, {}, "a label",
                duration{5'000},    tell};
    }

    /// Runs the executor until `holds` returns true or the timeout has passed.
    template <typename Predicate>
    bool run_until(Predicate holds) {
        const auto end = std::chrono::steady_clock::now() + far_too_long;
        while (!holds() && std::chrono::steady_clock::now() < end) {
            io_.restart();
            io_.run_one_for(std::chrono::milliseconds{20});
        }
        return holds();
    }
    void run_to_the_end() {
        io_.restart();
        io_.run_for(far_too_long);
        EXPECT_TRUE(io_.stopped()) << "something is still to be done";
    }

    asio::io_context io_{1};
    runtime::real_clock clock_{io_.get_executor()};
    recorder told_;

private:
    std::uint64_t random_ = 0;
};

} // namespace holdfast::support
