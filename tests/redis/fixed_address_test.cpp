// SPDX-License-Identifier: Apache-2.0
// A server's name that leads elsewhere while its old server goes on, and one whose server dies. In
// simulated time, but names are looked up by another thread.
#include "node_fixture.hpp"
#include "redis/fixed_address.hpp"
#include "support/eventually.hpp"
#include "support/host_names.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

#include <gmock/gmock.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FixedAddress : public on_fake_server {
protected:
    static constexpr const char *old = "127.0.0.1", *next = "127.0.0.2";

    FixedAddress() {
        server_.stop(); // then whatever is to be done is this test's
        how_.unix_socket.clear();
        how_.host = name_of_test() + ".test";
        support::set_address(how_.host, old);
        support::hold_back(how_.host);
    }
    ~FixedAddress() override { close_watch(); }

    void close_watch() {
        if (watch_)
            watch_->close();
        settle();
        watch_.reset();
        EXPECT_TRUE(is_at_rest());
    }

    fixed_address& watch() {
        if (!watch_) {
            known_ = std::make_shared<node_context>(how_, context());
            known_->leave_server = [this](const net::failure& why) {
                EXPECT_EQ(why.code(), errc::unreachable);
                left_.push_back(why.text());
            };
            watch_ = std::make_shared<fixed_address>(known_);
        }
        return *watch_;
    }

    /// The connection for requests leads there now.
    void meet(const char* address, std::string run_id = "run-1") {
        introduction told;
        told.run_id = std::move(run_id);
        told.peer = asio::ip::tcp::endpoint{asio::ip::make_address(address), how_.port};
        watch().met(told);
        settle();
    }

    std::size_t look_ups() const { return support::look_ups_of(how_.host); }

    /// As long as it takes until the name is looked up, and the answer is there; so often.
    void look_up(int times = 1) {
        while (times-- > 0) {
            const std::size_t before = look_ups();
            pass(how_.address_check);
            ASSERT_TRUE(support::eventually([&] { return look_ups() > before; }));
            support::let_go(how_.host);
            io_.restart();
            ASSERT_EQ(io_.run_one_for(support::far_too_long), 1u);
            settle();
        }
    }

    /// Nobody does anything, nor will.
    bool is_at_rest() {
        settle();
        return io_.stopped() && clock_.sleepers() == 0;
    }

    std::vector<std::string> left_;

private:
    static std::string name_of_test() {
        std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
        std::ranges::transform(name, name.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return name;
    }

    std::shared_ptr<node_context> known_;
    std::shared_ptr<fixed_address> watch_;
};

TEST_F(FixedAddress, IsLookedUpNowAndThenWhileThereIsAConnection) {
    watch();
    pass(1min);
    EXPECT_EQ(look_ups(), 0u) << "nobody is connected";
    meet(old);
    look_up(5);
    EXPECT_EQ(look_ups(), 5u);
    EXPECT_THAT(left_, IsEmpty());
    watch().parted();
    EXPECT_TRUE(is_at_rest());
}

TEST_F(FixedAddress, IsLeftWhenItsNameHasLedElsewhereThreeTimesRunning) {
    meet(old);
    look_up();
    support::set_address(how_.host, next);
    look_up(2);
    EXPECT_THAT(left_, IsEmpty()) << "some names rotate";
    look_up();
    EXPECT_THAT(left_, ElementsAre(AllOf(HasSubstr(how_.host), HasSubstr("127.0.0.1:6379"))));
}

TEST_F(FixedAddress, IsKeptWhereItsNameRotates) {
    meet(old);
    for (int i = 0; i < 4; ++i) {
        support::set_address(how_.host, next);
        look_up(2);
        support::set_address(how_.host, old);
        look_up();
    }
    EXPECT_THAT(left_, IsEmpty());
}

TEST_F(FixedAddress, IsKeptWhereItIsOneOfSeveral) {
    meet(next);
    support::set_addresses(how_.host, {old, next});
    look_up(6);
    EXPECT_THAT(left_, IsEmpty());
}

