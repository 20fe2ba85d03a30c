// SPDX-License-Identifier: Apache-2.0
// Sentinels with passwords and certificates of their own.
#include "sentinel/with_sentinels.hpp"

namespace holdfast {
namespace {

using support::thrown_by;
using ::testing::HasSubstr;

class GuardedSentinels : public with_sentinels {
protected:
    GuardedSentinels()
        : with_sentinels{{.password = "servers'", .sentinel_password = "sentinels'"}} {}
};
HOLDFAST_ON_EACH_SERVER(GuardedSentinels);

TEST_P(GuardedSentinels, HaveAPasswordOfTheirOwn) {
    client home{how()};
    follow_a_failover(home);
}

TEST_P(GuardedSentinels, ThatAreToldNoPasswordSaySo) {
    redis::options where = servers().client_options();
    where.password = {};
    where.sentinel->password = {};
    client home{hasty(where)};
    const auto why = thrown_by([&] { (void)mutex{home, "L"}.try_lock(); });
    EXPECT_THAT(why.text, HasSubstr("NOAUTH"));
}

class OpenSentinels : public with_sentinels {
protected:
    OpenSentinels()
        : with_sentinels{{.password = "servers'"}} {}
};
HOLDFAST_ON_EACH_SERVER(OpenSentinels);

TEST_P(OpenSentinels, ThatWantNoPasswordAreAskedWithoutTheServers) {
    client home{how()};
    follow_a_failover(home);
}

class EncryptedSentinels : public with_sentinels {
protected:
    EncryptedSentinels()
        : with_sentinels{{.tls = true,
                          .password = "servers'",
                          .sentinel_tls = true,
                          .sentinel_password = "sentinels'"}} {}
};
HOLDFAST_ON_EACH_SERVER(EncryptedSentinels);

TEST_P(EncryptedSentinels, HaveCertificatesOfTheirOwn) {
    client home{how()};
    follow_a_failover(home);
}

TEST_P(EncryptedSentinels, AreAskedNothingIfTheyAreNotTrusted) {
    redis::options where = servers().client_options();
    where.sentinel->tls = where.tls; // the servers' authority has not signed theirs
    client home{hasty(where)};
    const auto why = thrown_by([&] { (void)mutex{home, "L"}.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_THAT(why.text, HasSubstr("certificate"));
}

TEST_P(EncryptedSentinels, SayWhereTlsIsMissing) {
    redis::options where = servers().client_options();
    where.sentinel->tls.reset();
    client home{hasty(where)};
    const auto why = thrown_by([&] { (void)mutex{home, "L"}.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_THAT(why.text, HasSubstr("TLS"));
}

} // namespace
} // namespace holdfast
