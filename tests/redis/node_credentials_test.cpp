// SPDX-License-Identifier: Apache-2.0
// Who a connection says it is, and passwords that change.
#include "ear_fixture.hpp"

#include <stdexcept>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class NodeCredentials : public on_fake_channels {
protected:
    NodeCredentials() {
        server_.improvises = [this](const fake_server::words& request) {
            return request[0] == "AUTH" ? std::optional{authenticate(request)} : std::nullopt;
        };
    }

    std::string authenticate(const fake_server::words& request) {
        seen_.push_back(request);
        return request.back() == valid_ ? "+OK\r\n"
                                        : "-WRONGPASS invalid username-password pair\r\n";
    }

    /// Another connection; the ear's too, if somebody listens.
    void reconnect() {
        server_.drop_connections();
        pass(5s);
        ask();
    }

    std::string valid_ = "first";
    std::vector<fake_server::words> seen_;
};

TEST_F(NodeCredentials, TheProviderIsAskedForEachConnection) {
    int times = 0;
    how_.credentials = [&] { return credentials{"me", "pass" + std::to_string(++times)}; };
    valid_ = "pass1";
    EXPECT_FALSE(ask()->code);
    EXPECT_EQ(times, 1);
    valid_ = "pass2";
    listen();
    settle();
    EXPECT_EQ(times, 2);
    valid_ = "pass3";
    all_.front()->ear.reset();
    reconnect();
    EXPECT_THAT(seen_,
                ElementsAre(ElementsAre("AUTH", "me", "pass1"), ElementsAre("AUTH", "me", "pass2"),
                            ElementsAre("AUTH", "me", "pass3")));
    EXPECT_FALSE(ask()->code);
}

TEST_F(NodeCredentials, TheOptionsWinOverTheProvider) {
    how_.credentials = [] { return credentials{"provided", "provided"}; };
    how_.user = "me";
    valid_ = "provided";
    EXPECT_FALSE(ask()->code);
    close();
    how_.user.clear();
    how_.password = valid_ = "mine";
    EXPECT_FALSE(ask()->code);
    EXPECT_THAT(seen_, ElementsAre(ElementsAre("AUTH", "me", "provided"),
                                   ElementsAre("AUTH", "provided", "mine")));
}

TEST_F(NodeCredentials, WithNothingToSayNothingIsSaid) {
    how_.credentials = [] { return credentials{}; };
    EXPECT_FALSE(ask()->code);
    EXPECT_TRUE(seen_.empty());
}

TEST_F(NodeCredentials, AProviderThatFailsIsUnreachableAndAskedAgain) {
    bool broken = true;
    how_.credentials = [&] {
        return broken ? throw std::runtime_error{"the vault is sealed"} : credentials{"me", valid_};
    };
    const auto failed = ask();
    EXPECT_EQ(failed->code, make_error_code(errc::unreachable));
    EXPECT_THAT(failed->text, HasSubstr("the credential provider failed: the vault is sealed"));
    EXPECT_TRUE(seen_.empty());
    broken = false;
    pass(2s);
    EXPECT_FALSE(ask()->code);
}

TEST_F(NodeCredentials, ARotatedPasswordIsRefusedUntilTheProviderHasTheNewOne) {
    std::string at_hand = "first";
    how_.credentials = [&] { return credentials{"me", at_hand}; };
    EXPECT_FALSE(ask()->code);
    listen();
    settle();
    valid_ = "second";
    reconnect();
    pass(5s);
    const auto refused = ask();
    EXPECT_EQ(refused->code, make_error_code(store_errc::not_authenticated));
    at_hand = "second";
    pass(5s);
    EXPECT_FALSE(ask()->code);
    confirm(*all_.front(), 0ms);
    EXPECT_EQ(all_.front()->confirmed, true);
}

TEST_F(NodeCredentials, NoPasswordIsInWhatIsTold) {
    how_.credentials = [] { return credentials{"me", "hunter2"}; };
    listen();
    const auto refused = ask();
    EXPECT_THAT(refused->text, HasSubstr("WRONGPASS"));
    EXPECT_THAT(refused->text, Not(HasSubstr("hunter2")));
    server_.says.erase("CLIENT"); // a set-up that stalls tells what it waits for
    valid_ = "hunter2";
    pass(5s);
    const auto stalled = ask();
    pass(5s);
    EXPECT_THAT(stalled->text, HasSubstr("CLIENT SETNAME"));
    EXPECT_FALSE(told_.all().empty());
    for (const support::told& each : told_.all())
        EXPECT_THAT(each.text, Not(HasSubstr("hunter2")));
}

} // namespace
} // namespace holdfast
