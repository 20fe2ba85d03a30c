// SPDX-License-Identifier: Apache-2.0
#include "permit_parts.hpp"

#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"
#include "support/run_script.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::trace {
namespace {

const std::string key_of_seats = "P", set_of_held = "{P}:timeout",
                  channel_of_seats = "redisson_sc:{P}";

class jvm_with_permits final : public permit_part {
public:
    jvm_with_permits(support::redis_server& server, permit_book& book, bool all_or_none)
        : permit_part{server, book}
        , all_or_none_{all_or_none} {}

    std::int64_t run(const command& made) override {
        const std::string& what = made.what;
        if (what == "semaphore.set-permits-if-absent")
            return ask({"EXISTS", key_of_seats}) == 1 ? 0 : set(made.words.at(0), made.words.at(0));
        if (what == "permits.add-permits")
            return add(std::stoll(made.words.at(0)));
        if (what == "permits.release")
            return release(made);
        if (what == "permits.acquire")
            return acquire(made, std::stoll(made.words.at(0)));
        if (what == "permits.set-permits")
            return set_all(std::stoll(made.words.at(0)));
        reclaim(-1);
        if (what == "permits.release-many")
            return release_many(made);
        if (what == "permits.set-lease")
            return set_lease(made);
        if (what == "permits.get-lease")
            return lease_of(book_.at(made.words.at(0)));
        return (what == "permits.acquired" ? 0 : value()) +
               (what == "permits.available" ? 0 : ask({"ZCARD", set_of_held}));
    }

private:
    std::int64_t value() {
        const std::string text = server_.command({"GET", key_of_seats}).text;
        return text.empty() ? 0 : std::stoll(text);
    }
    void tell(const std::string& message) {
        server_.command({"PUBLISH", channel_of_seats, message});
    }
    std::int64_t set(const std::string& number, const std::string& message) {
        server_.command({"SET", key_of_seats, number});
        tell(message);
        return 1;
    }
    void reclaim(std::int64_t limit) {
        const auto over = server_
                              .command({"ZRANGEBYSCORE", set_of_held, "0", std::to_string(now()),
                                        "LIMIT", "0", std::to_string(limit)})
                              .items;
        for (const redis::reply& each : over)
            server_.command({"ZREM", set_of_held, each.text});
        if (!over.empty() && ask({"INCRBY", key_of_seats, std::to_string(over.size())}) > 0)
            tell(std::to_string(value()));
    }
    std::int64_t acquire(const command& made, std::int64_t count) {
        reclaim(count);
        if (value() < count)
            return 0;
        ask({"DECRBY", key_of_seats, std::to_string(count)});
        for (const std::string& word : permits_in(made)) {
            const std::string label = permit_book::label(word);
            std::string id = label;
            id.insert(id.begin(), (book_.form == redis::redisson_form::v3_17 ? 16 : 32) - id.size(),
                      'f');
            book_.stored[label] = id;
            server_.command({"ZADD", set_of_held, std::to_string(moment(made.words.at(1))), id});
        }
        return 1;
    }
    std::int64_t add(std::int64_t permits) {
        server_.command({"SET", key_of_seats, std::to_string(value() + permits)});
        if (permits > 0)
            tell(std::to_string(permits));
        return 1;
    }
    std::int64_t set_all(std::int64_t permits) {
        if (ask({"EXISTS", key_of_seats}) == 0)
            return set(std::to_string(permits), std::to_string(permits));
        const std::int64_t more = permits - value() - ask({"ZCARD", set_of_held});
        if (more != 0) {
            ask({"INCRBY", key_of_seats, std::to_string(more)});
            tell(std::to_string(permits));
        }
        return 1;
    }
    /// In the versions that send the time, one that is over is given back and refused.
    std::int64_t release(const command& made) {
        const std::string id = book_.at(made.words.at(0));
        const std::string score = server_.command({"ZSCORE", set_of_held, id}).text;
        if (ask({"ZREM", set_of_held, id}) == 0)
            return 0;
        tell(std::to_string(ask({"INCRBY", key_of_seats, "1"})));
        return made.words.size() > 2 && std::stoll(score) <= now() ? 0 : 1;
    }
    std::int64_t release_many(const command& made) {
        const std::vector<std::string> all = permits_in(made);
        const auto is_missing = [&](const std::string& each) {
            return server_.command({"ZSCORE", set_of_held, book_.at(each)}).text.empty();
        };
        if (all_or_none_ && std::ranges::any_of(all, is_missing))
            return 0;
        std::int64_t gone = 0;
        for (const std::string& each : all)
            gone += ask({"ZREM", set_of_held, book_.at(each)});
        ask({"INCRBY", key_of_seats, std::to_string(gone)});
        tell(std::to_string(gone));
        return gone;
    }
    std::int64_t set_lease(const command& made) {
        const std::string id = book_.at(made.words.at(0));
        if (server_.command({"ZSCORE", set_of_held, id}).text.empty())
            return 0;
        server_.command({"ZADD", set_of_held, std::to_string(moment(made.words.at(1))), id});
        return 1;
    }
    std::int64_t lease_of(const std::string& id) {
        const std::string score = server_.command({"ZSCORE", set_of_held, id}).text;
        if (score.empty())
            return 0;
        return std::stoll(score) == permit_without_end ? -1 : std::stoll(score) - now();
    }

    const bool all_or_none_;
};

class ours_with_permits final : public permit_part {
public:
    ours_with_permits(support::redis_server& server, permit_book& book, std::string label)
        : permit_part{server, book}
        , label_{std::move(label)} {
        client_.client = {static_cast<std::uint8_t>(label_.back()), 1, 2, 3, 4, 5, 0x8f, 0xd5};
    }

