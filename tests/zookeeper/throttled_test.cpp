// SPDX-License-Identifier: Apache-2.0
// A server that has too much to do answers some requests with ThrottledOp: it has done nothing of
// them, and does what comes behind them.
#include "session_fixture.hpp"
#include "store/zookeeper/zookeeper_store.hpp"

#include <holdfast/error.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using zookeeper::node_mode;

constexpr std::int32_t throttled = -127;
constexpr opcode all_that_is_throttled[] = {
    opcode::create2,  opcode::create_container, opcode::get_children, opcode::get_data,
    opcode::set_data, opcode::remove,           opcode::sync,         opcode::multi};

class ThrottledCalls : public on_fake_zookeeper {
protected:
    ThrottledCalls() {
        for (const opcode each : all_that_is_throttled)
            server_.says[each] = {throttled, ""};
    }
    template <typename T>
    static void expect_nothing_done(const call<T>& what) {
        ASSERT_TRUE(what->done);
        EXPECT_EQ(what->code, store_errc::try_again);
        EXPECT_EQ(what->code, errc::unreachable) << "it is worth another try";
        EXPECT_THAT(what->text, HasSubstr("ThrottledOp (-127)"));
    }
    void expect_session_goes_on() {
        server_.says.clear();
        open();
        EXPECT_EQ(server_.visits.size(), 1u);
        EXPECT_THAT(news_, ElementsAre(session_news::opened));
    }
};

TEST_F(ThrottledCalls, SayThatNothingWasDoneAndTheSessionGoesOn) {
    const zookeeper::new_node plain{"/p/n", "me", node_mode::ephemeral};
    const zookeeper::new_node container{"/p/n", "me", node_mode::container};
    expect_nothing_done(begin(session().create(plain)));
    expect_nothing_done(begin(session().create(container)));
    expect_nothing_done(begin(session().create_and_list(plain, "/p")));
    expect_nothing_done(list());
    expect_nothing_done(begin(session().get("/p")));
    expect_nothing_done(begin(session().set("/p", "new")));
    expect_nothing_done(begin(session().remove("/p")));
    expect_nothing_done(begin(session().sync("/p")));
    expect_nothing_done(confirm({"/p"}));
    expect_session_goes_on();
}

TEST_F(ThrottledCalls, SetNoWatch) {
    int told = 0;
    std::function<void()> tell = [&told] { ++told; };
    expect_nothing_done(begin(session().watch_node("/p", tell)));
    const auto wake = clock_.make_alarm();
    expect_nothing_done(begin(session().list_and_watch("/p", *wake)));
    server_.last().send(server_.event(zookeeper::node_event::kind::deleted, "/p"));
    settle();
    EXPECT_EQ(told, 0);
    expect_session_goes_on();
}

TEST_F(ThrottledCalls, AHeartbeatProvesNothingAndTheNextOneDoes) {
    use();
    settle();
    const time_point believed = session().state().alive_until;
    pass(3s);
    EXPECT_GT(server_.count(opcode::multi), 0u);
    EXPECT_EQ(session().state().alive_until, believed);
    expect_session_goes_on();
    pass(4s);
    EXPECT_GT(session().state().alive_until, believed);
}

/// A lock at a server that makes one node, and lists it.
class ThrottledLock : public on_fake_zookeeper {
protected:
    ThrottledLock() {
        server_.improvises = [this](const fake_zookeeper::asked& one) { return said_to(one); };
    }
    ~ThrottledLock() override {
        spot_.reset();
        store_.close();
        settle();
    }

    void throttle(opcode what, int times) { left_[what] = times; }

    call<answer> look() {
        if (!spot_)
            spot_ = store_.locks().line_up(want_, *wake_);
        return begin(spot_->look());
    }

    std::string node_; ///< that was made
    const ask want_ = [] {
        ask one{"lock", owner_id{{}, 1}, lock_kind::plain};
        one.lease_time = 30s;
        one.give_up_at = time_point::max();
        return one;
    }();
    const std::unique_ptr<alarm> wake_ = clock_.make_alarm();
    zookeeper::zookeeper_store store_{zookeeper::make_session(how_, context()), context(), how_};
    std::unique_ptr<place> spot_;

private:
    std::optional<std::string> said_to(const fake_zookeeper::asked& one) {
        if (int& left = left_[one.what]; left > 0) {
            --left;
            return server_.answer(one.number, throttled);
        }
        if (one.what == opcode::create2) {
            node_ = std::string{zookeeper::jute_reader{one.body}.text()} + "0000000007";
            return server_.answer(one.number, 0,
                                  fake_zookeeper::text(node_) +
                                      fake_zookeeper::stat(7, server_.sessions.back()));
        }
        if (one.what == opcode::get_data)
            return server_.answer(one.number, 0,
                                  fake_zookeeper::text("") +
                                      fake_zookeeper::stat(7, server_.sessions.back()));
        if (one.what == opcode::get_children)
            return server_.answer(one.number, 0,
                                  fake_zookeeper::texts({node_.substr(node_.rfind('/') + 1)}));
        return std::nullopt;
    }

    std::map<opcode, int> left_;
};

TEST_F(ThrottledLock, ACreationThatWasNotDoneLeavesNothingBehind) {
    throttle(opcode::create2, 1);
    EXPECT_EQ(look()->code, store_errc::try_again);
    EXPECT_FALSE(spot_->must_leave());
    EXPECT_FALSE(spot_->uncertain());
    EXPECT_TRUE(look()->answer.value().granted);
}

TEST_F(ThrottledLock, ANodeIsNotForgottenWhereItsLineIsNotTold) {
    throttle(opcode::get_children, 1);
    EXPECT_EQ(look()->code, errc::outcome_unknown);
    EXPECT_TRUE(spot_->must_leave()) << "its node is in the line";
    EXPECT_TRUE(spot_->uncertain());
    ASSERT_TRUE(begin(spot_->leave())->answer);
    ASSERT_EQ(server_.count(opcode::remove), 1u);
    const std::string& body = server_.last().requests.back().body;
    EXPECT_EQ(zookeeper::jute_reader{body}.text(), node_);
}

TEST_F(ThrottledLock, IsHadByTheSameNodeWhenTheLineIsTold) {
    throttle(opcode::get_children, 1);
    EXPECT_EQ(look()->code, errc::outcome_unknown);
    EXPECT_TRUE(look()->answer.value().granted);
    EXPECT_EQ(server_.count(opcode::create2), 1u);
}

// Nobody throttles, but the list behind the node was one request too many.
TEST_F(ThrottledLock, ANodeIsNotForgottenWhereItsLineCannotBeAskedFor) {
    how_.requests_max = 1;
    const auto narrow = zookeeper::make_session(how_, context());
    const zookeeper::new_node node{"/p/n-", "me", node_mode::ephemeral_sequential};
    const auto both = begin(narrow->create_and_list(node, "/p"));
    EXPECT_EQ(server_.count(opcode::create2), 1u);
    EXPECT_EQ(both->code, errc::outcome_unknown) << both->text;
    narrow->close();
}

} // namespace
} // namespace holdfast
