// SPDX-License-Identifier: Apache-2.0
// Listeners come and go, and a server refuses, stalls and hangs up, in an order drawn from a seed.
// Left in peace, everyone who still listens is heard again, was rung since the last trouble, and
// the server knows of no channel that nobody wants.
#include "ear_fixture.hpp"

#include <set>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class EarInChaos : public on_fake_channels, public ::testing::WithParamInterface<unsigned> {
protected:
    EarInChaos() {
        server_.improvises = [this](const fake_server::words& request) {
            return answer_to(request);
        };
    }

    std::size_t draw(std::size_t choices) { return dice_() % choices; }

    std::optional<std::string> answer_to(const fake_server::words& request) {
        if (request[0] == "CLIENT")
            subscribed_.clear(); // another connection
        if (request[0] == "SUBSCRIBE" && draw(8) < refusals_)
            return "-NOPERM no permissions\r\n";
        if (request[0] == "SUBSCRIBE")
            subscribed_.insert(request[1]);
        if (request[0] == "UNSUBSCRIBE")
            subscribed_.erase(request[1]);
        return std::nullopt;
    }

    void do_something() {
        switch (draw(9)) {
        case 0:
        case 1:
        case 2:
            names_.push_back("ch" + std::to_string(draw(5)));
            listen(names_.back());
            return;
        case 3:
        case 4:
            if (!all_.empty())
                all_[draw(all_.size())]->ear.reset();
            return;
        case 5:
            return pass(duration{draw(3000)});
        case 6:
            return pass(duration{draw(12'000)});
        default:
            return disturb();
        }
    }

    void disturb() {
        if (server_.sessions.empty())
            return;
        auto& session = server_.last();
        switch (draw(6)) {
        case 0:
            for (const auto& one : all_)
                one->rings = 0;
            return server_.drop_connections();
        case 1:
            session.holds_back = true;
            return;
        case 2:
            refusals_ = 4 - refusals_;
            return;
        case 3:
            if (session.open && session.held.empty() && !session.holds_back)
                publish("ch" + std::to_string(draw(5)));
            return;
        default:
            session.release();
            session.holds_back = false;
        }
    }

    std::mt19937 dice_{GetParam()};
    std::vector<std::string> names_; // of all_, in order
    std::set<std::string> subscribed_;
    std::size_t refusals_ = 0; // of eight
};

TEST_P(EarInChaos, WhoStillListensHearsAgainAndNothingIsLeftBehind) {
    for (int i = 0; i < 200; ++i) {
        do_something();
        if (draw(2) == 0)
            settle();
    }
    refusals_ = 0;
    for (const auto& session : server_.sessions) {
        session->holds_back = false;
        session->release();
    }
    server_.drop_connections();
    for (const auto& one : all_)
        one->rings = 0;
    pass(30s);
    std::set<std::string> wanted;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (!all_[i]->ear)
            continue;
        wanted.insert(names_[i]);
        confirm(*all_[i], 0ms);
        EXPECT_EQ(all_[i]->confirmed, true);
        EXPECT_EQ(all_[i]->rings, 1);
        publish(names_[i]);
        EXPECT_EQ(all_[i]->rings, 2);
        all_[i]->rings = 1;
        for (std::size_t other = 0; other < all_.size(); ++other)
            all_[other]->rings = 1;
    }
    EXPECT_EQ(subscribed_, wanted);
    for (const auto& one : all_)
        one->ear.reset();
    pass(30s);
    EXPECT_TRUE(subscribed_.empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, EarInChaos, ::testing::Range(1u, 61u));

} // namespace
} // namespace holdfast
