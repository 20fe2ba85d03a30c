// SPDX-License-Identifier: Apache-2.0
#include "redis/misdirection.hpp"
#include "support/made_reply.hpp"
#include "support/sim_clock.hpp"

#include <boost/asio/io_context.hpp>

#include <gmock/gmock.h>

namespace holdfast::redis {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Misdirection : public ::testing::Test {
protected:
    /// What comes of that answer; no code if it is nothing of the kind.
    struct outcome {
        error_code code{};
        std::string text{};
    };
    outcome of(const std::string& error) {
        const node_context context{how_, {io_.get_executor(), clock_, {}, {}, {}, {}, {}}};
        const auto why = misdirection(context, made::error(error));
        return why ? outcome{why->code(), why->text()} : outcome{};
    }

    static constexpr const char* moved = "MOVED 866 10.0.0.1:6379";
    static constexpr const char* no_script =
        "ERR unknown command 'EVALSHA', with args beginning with: 'e0e1f9fabfc9d4800c877a703b823a'";

    asio::io_context io_;
    sim::sim_clock clock_{io_};
    options how_{.host = "db.internal", .port = 7000};
};

TEST_F(Misdirection, AtANodeOfAClusterIsToldWithTheUrlOfTheCluster) {
    const outcome got = of(moved);
    EXPECT_EQ(got.code, make_error_code(store_errc::wrong_address));
    EXPECT_EQ(got.code, errc::refused);
    EXPECT_THAT(got.text, StartsWith(moved)) << "the server's own words come first";
    EXPECT_THAT(got.text, HasSubstr("redis+cluster://db.internal:7000"));
    EXPECT_EQ(of("ASK 866 10.0.0.1:6379").code, make_error_code(store_errc::wrong_address));
}

TEST_F(Misdirection, TheUrlIsOneThatReachesTheSamePlace) {
    how_.tls.emplace();
    EXPECT_THAT(of(moved).text, HasSubstr("rediss+cluster://db.internal:7000"));
    how_.tls.reset();
    how_.host = "::1";
    EXPECT_THAT(of(moved).text, HasSubstr("redis+cluster://[::1]:7000"));
    how_.unix_socket = "/run/redis";
    EXPECT_THAT(of(moved).text, HasSubstr("redis+cluster://HOST:PORT"));
}

TEST_F(Misdirection, InAClusterIsNoError) {
    how_.cluster.emplace();
    EXPECT_FALSE(of(moved).code);
    EXPECT_FALSE(of(no_script).code);
}

TEST_F(Misdirection, WhereNoScriptsAreKnownMayBeAtASentinel) {
    const outcome got = of(no_script);
    EXPECT_EQ(got.code, make_error_code(store_errc::other));
    EXPECT_THAT(got.text, StartsWith("ERR unknown command 'EVALSHA'"));
    EXPECT_THAT(got.text, HasSubstr("redis+sentinel://db.internal:7000/SERVICE"));
}

TEST_F(Misdirection, OtherErrorsAreNone) {
    for (const char* const each : {"ERR unknown command 'WAIT'", "NOPERM no", "MOVEDX", "",
                                   "CLUSTERDOWN Hash slot not served",
                                   "TRYAGAIN Multiple keys request during rehashing of slot"})
        EXPECT_FALSE(of(each).code) << each;
}

TEST_F(Misdirection, ASentinelSaysSo) {
    reply role = made::list({made::text("sentinel"), made::texts({"orders", "others"})});
    EXPECT_TRUE(is_sentinel(role));
    EXPECT_THAT(advice_at_sentinel(how_, &role),
                EndsWith("redis+sentinel://db.internal:7000/orders"));
    role.items.pop_back();
    EXPECT_THAT(advice_at_sentinel(how_, &role), EndsWith("/SERVICE"));
    EXPECT_FALSE(is_sentinel(made::texts({"master"})));
    EXPECT_FALSE(is_sentinel(made::text("sentinel")));
}

} // namespace
} // namespace holdfast::redis
