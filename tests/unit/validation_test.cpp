// SPDX-License-Identifier: Apache-2.0
#include "refusal.hpp"
#include "validation.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <functional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string refusal_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const boost::system::system_error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument);
        return e.what();
    }
    return "taken";
}

struct store_that_objects : lock_store {
    bool offers(lock_kind) const noexcept override { return true; }
    limits bounds() const noexcept override { return {}; }
    std::optional<std::string> objection_to(const lock_name& name) const override {
        if (name.text == "good")
            return std::nullopt;
        return "it is not good";
    }
    std::unique_ptr<place> line_up(ask, alarm&) override { return nullptr; }
    asio::awaitable<void> renew(hold_list, const renewal_wishes&, renewal_sink&) override {
        co_return;
    }
    asio::awaitable<release_answer> release(hold) override { co_return release_answer{}; }
    std::unique_ptr<watch> watch_over(const hold&, doubter&) override { return nullptr; }
};

TEST(Validation, TheDefaultsAreAllowed) {
    EXPECT_EQ(refusal_of([] { check(options{}); }), "taken");
}

TEST(Validation, EachFieldIsNamedWithWhatIsWrong) {
    using change = void (*)(options&);
    const std::pair<change, const char*> rows[] = {
        {[](options& o) { o.lease_time = 0s; }, "options.lease_time is 0 ms; allowed are 1 ms to "
                                                "3652 days"},
        {[](options& o) { o.lease_time = -1s; }, "options.lease_time is -1000 ms"},
        {[](options& o) { o.lease_time = 24h * 3653; }, "options.lease_time is 3653 days"},
        {[](options& o) { o.max_hold = 0s; }, "options.max_hold is 0 ms; allowed are 1 ms to "
                                              "for ever"},
        {[](options& o) { o.unavailable_patience = -1ms; }, "options.unavailable_patience is -1"},
        {[](options& o) { o.release_patience = -1ms; }, "options.release_patience is -1 ms"},
        {[](options& o) { o.close_patience = duration::min(); }, "options.close_patience is -9"},
        {[](options& o) { o.poll_bound = 0s; }, "options.poll_bound is 0 ms; allowed are 1 ms to "
                                                "1 day"},
        {[](options& o) { o.poll_bound = duration::max(); },
         "options.poll_bound is for ever (duration::max()); allowed are 1 ms to 1 day"},
        {[](options& o) { o.hand_off.within = -1ms; },
         "options.hand_off.within is -1 ms; allowed are 0 ms to 1 day"},
        {[](options& o) { o.hand_off.within = 24h + 1ms; }, "options.hand_off.within is 86400001"},
        {[](options& o) { o.waiters_max = 0; }, "options.waiters_max is 0"},
        {[](options& o) { o.required_replicas = 101; },
         "options.required_replicas is 101; allowed are 0 to 100"},
        {[](options& o) {
             o.prefix = "a";
             o.name_mapper = [](std::string_view name) { return std::string{name}; };
         },
         "options.prefix and options.name_mapper are both given"},
    };
    for (const auto& [spoil, said] : rows) {
        options how;
        spoil(how);
        EXPECT_THAT(refusal_of([&] { check(how); }), HasSubstr(said));
    }
}

TEST(Validation, PatienceMayBeNothingAndForEver) {
    options how;
    how.unavailable_patience = how.release_patience = how.close_patience = 0s;
    EXPECT_EQ(refusal_of([&] { check(how); }), "taken");
    how.unavailable_patience = how.release_patience = how.close_patience = duration::max();
    how.poll_bound = how.hand_off.within = 24h;
    how.max_hold = duration::max();
    EXPECT_EQ(refusal_of([&] { check(how); }), "taken");
}

TEST(Validation, ReplicasAreRequiredOnlyWhereTheStoreAsksSome) {
    limits asks_none, asks_some;
    asks_some.replicas_max = 100;
    EXPECT_EQ(checked_replicas(0, asks_none), 0u);
    EXPECT_EQ(checked_replicas(100, asks_some), 100u);
    EXPECT_THAT(refusal_of([&] { (void)checked_replicas(1, asks_none); }),
                HasSubstr("required_replicas is 1; the store of this client does not wait for "
                          "replicas, so allowed is 0"));
    EXPECT_THAT(refusal_of([&] { (void)checked_replicas(101, asks_some); }),
                HasSubstr("required_replicas is 101; allowed are 0 to 100"));
    asks_some.replicas_max = 2;
    EXPECT_THAT(refusal_of([&] { (void)checked_replicas(3, asks_some); }),
                HasSubstr("required_replicas is 3; allowed are 0 to 2"));
}

TEST(Validation, AFairPlaceLastsByDefaultForAsLongAsTheUsualOutageNeeds) {
    const options how;
    limits one_server, with_failover;
    with_failover.usual_outage = 30s;
    EXPECT_EQ(checked_waiter_patience(std::nullopt, how, one_server), 30s);
    EXPECT_EQ(checked_waiter_patience(std::nullopt, how, with_failover), 41s);
    EXPECT_THAT(refusal_of([&] { (void)checked_waiter_patience(30s, how, with_failover); }),
                HasSubstr("fair_options.waiter_patience is 30000 ms; allowed are 41000 ms to"));
}

TEST(Validation, ALeaseLastsFromOneMillisecondToTenYears) {
    EXPECT_EQ(checked_lease(1ms, limits{}), 1ms);
    EXPECT_EQ(checked_lease(24h * 3652, limits{}), 24h * 3652);
    for (const duration wrong :
         {duration{0}, duration{-1}, duration::min(), duration::max(), duration{24h * 3652} + 1ms})
        EXPECT_THAT(refusal_of([&] { (void)checked_lease(wrong, limits{}); }),
                    HasSubstr("allowed are 1 ms to 3652 days, in whole milliseconds"));
    // Rounded down before it comes here.
    EXPECT_THAT(refusal_of([] {
                    (void)checked_lease(lease_time{std::chrono::microseconds{999}}.value, limits{});
                }),
                HasSubstr("the lease time is 0 ms"));
}

TEST(Validation, ANameIsGivenBackOrQuotedWithTheStoresObjection) {
    const store_that_objects store;
    EXPECT_EQ(checked_name("good", store), "good");
    EXPECT_THAT(refusal_of([&] { (void)checked_name("bad", store); }),
                HasSubstr("lock name \"bad\": it is not good"));
}

TEST(InQuotes, IsCutAndSafeForATerminal) {
    EXPECT_EQ(in_quotes(""), R"("")");
    EXPECT_EQ(in_quotes("stock:42"), R"("stock:42")");
    EXPECT_EQ(in_quotes(std::string_view{"a\0b\n\x1b[31m\"\\\xC3\xA9", 13}),
              R"("a\x00b\x0A\x1B[31m\"\\\xC3\xA9")");
    const std::string cut = in_quotes(std::string(10'000'000, 'x'));
    EXPECT_EQ(cut, '"' + std::string(64, 'x') + "\"... (10000000 bytes)");
}

} // namespace
} // namespace holdfast
