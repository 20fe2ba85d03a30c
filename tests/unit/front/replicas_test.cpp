// SPDX-License-Identifier: Apache-2.0
// Required replicas through the public interface.
#include "support/wrapped_store.hpp"
#include "sync/lock_handle.hpp"
#include "unit/front/real_time.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/fair_mutex.hpp>
#include <holdfast/fenced_mutex.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/quorum_mutex.hpp>
#include <holdfast/rate_limiter.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/spin_mutex.hpp>
#include <holdfast/token_mutex.hpp>

#include <atomic>
#include <memory>
#include <utility>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

/// A store without replicas, or one with a failover.
class other_limits final : public support::wrapped_locks {
public:
    other_limits(lock_store& real, std::uint8_t replicas_max)
        : wrapped_locks{real}
        , replicas_max_{replicas_max} {}
    limits bounds() const noexcept override {
        limits all = wrapped_locks::bounds();
        all.replicas_max = replicas_max_;
        return all;
    }

private:
    const std::uint8_t replicas_max_;
};

store_factory with_replicas_max(store_factory real, std::uint8_t most) {
    return [real = std::move(real), most](store_context context) {
        return std::make_unique<support::wrapped_store<other_limits>>(real(std::move(context)),
                                                                      most);
    };
}

class RequiredReplicas : public testing::Test {
protected:
    memory::server server;
    std::atomic<unsigned> asked = 99; ///< by the last look, count or change

    client with(unsigned replicas, store_factory store = {}) {
        options how;
        how.store = store ? std::move(store) : server.connect([this](const memory::request& r) {
            if (r.what == memory::verb::look || r.what == memory::verb::count ||
                r.what == memory::verb::change)
                asked = details_of(r).replicas;
            return memory::fate{};
        });
        how.required_replicas = replicas;
        return client{std::move(how)};
    }
    template <typename Lock>
    unsigned asked_by(Lock&& m) {
        m.lock();
        m.unlock();
        return asked;
    }
};

TEST_F(RequiredReplicas, AreTheClientsForEveryLockThatDoesNotSayOtherwise) {
    client home = with(2);
    EXPECT_EQ(asked_by(mutex{home, "a"}), 2u);
    EXPECT_EQ(asked_by(mutex{home, "a", mutex_options{.required_replicas = 1}}), 1u);
    EXPECT_EQ(asked_by(recursive_mutex{home, "a", mutex_options{.required_replicas = 3}}), 3u);
    EXPECT_EQ(asked_by(fair_mutex{home, "a", {.required_replicas = 4}}), 4u);
    EXPECT_EQ(asked_by(fenced_mutex{home, "a", {.required_replicas = 5}}), 5u);
    EXPECT_EQ(asked_by(spin_mutex{home, "a", {.required_replicas = 6}}), 6u);
    EXPECT_EQ(asked_by(token_mutex{home, "t", {.required_replicas = 7}}), 7u);
    shared_mutex shared{home, "s", {.required_replicas = 8}};
    EXPECT_EQ(asked_by(static_cast<basic_mutex&>(shared)), 8u);
    EXPECT_EQ(asked_by(shared.shared()), 8u);
}

TEST_F(RequiredReplicas, AreAskedForByWhatIsCounted) {
    client home = with(2);
    counting_semaphore seats{home, "seats", {.required_replicas = 3}};
    seats.release(5);
    EXPECT_EQ(asked, 3u);
    seats.acquire();
    EXPECT_EQ(asked, 3u);
    counting_semaphore{home, "seats"}.release();
    EXPECT_EQ(asked, 2u);
    latch{home, "ready", {.required_replicas = 4}}.count_down();
    EXPECT_EQ(asked, 4u);
    rate_limiter starts{home, "starts", {.required_replicas = 5}};
    EXPECT_TRUE(starts.try_set_rate({.permits = 5, .per = 1s}));
    EXPECT_EQ(asked, 5u);
    leased_semaphore leased{home, "leased", {.required_replicas = 6}};
    EXPECT_TRUE(leased.try_set_permits(5));
    EXPECT_EQ(asked, 6u);
    const lease one = leased.acquire();
    EXPECT_EQ(asked, 6u);
    EXPECT_EQ(one.hold()->replicas(), 6u);
}

TEST_F(RequiredReplicas, OfAQuorumAreItsOwnOrThoseOfEachClient) {
    memory::server b, c;
    client first = with(1), second = with(2, b.connect()), third = with(3, c.connect());
    quorum_mutex of_clients{{first, second, third}, "q"};
    EXPECT_EQ(asked_by(of_clients), 1u);
    EXPECT_EQ(asked_by(quorum_mutex{{first, second, third}, "q", {.required_replicas = 4}}), 4u);
}

TEST_F(RequiredReplicas, OfAnotherQuorumObjectMayNotBeMoreThanTheHoldWasTakenWith) {
    client home = with(0);
    quorum_mutex few{{home}, "q", {.again = recursion::counted}};
    quorum_mutex more{{home}, "q", {.again = recursion::counted, .required_replicas = 1}};
    few.lock();
    const auto refused = thrown_by([&] { more.lock(); });
    EXPECT_EQ(refused.code, errc::already_held);
    EXPECT_THAT(refused.text, HasSubstr("with 0 required replicas, not with 1"));
    few.unlock();
    more.lock();
    few.lock();
    few.unlock();
    more.unlock();
}

TEST_F(RequiredReplicas, AreRefusedWhereTheStoreAsksNone) {
    const auto asks_none = with_replicas_max(server.connect(), 0);
    EXPECT_THAT(thrown_by([&] { (void)with(1, asks_none); }).text,
                HasSubstr("required_replicas is 1; the store of this client does not wait"));
    client home = with(0, asks_none);
    const auto refused = thrown_by([&] {
        mutex{home, "a", mutex_options{.required_replicas = 1}};
    });
    EXPECT_EQ(refused.code, errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { (void)with(101); }).code, errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] {
                  counting_semaphore{home, "a", {.required_replicas = 1}};
              }).code,
              errc::invalid_argument);
}

TEST_F(RequiredReplicas, OfAThreadThatEntersAgainWithMoreMustConfirmItsHold) {
    server.replicate(1);
    client home = with(0);
    const lease_time short_lease{6s}; // replicas are waited for a third of it
    recursive_mutex few{home, "a", mutex_options{.lease = short_lease}};
    recursive_mutex all{home, "a", mutex_options{.lease = short_lease, .required_replicas = 1}};
    few.lock();
    all.lock();
    EXPECT_EQ(few.hold_count(), 2u);
    all.unlock();
    few.unlock();
    server.cut_replica(1);
    few.lock();
    const auto refused = thrown_by([&] { all.lock(); });
    EXPECT_EQ(refused.code, store_errc::not_replicated);
    EXPECT_THAT(refused.text, HasSubstr("0 of 1 replicas confirmed"));
    EXPECT_EQ(few.hold_count(), 1u);
    few.unlock();
}

} // namespace
} // namespace holdfast
