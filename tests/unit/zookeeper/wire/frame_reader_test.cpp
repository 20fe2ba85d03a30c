// SPDX-License-Identifier: Apache-2.0
#include "support/thrown.hpp"
#include "zookeeper/wire/frame_reader.hpp"

#include <holdfast/error.hpp>

#include <vector>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t most = 100;

std::string framed(std::string_view content) {
    std::string out;
    const std::size_t at = begin_frame(out);
    out += content;
    end_frame(out, at);
    return out;
}

std::vector<std::string> frames_in(frame_reader& reader) {
    std::vector<std::string> all;
    while (const auto frame = reader.next())
        all.emplace_back(*frame);
    return all;
}

TEST(FrameReader, CutsTheBytesAsTheyWereFramed) {
    frame_reader reader{most};
    reader.feed(framed("one") + framed("") + framed("two") + framed("three").substr(0, 6));
    EXPECT_THAT(frames_in(reader), ElementsAre("one", "", "two"));
    reader.feed(framed("three").substr(6));
    EXPECT_THAT(frames_in(reader), ElementsAre("three"));
}

TEST(FrameReader, ItDoesNotMatterWhereTheBytesAreSplit) {
    const std::string bytes = framed("one") + framed(std::string(most, 'x')) + framed("two");
    for (std::size_t at = 0; at <= bytes.size(); ++at) {
        frame_reader reader{most};
        reader.feed(bytes.substr(0, at));
        auto all = frames_in(reader);
        reader.feed(bytes.substr(at));
        for (const std::string& one : frames_in(reader))
            all.push_back(one);
        EXPECT_THAT(all, ElementsAre("one", std::string(most, 'x'), "two")) << at;
    }
}

TEST(FrameReader, ALengthThatCannotBeIsRefusedAtOnce) {
    for (const std::string& length :
         {std::string{"\0\0\0\x65", 4}, std::string{"\x7f\xff\xff\xff", 4},
          std::string{"\x80\0\0\0", 4}, std::string{"\xff\xff\xff\xff", 4}, std::string{"HTTP"},
          std::string{"-ERR"}}) {
        frame_reader reader{most};
        reader.feed(length);
        EXPECT_EQ(support::code_of([&] { reader.next(); }), store_errc::protocol);
    }
}

TEST(FrameReader, WritesBehindWhatIsThere) {
    std::string out = "before";
    const std::size_t at = begin_frame(out);
    out += "abc";
    end_frame(out, at);
    EXPECT_EQ(out, (std::string{"before\0\0\0\3abc", 13}));
}

} // namespace
} // namespace holdfast::zookeeper
