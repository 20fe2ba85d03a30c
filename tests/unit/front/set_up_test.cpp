// SPDX-License-Identifier: Apache-2.0
// What a store needs before the first lock: `client::set_up()`.
#include "unit/front/real_time.hpp"

#include <holdfast/store.hpp>

namespace holdfast {
namespace {

/// The memory server, with one table to make.
class store_with_a_table final : public store {
public:
    store_with_a_table(std::unique_ptr<store> real, bool may_make)
        : real_{std::move(real)}
        , may_make_{may_make} {}

    lock_store& locks() noexcept override { return real_->locks(); }
    inspector& operators_view() noexcept override { return real_->operators_view(); }
    asio::awaitable<std::vector<finding>> examine(ask trial) override {
        return real_->examine(std::move(trial));
    }
    asio::awaitable<std::vector<finding>> set_up() override {
        if (!may_make_)
            throw boost::system::system_error{make_error_code(store_errc::no_permission),
                                              "GRANT CREATE is missing"};
        std::vector<finding> made;
        made.push_back({severity::fine, "tables", is_made_ ? "is there" : "made", ""});
        is_made_ = true;
        co_return made;
    }
    void close() noexcept override { real_->close(); }

private:
    std::unique_ptr<store> real_;
    bool may_make_;
    bool is_made_ = false;
};

class SetUp : public in_real_time {
protected:
    client with_a_table(bool may_make) {
        options how;
        how.store = [real = server.connect(), may_make](store_context context) {
            return std::make_unique<store_with_a_table>(real(std::move(context)), may_make);
        };
        return client{std::move(how)};
    }
};

TEST_F(SetUp, SaysWhatWasMadeAndWhatWasThere) {
    client home = with_a_table(true);
    const diagnosis made = home.set_up();
    ASSERT_EQ(made.findings.size(), 1u);
    EXPECT_EQ(made.findings[0].what, "made");
    const diagnosis again = home.async_set_up(asio::use_future).get();
    ASSERT_EQ(again.findings.size(), 1u);
    EXPECT_EQ(again.findings[0].what, "is there");
}

TEST_F(SetUp, IsRefusedByAStoreThatNeedsNone) {
    const auto refused = thrown_by([&] { alice.set_up(); });
    EXPECT_EQ(refused.code, errc::invalid_argument);
    EXPECT_THAT(refused.text, HasSubstr("needs no set-up"));
    const auto later = thrown_by([&] { alice.async_set_up(asio::use_future).get(); });
    EXPECT_EQ(later.code, errc::invalid_argument);
}

TEST_F(SetUp, ThatTheStoreRefusesIsThrown) {
    client home = with_a_table(false);
    const auto refused = thrown_by([&] { home.set_up(); });
    EXPECT_EQ(refused.code, errc::refused);
    EXPECT_THAT(refused.text, HasSubstr("GRANT CREATE"));
}

TEST_F(SetUp, FailsOnAClosedClient) {
    alice.close();
    EXPECT_EQ(thrown_by([&] { alice.set_up(); }).code, errc::closed);
}

} // namespace
} // namespace holdfast
