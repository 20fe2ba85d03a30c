// SPDX-License-Identifier: Apache-2.0
// The doctor's trial lock is given back on every way out, and what is left behind is gone soon.
#include "store/redis/redis_store.hpp"
#include "store_fixture.hpp"

#include <algorithm>

namespace holdfast {
namespace {

class Examination : public on_scripted_node {
protected:
    Examination() {
        context_.announce = false;
        node_.decide = [this](const scripted_node::request& made) { return served(made); };
    }

    std::vector<finding> examined() {
        ask trial = want(duration::max());
        return complete(redis::examine_server(node_, context_, std::move(trial)));
    }
    std::size_t asked_for(std::string_view script) const {
        return static_cast<std::size_t>(
            std::ranges::count(node_.asked, script, &scripted_node::request::script));
    }
    static bool says(const std::vector<finding>& all, severity how_bad, std::string_view topic) {
        return std::ranges::any_of(all, [&](const finding& each) {
            return each.how_bad == how_bad && each.topic == topic;
        });
    }

    /// What goes wrong with the next requests of a script, one after the other.
    std::map<std::string, std::deque<error_code>> trouble_;
    bool busy_ = false; ///< somebody else has the lock
    int locks_ = 0;     ///< that the server thinks are held

private:
    std::optional<scripted_node::outcome> served(const scripted_node::request& made) {
        scripted_node::outcome next;
        if (made.script == "examine_server")
            next.answer.type = redis::reply::kind::text;
        if (made.script == "lock_mutex")
            next.answer = scripted_node::array_of({busy_ ? 0 : 1, 0, server_time});
        if (made.script == "renew_leases")
            next.answer = scripted_node::array_of({1});
        if (made.script == "release_mutex")
            next.answer = scripted_node::array_of({1, 0});
        std::deque<error_code>& bad = trouble_[made.script];
        if (!bad.empty()) {
            next.failure = bad.front();
            bad.pop_front();
        }
        if (made.script == "lock_mutex" && next.failure != errc::unreachable)
            locks_ = 1; // though nobody may be told
        if (made.script == "release_mutex" && !next.failure)
            locks_ = 0;
        return next;
    }
};

TEST_F(Examination, ReleasesItsLock) {
    EXPECT_TRUE(says(examined(), severity::fine, "rights"));
    EXPECT_EQ(asked_for("release_mutex"), 1u);
    EXPECT_EQ(locks_, 0);
}

TEST_F(Examination, ReleasesALockThatCouldNotBeRenewed) {
    trouble_["renew_leases"] = {make_error_code(store_errc::no_permission)};
    const std::vector<finding> found = examined();
    EXPECT_TRUE(says(found, severity::danger, "rights"));
    EXPECT_FALSE(says(found, severity::fine, "rights"));
    EXPECT_EQ(locks_, 0);
}

TEST_F(Examination, ReleasesALockThatItMayHave) {
    trouble_["lock_mutex"] = {make_error_code(errc::outcome_unknown)};
    EXPECT_TRUE(says(examined(), severity::danger, "rights"));
    EXPECT_EQ(locks_, 0);
    EXPECT_EQ(asked_for("renew_leases"), 0u);
}

TEST_F(Examination, ReleasesNothingThatItCannotHave) {
    for (const error_code& why :
         {make_error_code(errc::unreachable), make_error_code(errc::overloaded),
          make_error_code(errc::closed), make_error_code(store_errc::no_permission)}) {
        trouble_["lock_mutex"] = {why};
        EXPECT_TRUE(says(examined(), severity::danger, "rights"));
        EXPECT_EQ(asked_for("release_mutex"), 0u) << why;
    }
}

TEST_F(Examination, ReleasesNobodyElsesLock) {
    busy_ = true;
    EXPECT_TRUE(says(examined(), severity::note, "rights"));
    EXPECT_EQ(asked_for("renew_leases") + asked_for("release_mutex"), 0u);
}

TEST_F(Examination, DoesNotRepeatAReleaseThatIsRefused) {
    for (const error_code& why :
         {make_error_code(store_errc::no_permission), make_error_code(errc::closed)}) {
        node_.asked.clear();
        trouble_["release_mutex"] = {why};
        EXPECT_TRUE(says(examined(), severity::danger, "rights"));
        EXPECT_EQ(asked_for("release_mutex"), 1u) << why;
    }
}

TEST_F(Examination, RepeatsAReleaseThatWasNotAnswered) {
    trouble_["release_mutex"] = {make_error_code(errc::outcome_unknown),
                                 make_error_code(errc::unreachable)};
    EXPECT_TRUE(says(examined(), severity::fine, "rights"));
    EXPECT_EQ(asked_for("release_mutex"), 3u);
    EXPECT_EQ(locks_, 0);
}

TEST_F(Examination, LeavesALockThatItCannotReleaseForSomeSecondsAtMost) {
    const std::deque<error_code> never(10, make_error_code(errc::outcome_unknown));
    trouble_["release_mutex"] = never;
    EXPECT_TRUE(says(examined(), severity::danger, "rights"));
    EXPECT_EQ(asked_for("release_mutex"), 3u);
    for (const scripted_node::request& each : node_.asked) {
        if (each.script == "lock_mutex" || each.script == "renew_leases") {
            EXPECT_EQ(each.words.at(0), "10000"); // of a lease time of thirty seconds
        }
    }
}

TEST(StoreIdentity, IsThatOfItsServer) {
    asio::io_context io;
    sim::sim_clock clock{io};
    auto node = std::make_unique<scripted_node>(clock);
    node->who.id = "0123";
    const store_context context{io.get_executor(), clock, {}, {}, {}, {}, {}};
    const redis::redis_store store{std::move(node), context};
    EXPECT_EQ(store.identity("any").id, "0123");
}

} // namespace
} // namespace holdfast
