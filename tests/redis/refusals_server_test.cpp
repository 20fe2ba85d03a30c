// SPDX-License-Identifier: Apache-2.0
// What becomes of a lock's verbs while a real server answers and does not serve: typed, worded, and
// waited out where waiting helps (docs/errors.md).
#include "server_in_trouble.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/thrown.hpp"

#include <holdfast/holdfast.hpp>

#include <future>
#include <optional>
#include <tuple>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::thrown_by;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Refusals
    : public ::testing::TestWithParam<std::tuple<support::server_binary, holdfast::trouble>> {
protected:
    void SetUp() override {
        try {
            at_.emplace(std::get<0>(GetParam()));
        } catch (const support::server_unavailable& why) {
            if (support::servers_are_required())
                FAIL() << why.what();
            GTEST_SKIP() << why.what();
        }
        how_.url = at_->server().url();
        how_.observer = told_;
        how_.unavailable_patience = how_.release_patience = 100ms;
    }

    const holdfast::trouble& trouble() const { return std::get<1>(GetParam()); }
    errc meaning() const {
        return trouble().code == store_errc::out_of_memory ? errc::refused : errc::unreachable;
    }
    /// The connection ends with the first answer, and the next one asks for the role before
    /// anything else: what is repeated hears that.
    error_code code_when_repeated() const {
        const bool is_left =
            trouble().code == store_errc::read_only || trouble().code == store_errc::master_down;
        return make_error_code(is_left ? store_errc::read_only : trouble().code);
    }
    std::string words_when_repeated() const {
        return code_when_repeated() == store_errc::read_only ? "ROLE: it is a replica"
                                                             : trouble().words;
    }
    void begin_trouble() { at_->begin(trouble()); }
    void end_trouble() { at_->end(trouble()); }
    bool is_locked() { return at_->server().command({"EXISTS", "L"}).integer == 1; }

    std::optional<server_in_trouble> at_;
    options how_;
    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
};

std::string name_of_case(const ::testing::TestParamInfo<Refusals::ParamType>& info) {
    const auto& [server, trouble] = info.param;
    return support::test_name_of({server, 0}) + "_" + trouble.label;
}

INSTANTIATE_TEST_SUITE_P(Servers, Refusals,
                         ::testing::Combine(::testing::ValuesIn(support::servers()),
                                            ::testing::ValuesIn(troubles())),
                         name_of_case);

TEST_P(Refusals, OfALockAreInTheServersWordsAndSayWhatToDo) {
    client c{how_};
    mutex lock{c, "L"};
    lock.lock();
    lock.unlock();
    begin_trouble();
    const support::thrown why = thrown_by([&] { lock.lock(); });
    EXPECT_EQ(why.code, code_when_repeated());
    EXPECT_EQ(why.code, meaning());
    EXPECT_THAT(why.text, AllOf(HasSubstr(words_when_repeated()), HasSubstr(why.code.message())));
    EXPECT_EQ(told_->last(event_kind::waited).value().code, meaning());
}

TEST_P(Refusals, OfAConnectionAreTypedToo) {
    begin_trouble();
    client c{how_};
    mutex lock{c, "L"};
    const support::thrown why = thrown_by([&] { lock.lock(); });
    EXPECT_EQ(why.code, meaning()) << why.text;
    EXPECT_STREQ(why.code.category().name(), "holdfast.store");
}

TEST_P(Refusals, AreWaitedOutIfTheyMayPassAndElseFailAtOnce) {
    how_.unavailable_patience = support::far_too_long;
    client c{how_};
    begin_trouble();
    auto taken = std::async(std::launch::async, [&] {
        mutex lock{c, "L"};
        lock.lock();
        lock.unlock();
    });
    if (meaning() == errc::refused) {
        EXPECT_THROW(support::soon(std::move(taken)), boost::system::system_error);
        return;
    }
    EXPECT_EQ(taken.wait_for(300ms), std::future_status::timeout);
    end_trouble();
    support::soon(std::move(taken));
    EXPECT_EQ(told_->count(event_kind::acquired), 1u);
}

