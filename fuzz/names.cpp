// SPDX-License-Identifier: Apache-2.0
// A name is refused, or its key and its channel are on one node of a cluster and no other name has
// that channel: but for `b` and `{b}`, which share Redisson's. All that belongs to it is on that
// node.
#include "store/redis/names.hpp"

#include "input.hpp"

#include <iterator>
#include <set>
#include <string>

namespace holdfast::redis {
namespace {

constexpr std::size_t bytes_max = 1024;

/// Redis' own words (cluster-spec, "Hash tags"), written again without looking at ours.
std::string_view slot_of(std::string_view key) {
    for (std::size_t open = 0; open < key.size(); ++open) {
        if (key[open] != '{')
            continue;
        for (std::size_t close = open + 1; close < key.size(); ++close)
            if (key[close] == '}')
                return close == open + 1 ? key : key.substr(open + 1, close - open - 1);
        return key;
    }
    return key;
}

/// A script has all of them, and what waits listens.
void check_side_keys(const lock_name& name) {
    const std::string owner = "aaaaaaaa-0000-8fd5-8000-000000000001:7";
    const std::string all[] = {name.text,
                               token_key(name),
                               fair_queue(name),
                               fair_deadlines(name),
                               writers_key(name),
                               timer_key(name, owner),
                               shared_channel(name).text,
                               token_channel(name).text,
                               fair_channel(hold{name, {{}, 7}, lock_kind::fair}).text};
    for (const std::string& each : all)
        fuzz::require(slot_of(each) == slot_of(name.text), "a side key on another node");
    const std::set<std::string> different{std::begin(all), std::end(all)};
    fuzz::require(different.size() == std::size(all), "two side keys are one");
}

void check(const lock_name& name) {
    const std::optional<std::string> objection = objection_to_name(name, bytes_max);
    const std::string channel = lock_channel(name).text;
    fuzz::require(channel.ends_with(name.text) || channel.ends_with(name.text + "}"),
                  "the channel does not carry the name");
    if (objection)
        return fuzz::require(!objection->empty(), "refused without a reason");
    fuzz::require(!name.text.empty() && name.text.size() <= bytes_max, "a length that is refused");
    fuzz::require(slot_of(name.text) == slot_of(channel), "key and channel on two nodes");
    check_side_keys(name);
}

} // namespace
} // namespace holdfast::redis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace holdfast;
    fuzz::input all{data, size};
    const std::string_view first = all.piece(all.choice(256));
    const lock_name one{std::string{first}}, other{std::string{all.rest()}};
    redis::check(one);
    redis::check(other);
    const auto fine = [](const lock_name& name) {
        return !redis::objection_to_name(name, redis::bytes_max);
    };
    const auto in_braces = [](const lock_name& name) { return "{" + name.text + "}"; };
    const bool alike =
        one.text == other.text || one.text == in_braces(other) || other.text == in_braces(one);
    if (fine(one) && fine(other) && !alike)
        fuzz::require(redis::lock_channel(one).text != redis::lock_channel(other).text,
                      "two names, one channel");
    return 0;
}
