// SPDX-License-Identifier: Apache-2.0
// URLs that are wrong in a way that only a server or the library can find. The messages name what
// the user of a shell can change.
#include "cli/server_test.hpp"

namespace holdfast::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class UrlWords : public on_server {
protected:
    std::string told_of(const std::string& given, int status) {
        const ended told = run({"run", "-n", "job", "true"}, given);
        EXPECT_EQ(told.status, status) << told.err;
        return told.err;
    }
};
HOLDFAST_ON_EACH_SERVER(UrlWords);

TEST_P(UrlWords, WrongValueIsReportedByTheNameOfTheParameter) {
    EXPECT_THAT(told_of(url() + "?command_timeout=0s", 64),
                StartsWith("holdfast: HOLDFAST_URL: command_timeout is 0 ms; allowed are"));
    EXPECT_THAT(told_of(url() + "?poll_bound=0s", 64),
                StartsWith("holdfast: HOLDFAST_URL: poll_bound is 0 ms; allowed are"));
    EXPECT_THAT(told_of(url() + "?required_replicas=200", 64),
                StartsWith("holdfast: HOLDFAST_URL: required_replicas is 200; allowed are"));
    EXPECT_THAT(told_of("redis+cluster://127.0.0.1:1/3", 64), Not(HasSubstr("options")));
    EXPECT_THAT(told_of("mysql://root@127.0.0.1:1/db?connections_max=0", 64),
                StartsWith("holdfast: HOLDFAST_URL: connections_max is 0; allowed are"));
    EXPECT_THAT(told_of("rediss://127.0.0.1:1?tls_ca_file=/nope", 64),
                StartsWith("holdfast: HOLDFAST_URL: tls_ca_file /nope: No such file"));
}

TEST_P(UrlWords, ShortLeaseInTheUrlIsRefusedByRun) {
    EXPECT_THAT(told_of(url() + "?lease_time=1ms", 64),
                HasSubstr("lease_time in the URL is too short: give 100ms or more"));
    EXPECT_EQ(run({"ls"}, url() + "?lease_time=1ms").status, 0);
    EXPECT_EQ(run({"run", "--lease", "5s", "job", "true"}, url() + "?lease_time=1ms").status, 0);
}

TEST_P(UrlWords, SchemeOfValkeyNamesTheSchemeToWrite) {
    for (const char* scheme : {"valkey://", "valkeys://"})
        EXPECT_THAT(
            told_of(scheme + std::string{"h"}, 64),
            HasSubstr("valkey:// is written redis://, and valkeys:// is written rediss://"));
}

TEST_P(UrlWords, BlanksAroundUrlsAreIgnored) {
    EXPECT_EQ(told_of("  " + url() + " \n", 0), "");
    EXPECT_THAT(told_of(url() + "  " + url() + "1", 64), HasSubstr("2 URLs are given"));
    EXPECT_THAT(told_of(" " + url() + "  " + url() + "\n" + url() + " ", 64),
                AllOf(HasSubstr("URLs 1 and 2 are the same server")));
    EXPECT_THAT(told_of(url() + "?frob=1 ", 64), StartsWith("holdfast: HOLDFAST_URL: "));
    EXPECT_THAT(told_of("  ", 64), StartsWith("holdfast: HOLDFAST_URL is set, but empty"));
    const std::string quorum = url() + "  redis://127.0.0.1:1 redis://127.0.0.1:2";
    for (const char* const verb : {"demo", "bench"})
        EXPECT_EQ(run({verb}, quorum).err, "holdfast: this verb asks one server: give one URL\n");
}

TEST_P(UrlWords, ClusterSchemeAtAPlainServerNamesTheSchemeToWrite) {
    support::redis_server::options how;
    how.tcp = true;
    support::redis_server plain{GetParam(), how};
    EXPECT_THAT(told_of("redis+cluster://127.0.0.1:" + std::to_string(plain.port()), 69),
                HasSubstr("write redis:// instead of redis+cluster://"));
}

} // namespace
} // namespace holdfast::cli_test
