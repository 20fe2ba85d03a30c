// SPDX-License-Identifier: Apache-2.0
#include "url/length.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace holdfast::url {
namespace {

using namespace std::chrono_literals;

TEST(UrlLength, IsAWholeNumberAndAUnit) {
    const std::pair<const char*, duration> rows[] = {
        {"0s", 0s},
        {"1ms", 1ms},
        {"500ms", 500ms},
        {"10s", 10s},
        {"5m", 5min},
        {"1h", 1h},
        {"2562047788015h", 2562047788015h},
    };
    for (const auto& [text, meant] : rows) {
        EXPECT_EQ(read_length(text).objection, "") << text;
        EXPECT_EQ(read_length(text).value, meant) << text;
    }
}

TEST(UrlLength, AnythingElseIsRefusedWithAReason) {
    const std::pair<const char*, const char*> rows[] = {
        {"", "does not begin with a number"},
        {"s", "does not begin with a number"},
        {"-5s", "does not begin with a number"},
        {"+5s", "does not begin with a number"},
        {" 5s", "does not begin with a number"},
        {"5", "has no unit"},
        {"1.5s", "has a unit \".5s\""},
        {"5 s", "has a unit \" s\""},
        {"5sec", "has a unit \"sec\""},
        {"5S", "has a unit \"S\""},
        {"5d", "has a unit \"d\""},
        {"5us", "has a unit \"us\""},
        {"2562047788016h", "is too large"},
        {"99999999999999999999ms", "is too large"},
    };
    for (const auto& [text, why] : rows) {
        const std::string objection = read_length(text).objection;
        EXPECT_TRUE(objection.starts_with(why)) << text << ": " << objection;
        EXPECT_TRUE(objection.ends_with("as in 500ms")) << text << ": " << objection;
    }
}

} // namespace
} // namespace holdfast::url
