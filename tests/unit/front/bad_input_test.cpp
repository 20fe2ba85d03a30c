// SPDX-License-Identifier: Apache-2.0
// Names and lengths of time that cannot be: refused before anything is sent, in words that say what
// is wrong and what is allowed.
#include "unit/front/real_time.hpp"

#include <limits>
#include <stop_token>

namespace holdfast {
namespace {

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
    EXPECT_TRUE(server.inspect(longest));
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
        EXPECT_TRUE(server.inspect(name));
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
    EXPECT_TRUE(!taken.code || taken.code == errc::lease_lost) << taken.text;
    stock.unlock(ec);
}

TEST_F(BadInput, PatiencesOfAllKinds) {
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
    EXPECT_TRUE(eventually([this] { return server.listener_count() == 1; }));
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
