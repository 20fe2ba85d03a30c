// SPDX-License-Identifier: Apache-2.0
// Clients with their own threads at a memory server in this process, for blocking functions.
#pragma once

#include "store/memory/test_access.hpp"
#include "support/eventually.hpp"
#include "support/recorder.hpp"

#include <holdfast/client.hpp>
#include <holdfast/memory/server.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/recursive_mutex.hpp>

#include <boost/asio/use_future.hpp>

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast {

using namespace std::chrono_literals;
using memory::fate;
using memory::verb;
using support::eventually;
using support::soon;
using support::thrown_by;
using testing::HasSubstr;

/// Counts what a client sends, and says what becomes of it. Thread safety: every member.
class meter {
public:
    memory::fault_function as_faults() {
        return [this](const memory::request& r) {
            const std::scoped_lock guard{mutex_};
            ++counts_[r.what];
            return always_;
        };
    }
    std::size_t count(verb what) const {
        const std::scoped_lock guard{mutex_};
        const auto found = counts_.find(what);
        return found == counts_.end() ? 0 : found->second;
    }
    std::size_t all() const {
        const std::scoped_lock guard{mutex_};
        std::size_t sum = 0;
        for (const auto& [what, count] : counts_)
            sum += count;
        return sum;
    }
    void set(fate always) {
        const std::scoped_lock guard{mutex_};
        always_ = always;
    }

private:
    mutable std::mutex mutex_;
    std::map<verb, std::size_t> counts_;
    fate always_{};
};

class in_real_time : public testing::Test {
protected:
    memory::server server;
    meter sent;
    const std::shared_ptr<support::recorder> ear = std::make_shared<support::recorder>();
    client alice{options{.store = server.connect(sent.as_faults()),
                         .close_timeout = 0ms,
                         .poll_bound = 20ms,
                         .observer = ear}};
    client bob{options{.store = server.connect(), .close_timeout = 0ms, .poll_bound = 20ms}};

    bool is_free(const lock_name& name) const { return !inspect(server, name); }
};

/// Runs it on a thread of its own.
template <typename Work>
auto elsewhere(Work work) {
    return std::async(std::launch::async, std::move(work));
}

} // namespace holdfast
