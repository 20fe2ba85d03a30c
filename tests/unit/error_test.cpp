// SPDX-License-Identifier: Apache-2.0
#include "every_error.hpp"

#include <holdfast/error.hpp>

#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(Error, EveryValueHasASentenceOfItsOwn) {
    std::set<std::string> said;
    for (int value = 1; value <= errcs; ++value)
        said.insert(make_error_code(static_cast<errc>(value)).message());
    for (int value = 1; value <= store_errcs; ++value)
        said.insert(make_error_code(static_cast<store_errc>(value)).message());
    EXPECT_EQ(said.size(), static_cast<std::size_t>(errcs + store_errcs));
    for (const std::string& sentence : said) {
        EXPECT_TRUE(sentence.ends_with('.')) << sentence;
        EXPECT_EQ(sentence.find("no error"), std::string::npos) << sentence;
    }
}

TEST(Error, AServersRefusalSaysWhatIsKnownAndWhatToDo) {
    const std::string sentences = make_error_code(store_errc::no_replicas).message();
    EXPECT_EQ(sentences, "The server has too few replicas and takes no writes. "
                         "Nothing was done there. "
                         "Bring its replicas back, or lower min-replicas-to-write.");
}

TEST(Error, WhatIsNoValueSaysSo) {
    EXPECT_EQ(make_error_code(errc{errcs + 1}).message(), "This is no error of holdfast.");
    EXPECT_EQ(make_error_code(store_errc{0}).message(), "This is no error of a store.");
}

TEST(Error, ACodeEqualsItsCondition) {
    for (int value = 1; value <= errcs; ++value)
        for (int other = 1; other <= errcs; ++other)
            EXPECT_EQ(make_error_code(static_cast<errc>(value)) == static_cast<errc>(other),
                      value == other);
}

TEST(Error, WhatAServerAnsweredEqualsExactlyOneErrc) {
    const std::pair<store_errc, errc> documented[] = {
        {store_errc::loading, errc::unreachable},
        {store_errc::busy_script, errc::unreachable},
        {store_errc::read_only, errc::unreachable},
        {store_errc::master_down, errc::unreachable},
        {store_errc::cluster_down, errc::unreachable},
        {store_errc::try_again, errc::unreachable},
        {store_errc::too_many_clients, errc::unreachable},
        {store_errc::no_replicas, errc::unreachable},
        {store_errc::disk_trouble, errc::unreachable},
        {store_errc::out_of_memory, errc::refused},
        {store_errc::no_permission, errc::refused},
        {store_errc::not_authenticated, errc::refused},
        {store_errc::untrusted, errc::refused},
        {store_errc::wrong_type, errc::refused},
        {store_errc::tls_failed, errc::unreachable},
        {store_errc::script_killed, errc::outcome_unknown},
        {store_errc::protocol, errc::outcome_unknown},
        {store_errc::other, errc::refused},
        {store_errc::not_replicated, errc::outcome_unknown},
        {store_errc::wrong_address, errc::refused},
        {store_errc::not_set_up, errc::refused},
        {store_errc::unfit, errc::refused},
        {store_errc::worn_out, errc::refused},
    };
    EXPECT_EQ(std::size(documented), static_cast<std::size_t>(store_errcs));
    for (const auto& [answered, meant] : documented)
        for (int value = 1; value <= errcs; ++value)
            EXPECT_EQ(make_error_code(answered) == static_cast<errc>(value),
                      static_cast<errc>(value) == meant)
                << make_error_code(answered).message();
}

TEST(Error, AServersAnswerKeepsItsOwnCode) {
    const error_code answered = make_error_code(store_errc::loading);
    EXPECT_EQ(answered, store_errc::loading);
    EXPECT_NE(answered, make_error_code(errc::unreachable));
    EXPECT_STREQ(answered.category().name(), "holdfast.store");
}

TEST(Error, ConvertsToTheStandardLibrarysError) {
    const std::error_code code = make_error_code(errc::lease_lost);
    EXPECT_STREQ(code.category().name(), "holdfast");
    EXPECT_EQ(code.message(), make_error_code(errc::lease_lost).message());
}

} // namespace
} // namespace holdfast