TEST_F(FixedAddress, IsKeptWhileItsNameIsNotToBeFound) {
    meet(old);
    support::set_address(how_.host, "");
    look_up(6);
    EXPECT_THAT(left_, IsEmpty());
    support::set_address(how_.host, next);
    look_up(2);
    support::set_address(how_.host, "");
    look_up();
    support::set_address(how_.host, next);
    look_up();
    EXPECT_EQ(left_.size(), 1u) << "what was not found out says nothing, either way";
}

TEST_F(FixedAddress, OfAnotherPortOfTheSameHostIsMissing) {
    introduction told;
    told.peer = asio::ip::tcp::endpoint{asio::ip::make_address(old), 1};
    watch().met(told);
    look_up(3);
    EXPECT_EQ(left_.size(), 1u);
}

TEST_F(FixedAddress, BeginsToCountAnewWithEachConnection) {
    meet(old);
    support::set_address(how_.host, next);
    look_up(2);
    watch().parted();
    meet(old); // it is still the one that the resolver told of first
    look_up(2);
    EXPECT_THAT(left_, IsEmpty());
    look_up();
    EXPECT_EQ(left_.size(), 1u);
}

TEST_F(FixedAddress, OfAServerThatDiesIsNotLookedUpWhileNobodyIsConnected) {
    meet(old);
    look_up();
    watch().parted();
    support::set_address(how_.host, next);
    EXPECT_TRUE(is_at_rest()) << "each connection looks it up anyway";
    meet(next, "run-2");
    look_up(4);
    EXPECT_THAT(left_, IsEmpty());
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
}

TEST_F(FixedAddress, ThatIsNumericOrAPathOrWantedSoIsNeverLookedUp) {
    const std::string name = std::exchange(how_.host, old);
    meet(old);
    EXPECT_TRUE(is_at_rest());
    close_watch();
    how_.host = name;
    how_.address_check = 0ms;
    meet(old);
    EXPECT_TRUE(is_at_rest());
    close_watch();
    how_.address_check = 5s;
    how_.unix_socket = "/run/redis";
    meet(old);
    EXPECT_TRUE(is_at_rest());
}

TEST_F(FixedAddress, TellsTheObserverThatAnotherServerHasTheLocks) {
    meet(old, "run-1");
    EXPECT_EQ(told_.count(event_kind::moved), 0u) << "it has only been found";
    watch().parted();
    meet(next, "run-2");
    ASSERT_EQ(told_.count(event_kind::moved), 1u);
    EXPECT_EQ(told_.last(event_kind::moved)->name, "127.0.0.2:6379");
    EXPECT_EQ(told_.last(event_kind::moved)->text, "the name " + how_.host);
    meet("::1", "run-3");
    EXPECT_EQ(told_.last(event_kind::moved)->name, "[::1]:6379");
}

TEST_F(FixedAddress, IsNoLongerOfInterestWhenTheClientIsClosedMeanwhile) {
    meet(old);
    pass(how_.address_check);
    ASSERT_TRUE(support::eventually([&] { return look_ups() == 1; }));
    support::set_address(how_.host, next);
    watch().close();
    settle();
    EXPECT_EQ(clock_.sleepers(), 0u) << "nobody waits for a resolver that hangs";
    support::let_go(how_.host);
    io_.restart();
    io_.run_one_for(support::far_too_long);
}

TEST_F(FixedAddress, OfTheSameServerIsNoOther) {
    meet(old, "run-1");
    meet(next, "run-1"); // it has several
    meet(next, "run-2"); // it was restarted
    EXPECT_EQ(told_.count(event_kind::moved), 0u);
}

TEST_F(FixedAddress, AloneTellsServersApartThatDoNotSayWhoTheyAre) {
    meet(old, "");
    meet(old, "");
    EXPECT_EQ(told_.count(event_kind::moved), 0u);
    meet(next, "");
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
}

} // namespace
} // namespace holdfast::redis
