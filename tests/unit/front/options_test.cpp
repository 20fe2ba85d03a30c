// SPDX-License-Identifier: Apache-2.0
// Options of a client.
#include "support/holds.hpp"
#include "support/wrapped_store.hpp"
#include "unit/front/real_time.hpp"

#include <limits>
#include <stop_token>

namespace holdfast {
namespace {

class Options : public in_real_time {
protected:
    /// Returns the error text of a client that is created with these options.
    static std::string refusal_of(options how) {
        const auto refused = thrown_by([&] { const client c{std::move(how)}; });
        EXPECT_EQ(refused.code, errc::invalid_argument) << refused.text;
        return refused.text;
    }
    options good() { return {.store = server.connect(), .close_timeout = 0ms}; }
};

TEST_F(Options, AreWrittenWithDesignatedInitialisers) {
    client shop{options{.store = server.connect(),
                        .prefix = "shop:",
                        .lease_time = 10s,
                        .max_hold = 1h,
                        .unavailable_timeout = 1s,
                        .release_timeout = 1s,
                        .close_timeout = 0s,
                        .release_on_close = true,
                        .poll_bound = 1s,
                        .waiters_max = 10,
                        .label = "till 3",
                        .announce = false,
                        .observer = ear}};
    mutex stock{shop, "stock"};
    const std::scoped_lock held{stock};
    EXPECT_LE(inspect(server, "shop:stock")->remaining.value(), 10s);
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
    EXPECT_TRUE(inspect(server, "stock@shop"));
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
    EXPECT_THAT(refusal_of(with([](options& o) { o.unavailable_timeout = -1ms; })),
                HasSubstr("unavailable_timeout"));
    EXPECT_THAT(refusal_of(with([](options& o) { o.release_timeout = -1ms; })),
                HasSubstr("release_timeout"));
    EXPECT_THAT(refusal_of(with([](options& o) { o.close_timeout = -1ms; })),
                HasSubstr("close_timeout"));
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
    client brief{options{.url = "memory:options_test?lease_time=20s&prefix=p:", .lease_time = 1h}};
    mutex stock{brief, "stock"};
    const std::scoped_lock held{stock};
    EXPECT_LE(stock.remaining_lease().value(), 20s);
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
        {"redis://127.0.0.1/ 1", "space"},
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

// Options of a lock.

class MutexOptions : public in_real_time {
protected:
    template <typename Lock>
    lease taken(Lock& lock) {
        return soon(lock.async_lock(asio::use_future));
    }
};

TEST_F(MutexOptions, NoneAreTheClients) {
    mutex stock{alice, "stock", mutex_options{}};
    const lease held = taken(stock);
    EXPECT_EQ(support::wire_hold_of(held).lease(), options{}.lease_time);
    EXPECT_FALSE(support::wire_hold_of(held).deferred());
}

TEST_F(MutexOptions, ALeaseTimeOfItsOwnIsRenewed) {
    recursive_mutex stock{alice, "stock", {.lease = lease_time{7s}}};
    const lease held = taken(stock);
    EXPECT_EQ(support::wire_hold_of(held).lease(), 7s);
    EXPECT_TRUE(support::wire_hold_of(held).renewed());
}

TEST_F(MutexOptions, SayTheSameAsTheConstructors) {
    mutex named{alice, "stock", {.lease = lease_time{7s}, .deferred = true}};
    mutex listed{alice, "shelf", lease_time{7s}, deferred_release};
    for (mutex* each : {&named, &listed}) {
        const lease held = taken(*each);
        EXPECT_EQ(support::wire_hold_of(held).lease(), 7s);
        EXPECT_TRUE(support::wire_hold_of(held).deferred());
    }
}

TEST_F(MutexOptions, TheTypeSaysWhetherItIsRecursive) {
    mutex plain{alice, "stock", {.deferred = true}};
    recursive_mutex counted{alice, "shelf", {.deferred = true}};
    const std::scoped_lock both{plain, counted};
    EXPECT_EQ(thrown_by([&] { plain.lock(); }).code, errc::already_held);
    EXPECT_TRUE(counted.try_lock());
    counted.unlock();
}

class keeps_no_locks final : public support::wrapped_locks {
public:
    using wrapped_locks::wrapped_locks;
    bool offers(lock_kind) const noexcept override { return false; }
};

TEST_F(MutexOptions, AKindThatTheStoreDoesNotKeepIsRefused) {
    store_factory without = [real = server.connect()](store_context context) {
        return std::make_unique<support::wrapped_store<keeps_no_locks>>(real(std::move(context)));
    };
    client home{options{.store = std::move(without)}};
    const auto refused = thrown_by([&] { const mutex m{home, "stock"}; });
    EXPECT_EQ(refused.code, errc::invalid_argument);
    EXPECT_THAT(refused.text, HasSubstr("has no plain locks; Redis, Valkey, MySQL"));
}

// Names and lengths of time that cannot be: refused before anything is sent, in words that say what
// is wrong and what is allowed.

using namespace std::string_literals;

class BadInput : public in_real_time {
protected:
    // Its names are checked without a server: nothing is sent, so nothing need be there.
    client on_redis{"redis://127.0.0.1:1"};
    mutex stock{alice, "stock"};

    static std::string refusal_of(client& home, const std::string& name) {
        const auto refused = thrown_by([&] { const mutex m{home, name}; });
        EXPECT_EQ(refused.code, errc::invalid_argument) << refused.text;
        return refused.text;
    }
};

TEST_F(BadInput, AnEmptyName) {
    EXPECT_THAT(refusal_of(alice, ""), HasSubstr("empty"));
    EXPECT_THAT(refusal_of(on_redis, ""), HasSubstr("empty"));
}

TEST_F(BadInput, ANameOfTenMegabytes) {
    const std::string name(10'000'000, 'x');
    for (client* home : {&alice, &on_redis}) {
        const std::string words = refusal_of(*home, name);
        EXPECT_THAT(words, HasSubstr("10000000 bytes"));
        EXPECT_THAT(words, HasSubstr("65536"));
        EXPECT_LT(words.size(), 1'000u) << "the whole name is in the message";
    }
}

TEST_F(BadInput, TheLongestNameIsFine) {
    const std::string longest(65'536, 'x');
    mutex m{alice, longest}, on_server{on_redis, longest};
    const std::scoped_lock held{m};
    EXPECT_TRUE(inspect(server, longest));
    EXPECT_THAT(refusal_of(alice, longest + "x"), HasSubstr("65537"));
}

TEST_F(BadInput, ThePrefixCountsToo) {
    client shop{options{.store = server.connect(), .prefix = "shop:"}};
    EXPECT_THAT(refusal_of(shop, std::string(65'536, 'x')), HasSubstr("65541"));
}

TEST_F(BadInput, NamesOfAnyBytesAreFine) {
    std::string all_bytes;
    for (int byte = 0; byte < 256; ++byte)
        all_bytes += static_cast<char>(byte);
    std::erase(all_bytes, '{');
    std::erase(all_bytes, '}');
    for (const std::string& name : {"a\0b"s, "\0"s, " "s, "a b"s, "a:b"s, "\r\n"s, "straße"s,
                                    "\xff\xfe"s, "\"quoted\""s, all_bytes}) {
        mutex m{alice, name}, on_server{on_redis, name};
        const std::scoped_lock held{m};
        EXPECT_TRUE(inspect(server, name));
    }
}

TEST_F(BadInput, BracesThatAClusterCouldNotPlace) {
    for (const char* const name :
         {"na}me", "}", "na{me", "{", "{}", "{}name", "a{}b", "}{", "a}b{", "{}{x}"}) {
        const std::string words = refusal_of(on_redis, name);
        EXPECT_THAT(words, HasSubstr("cluster")) << name;
        EXPECT_THAT(words, HasSubstr("a{b}c")) << name;
    }
}

TEST_F(BadInput, BracesThatAClusterCanPlace) {
    for (const char* const name :
         {"{a}", "a{b}c", "{a}b", "a{b}", "{a}{b}", "{a}{}", "{{a}}", "{a}}"})
        EXPECT_FALSE(thrown_by([&] { mutex{on_redis, name}; }).code) << name;
}

TEST_F(BadInput, LeaseTimesThatCannotBe) {
    using fraction = std::chrono::duration<double>;
    const lease_time wrong[] = {
        lease_time{0s},
        lease_time{-1ms},
        lease_time{duration::min()},
        lease_time{999us},
        lease_time{1ns},
        lease_time{24h * 3652 + 1ms},
        lease_time{duration::max()},
        lease_time{std::chrono::hours::max()},
        lease_time{fraction{std::numeric_limits<double>::quiet_NaN()}},
        lease_time{fraction{std::numeric_limits<double>::infinity()}},
    };
    for (const lease_time each : wrong) {
        const auto made = thrown_by([&] { mutex{alice, "stock", each}; });
        EXPECT_EQ(made.code, errc::invalid_argument) << each.value.count();
        EXPECT_THAT(made.text, HasSubstr("lease time"));
        EXPECT_THAT(made.text, HasSubstr("allowed are 1 ms to 3652 days"));
        EXPECT_EQ(thrown_by([&] { stock.lock(each); }).code, errc::invalid_argument);
        EXPECT_EQ(thrown_by([&] { (void)stock.try_lock(each); }).code, errc::invalid_argument);
        EXPECT_EQ(thrown_by([&] { (void)stock.try_lock_for(1s, each); }).code,
                  errc::invalid_argument);
        EXPECT_EQ(thrown_by([&] { (void)soon(stock.async_lock(each, asio::use_future)); }).code,
                  errc::invalid_argument);
        EXPECT_EQ(thrown_by([&] { (void)soon(stock.async_try_lock(each, asio::use_future)); }).code,
                  errc::invalid_argument);
    }
    EXPECT_EQ(sent.all(), 0u);
}

TEST_F(BadInput, TheShortestAndTheLongestLease) {
    ASSERT_TRUE(stock.try_lock(lease_time{24h * 3652}));
    EXPECT_GT(stock.remaining_lease().value(), 24h * 3651);
    stock.unlock();
    const lease_time rounded_down{1999us};
    EXPECT_EQ(rounded_down.value, 1ms);
    error_code ec; // it may be over before it is believed: what counts is that it is allowed
    const auto taken = thrown_by([&] { (void)stock.try_lock(rounded_down); });
    EXPECT_TRUE(!taken.code || taken.code == errc::unreachable) << taken.text;
    stock.unlock(ec);
}

TEST_F(BadInput, TimeoutsOfAllKinds) {
    using fraction = std::chrono::duration<double>;
    server.occupy("stock", 1h);
    EXPECT_FALSE(stock.try_lock_for(0s));
    EXPECT_FALSE(stock.try_lock_for(-1s));
    EXPECT_FALSE(stock.try_lock_for(duration::min()));
    EXPECT_FALSE(stock.try_lock_for(fraction{-std::numeric_limits<double>::infinity()}));
    EXPECT_FALSE(stock.try_lock_for(fraction{std::numeric_limits<double>::quiet_NaN()}));
    EXPECT_FALSE(stock.try_lock_for(1us));
    auto for_ever = elsewhere([this] {
        EXPECT_TRUE(stock.try_lock_for(fraction{std::numeric_limits<double>::infinity()}));
        stock.unlock();
        EXPECT_TRUE(stock.try_lock_for(std::chrono::hours::max()));
        stock.unlock();
        EXPECT_TRUE(stock.try_lock_until(std::chrono::system_clock::time_point::max()));
        stock.unlock();
    });
    EXPECT_TRUE(eventually([this] { return listener_count(server) == 1; }));
    server.vacate("stock");
    soon(std::move(for_ever));
}

TEST_F(BadInput, ADeadlineBeforeAllTime) {
    server.occupy("stock", 1h);
    std::stop_source stop;
    auto past = elsewhere([&] {
        return stock.try_lock_until(std::chrono::system_clock::time_point::min(), stop.get_token());
    });
    EXPECT_TRUE(eventually([&] { return support::is_ready(past); })) << "it waits for ever";
    stop.request_stop();
    EXPECT_FALSE(thrown_by([&] { EXPECT_FALSE(past.get()); }).code);
}

TEST_F(BadInput, ALeaseThatIsExtendedByWhatCannotBe) {
    lease held = soon(stock.async_lock(asio::use_future));
    const auto refused = thrown_by([&] { held.extend(lease_time{0s}); });
    EXPECT_EQ(refused.code, errc::invalid_argument);
    EXPECT_THAT(refused.text, HasSubstr("allowed are"));
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(BadInput, TheDoctorTriesNoLockThatCannotBe) {
    const auto refused = thrown_by([&] { (void)alice.doctor({""}); });
    EXPECT_EQ(refused.code, errc::invalid_argument);
    EXPECT_THAT(refused.text, HasSubstr("name is empty"));
    EXPECT_EQ(thrown_by([&] { soon(alice.async_doctor({""}, asio::use_future)); }).code,
              errc::invalid_argument);
    EXPECT_EQ(sent.all(), 0u);
}

} // namespace
} // namespace holdfast