TEST_P(Refusals, OfAReleaseAreToldAndTheReleaseIsRepeated) {
    client c{how_};
    mutex lock{c, "L"};
    lock.lock();
    begin_trouble();
    error_code failed;
    lock.unlock(failed);
    EXPECT_EQ(failed, trouble().only_grants ? error_code{} : code_when_repeated());
    end_trouble();
    EXPECT_TRUE(support::eventually([&] { return !is_locked(); }));
    EXPECT_TRUE(support::eventually([&] { return told_->count(event_kind::released) == 1; }));
}

TEST_P(Refusals, OfARenewalAreToldAndTheHoldSurvives) {
    how_.lease_time = 4s;
    client c{how_};
    mutex lock{c, "L"};
    lock.lock();
    begin_trouble();
    if (!trouble().only_grants) {
        ASSERT_TRUE(support::eventually([&] { return told_->count(event_kind::renewal_failed); }));
        EXPECT_THAT(told_->last(event_kind::renewal_failed).value().text,
                    HasSubstr(make_error_code(trouble().code).message()));
        end_trouble();
    }
    const auto renewed = [&] { return lock.remaining_lease().value_or(0ms) > 3s; };
    EXPECT_TRUE(support::eventually(renewed));
    EXPECT_EQ(told_->count(event_kind::lost), 0u);
    lock.unlock();
}

class OtherRefusals : public support::on_each_server {
protected:
    support::thrown lock_at(redis::options where) {
        where.unix_socket = server().socket_path();
        options how;
        how.store = redis::make_store(where);
        how.unavailable_patience = 100ms;
        client c{std::move(how)};
        mutex lock{c, "L"};
        return thrown_by([&] { lock.lock(); });
    }
};
HOLDFAST_ON_EACH_SERVER(OtherRefusals);

TEST_P(OtherRefusals, OneClientTooMany) {
    const auto one_more = [&] { return support::redis_connection{server().socket_path()}; };
    support::redis_connection keeps_a_place = one_more();
    keeps_a_place.command({"PING"});
    server().command({"CONFIG", "SET", "maxclients", "2"});
    const support::thrown why = lock_at({});
    EXPECT_EQ(why.code, make_error_code(store_errc::too_many_clients)) << why.text;
    EXPECT_THAT(why.text, AllOf(HasSubstr("max number of clients"), HasSubstr("maxclients")));
    server().command({"CONFIG", "SET", "maxclients", "100"});
    EXPECT_FALSE(lock_at({}).code);
}

TEST_P(OtherRefusals, NoPasswordAWrongOneAndAnUnknownUser) {
    server().command({"CONFIG", "SET", "requirepass", "right"});
    redis::options wrong, stranger, right;
    wrong.password = "wrong";
    stranger.user = "stranger";
    stranger.password = right.password = "right";
    EXPECT_THAT(lock_at({}).text, HasSubstr("NOAUTH"));
    for (const redis::options& who : {redis::options{}, wrong, stranger}) {
        const support::thrown why = lock_at(who);
        EXPECT_EQ(why.code, make_error_code(store_errc::not_authenticated)) << why.text;
        EXPECT_THAT(why.text, HasSubstr("ACL LIST"));
    }
    EXPECT_FALSE(lock_at(right).code);
}

TEST_P(OtherRefusals, AUserWhoIsGone) {
    server().command({"ACL", "SETUSER", "me", "on", ">mine", "~*", "&*", "+@all"});
    redis::options me;
    me.unix_socket = server().socket_path();
    me.user = "me";
    me.password = "mine";
    options how;
    how.store = redis::make_store(me);
    client c{std::move(how)};
    mutex lock{c, "L"};
    lock.lock();
    lock.unlock();
    server().command({"ACL", "DELUSER", "me"});
    const support::thrown why = thrown_by([&] { lock.lock(); });
    EXPECT_EQ(why.code, make_error_code(store_errc::not_authenticated)) << why.text;
    EXPECT_THAT(why.text, HasSubstr("WRONGPASS"));
}

} // namespace
} // namespace holdfast
