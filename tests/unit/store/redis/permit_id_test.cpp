// SPDX-License-Identifier: Apache-2.0
#include "store/redis/permit_id.hpp"

#include <gmock/gmock.h>

namespace holdfast::redis {
namespace {

const owner_id owner{{0x87, 0x43, 0xc9, 0xc0, 0x07, 0x95, 0x8f, 0xd5, 0x87, 0xfd, 0x6c, 0x71, 0x9a,
                      0x6b, 0x45, 0x86},
                     0x0102'0304'05ffULL};

TEST(PermitId, HasTheClientInFrontOfTheNumber) {
    EXPECT_EQ(permit_id(owner), "8743c9c007958fd587fd0102030405ff");
    EXPECT_EQ(permit_id({owner.client, 1}), "8743c9c007958fd587fd000000000001");
    EXPECT_NE(permit_id({owner.client, 0xff}), permit_id({owner.client, 0x100}));
}

TEST(PermitId, IsItsBytesFromRedisson317On) {
    const std::string stored = stored_permit(permit_id(owner), redisson_form::v3_17);
    EXPECT_EQ(stored,
              std::string("\x87\x43\xc9\xc0\x07\x95\x8f\xd5\x87\xfd\x01\x02\x03\x04\x05\xff", 16));
    EXPECT_EQ(stored_permit("00ff", redisson_form::v3_17), std::string("\0\xff", 2));
}

TEST(PermitId, IsItsDigitsBefore) {
    EXPECT_EQ(stored_permit(permit_id(owner), redisson_form::v3_16), permit_id(owner));
    EXPECT_EQ(stored_permit(permit_id(owner), redisson_form::v3_13), permit_id(owner));
}

TEST(PermitId, BeginsWithWhatAllOfAClientBeginWith) {
    for (const redisson_form form : {redisson_form::v3_13, redisson_form::v3_17}) {
        const std::string prefix = permit_prefix(owner, form);
        EXPECT_EQ(prefix.size(), form == redisson_form::v3_17 ? 10u : 20u);
        EXPECT_THAT(stored_permit(permit_id(owner), form), ::testing::StartsWith(prefix));
        EXPECT_THAT(stored_permit(permit_id({owner.client, 7}), form),
                    ::testing::StartsWith(prefix));
    }
}

} // namespace
} // namespace holdfast::redis
