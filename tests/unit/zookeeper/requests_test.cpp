// SPDX-License-Identifier: Apache-2.0
#include "support/thrown.hpp"
#include "zookeeper/requests.hpp"

#include <limits>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using stage = request::stage;

time_point at(int ms) {
    return time_point{duration{ms}};
}

std::string frame(std::int32_t number, std::int32_t error = 0, std::string_view body = {},
                  std::int64_t zxid = 1) {
    std::string out;
    jute_writer{out}.number(number).long_number(zxid).number(error);
    out += body;
    return out;
}

class Requests : public ::testing::Test {
protected:
    shared_request ask(message what, int now = 0) {
        auto made = std::make_shared<request>(std::move(what));
        all_.ask(made, at(now));
        return made;
    }
    shared_request ask(int now = 0) { return ask(sync_message("/"), now); }
    shared_request write(int now = 0) { return all_.write_next(out_, at(now)); }
    error_code refusal(const std::string& said) {
        return support::code_of([&] { all_.hear(said); });
    }

    requests all_;
    std::string out_;
};

TEST_F(Requests, AreMatchedInTheOrderOfWriting) {
    const auto a = ask(), b = ask();
    EXPECT_EQ(write(3), a);
    EXPECT_EQ(write(4), b);
    EXPECT_EQ(write(), nullptr);
    EXPECT_EQ(a->number, 1);
    EXPECT_EQ(b->number, 2);
    EXPECT_EQ(all_.hear(frame(1, 0, "body")).answered, a);
    EXPECT_EQ(a->body, "body");
    EXPECT_EQ(a->standing, stage::settled);
    EXPECT_EQ(all_.hear(frame(2, -101)).answered, b);
    EXPECT_EQ(b->error, -101);
    EXPECT_EQ(all_.size(), 0u);
}

TEST_F(Requests, AnAnswerThatNobodyAskedForIsRefused) {
    EXPECT_EQ(refusal(frame(1)), store_errc::protocol);
    ask();
    EXPECT_EQ(refusal(frame(1)), store_errc::protocol) << "it was not even written";
    write();
    for (const std::int32_t number : {2, 0, number_of::ping, number_of::authentication, -8})
        EXPECT_EQ(refusal(frame(number)), store_errc::protocol) << number;
    EXPECT_EQ(refusal(frame(1).substr(0, 15)), store_errc::protocol);
}

TEST_F(Requests, APingIsAnsweredOnce) {
    all_.write_ping(out_, at(5));
    EXPECT_EQ(all_.owed_since(), at(5));
    EXPECT_EQ(all_.hear(frame(number_of::ping)).done, at(5));
    EXPECT_EQ(all_.owed_since(), std::nullopt);
    EXPECT_EQ(refusal(frame(number_of::ping)), store_errc::protocol);
}

TEST_F(Requests, AnEventIsNoAnswer) {
    std::string body;
    jute_writer{body}.number(2).number(3).text("/a");
    const auto said = all_.hear(frame(number_of::event, 0, body, -1));
    ASSERT_TRUE(said.event);
    EXPECT_EQ(said.event->path, "/a");
    EXPECT_EQ(said.done, std::nullopt);
}

TEST_F(Requests, TheNumberGoesOnAtOneAndNotBelowZero) {
    requests all{std::numeric_limits<std::int32_t>::max()};
    for (int i = 0; i < 2; ++i)
        all.ask(std::make_shared<request>(sync_message("/")), at(0));
    EXPECT_EQ(all.write_next(out_, at(0))->number, std::numeric_limits<std::int32_t>::max());
    EXPECT_EQ(all.write_next(out_, at(0))->number, 1);
}

TEST_F(Requests, WhatWasCarriedOutIsTold) {
    for (int i = 0; i < 3; ++i)
        ask(remove_message("/a"));
    ask();
    for (int now = 1; now <= 4; ++now)
        write(now);
    EXPECT_EQ(all_.hear(frame(1)).done, at(1));
    const auto missing = all_.hear(frame(2, answered::no_node));
    EXPECT_EQ(missing.done, at(2));
    EXPECT_TRUE(missing.is_write);
    EXPECT_EQ(all_.hear(frame(3, -127)).done, std::nullopt) << "throttled";
    const auto read = all_.hear(frame(4));
    EXPECT_EQ(read.done, at(4));
    EXPECT_FALSE(read.is_write);
}

TEST_F(Requests, AnAnswerToWhoGaveUpIsNobodysAndShiftsNoOther) {
    const auto a = ask(remove_message("/a")), b = ask();
    write(1);
    write(2);
    all_.give_up(*a);
    EXPECT_EQ(all_.owed_since(), at(1)) << "it is still owed";
    EXPECT_EQ(all_.size(), 2u);
    const auto said = all_.hear(frame(1));
    EXPECT_FALSE(said.answered);
    EXPECT_EQ(said.done, at(1)) << "and proves as much";
    EXPECT_EQ(all_.hear(frame(2)).answered, b);
}

TEST_F(Requests, WhoGivesUpBeforeWritingIsNeverSent) {
    const auto a = ask(), b = ask(), c = ask();
    all_.give_up(*b);
    EXPECT_EQ(write(), a);
    EXPECT_EQ(write(), c);
    EXPECT_EQ(write(), nullptr);
    EXPECT_FALSE(all_.anything_queued());
}

TEST_F(Requests, ThoseThatAreLateAreFoundByTheirAge) {
    const auto a = ask(1), b = ask(2), c = ask(3);
    write();
    EXPECT_EQ(all_.oldest(), at(1));
    EXPECT_THAT(all_.late(at(0)), IsEmpty());
    EXPECT_THAT(all_.late(at(2)), ElementsAre(a, b));
    EXPECT_EQ(all_.oldest(), at(3));
    EXPECT_EQ(write(), c) << "what was given up is not sent";
}

TEST_F(Requests, OfALostConnectionOnlyTheWrittenOnesAreDropped) {
    const auto a = ask(), b = ask(), c = ask();
    write();
    write();
    all_.write_ping(out_, at(0));
    all_.give_up(*b);
    EXPECT_THAT(all_.drop_written(), ElementsAre(a));
    EXPECT_EQ(all_.owed_since(), std::nullopt);
    EXPECT_EQ(all_.oldest(), at(0));
    EXPECT_THAT(all_.drop_queued(), ElementsAre(c));
    EXPECT_EQ(all_.oldest(), std::nullopt);
    EXPECT_EQ(all_.size(), 0u);
}

TEST_F(Requests, ThoseThatWereGivenUpDoNotPileUpWhileThereIsNoConnection) {
    for (int now = 0; now < 100; ++now) {
        ask(now);
        all_.late(at(now));
    }
    EXPECT_EQ(all_.size(), 0u);
}

} // namespace
} // namespace holdfast::zookeeper
