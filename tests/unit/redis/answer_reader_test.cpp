// SPDX-License-Identifier: Apache-2.0
#include "net/failure.hpp"
#include "redis/wire/answer_reader.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::literals;
using kind = reply::kind;

reply read(std::string_view bytes) {
    answer_reader reader{1024};
    reader.feed(bytes);
    reply* const come = reader.next();
    if (!come)
        throw std::logic_error{"not a whole answer"};
    return std::move(*come);
}

/// What the reader finds wrong with it; empty: nothing.
std::string objection_to(std::string_view bytes, std::size_t bytes_max = 1024) {
    answer_reader reader{bytes_max};
    try {
        reader.feed(bytes);
        while (reader.next())
            ;
    } catch (const net::failure& wrong) {
        EXPECT_EQ(wrong.code(), make_error_code(store_errc::protocol));
        return wrong.text();
    }
    return {};
}

TEST(AnswerReader, ReadsEveryTypeOfRESP2) {
    EXPECT_EQ(read("+OK\r\n").type, kind::status);
    EXPECT_EQ(read("+OK\r\n").text, "OK");
    EXPECT_EQ(read("-ERR no\r\n").type, kind::error);
    EXPECT_EQ(read("-ERR no\r\n").text, "ERR no");
    EXPECT_EQ(read(":-42\r\n").type, kind::integer);
    EXPECT_EQ(read(":-42\r\n").integer, -42);
    EXPECT_EQ(read("$4\r\na\r\n\0\r\n"sv).text, "a\r\n\0"sv);
    EXPECT_EQ(read("$4\r\na\r\n\0\r\n"sv).type, kind::text);
    EXPECT_EQ(read("$0\r\n\r\n").type, kind::text);
    EXPECT_EQ(read("$-1\r\n").type, kind::nil);
    EXPECT_EQ(read("*-1\r\n").type, kind::nil);
    EXPECT_EQ(read("*0\r\n").type, kind::array);
}

TEST(AnswerReader, ReadsNestedArraysInOrder) {
    const reply all = read("*4\r\n:1\r\n*2\r\n$1\r\na\r\n*1\r\n+x\r\n-E\r\n$-1\r\n");
    ASSERT_EQ(all.items.size(), 4u);
    EXPECT_EQ(all.items[0].integer, 1);
    ASSERT_EQ(all.items[1].items.size(), 2u);
    EXPECT_EQ(all.items[1].items[0].text, "a");
    EXPECT_EQ(all.items[1].items[1].items.at(0).text, "x");
    EXPECT_EQ(all.items[2].type, kind::error);
    EXPECT_EQ(all.items[3].type, kind::nil);
}

TEST(AnswerReader, PutsAnswersTogetherFromSingleBytes) {
    answer_reader reader{1024};
    const std::string_view bytes = "*2\r\n$2\r\nab\r\n*2\r\n:7\r\n+s\r\n:8\r\n";
    std::vector<reply> all;
    for (const char byte : bytes) {
        reader.feed({&byte, 1});
        while (reply* const come = reader.next())
            all.push_back(std::move(*come));
    }
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].items.at(0).text, "ab");
    EXPECT_EQ(all[0].items.at(1).items.at(1).text, "s");
    EXPECT_EQ(all[1].integer, 8);
}

TEST(AnswerReader, HandsOutSeveralOfOneReadingOneByOne) {
    answer_reader reader{1024};
    reader.feed(":1\r\n*1\r\n:2\r\n:3\r\n:");
    EXPECT_EQ(reader.next()->integer, 1);
    EXPECT_EQ(reader.next()->items.at(0).integer, 2);
    reply* const third = reader.next();
    EXPECT_EQ(third->integer, 3);
    EXPECT_TRUE(third->items.empty());
    EXPECT_EQ(reader.next(), nullptr);
    reader.feed("4\r\n");
    EXPECT_EQ(reader.next()->integer, 4);
}

TEST(AnswerReader, RefusesWhatIsNotTheProtocol) {
    EXPECT_NE(objection_to("HTTP/1.1 400 Bad Request\r\n"), "");
    EXPECT_NE(objection_to(":12x\r\n"), "");
    EXPECT_NE(objection_to("$-2\r\n"), "");
    EXPECT_NE(objection_to("*-2\r\n"), "");
    EXPECT_NE(objection_to("\0\0\0\0"sv), "");
    EXPECT_NE(objection_to("\x15\x03\x01\x00\x02\x02"sv), ""); // a TLS alert
}

TEST(AnswerReader, RefusesTheTypesOfRESP3) {
    EXPECT_NE(objection_to("_\r\n"), "");
    EXPECT_NE(objection_to("#t\r\n"), "");
    EXPECT_NE(objection_to(",1.5\r\n"), "");
    EXPECT_NE(objection_to("%1\r\n+a\r\n:1\r\n"), "");
    EXPECT_NE(objection_to("~1\r\n+a\r\n"), "");
    EXPECT_NE(objection_to(">1\r\n+a\r\n"), "");
    EXPECT_NE(objection_to("(123\r\n"), "");
    EXPECT_NE(objection_to("=6\r\ntxt:ab\r\n"), "");
}

TEST(AnswerReader, AClaimOfMuchCostsNothingUntilItComes) {
    answer_reader reader{1024};
    reader.feed("*1000000000\r\n:1\r\n");
    EXPECT_EQ(reader.next(), nullptr);
    answer_reader another{1024};
    another.feed("$2000000000\r\nab");
    EXPECT_EQ(another.next(), nullptr);
}

TEST(AnswerReader, RefusesMoreBytesThanItMay) {
    EXPECT_EQ(objection_to("$1000\r\n" + std::string(1000, 'x'), 1100), ""); // not whole yet
    EXPECT_NE(objection_to("$2000\r\n" + std::string(1500, 'x'), 1100), "");
    EXPECT_NE(objection_to("*100000\r\n" + std::string(1500, '\n'), 1100), "");
    std::string endless = "*1000000\r\n";
    for (int i = 0; i < 1000; ++i)
        endless += "$1\r\nx\r\n";
    EXPECT_NE(objection_to(endless, 1100), "");
}

TEST(AnswerReader, TheBoundIsForOneAnswerAndNotForAll) {
    answer_reader reader{100};
    for (int i = 0; i < 100; ++i) {
        reader.feed("$50\r\n" + std::string(50, 'x') + "\r\n$50\r\n");
        ASSERT_NE(reader.next(), nullptr);
        ASSERT_EQ(reader.next(), nullptr);
        reader.feed(std::string(50, 'x') + "\r\n");
        ASSERT_NE(reader.next(), nullptr);
    }
}

TEST(AnswerReader, CountsWhatIsThereOfTheNextAnswer) {
    EXPECT_NE(objection_to(":1\r\n$1000\r\n" + std::string(150, 'x'), 100), "");
}

TEST(AnswerReader, RefusesMoreItemsThanItMay) {
    std::string many = "*2\r\n:1\r\n*" + std::to_string(answer_reader::items_max) + "\r\n";
    for (std::size_t i = 0; i < answer_reader::items_max; ++i)
        many += ":1\r\n";
    EXPECT_NE(objection_to(many, 16 * 1024 * 1024), "");
}

TEST(AnswerReader, ForgetsAHalfReadAnswerWithItself) {
    answer_reader reader{1024};
    reader.feed("*3\r\n$3\r\nabc\r\n*2\r\n:1\r\n");
    EXPECT_EQ(reader.next(), nullptr);
}

} // namespace
} // namespace holdfast::redis
