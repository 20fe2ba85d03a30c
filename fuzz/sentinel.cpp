// SPDX-License-Identifier: Apache-2.0
// Whatever Sentinels answer and tell: no crash, and the primary is always one that was named, and
// never one of a smaller epoch while a Sentinel is missing.
#include "any_reply.hpp"
#include "redis/sentinel/sentinel_choice.hpp"
#include "redis/wire/answer_reader.hpp"
#include "redis/wire/host.hpp"

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
        const verdict said = choice_.decide(answers_, answers_.size() + missing, now_);
        fuzz::require((said == verdict::moves) == (choice_.primary() != before), "moved unsaid");
        if (said == verdict::moves) {
            const bool was_named = std::ranges::any_of(
                answers_, [&](const auto& one) { return one.primary == choice_.primary(); });
            fuzz::require(was_named, "nobody has named it");
            fuzz::require(!all_older || missing == 0, "went back to an older epoch");
        }
        note(all_older && missing == 0);
        answers_.clear();
    }

    /// The greatest that counted; where all are older it is not known whether they were believed.
    void note(bool perhaps_anew) {
        if (perhaps_anew)
            newest_.reset();
        for (const sentinel_answer& one : answers_)
            if (!perhaps_anew && one.primary)
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
    std::optional<std::uint64_t> newest_;
};

} // namespace
} // namespace holdfast::redis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    holdfast::fuzz::input script{data, size};
    holdfast::redis::story{script}.play();
    return 0;
}
