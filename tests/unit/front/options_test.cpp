// SPDX-License-Identifier: Apache-2.0
// What a client is made with.
#include "unit/front/real_time.hpp"

namespace holdfast {
namespace {

class Options : public in_real_time {
protected:
    /// What a client made with them says: the words of the refusal.
    static std::string refusal_of(options how) {
        const auto refused = thrown_by([&] { const client c{std::move(how)}; });
        EXPECT_EQ(refused.code, errc::invalid_argument) << refused.text;
        return refused.text;
    }
    options good() { return {.store = server.connect(), .close_patience = 0ms}; }
};

TEST_F(Options, AreWrittenWithDesignatedInitialisers) {
    client shop{options{.store = server.connect(),
                        .prefix = "shop:",
                        .lease_time = 10s,
                        .max_hold = 1h,
                        .unavailable_patience = 1s,
                        .release_patience = 1s,
                        .close_patience = 0s,
                        .release_on_close = true,
                        .poll_bound = 1s,
                        .waiters_max = 10,
                        .label = "till 3",
                        .announce = false,
                        .observer = ear}};
    mutex stock{shop, "stock"};
    const std::scoped_lock held{stock};
    EXPECT_LE(server.inspect("shop:stock")->remaining.value(), 10s);
}

TEST_F(Options, APrefixIsPutBeforeEveryName) {
    options how = good();
    how.prefix = "shop:";
    client shop{std::move(how)};
    mutex stock{shop, "stock"}, same{alice, "shop:stock"}, other{alice, "stock"};
    stock.lock();
    EXPECT_FALSE(same.try_lock());
    EXPECT_TRUE(other.try_lock());
    other.unlock();
    EXPECT_TRUE(stock.is_locked());
    const lease held = [&] {
        stock.unlock();
        return soon(stock.async_lock(asio::use_future));
    }();
    EXPECT_EQ(held.name(), "shop:stock");
}

TEST_F(Options, AMapperMapsEveryName) {
    options how = good();
    how.name_mapper = [](std::string_view name) { return std::string{name} + "@shop"; };
    client shop{std::move(how)};
    mutex stock{shop, "stock"};
    const std::scoped_lock held{stock};
    EXPECT_TRUE(server.inspect("stock@shop"));
}

TEST_F(Options, AMapperThatMakesABadNameIsCaught) {
    options how = good();
    how.name_mapper = [](std::string_view) { return std::string{}; };
    client shop{std::move(how)};
    EXPECT_EQ(thrown_by([&] { mutex{shop, "stock"}; }).code, errc::invalid_argument);
}

TEST_F(Options, APrefixAndAMapperTogetherAreRefused) {
    options how = good();
    how.prefix = "shop:";
    how.name_mapper = [](std::string_view name) { return std::string{name}; };
    const std::string words = refusal_of(std::move(how));
    EXPECT_THAT(words, HasSubstr("prefix"));
    EXPECT_THAT(words, HasSubstr("mapper"));
}

TEST_F(Options, AWrongLengthOfTimeIsNamed) {
    const auto with = [this](auto set) {
        options how = good();
        set(how);
        return how;
    };
    EXPECT_THAT(refusal_of(with([](options& o) { o.lease_time = 0s; })), HasSubstr("lease_time"));
    EXPECT_THAT(refusal_of(with([](options& o) { o.lease_time = -1s; })), HasSubstr("-1000 ms"));
    EXPECT_THAT(refusal_of(with([](options& o) { o.lease_time = 24h * 3653; })),
                HasSubstr("3652 days"));
    EXPECT_THAT(refusal_of(with([](options& o) { o.lease_time = duration::max(); })),
                HasSubstr("allowed are 1 ms"));
    EXPECT_THAT(refusal_of(with([](options& o) { o.max_hold = 0s; })), HasSubstr("max_hold"));
    EXPECT_THAT(refusal_of(with([](options& o) { o.unavailable_patience = -1ms; })),
                HasSubstr("unavailable_patience"));
    EXPECT_THAT(refusal_of(with([](options& o) { o.release_patience = -1ms; })),
                HasSubstr("release_patience"));
    EXPECT_THAT(refusal_of(with([](options& o) { o.close_patience = -1ms; })),
                HasSubstr("close_patience"));
    EXPECT_THAT(refusal_of(with([](options& o) { o.poll_bound = 0ms; })), HasSubstr("poll_bound"));
    EXPECT_THAT(refusal_of(with([](options& o) { o.waiters_max = 0; })), HasSubstr("waiters_max"));
}

TEST_F(Options, AUrlThatIsANullPointerIsRefused) {
    const char* const unset = nullptr; // as getenv() answers
    const auto refused = thrown_by([&] { const client c{unset}; });
    EXPECT_EQ(refused.code, errc::invalid_argument);
    EXPECT_THAT(refused.text, HasSubstr("null pointer; is an environment variable not set?"));
    static_assert(!std::is_constructible_v<client, std::nullptr_t>);
}

TEST_F(Options, AUrlNamesAServerInThisProcess) {
    client one{"memory:options_test"}, two{std::string{"memory:options_test"}.c_str()};
    client other{std::string_view{"memory:options_test_other"}};
    mutex first{one, "stock"}, second{two, "stock"}, third{other, "stock"};
    first.lock();
    EXPECT_FALSE(second.try_lock());
    EXPECT_TRUE(third.try_lock());
    third.unlock();
    first.unlock();
}

TEST_F(Options, AUrlsParametersWin) {
    client brief{options{.url = "memory:options_test?lease_time=2s&prefix=p:", .lease_time = 1h}};
    mutex stock{brief, "stock"};
    const std::scoped_lock held{stock};
    EXPECT_LE(stock.remaining_lease().value(), 2s);
}

TEST_F(Options, AMalformedUrlIsRefusedPartByPart) {
    const std::pair<const char*, const char*> wrong[] = {
        {"", "empty"},
        {"127.0.0.1:6379", "scheme"},
        {"http://127.0.0.1", "scheme"},
        {"redis://", "host"},
        {"redis://127.0.0.1:0", "port"},
        {"redis://127.0.0.1:65536", "port"},
        {"redis://127.0.0.1:http", "port"},
        {"redis://127.0.0.1/two", "database"},
        {"redis://127.0.0.1/-1", "database"},
        {"redis://[::1", "']'"},
        {"redis://[::g]", "IPv6"},
        {"redis://us%er@127.0.0.1", "'%'"},
        {"redis://127.0.0.1?lease_time=10", "unit"},
        {"redis://127.0.0.1?lease_time=0s", "lease_time"},
        {"redis://127.0.0.1?leasetime=10s", "lease_time"},
        {"redis://127.0.0.1?lease_time", "value"},
        {"redis://127.0.0.1?prefix=a&prefix=b", "twice"},
        {"redis://127.0.0.1#part", "'#'"},
        {"redis://127.0.0.1/ 1", "blank"},
        {"unix://", "path"},
        {"memory:", "name"},
        {"memory://test", "memory:test"},
    };
    for (const auto& [url, part] : wrong) {
        const auto refused = thrown_by([&, u = url] { const client c{u}; });
        EXPECT_EQ(refused.code, errc::invalid_argument) << url;
        EXPECT_THAT(refused.text, HasSubstr(part)) << url;
    }
}

TEST_F(Options, APasswordIsNeverShown) {
    const auto refused = thrown_by([] { const client c{"redis://me:secret@host:no_port"}; });
    EXPECT_EQ(refused.code, errc::invalid_argument);
    EXPECT_THAT(refused.text, testing::Not(HasSubstr("secret")));
}

TEST_F(Options, NothingIsSentBeforeSomebodyAsks) {
    mutex stock{alice, "stock"};
    (void)alice.id();
    EXPECT_FALSE(stock.is_held_by_this_thread());
    EXPECT_EQ(sent.all(), 0u);
    const client nobody_there{"redis://127.0.0.1:1"};
    EXPECT_EQ(nobody_there.id().size(), 36u);
}

TEST_F(Options, EachClientHasAnIdentityOfItsOwn) {
    EXPECT_NE(alice.id(), bob.id());
    const client moved{std::move(alice)};
    EXPECT_EQ(moved.id().size(), 36u);
}

} // namespace
} // namespace holdfast
