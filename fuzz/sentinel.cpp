// SPDX-License-Identifier: Apache-2.0
// Feeds the choice of the primary with arbitrary replies and messages of Sentinels. Nothing
// crashes. Each primary was named by a Sentinel, and only most of the Sentinels lead back to a
// smaller epoch.
#include "redis/topology/sentinel.hpp"

#include "any_reply.hpp"
#include "redis/client/resp.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace holdfast::redis {
namespace {

constexpr std::array words{
    "ip", "port", "config-epoch", "down-after-milliseconds", "flags", "s_down", "a", "b",
    "1",  "2",    "6379",         "18446744073709551615"};

class story {
public:
    explicit story(fuzz::input& script)
        : script_{script} {}

    void play() {
        while (!script_.empty())
            step();
    }

private:
    void step() {
        now_ += duration{static_cast<duration::rep>(script_.choice(128)) * 100};
        switch (script_.choice(5)) {
        case 0:
            return answer(fuzz::any_reply(script_, words), fuzz::any_reply(script_, words));
        case 1:
            return answer_in_bytes(script_.piece(script_.choice(256)));
        case 2:
            answers_.push_back({.primary = any_address(), .epoch = script_.choice(4)});
            return;
        case 3:
            return hear(script_.piece(script_.choice(64)));
        default:
            return decide();
        }
    }

    server_address any_address() {
        return {std::string(1, static_cast<char>('a' + script_.choice(3))), 6379};
    }

    void answer(const reply& service, const reply& address) {
        try {
            const sentinel_answer told = read_sentinel(service, address);
            fuzz::require(!told.primary || (is_host(told.primary->host) && told.primary->port != 0),
                          "a primary that is none");
            answers_.push_back(told);
        } catch (const boost::system::system_error&) {
            return; // refused
        }
    }

    void answer_in_bytes(std::string_view bytes) {
        answer_reader reader{64 * 1024};
        try {
            reader.feed(bytes);
            const reply* const first = reader.next();
            if (!first)
                return;
            const reply service = *first;
            if (const reply* const address = reader.next())
                answer(service, *address);
        } catch (const boost::system::system_error&) {
            return; // no answer at all
        }
    }

    void decide() {
        using verdict = sentinel_choice::verdict;
        const std::optional<server_address> before = choice_.primary();
        const std::size_t missing = script_.choice(2);
        const bool all_older = std::ranges::all_of(answers_, [&](const auto& one) {
            return one.primary && one.epoch && newest_ && *one.epoch < *newest_;
        });
        const std::size_t asked = answers_.size() + missing;
        const verdict said = choice_.decide(answers_, asked, now_);
        fuzz::require((said == verdict::moves) == (choice_.primary() != before), "moved unsaid");
        if (said == verdict::moves) {
            const auto votes = std::ranges::count_if(
                answers_, [&](const auto& one) { return one.primary == choice_.primary(); });
            fuzz::require(votes > 0, "nobody has named it");
            fuzz::require(!all_older || 2 * static_cast<std::size_t>(votes) > asked,
                          "a minority led back to an older epoch");
        }
        note(all_older);
        answers_.clear();
    }

    /// Keeps the greatest epoch that surely counted. Replies may not have counted if all were
    /// older, or if all list servers: these may be servers of another service.
    void note(bool all_older) {
        const bool may_be_strangers = std::ranges::all_of(
            answers_, [](const auto& one) { return !one.primary || one.replicas.has_value(); });
        if (all_older || may_be_strangers)
            newest_.reset();
        else
            for (const sentinel_answer& one : answers_)
                if (one.primary)
                    newest_ = std::max(newest_, one.epoch);
    }

    void hear(std::string_view message) {
        const auto news = read_switch(message, "m");
        const server_address from = news ? news->from : any_address();
        const server_address to = news ? news->to : any_address();
        if (choice_.hear({from, to}))
            fuzz::require(choice_.primary() == to, "moved elsewhere");
    }

    fuzz::input& script_;
    time_point now_{};
    sentinel_choice choice_;
    std::vector<sentinel_answer> answers_;
    std::optional<std::uint64_t> newest_; // greatest epoch that surely counted
};

} // namespace
} // namespace holdfast::redis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    holdfast::fuzz::input script{data, size};
    holdfast::redis::story{script}.play();
    return 0;
}
