// SPDX-License-Identifier: Apache-2.0
// Many calls, and a server that stalls, forgets scripts, says rubbish and hangs up, in an order
// drawn from a seed. Whatever happens: each call ends once and in time, with its own answer or with
// an error, and nothing is left behind.
#include "node_fixture.hpp"

#include <boost/asio/bind_executor.hpp>

#include <deque>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class NodeInChaos : public on_fake_server, public ::testing::WithParamInterface<unsigned> {
protected:
    NodeInChaos() {
        how_.requests_max = 64;
        server_.improvises = [this](const fake_server::words& request) {
            return answer_to(request);
        };
    }

    std::size_t draw(std::size_t choices) { return dice_() % choices; }

    std::optional<std::string> answer_to(const fake_server::words& request) {
        if (request[0] != "EVALSHA" && request[0] != "EVAL")
            return std::nullopt;
        if (request[0] == "EVALSHA" && draw(4) == 0)
            return "-NOSCRIPT No matching script.\r\n";
        const std::string& key = request.at(3);
        return "$" + std::to_string(key.size()) + "\r\n" + key + "\r\n";
    }

    void do_something() {
        switch (draw(10)) {
        case 0:
        case 1:
        case 2:
            return ask_some(draw(8));
        case 3:
            return pass(duration{draw(20)});
        case 4:
            return pass(duration{draw(2000)});
        case 5:
            return cancel_one();
        default:
            return disturb();
        }
    }

    void ask_some(std::size_t count) {
        for (; count > 0; --count)
            under_way_.push_back({begin(std::to_string(++asked_)), clock_.now()});
        if (draw(2) == 0)
            settle();
    }

    void cancel_one() {
        if (!under_way_.empty())
            under_way_[draw(under_way_.size())].call->cancel.emit(
                asio::cancellation_type::terminal);
    }

    void disturb() {
        if (server_.sessions.empty())
            return;
        auto& session = server_.last();
        switch (draw(11)) {
        case 0:
            return server_.drop_connections();
        case 1:
            if (session.open && session.held.empty()) // and not within an answer
                session.send("?\r\n");
            return;
        case 2:
        case 3:
        case 4:
            session.holds_back = true;
            return;
        case 5:
            server_.stop();
            return server_.start();
        default:
            session.release(draw(2) == 0 ? draw(30) : std::string::npos);
            session.holds_back = session.holds_back && !session.held.empty();
        }
    }

    void check_all() {
        std::erase_if(under_way_, [this](const started& one) {
            const asking& call = *one.call;
            if (!call.done) {
                EXPECT_LT(clock_.now() - one.at, how_.command_timeout) << call.key;
                return false;
            }
            if (!call.code) {
                EXPECT_EQ(call.answer.text, call.key) << "another call's answer";
                ++answered_;
            }
            return true;
        });
    }

    struct started {
        asked call;
        time_point at;
    };
    std::mt19937 dice_{GetParam()};
    std::deque<started> under_way_;
    int asked_ = 0;
    int answered_ = 0;
};

TEST_P(NodeInChaos, EachCallEndsInTimeWithItsOwnAnswer) {
    for (int i = 0; i < 400; ++i) {
        do_something();
        settle();
        check_all();
    }
    // Left in peace, it works again.
    for (const auto& session : server_.sessions) {
        session->holds_back = false;
        session->release();
    }
    pass(10s);
    check_all();
    EXPECT_TRUE(under_way_.empty());
    const auto last = ask("last");
    pass(1s);
    EXPECT_EQ(last->answer.text, "last") << last->text;
    EXPECT_GT(answered_, asked_ / 20) << "chaos is no test if nothing ever works";
}

INSTANTIATE_TEST_SUITE_P(Seeds, NodeInChaos, ::testing::Range(1u, 61u));

} // namespace
} // namespace holdfast
