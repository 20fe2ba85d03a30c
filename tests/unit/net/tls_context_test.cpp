// SPDX-License-Identifier: Apache-2.0
// The files, and that they are read again.
#include "tls_fixture.hpp"

#include <fstream>

namespace holdfast::net {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TlsContext : public with_tls_peer {
protected:
    std::string objection() {
        try {
            check_files(how_);
            return "none";
        } catch (const failure& why) {
            EXPECT_EQ(why.code(), errc::unreachable);
            return why.text();
        }
    }
    void use(const support::identity& mine) {
        how_.certificate_file = mine.certificate_file;
        how_.key_file = mine.key_file;
    }
};

TEST_F(TlsContext, NamesTheFileThatIsWrongAndWhy) {
    EXPECT_EQ(objection(), "none");
    use(authority_.issue("client"));
    EXPECT_EQ(objection(), "none");
    const tls_options good = how_;

    const std::string nothing = "/no/such/file";
    how_.ca_file = nothing;
    EXPECT_EQ(objection(), "tls_ca_file /no/such/file: No such file or directory");
    how_ = good;
    how_.certificate_file = nothing;
    EXPECT_EQ(objection(), "tls_certificate_file /no/such/file: No such file or directory");
    how_ = good;
    how_.key_file = nothing;
    EXPECT_EQ(objection(), "tls_key_file /no/such/file: No such file or directory");

    how_ = good;
    how_.ca_file = good.key_file;
    EXPECT_THAT(objection(), HasSubstr("tls_ca_file " + good.key_file + ": no certificate"));
    how_ = good;
    how_.certificate_file = good.key_file;
    EXPECT_THAT(objection(), HasSubstr("tls_certificate_file " + good.key_file + ": no start"));
    how_ = good;
    how_.key_file = server_.key_file;
    EXPECT_EQ(objection(), "tls_key_file " + server_.key_file + ": key values mismatch");
}

TEST_F(TlsContext, AsksNobodyForTheKeysPassword) {
    use(authority_.issue("client", {.key_password = "hunter2"}));
    EXPECT_THAT(objection(), HasSubstr("tls_key_file " + how_.key_file));
    how_.key_password = "wrong-one";
    EXPECT_THAT(objection(), AllOf(HasSubstr("tls_key_file"), Not(HasSubstr("wrong-one"))));
    how_.key_password = std::string(5000, 'x'); // more than fits
    EXPECT_THAT(objection(), HasSubstr("tls_key_file"));
    how_.key_password = "hunter2";
    EXPECT_EQ(objection(), "none");
}

TEST_F(TlsContext, ReadsTheFilesForEachSession) {
    use(authority_.issue("client"));
    EXPECT_FALSE(connect({.clients_from = authority_.file()}));
    const auto again = [&] {
        peer_ = std::make_unique<peer>(server_, peer::options{.clients_from = authority_.file()});
        session_ = context_->begin();
        exchange();
    };
    again();

    std::ofstream{how_.certificate_file} << "is being replaced";
    EXPECT_THROW(again(), failure);
    const support::authority stranger{"A stranger"};
    const auto others = stranger.issue("client");
    std::filesystem::copy_file(others.certificate_file, how_.certificate_file,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::copy_file(others.key_file, how_.key_file,
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_THROW(again(), failure);
    EXPECT_EQ(peer_->refused, "certificate verify failed");

    authority_.issue("client");
    again();
    say("question");
    EXPECT_EQ(peer_->heard, "question");
}

} // namespace
} // namespace holdfast::net
