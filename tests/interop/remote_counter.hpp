// SPDX-License-Identifier: Apache-2.0
// An RSemaphore and an RCountDownLatch in another process, of either side.
#pragma once

#include "interop/remote.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace holdfast::interop {

/// What both are, as one thread sees it. What a call may throw is a `peer_failure`.
class remote_counter {
public:
    remote_counter(const remote_thread& by, const std::string& name, const std::string& getter)
        : peer_{&by.client().process()}
        , call_{by.call(name, getter)} {}

    /// Redisson's `delete`.
    bool erase() { return ask("delete").as_bool(); }

    bool cancel(const ongoing& waiting) {
        json::object all = call_;
        all["do"] = "cancel";
        all["target"] = waiting.id;
        return peer_->ask(std::move(all)).as_bool();
    }

protected:
    ongoing begin(const std::string& method, json::array arguments = {}) {
        json::object all = call_;
        all["method"] = method;
        all["args"] = std::move(arguments);
        return peer_->begin(std::move(all));
    }
    json::value ask(const std::string& method, json::array arguments = {}) {
        return support::soon(begin(method, std::move(arguments)).answer);
    }

    static constexpr const char* unit = "MILLISECONDS";

private:
    peer* peer_;
    json::object call_;
};

class remote_semaphore : public remote_counter {
public:
    explicit remote_semaphore(const remote_thread& by, const std::string& name = "L")
        : remote_counter{by, name, "getSemaphore"} {}

    void acquire(int permits = 1) { (void)ask("acquire", {permits}); }
    bool try_acquire(int permits = 1) { return ask("tryAcquire", {permits}).as_bool(); }
    bool try_acquire_for(duration patience, int permits = 1) {
        return support::soon(begin_try_acquire_for(patience, permits).answer).as_bool();
    }
    void release() { (void)ask("release"); }
    void release(int permits) { (void)ask("release", {permits}); }
    /// Since Redisson 4.0.
    bool release_if_exists(int permits) { return ask("releaseIfExists", {permits}).as_bool(); }

    bool try_set_permits(int permits) { return ask("trySetPermits", {permits}).as_bool(); }
    /// Ours alone: a JVM wants an object of Java for the time.
    bool try_set_permits(int permits, duration kept) {
        return ask("trySetPermits", {permits, kept.count()}).as_bool();
    }
    void add_permits(int permits) { (void)ask("addPermits", {permits}); }
    std::int64_t drain_permits() { return ask("drainPermits").as_int64(); }
    std::int64_t available_permits() { return ask("availablePermits").as_int64(); }

    ongoing begin_acquire(int permits = 1) { return begin("acquire", {permits}); }
    ongoing begin_acquire_async(int permits = 1) { return begin("acquireAsync", {permits}); }
    ongoing begin_try_acquire_for(duration patience, int permits = 1) {
        return begin("tryAcquire", {permits, patience.count(), unit});
    }
};

class remote_latch : public remote_counter {
public:
    explicit remote_latch(const remote_thread& by, const std::string& name = "L")
        : remote_counter{by, name, "getCountDownLatch"} {}

    bool try_set_count(int count) { return ask("trySetCount", {count}).as_bool(); }
    void count_down() { (void)ask("countDown"); }
    std::int64_t count() { return ask("getCount").as_int64(); }

    void wait() { (void)ask("await"); }
    bool wait_for(duration patience) {
        return support::soon(begin_wait_for(patience).answer).as_bool();
    }
    ongoing begin_wait() { return begin("await"); }
    ongoing begin_wait_async() { return begin("awaitAsync"); }
    ongoing begin_wait_for(duration patience) { return begin("await", {patience.count(), unit}); }
};

} // namespace holdfast::interop
