// SPDX-License-Identifier: Apache-2.0
// An RSemaphore, an RCountDownLatch, an RPermitExpirableSemaphore and an RRateLimiter in another
// process, of either side.
#pragma once

#include "interop/remote.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::interop {

/// What all are, as one thread sees it. What a call may throw is a `peer_failure`.
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
    static json::object as_object(duration length) { return {{"ms", length.count()}}; }

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
    bool try_acquire_for(duration timeout, int permits = 1) {
        return support::soon(begin_try_acquire_for(timeout, permits).answer).as_bool();
    }
    void release() { (void)ask("release"); }
    void release(int permits) { (void)ask("release", {permits}); }
    /// Since Redisson 4.0.
    bool release_if_exists(int permits) { return ask("releaseIfExists", {permits}).as_bool(); }

    bool try_set_permits(int permits) { return ask("trySetPermits", {permits}).as_bool(); }
    /// Since Redisson 3.29.
    bool try_set_permits(int permits, duration kept) {
        return ask("trySetPermits", {permits, as_object(kept)}).as_bool();
    }
    void add_permits(int permits) { (void)ask("addPermits", {permits}); }
    std::int64_t drain_permits() { return ask("drainPermits").as_int64(); }
    std::int64_t available_permits() { return ask("availablePermits").as_int64(); }

    ongoing begin_acquire(int permits = 1) { return begin("acquire", {permits}); }
    ongoing begin_acquire_async(int permits = 1) { return begin("acquireAsync", {permits}); }
    ongoing begin_try_acquire_for(duration timeout, int permits = 1) {
        return begin("tryAcquire", {permits, timeout.count(), unit});
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
    bool wait_for(duration timeout) {
        return support::soon(begin_wait_for(timeout).answer).as_bool();
    }
    ongoing begin_wait() { return begin("await"); }
    ongoing begin_wait_async() { return begin("awaitAsync"); }
    ongoing begin_wait_for(duration timeout) { return begin("await", {timeout.count(), unit}); }
};

/// Permits are texts, as Redisson's users see them. Ours release what they hold themselves by its
/// lease. Several at once, and how many are held: since Redisson 3.23.
class remote_permits : public remote_counter {
public:
    using id = std::string;

    explicit remote_permits(const remote_thread& by, const std::string& name = "L")
        : remote_counter{by, name, "getPermitExpirableSemaphore"} {}

    /// A JVM's has no end, one of ours is renewed.
    id acquire() { return json::value_to<id>(ask("acquire")); }
    id acquire(duration lease) { return json::value_to<id>(ask("acquire", {lease.count(), unit})); }
    std::vector<id> acquire_several(int permits) {
        return json::value_to<std::vector<id>>(ask("acquire", {permits}));
    }
    std::optional<id> try_acquire() { return id_in(ask("tryAcquire")); }
    std::optional<id> try_acquire_for(duration timeout) {
        return id_in(ask("tryAcquire", {timeout.count(), unit}));
    }
    std::optional<id> try_acquire_for(duration timeout, duration lease) {
        return id_in(ask("tryAcquire", {timeout.count(), lease.count(), unit}));
    }
    std::vector<id> try_acquire_several(int permits) {
        return json::value_to<std::vector<id>>(ask("tryAcquire", {permits}));
    }
    ongoing begin_acquire_several(int permits) { return begin("acquire", {permits}); }
    ongoing begin_acquire_several_async(int permits) { return begin("acquireAsync", {permits}); }
    ongoing begin_acquire() { return begin("acquire"); }
    ongoing begin_acquire(duration lease) { return begin("acquire", {lease.count(), unit}); }
    ongoing begin_acquire_async(duration lease) {
        return begin("acquireAsync", {lease.count(), unit});
    }
    ongoing begin_try_acquire_async_for(duration timeout, duration lease) {
        return begin("tryAcquireAsync", {timeout.count(), lease.count(), unit});
    }

    bool try_release(const id& permit) { return ask("tryRelease", {permit}).as_bool(); }
    /// How many of them.
    std::int64_t try_release_several(const std::vector<id>& permits) {
        return ask("tryRelease", {json::value_from(permits)}).as_int64();
    }
    bool set_lease(const id& permit, duration lease) {
        return ask("updateLeaseTime", {permit, lease.count(), unit}).as_bool();
    }
    /// A JVM's alone, since Redisson 3.41.
    duration lease_left(const id& permit) {
        return duration{ask("getLeaseTime", {permit}).as_int64()};
    }
    /// Ours alone: whether it is believed.
    bool is_held(const id& permit) { return ask("isHeld", {permit}).as_bool(); }

    bool try_set_permits(int permits) { return ask("trySetPermits", {permits}).as_bool(); }
    /// Since Redisson 3.19.
    void set_permits(int permits) { (void)ask("setPermits", {permits}); }
    void add_permits(int permits) { (void)ask("addPermits", {permits}); }
    std::int64_t available_permits() { return ask("availablePermits").as_int64(); }
    std::int64_t acquired_permits() { return ask("acquiredPermits").as_int64(); }
    /// A JVM's alone, since Redisson 3.19: the held ones too.
    std::int64_t permits_in_all() { return ask("getPermits").as_int64(); }

private:
    static std::optional<id> id_in(const json::value& said) {
        if (said.is_null())
            return {};
        return json::value_to<id>(said);
    }
};

/// Intervals are in milliseconds.
class remote_rate : public remote_counter {
public:
    struct config {
        std::string mode; ///< "OVERALL" or "PER_CLIENT"
        std::int64_t permits;
        duration interval;
        bool operator==(const config&) const = default;
    };

    explicit remote_rate(const remote_thread& by, const std::string& name = "L")
        : remote_counter{by, name, "getRateLimiter"} {}

    bool try_set_rate(const config& to) { return ask("trySetRate", words_of(to)).as_bool(); }
    void set_rate(const config& to) { (void)ask("setRate", words_of(to)); }
    /// Unused for so long, it is gone. Since Redisson 3.38.
    bool try_set_rate(const config& to, duration kept) {
        return ask("trySetRate",
                   {json::string(to.mode), to.permits, as_object(to.interval), as_object(kept)})
            .as_bool();
    }
    config current() {
        const json::object said = ask("getConfig").as_object();
        return {json::value_to<std::string>(said.at("rateType")), said.at("rate").as_int64(),
                duration{said.at("rateInterval").as_int64()}};
    }

    void acquire(int permits = 1) { (void)ask("acquire", {permits}); }
    ongoing begin_acquire(int permits = 1) { return begin("acquire", {permits}); }
    ongoing begin_acquire_async(int permits = 1) { return begin("acquireAsync", {permits}); }
    bool try_acquire(int permits = 1) { return ask("tryAcquire", {permits}).as_bool(); }
    bool try_acquire_for(duration timeout, int permits = 1) {
        return ask("tryAcquire", {permits, timeout.count(), unit}).as_bool();
    }
    ongoing begin_try_acquire_async_for(duration timeout, int permits = 1) {
        return begin("tryAcquireAsync", {permits, timeout.count(), unit});
    }
    /// Since Redisson 3.52.
    void release(int permits) { (void)ask("release", {permits}); }
    std::int64_t available_permits() { return ask("availablePermits").as_int64(); }

private:
    static json::array words_of(const config& to) {
        return {json::string(to.mode), to.permits, to.interval.count(), unit};
    }
};

} // namespace holdfast::interop
