// SPDX-License-Identifier: Apache-2.0
// Texts of labels: what Prometheus would reject is replaced.
#include <holdfast/metrics/collector.hpp>

#include <gtest/gtest.h>

namespace holdfast::metrics {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t label_bytes_max = 128;

TEST(Label, Utf8IsKept) {
    for (const std::string_view each :
         {"orders", "a \"b\" \\ {c}", "\u00e4\u20ac\U0001F512", "other"})
        EXPECT_EQ(label_text(each), each);
}

TEST(Label, BytesThatAreNotUtf8AndControlCharactersBecomeReplacementCharacters) {
    EXPECT_EQ(label_text("a\xff"
                         "b"),
              "a\uFFFDb");
    EXPECT_EQ(label_text("a\n\tb\x7f"), "a\uFFFD\uFFFDb\uFFFD");
    EXPECT_EQ(label_text("a\0b"sv), "a\uFFFDb");
    EXPECT_EQ(label_text("\xe2\x82"), "\uFFFD\uFFFD") << "the end of the character is missing";
    EXPECT_EQ(label_text("\xc0\xaf"), "\uFFFD\uFFFD") << "a character in too long a form";
    EXPECT_EQ(label_text("\xe0\x80\xaf"), "\uFFFD\uFFFD\uFFFD");
    EXPECT_EQ(label_text("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD") << "half of a surrogate pair";
    EXPECT_EQ(label_text("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "above U+10FFFF";
}

TEST(Label, EmptyTextBecomesVisible) {
    EXPECT_EQ(label_text(""), "(empty)");
}

TEST(Label, LongTextIsCutBetweenCharacters) {
    const std::string just_fits(label_bytes_max, 'x');
    EXPECT_EQ(label_text(just_fits), just_fits);
    EXPECT_EQ(label_text(just_fits + "x"), std::string(label_bytes_max - 3, 'x') + "...");
    std::string wide;
    for (int each = 0; each < 100'000; ++each)
        wide += "\u20ac";
    const std::string cut = label_text(wide);
    EXPECT_EQ(cut, wide.substr(0, 123) + "...") << "41 whole characters of 3 bytes";
}

} // namespace
} // namespace holdfast::metrics
