// SPDX-License-Identifier: Apache-2.0
// A program asks the holders of a lock to release it soon.
#include "conformance/suite.hpp"

#include <holdfast/fair_mutex.hpp>
#include <holdfast/fenced_mutex.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/token_mutex.hpp>

#include <boost/asio/use_future.hpp>

#include <gmock/gmock.h>

namespace holdfast::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Wishes : public suite {
protected:
    static lease taken(basic_mutex& lock) {
        return support::soon(lock.async_lock(asio::use_future));
    }
    static bool becomes_asked(const lease& held) {
        const std::stop_token asked = held.asked();
        return support::eventually([&] { return asked.stop_requested(); });
    }
    /// Renewals of this lease are too rare to matter in a test. So a wish that arrives was
    /// announced by a notification, or was read when the holder began to listen.
    static options patient() {
        options how;
        how.lease_time = hardly_ever;
        return how;
    }
};
HOLDFAST_ON_EACH_STORE(Wishes);

TEST_P(Wishes, StoreWithoutWishesRefusesThem) {
    if (store().has_wishes())
        GTEST_SKIP() << "this store has wishes";
    client home = make_client(), other = make_client();
    mutex lock{home, "L"};
    const lease held = taken(lock);
    EXPECT_FALSE(held.asked().stop_requested());
    const support::thrown refused = support::thrown_by([&] { (void)other.ask_for("L", "deploy"); });
    EXPECT_EQ(refused.code, errc::invalid_argument) << refused.text;
    EXPECT_TRUE(held.owns_lock());
}

TEST_P(Wishes, HolderIsNotifiedAndLearnsTheReason) {
    HOLDFAST_NEEDS(has_wishes);
    client home = make_client(patient()), other = make_client();
    mutex lock{home, "L"};
    const lease held = taken(lock);
    const std::stop_token asked = held.asked();
    ASSERT_TRUE(support::eventually([&] { return store().listeners() > 0; }));
    const std::string reason{"deploy \"4.2\"\n\0 {}", 17};
    EXPECT_THAT(other.ask_for("L", reason), ElementsAre(held.owner()));
    EXPECT_TRUE(support::eventually([&] { return asked.stop_requested(); }));
    ASSERT_TRUE(held.received_wish());
    EXPECT_EQ(held.received_wish()->reason, reason);
    EXPECT_NE(held.received_wish()->from, "");
    EXPECT_TRUE(held.owns_lock());
}

TEST_P(Wishes, HolderThatListensAfterTheWishLearnsOfIt) {
    HOLDFAST_NEEDS(has_wishes);
    client home = make_client(patient()), other = make_client();
    mutex lock{home, "L{x}"};
    const lease held = taken(lock);
    EXPECT_THAT(other.ask_for("L{x}"), SizeIs(1));
    EXPECT_TRUE(becomes_asked(held));
}

TEST_P(Wishes, WishIsOnlyForThePresentHolder) {
    HOLDFAST_NEEDS(has_wishes);
    client home = make_client({.lease_time = 300ms}), other = make_client();
    mutex lock{home, "L"};
    EXPECT_THAT(other.ask_for("L"), IsEmpty());
    {
        const lease first = taken(lock);
        EXPECT_THAT(other.ask_for("L"), SizeIs(1));
    }
    const lease next = taken(lock);
    const std::stop_token asked = next.asked();
    EXPECT_THAT(other.ask_for("elsewhere"), IsEmpty());
    // The next wish is for this holder. If the holder had read the earlier wish, it would have
    // another reason.
    EXPECT_THAT(other.ask_for("L", "second"), SizeIs(1));
    EXPECT_TRUE(becomes_asked(next));
    EXPECT_EQ(next.received_wish()->reason, "second");
}

TEST_P(Wishes, LocksOfAllKindsCanBeAskedFor) {
    HOLDFAST_NEEDS(has_wishes);
    client home = make_client(patient()), other = make_client();
    const auto can_be_asked_for = [&](basic_mutex& lock, const std::string& name) {
        const lease held = taken(lock);
        return other.ask_for(name, "why").size() == 1 && becomes_asked(held) &&
               held.received_wish()->reason == "why";
    };
    fair_mutex fair{home, "fair"};
    EXPECT_TRUE(can_be_asked_for(fair, "fair"));
    fenced_mutex fenced{home, "fenced"};
    EXPECT_TRUE(can_be_asked_for(fenced, "fenced"));
    token_mutex token{home, "token"};
    EXPECT_TRUE(can_be_asked_for(token, "token"));
    shared_mutex shared{home, "shared"};
    EXPECT_TRUE(can_be_asked_for(shared, "shared"));
    EXPECT_TRUE(can_be_asked_for(shared.shared(), "shared"));
}

TEST_P(Wishes, AllReadersAreAsked) {
    HOLDFAST_NEEDS(has_wishes);
    client home = make_client(patient()), another = make_client(patient()), other = make_client();
    shared_mutex mine{home, "L"}, others{another, "L"};
    const lease one = taken(mine.shared()), two = taken(others.shared());
    EXPECT_THAT(other.ask_for("L"), SizeIs(2));
    EXPECT_TRUE(becomes_asked(one));
    EXPECT_TRUE(becomes_asked(two));
}

TEST_P(Wishes, NameOfSomethingElseIsRefused) {
    HOLDFAST_NEEDS(has_wishes);
    client home = make_client();
    if (!store().put_something_else("other"))
        GTEST_SKIP() << "there is nothing else here";
    EXPECT_EQ(support::thrown_by([&] { (void)home.ask_for("other"); }).code,
              store_errc::wrong_type);
}

TEST_P(Wishes, WishIsNotListedAsALock) {
    HOLDFAST_NEEDS(has_wishes);
    if (GetParam().label.ends_with("-acl"))
        GTEST_SKIP() << "this user may not list locks";
    client home = make_client(), other = make_client();
    mutex lock{home, "L"};
    const lease held = taken(lock);
    (void)other.ask_for("L");
    EXPECT_THAT(other.list().locks, SizeIs(1));
}

} // namespace
} // namespace holdfast::conformance
