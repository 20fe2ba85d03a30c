// SPDX-License-Identifier: Apache-2.0
#include "support/thrown.hpp"
#include "zookeeper/wire/jute.hpp"

#include <holdfast/error.hpp>

#include <limits>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using support::code_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const error_code garbage = make_error_code(store_errc::protocol);

std::string number_bytes(std::int32_t value) {
    std::string out;
    jute_writer{out}.number(value);
    return out;
}

TEST(Jute, WritesTheHighestByteFirst) {
    std::string out;
    jute_writer{out}.number(0x01020304).long_number(-2).flag(true).text("ab");
    EXPECT_EQ(out, (std::string{"\1\2\3\4\xff\xff\xff\xff\xff\xff\xff\xfe\1\0\0\0\2ab", 19}));
}

TEST(Jute, ReadsWhatItWrote) {
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 32,
          std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
        std::string out;
        jute_writer{out}.long_number(value).number(static_cast<std::int32_t>(value)).text("x");
        jute_reader from{out};
        EXPECT_EQ(from.long_number(), value);
        EXPECT_EQ(from.number(), static_cast<std::int32_t>(value));
        EXPECT_EQ(from.text(), "x");
        EXPECT_TRUE(from.at_end());
    }
}

TEST(Jute, NullIsEmpty) {
    const std::string null = number_bytes(-1);
    EXPECT_EQ(jute_reader{null}.text(), "");
    EXPECT_THAT(jute_reader{null}.texts(), IsEmpty());
}

TEST(Jute, ANegativeLengthIsRefused) {
    for (const std::int32_t length : {-2, -1000, std::numeric_limits<std::int32_t>::min()}) {
        const std::string bytes = number_bytes(length) + std::string(1000, 'x');
        EXPECT_EQ(code_of([&] { jute_reader{bytes}.text(); }), garbage);
        EXPECT_EQ(code_of([&] { jute_reader{bytes}.texts(); }), garbage);
    }
}

TEST(Jute, AListThatClaimsMoreThanCameWithItIsRefusedBeforeThereIsMemoryForIt) {
    for (const std::int32_t count : {3, 1 << 20, std::numeric_limits<std::int32_t>::max()}) {
        const std::string bytes = number_bytes(count) + number_bytes(0) + number_bytes(0);
        EXPECT_EQ(code_of([&] { jute_reader{bytes}.texts(); }), garbage);
    }
}

TEST(Jute, ReadsNothingBeyondTheEnd) {
    std::string whole;
    jute_writer{whole}.number(2).text("one").text("two");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::string cut = whole.substr(0, size); // a buffer of its own: asan sees its end
        EXPECT_EQ(code_of([&] { jute_reader{cut}.texts(); }), garbage) << size;
    }
    EXPECT_THAT(jute_reader{whole}.texts(), ElementsAre("one", "two"));
    for (const std::size_t size : {0, 3})
        EXPECT_EQ(code_of([&] { jute_reader{whole.substr(0, size)}.number(); }), garbage);
    EXPECT_EQ(code_of([&] { jute_reader{whole.substr(0, 7)}.long_number(); }), garbage);
    EXPECT_EQ(code_of([&] { jute_reader{""}.flag(); }), garbage);
}

} // namespace
} // namespace holdfast::zookeeper
