// SPDX-License-Identifier: Apache-2.0
// The text of tickets, and how a client detaches and adopts a hold.
#include "support/recorder.hpp"
#include "unit/front/real_time.hpp"

#include <holdfast/multi_mutex.hpp>
#include <holdfast/ticket.hpp>

#include <string>

namespace holdfast {
namespace {

ticket example() {
    ticket made{"stock:42 \n\xff", lock_kind::fenced, {}, 81, 1, "redis:7 a"};
    for (std::size_t i = 0; i < made.owner.client.size(); ++i)
        made.owner.client[i] = static_cast<std::uint8_t>(17 * i);
    made.owner.number = 9;
    return made;
}

error_code refusal_of(const std::string& text) {
    return support::code_of([&] { (void)ticket::from_string(text); });
}

TEST(TicketText, IsOneLineAndCanBeReadBack) {
    const std::string text = to_string(example());
    EXPECT_TRUE(text.starts_with("holdfast1:fenced:00112233-4455-6677-8899-aabbccddeeff:9:1:81:"
                                 "redis%3a7%20a:stock%3a42%20%0a%ff:"))
        << text;
    EXPECT_EQ(text.find_first_of(" \n'\"$\\"), text.npos);
    EXPECT_EQ(ticket::from_string(text), example());
}

TEST(TicketText, OfEachKindCanBeReadBack) {
    for (const lock_kind kind :
         {lock_kind::plain, lock_kind::spin, lock_kind::fenced, lock_kind::fair, lock_kind::read,
          lock_kind::write, lock_kind::token, lock_kind::permit}) {
        ticket made = example();
        made.kind = kind;
        EXPECT_EQ(ticket::from_string(to_string(made)), made);
    }
}

TEST(TicketText, ThatWasChangedOrCutIsRefused) {
    const std::string text = to_string(example());
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string changed = text;
        changed[i] = changed[i] == '0' ? '1' : '0';
        EXPECT_EQ(refusal_of(changed), errc::invalid_argument) << changed;
        EXPECT_EQ(refusal_of(text.substr(0, i)), errc::invalid_argument) << i;
    }
    EXPECT_EQ(refusal_of(text + "0"), errc::invalid_argument);
    EXPECT_EQ(refusal_of("::::::::"), errc::invalid_argument);
}

TEST(TicketText, WithTooManyPermitsOrTooGreatANumberIsRefused) {
    const auto refusal = [](lock_kind kind, std::uint32_t permits, std::uint64_t number) {
        ticket made = example();
        made.kind = kind;
        made.permits = permits;
        made.owner.number = number;
        return refusal_of(to_string(made));
    };
    constexpr std::uint64_t greatest = (std::uint64_t{1} << 48) - 1;
    EXPECT_EQ(refusal(lock_kind::permit, 1000, 1), error_code{});
    EXPECT_EQ(refusal(lock_kind::permit, 1, greatest - 1), error_code{});
    EXPECT_EQ(refusal(lock_kind::permit, 1001, 1), errc::invalid_argument);
    EXPECT_EQ(refusal(lock_kind::permit, 4'294'967'295, 1), errc::invalid_argument);
    EXPECT_EQ(refusal(lock_kind::permit, 0, 1), errc::invalid_argument);
    EXPECT_EQ(refusal(lock_kind::plain, 2, 1), errc::invalid_argument);
    EXPECT_EQ(refusal(lock_kind::permit, 2, greatest - 1), errc::invalid_argument);
    EXPECT_EQ(refusal(lock_kind::plain, 1, ~std::uint64_t{0}), errc::invalid_argument);
}

class Detaching : public in_real_time {};

TEST_F(Detaching, HoldOnSeveralLocksIsRefused) {
    mutex one{alice, "one"}, two{alice, "two"};
    multi_mutex both{one, two};
    lease held = soon(both.async_lock(asio::use_future));
    EXPECT_EQ(support::code_of([&] { (void)held.detach(); }), errc::invalid_argument);
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(Detaching, LocalWaiterAsksTheStoreAndWaits) {
    mutex lock{alice, "lock"};
    lease held = soon(lock.async_lock(asio::use_future));
    std::future<lease> waiting = lock.async_lock(asio::use_future);
    const ticket made = held.detach();
    lease adopted = alice.adopt(made);
    EXPECT_FALSE(support::is_ready(waiting));
    adopted.unlock();
    EXPECT_TRUE(soon(std::move(waiting)).owns_lock());
}

TEST_F(Detaching, AsynchronousFunctionsDoTheSame) {
    mutex lock{alice, "lock"};
    lease held = soon(lock.async_lock(lease_time{30s}, asio::use_future));
    const ticket made = soon(held.async_detach(asio::use_future));
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(soon(alice.async_renew(made, lease_time{60s}, asio::use_future)));
    lease adopted = soon(alice.async_adopt(made, std::nullopt, asio::use_future));
    EXPECT_TRUE(adopted.owns_lock());
    EXPECT_FALSE(soon(alice.async_give(made, asio::use_future)));
    EXPECT_TRUE(
        soon(alice.async_give(soon(adopted.async_detach(asio::use_future)), asio::use_future)));
    EXPECT_FALSE(lock.is_locked());
}

TEST_F(Detaching, TicketWithTooManyPermitsIsNotSentToTheStore) {
    ticket forged = example();
    forged.kind = lock_kind::permit;
    forged.permits = 4'294'967'295;
    EXPECT_EQ(support::code_of([&] { (void)alice.give(forged); }), errc::invalid_argument);
    EXPECT_EQ(support::code_of([&] { (void)alice.renew(forged, lease_time{30s}); }),
              errc::invalid_argument);
    forged.kind = lock_kind::plain;
    EXPECT_EQ(support::code_of([&] { (void)alice.adopt(forged); }), errc::invalid_argument);
}

TEST_F(Detaching, EmptyLeaseIsRefused) {
    lease nothing;
    EXPECT_EQ(support::code_of([&] { (void)nothing.detach(); }), errc::not_owner);
    EXPECT_THROW((void)soon(lease{}.async_detach(asio::use_future)), boost::system::system_error);
}

} // namespace
} // namespace holdfast
