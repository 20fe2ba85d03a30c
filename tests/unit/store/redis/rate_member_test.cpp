// SPDX-License-Identifier: Apache-2.0
#include "store/redis/rate_requests.hpp"

#include <set>

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

constexpr owner_id request(std::uint64_t number) {
    return {{0x55, 0x0e, 0x84, 0x00, 0xe2, 0x9b, 0x81, 0xd5, 0xa7, 0x16, 1, 2, 3, 4, 5, 6}, number};
}

std::string bytes(std::initializer_list<int> all) {
    return {all.begin(), all.end()};
}

TEST(RateMember, ThatOf317HasItsLengthTheClientTheNumberAndTheCount) {
    EXPECT_EQ(rate_member(request(0x0102), 3, redisson_form::v3_17),
              bytes({0x10, 0x55, 0x0e, 0x84, 0x00, 0xe2, 0x9b, 0x81, 0xd5, 0xa7, 0x16, //
                     0x02, 0x01, 0,    0,    0,    0,    3,    0,    0,    0}));
}

TEST(RateMember, EarlierOnesAreShorter) {
    EXPECT_EQ(rate_member(request(1), 3, redisson_form::v3_13).size(), 8u);
    const std::string of_316 = rate_member(request(1), 3, redisson_form::v3_16);
    EXPECT_EQ(of_316.size(), 20u);
    EXPECT_EQ(of_316.substr(0, 8), bytes({8, 0, 0, 0, 0, 0, 0, 0})) << "how long what follows is";
}

TEST(RateMember, TheCountIsTheLastFourBytesTheLowestFirst) {
    for (const redisson_form form :
         {redisson_form::v3_13, redisson_form::v3_16, redisson_form::v3_17}) {
        const std::string member = rate_member(request(7), 0x01020304, form);
        EXPECT_EQ(member.substr(member.size() - 4), bytes({4, 3, 2, 1}));
    }
}

TEST(RateMember, EachRequestOfAClientHasItsOwn) {
    for (const redisson_form form :
         {redisson_form::v3_13, redisson_form::v3_16, redisson_form::v3_17}) {
        std::set<std::string> all;
        for (std::uint64_t number = 1; number <= 10'000; ++number)
            all.insert(rate_member(request(number), 1, form));
        EXPECT_EQ(all.size(), 10'000u);
    }
}

} // namespace
} // namespace holdfast::redis
