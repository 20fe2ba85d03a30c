// SPDX-License-Identifier: Apache-2.0
// The program loads OpenSSL only if a URL needs TLS. Most URLs do not, and loading OpenSSL takes
// most of the program's start time.
#include "cli/program.hpp"
#include "support/on_each_server.hpp"
#include "support/tls.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli_test {
namespace {

using support::authority;
using ::testing::HasSubstr;

struct with_certificate {
    std::vector<std::string> arguments() const {
        return {"--tls-cert-file", own_.certificate_file, "--tls-key-file",
                own_.key_file,     "--tls-auth-clients",  "no"};
    }

    authority authority_;
    support::identity own_ = authority_.issue("server");
};

class OverTls : protected with_certificate, public support::on_each_server {
protected:
    OverTls()
        : on_each_server{{.tcp = true, .tls = true, .arguments = arguments()}} {}

    std::string url_over_tls() {
        return "rediss://localhost:" + std::to_string(server().tls_port()) +
               "?tls_ca_file=" + authority_.file();
    }

    /// Returns whether the process that held the lock had loaded OpenSSL.
    std::string loaded_by_holder(const std::string& url) {
        const ended told =
            run({"run", "job", "sh", "-c", "grep -q libssl /proc/$PPID/maps && echo yes"}, url);
        return told.out + told.err;
    }
};
HOLDFAST_ON_EACH_SERVER(OverTls);

TEST_P(OverTls, OnlyWhatNeedsItLoadsIt) {
    EXPECT_EQ(loaded_by_holder(url_over_tls()), "yes\n");
    EXPECT_EQ(loaded_by_holder(server().url()), "");
}

TEST_P(OverTls, WhatIsWrongIsSaidAsEver) {
    const ended told = run({"ls"}, "rediss://localhost:" + std::to_string(server().tls_port()));
    EXPECT_EQ(told.status, 69);
    EXPECT_THAT(told.err,
                HasSubstr("which is not trusted here; tls_ca_file names the authorities"));
}

TEST_P(OverTls, AProgramThatWasCopiedWithoutItSaysWhatIsMissing) {
    const auto folder = std::filesystem::path{authority_.file()}.parent_path();
    const std::string copy = folder / "holdfast";
    std::filesystem::copy_file(program_path(), copy);
    program alone{program::exactly{{copy, "ls"}}, url_over_tls()};
    const ended told = alone.end();
    EXPECT_EQ(told.status, 64);
    EXPECT_THAT(told.err, HasSubstr("TLS cannot be loaded: "));
    EXPECT_THAT(told.err, HasSubstr("installed together with the module holdfast-"));
    program plain{program::exactly{{copy, "ls"}}, server().url()};
    EXPECT_EQ(plain.end().status, 0);
}

} // namespace
} // namespace holdfast::cli_test
