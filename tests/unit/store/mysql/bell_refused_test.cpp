// SPDX-License-Identifier: Apache-2.0
// A bell is only a hint: a server that refuses it grants locks all the same.
#include "answering_database.hpp"
#include "store/mysql/mutex_requests.hpp"

#include <gmock/gmock.h>

namespace holdfast::mysql {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class BellRefused : public on_answering_database {
protected:
    void SetUp() override {
        server_.bells = true;
        want_.lease_time = 30s;
    }
    void refuse_bells_with(store_errc why) {
        server_.refuses = [why](const std::vector<std::string>& all) -> std::optional<error_code> {
            if (all.front().find("GET_LOCK") == std::string::npos)
                return std::nullopt;
            return make_error_code(why);
        };
    }
    taken take(bool may_be_free = true) {
        return run(take_lock(at_, want_, {time_point::max(), nullptr, may_be_free}));
    }

    ask want_{lock_name{"L"}, owner_id{{1}, 1}, lock_kind::plain};
};

TEST_F(BellRefused, ForGoodIsNotAskedForAgain) {
    refuse_bells_with(store_errc::other);
    EXPECT_EQ(take().seen.said, remote::verdict::granted);
    ASSERT_THAT(server_.sent, SizeIs(2));
    EXPECT_THAT(server_.sent.back(), Each(Not(HasSubstr("GET_LOCK"))));
    EXPECT_FALSE(server_.bells);
    take();
    EXPECT_THAT(server_.sent, SizeIs(3));
}

TEST_F(BellRefused, ForAMomentIsAskedForTheNextTime) {
    refuse_bells_with(store_errc::try_again);
    EXPECT_EQ(take().seen.said, remote::verdict::granted);
    EXPECT_TRUE(server_.bells);
    take();
    EXPECT_THAT(server_.sent, SizeIs(4));
}

TEST_F(BellRefused, IsNotTakenForWhatIsNoneOfItsOwn) {
    refuse_bells_with(store_errc::read_only);
    EXPECT_THROW(take(), net::failure);
    EXPECT_THAT(server_.sent, SizeIs(1));
    EXPECT_TRUE(server_.bells);
}

TEST_F(BellRefused, OnlyTogetherWithTheLockSaysNothingOfTheBell) {
    server_.refuses = [](const auto&) { return make_error_code(store_errc::other); };
    EXPECT_THROW(take(), net::failure);
    EXPECT_TRUE(server_.bells);
}

// ROLLBACK does not give it back.
TEST_F(BellRefused, AnAttemptThatFailsLeavesNone) {
    take();
    ASSERT_THAT(server_.with, SizeIs(1));
    EXPECT_EQ(server_.undone.at(0), "DO RELEASE_LOCK('" + at_.bell(want_.name) + "')");
}

TEST_F(BellRefused, WhoWasBusyIsAskedInFullAtOnce) {
    take(false);
    ASSERT_THAT(server_.sent, SizeIs(1));
    EXPECT_THAT(server_.sent.front().front(), AllOf(HasSubstr("CASE"), HasSubstr("GET_LOCK")));
}

} // namespace
} // namespace holdfast::mysql