    std::int64_t run(const command& made) override {
        const std::string& what = made.what;
        if (what == "permits.acquire")
            return acquire(made, std::stoll(made.words.at(0)));
        if (what == "permits.release" || what == "permits.release-many")
            return release(made);
        if (what == "permits.available" || what == "permits.permits" || what == "permits.acquired")
            return inspect(what);
        if (what == "permits.get-lease") // Redisson's alone
            return made.answer->is_int64() ? made.answer->as_int64() : 0;
        if (what == "permits.set-lease")
            return change("set_lease", moment(made.words.at(1)) - now(),
                          book_.at(made.words.at(0)));
        const std::int64_t permits = std::stoll(made.words.at(0));
        const bool is_first = what == "semaphore.set-permits-if-absent";
        return change(is_first                        ? "set_new"
                      : what == "permits.set-permits" ? "set"
                      : permits < 0                   ? "take_back"
                                                      : "add",
                      std::abs(permits), "");
    }

private:
    /// What has no end at a JVM is renewed here.
    static constexpr std::int64_t long_lease = 3'600'000;

    std::string prefix() const { return redis::permit_prefix(client_, book_.form); }

    std::int64_t acquire(const command& made, std::int64_t count) {
        const std::int64_t lease = std::min(long_lease, moment(made.words.at(1)) - now());
        const std::uint64_t first = last_number_ + 1;
        last_number_ += static_cast<std::uint64_t>(count);
        const std::int64_t said =
            answer(redis::scripts::take_permits, {key_of_seats, set_of_held},
                   {std::to_string(lease), std::to_string(first), std::to_string(count), prefix(),
                    "0", channel_of_seats, "PUBLISH"})
                .at(0);
        std::uint64_t number = first;
        if (said == 1)
            for (const std::string& word : permits_in(made))
                book_.stored[permit_book::label(word)] =
                    redis::stored_permit(permit_id({client_.client, number++}), book_.form);
        return said;
    }
    /// One by one, whoever holds it: what `leased_semaphore::release` sends. A list is all or none.
    std::int64_t release(const command& made) {
        const std::vector<std::string> all =
            made.what == "permits.release" ? std::vector{made.words.at(0)} : permits_in(made);
        const auto is_there = [&](const std::string& each) {
            return !server_.command({"ZSCORE", set_of_held, book_.at(each)}).text.empty();
        };
        if (all.size() > 1 && !std::ranges::all_of(all, is_there))
            return 0;
        std::int64_t gone = 0;
        for (const std::string& each : all)
            gone += change("give_back", 0, book_.at(each));
        return gone;
    }
    std::int64_t inspect(const std::string& what) {
        const std::vector<std::int64_t> said = answer(
            redis::scripts::inspect_permits, {key_of_seats, set_of_held}, {channel_of_seats});
        return (what == "permits.acquired" ? 0 : said.at(1)) +
               (what == "permits.available" ? 0 : said.at(2));
    }
    std::int64_t change(const std::string& verb, std::int64_t amount, const std::string& permit) {
        return answer(redis::scripts::change_permits,
                      {key_of_seats, set_of_held, "holdfast_requests:{P}:" + label_},
                      {verb, std::to_string(amount), permit, "0", std::to_string(++last_change_),
                       "0", "60000", channel_of_seats, "PUBLISH"})
            .at(0);
    }
    std::vector<std::int64_t> answer(const redis::script& what,
                                     const std::vector<std::string>& keys,
                                     const std::vector<std::string>& words) {
        return support::integers_of(support::run_script(server_, what, keys, words));
    }

    const std::string label_;
    owner_id client_{};
    std::uint64_t last_number_ = 0;
    std::int64_t last_change_ = 0;
};

} // namespace

bool permit_book::is_permit(const std::string& word) {
    return word.starts_with("PERMIT") || word.starts_with('<');
}

std::string permit_book::label(const std::string& word) {
    const std::string name = word.starts_with('<') ? word.substr(1, word.size() - 2) : word;
    return name.substr(0, name.find('.'));
}

std::string permit_book::at(const std::string& word) const {
    const std::string name = label(word);
    const auto found = stored.find(name);
    if (found != stored.end())
        return found->second;
    const bool is_named_by_digits = name.size() == 32;
    return redis::stored_permit(is_named_by_digits ? name : std::string(32, 'e'), form);
}

std::int64_t permit_part::now() {
    const redis::reply time = server_.command({"TIME"});
    return std::stoll(time.items.at(0).text) * 1000 + std::stoll(time.items.at(1).text) / 1000;
}

std::int64_t permit_part::moment(const std::string& recorded) {
    return recorded.starts_with("NOW+") ? now() + std::stoll(recorded.substr(4))
                                        : std::stoll(recorded);
}

std::vector<std::string> permit_part::permits_in(const command& made) {
    std::vector<std::string> all;
    std::ranges::copy_if(made.words, std::back_inserter(all), permit_book::is_permit);
    return all;
}

std::unique_ptr<permit_part> a_jvm_with_permits(support::redis_server& server, permit_book& book,
                                                bool all_or_none) {
    return std::make_unique<jvm_with_permits>(server, book, all_or_none);
}

std::unique_ptr<permit_part> one_of_ours_with_permits(support::redis_server& server,
                                                      permit_book& book, const std::string& label) {
    return std::make_unique<ours_with_permits>(server, book, label);
}

} // namespace holdfast::trace
