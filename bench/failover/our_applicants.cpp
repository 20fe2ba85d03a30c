// SPDX-License-Identifier: Apache-2.0
#include "bench/failover/applicants.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <future>
#include <optional>
#include <thread>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto waits_at_most = 45s; // the same as on Redisson's side
constexpr auto between_calls = 10ms;

moment taken(mutex& lock) {
    const moment limit = std::chrono::steady_clock::now() + waits_at_most;
    for (;;) {
        const moment now = std::chrono::steady_clock::now();
        try {
            if (!lock.try_lock_for(std::chrono::ceil<duration>(limit - now)))
                return limit;
            const moment granted = std::chrono::steady_clock::now();
            lock.unlock();
            return granted;
        } catch (const boost::system::system_error&) {
            if (now >= limit)
                throw;
            std::this_thread::sleep_for(between_calls);
        }
    }
}

/// Caller with its own client.
class caller {
public:
    caller(const std::string& url, const std::string& name)
        : client_{url}
        , lock_{client_, name} {}

    void take_once() { taken(lock_); }
    void begin() {
        granted_ = std::async(std::launch::async, [this] { return taken(lock_); });
    }
    moment finish() { return granted_.get(); }

private:
    client client_;
    mutex lock_;
    std::future<moment> granted_;
};

class ours final : public applicants {
public:
    void prepare(const realm& where, const wanted_locks& names) override {
        const std::string url = where.url() + "?announce=no";
        asker_.emplace(url, names.free).take_once();
        waiter_.emplace(url, names.held).begin();
    }

    void ask() override { asker_.value().begin(); }

    grants finish() override {
        const grants both{asker_.value().finish(), waiter_.value().finish()};
        asker_.reset();
        waiter_.reset();
        return both;
    }

private:
    std::optional<caller> asker_, waiter_;
};

} // namespace

std::unique_ptr<applicants> our_applicants() {
    return std::make_unique<ours>();
}

} // namespace holdfast::bench
