// SPDX-License-Identifier: Apache-2.0
#include "conformance/store_under_test.hpp"
#include "store/memory/test_access.hpp"

#include <atomic>
#include <mutex>
#include <optional>

namespace holdfast::conformance {
namespace {

using namespace std::chrono_literals;

const owner_id another_client{{0xa1}, 1};

class memory_under_test final : public store_under_test {
public:
    void reach(options& how) override {
        how.store = server_.connect([this](const memory::request& r) { return meet(r); });
    }
    void reach_badly(options& how) override {
        how.store =
            server_.connect([this](const memory::request& r) { return meet(r); }, bad_way_timeout);
    }
    void lose_answer_about(const std::string& name) override {
        const std::scoped_lock guard{mutex_};
        unheard_ = name;
    }
    void pass(duration by) override { server_.step_clock(by); }
    void restart_empty() override { server_.restart_empty(); }
    void stop_answering() override { silent_ = true; }
    void freeze() override { frozen_ = true; }
    void thaw() override { frozen_ = false; }
    void evict(const std::string& name) override { server_.evict(name); }
    void stranger_takes(const std::string& name, duration lease) override {
        if (!keeps_tokens())
            return server_.occupy(name, lease);
        ask want{name, another_client, lock_kind::token};
        want.lease_time = lease;
        server_.evict(name);
        memory::primary_state(server_)->look(want, std::nullopt);
    }
    void stranger_sets_token(const std::string& name, std::optional<duration> lease) override {
        server_.occupy(name, lease.value_or(duration::max()), lock_kind::token);
    }
    void stranger_releases(const std::string& name) override {
        if (!server_.vacate(name))
            memory::primary_state(server_)->release({name, another_client, lock_kind::token});
    }
    void stranger_queues(const std::string& name) override {
        memory::queue_stranger(server_, name, 30s);
    }
    void stranger_shares(const std::string& name, lock_kind side, duration lease) override {
        server_.occupy(name, lease, side);
    }
    void stranger_adds(const std::string& name, std::int64_t permits) override {
        memory::add_to_counter(server_, name, permits);
    }
    void stranger_takes_permit(const std::string& name, duration lease) override {
        hold foreign{name, {}, lock_kind::permit};
        memory::primary_state(server_)->stranger_takes_permits(foreign, lease);
    }
    void stranger_counts_down(const std::string& name) override {
        memory::count_down(server_, name, 1);
    }
    std::optional<std::int64_t> counter(const std::string& name) override {
        return memory::counter(server_, name);
    }
    bool replicate() override {
        server_.replicate(1);
        return true;
    }
    void cut_replica() override { server_.cut_replica(replica()); }
    void mend_replica() override { server_.demote(replica()); }
    void fail_over() override {
        server_.promote(replica());
        server_.demote(replica());
    }
    std::size_t held() override { return memory::held_count(server_); }
    std::size_t waiting(const std::string& name) override {
        return memory::primary_state(server_)->waiting(name).size();
    }
    std::size_t listeners() override { return memory::listener_count(server_); }
    std::size_t requests() override { return requests_; }
    bool put_something_else(const std::string&) override { return false; }

private:
    std::size_t replica() const { return 1 - memory::primary_number(server_); }

    memory::fate meet(const memory::request& r) {
        ++requests_;
        const std::scoped_lock guard{mutex_};
        const bool unheard = unheard_ == r.name;
        if (unheard)
            unheard_.reset();
        memory::fate what;
        what.refused = silent_;
        what.request_lost = frozen_;
        if (unheard)
            what.cut_off = duration{1}; // executed before that
        what.answer_lost = unheard;
        return what;
    }

    memory::server server_;
    std::atomic<bool> silent_ = false, frozen_ = false;
    std::atomic<std::size_t> requests_ = 0;
    std::mutex mutex_;
    std::optional<std::string> unheard_;
};

} // namespace

std::unique_ptr<store_under_test> make_memory() {
    return std::make_unique<memory_under_test>();
}

} // namespace holdfast::conformance
