// SPDX-License-Identifier: Apache-2.0
#include "trace_parts.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace holdfast::trace {
namespace {

using support::integers_of;
using support::run_script;

class shared_jvm final : public part {
public:
    using part::part;

    bool read(const std::string& name, const std::string& owner, std::int64_t lease) override {
        const std::string mode = server_.command({"HGET", name, "mode"}).text;
        if (mode == "write" && ask({"HEXISTS", name, owner + ":write"}) == 0)
            return false;
        if (mode.empty())
            server_.command({"HSET", name, "mode", "read"});
        const std::int64_t k = ask({"HINCRBY", name, owner, "1"});
        server_.command({"SET", timer(name, owner, k), "1", "PX", std::to_string(lease)});
        const std::int64_t left = std::max(ask({"PTTL", name}), lease);
        server_.command({"PEXPIRE", name, std::to_string(left)});
        return true;
    }
    bool write(const std::string& name, const std::string& owner, std::int64_t lease) override {
        const std::string mode = server_.command({"HGET", name, "mode"}).text;
        const bool mine = ask({"HEXISTS", name, owner + ":write"}) == 1;
        if (!mode.empty() && !(mode == "write" && mine))
            return false;
        server_.command({"HSET", name, "mode", "write"});
        server_.command({"HINCRBY", name, owner + ":write", "1"});
        const std::int64_t left = mine ? ask({"PTTL", name}) + lease : lease;
        server_.command({"PEXPIRE", name, std::to_string(left)});
        return true;
    }
    bool end_read(const std::string& name, const std::string& owner) override {
        if (ask({"EXISTS", name}) == 0)
            server_.command({"PUBLISH", channel(name), "0"});
        if (ask({"HEXISTS", name, owner}) == 0)
            return false;
        const std::int64_t c = ask({"HINCRBY", name, owner, "-1"});
        if (c == 0)
            server_.command({"HDEL", name, owner});
        server_.command({"DEL", timer(name, owner, c + 1)});
        std::int64_t longest = -3;
        const auto fields = server_.command({"HGETALL", name}).items;
        for (std::size_t i = 0; i + 1 < fields.size(); i += 2)
            for (std::int64_t k = std::atoll(fields[i + 1].text.c_str()); k > 0; --k)
                longest = std::max(longest, ask({"PTTL", timer(name, fields[i].text, k)}));
        if (fields.size() > 2 && longest > 0)
            server_.command({"PEXPIRE", name, std::to_string(longest)});
        const bool stays = server_.command({"HGET", name, "mode"}).text == "write";
        if (fields.size() > 2 && (longest > 0 || stays))
            return true;
        server_.command({"DEL", name});
        server_.command({"PUBLISH", channel(name), "0"});
        return true;
    }
    bool renew_read(const std::string& name, const std::string& owner, std::int64_t lease,
                    bool and_all) override {
        if (ask({"HEXISTS", name, owner}) == 0)
            return false;
        server_.command({"PEXPIRE", name, std::to_string(lease)});
        const auto fields = server_.command({"HGETALL", name}).items;
        for (std::size_t i = 0; i + 1 < fields.size(); i += 2)
            for (int k = std::atoi(fields[i + 1].text.c_str()); k > 0; --k)
                if (and_all || fields[i].text == owner)
                    server_.command(
                        {"PEXPIRE", timer(name, fields[i].text, k), std::to_string(lease)});
        return true;
    }
    bool end_write(const std::string& name, const std::string& owner, std::int64_t lease) override {
        const std::string mode = server_.command({"HGET", name, "mode"}).text;
        if (mode.empty())
            server_.command({"PUBLISH", channel(name), "1"});
        if (mode != "write" || ask({"HEXISTS", name, owner + ":write"}) == 0)
            return false;
        if (ask({"HINCRBY", name, owner + ":write", "-1"}) > 0) {
            server_.command({"PEXPIRE", name, std::to_string(lease)});
            return true;
        }
        server_.command({"HDEL", name, owner + ":write"});
        if (ask({"HLEN", name}) > 1) {
            server_.command({"HSET", name, "mode", "read"});
            return true;
        }
        server_.command({"DEL", name});
        server_.command({"PUBLISH", channel(name), "1"});
        return true;
    }
};

class shared_ours final : public part {
public:
    using part::part;

    bool read(const std::string& name, const std::string& owner, std::int64_t lease) override {
        const bool writes = counts_[{name, owner + ":write"}] > 0;
        return enter({name, owner}, [&] {
            return run_script(server_, redis::scripts::lock_read,
                              {name, timer(name, owner, 1), marks(name)},
                              {std::to_string(lease), owner, "0", writes ? owner + ":write" : ""});
        });
    }
    bool write(const std::string& name, const std::string& owner, std::int64_t lease) override {
        return enter({name, owner + ":write"}, [&] {
            return run_script(server_, redis::scripts::lock_write, {name, marks(name)},
                              {std::to_string(lease), owner, "0", "",
                               redis::timer_prefix(lock_name{name}), "0", "100"});
        });
    }
    bool end_read(const std::string& name, const std::string& owner) override {
        return leave({name, owner}, [&] {
            return run_script(
                server_, redis::scripts::release_read, {name, timer(name, owner, 1), marks(name)},
                {owner, redis::timer_prefix(lock_name{name}), channel(name), "PUBLISH"});
        });
    }
    bool renew_read(const std::string& name, const std::string& owner, std::int64_t lease,
                    bool and_all) override {
        for (const auto& [which, count] : counts_)
            if (and_all && which.first == name && count > 0 && !which.second.ends_with(":write"))
                renew(name, which.second, lease);
        return renew(name, owner, lease);
    }
    bool end_write(const std::string& name, const std::string& owner, std::int64_t) override {
        return leave({name, owner + ":write"}, [&] {
            return run_script(
                server_, redis::scripts::release_write, {name, marks(name)},
                {owner, redis::timer_prefix(lock_name{name}), channel(name), "PUBLISH"});
        });
    }

private:
    using key = std::pair<std::string, std::string>;

    static std::string marks(const std::string& name) {
        return redis::writers_key(lock_name{name});
    }
    bool renew(const std::string& name, const std::string& owner, std::int64_t lease) {
        const std::size_t end = owner.find(':') + 1;
        const redis::reply said =
            run_script(server_, redis::scripts::renew_reads, {name, timer(name, owner, 1)},
                       {std::to_string(lease), owner.substr(0, end), owner.substr(end)});
        return integers_of(said).at(0) >= 3; // and so many ms
    }
    template <typename Ask>
    bool enter(const key& which, Ask take) {
        int& count = counts_[which];
        if (count == 0 && integers_of(take()).at(0) != 1)
            return false;
        ++count;
        return true;
    }
    template <typename Ask>
    bool leave(const key& which, Ask release) {
        int& count = counts_[which];
        if (count > 1) {
            --count;
            return true;
        }
        count = 0;
        return integers_of(release()).at(0) == 1;
    }

    std::map<key, int> counts_;
};

} // namespace

std::unique_ptr<part> a_jvm(support::redis_server& server) {
    return std::make_unique<shared_jvm>(server);
}

std::unique_ptr<part> one_of_ours(support::redis_server& server) {
    return std::make_unique<shared_ours>(server);
}

namespace {

bool is_of_a_latch(const command& made) {
    return made.what.starts_with("latch.");
}

class counting_jvm final : public counting_part {
public:
    using counting_part::counting_part;

    std::int64_t run(const command& made) override {
        const std::string &what = made.what, &name = made.keys.at(0);
        if (what == "semaphore.drain")
            return drain(name);
        const bool there = ask({"EXISTS", name}) == 1;
        if (what == "latch.count-down")
            return count_down(name, made.keys.at(1));
        if (what == "latch.delete")
            return ask({"DEL", name}) == 1 ? tell(made, "1") : 0;
        if (what == "latch.set-count-if-absent")
            return there ? 0 : set(made, made.words.at(1), "1");
        const std::string& permits = made.words.at(0);
        if (what == "semaphore.acquire")
            return acquire(name, std::stoll(permits));
        if (what == "semaphore.set-permits-if-absent")
            return there ? 0 : set(made, permits, permits);
        if (what == "semaphore.release-if-exists" && !there)
            return 0;
        if (what == "semaphore.add-permits")
            return add(made, std::stoll(permits));
        const std::int64_t now = ask({"INCRBY", name, permits});
        return tell(made, std::to_string(now));
    }

    std::vector<support::message> tells(const command&,
                                        std::vector<support::message> recorded) const override {
        return recorded;
    }

private:
    std::int64_t value(const std::string& name) {
        const std::string text = server_.command({"GET", name}).text;
        return text.empty() ? 0 : std::stoll(text);
    }
    std::int64_t tell(const command& made, const std::string& message) {
        server_.command({"PUBLISH", made.keys.at(1), message});
        return 1;
    }
    std::int64_t set(const command& made, const std::string& number, const std::string& message) {
        server_.command({"SET", made.keys.at(0), number});
        if (made.words.size() > 2 && !is_of_a_latch(made))
            server_.command({"PEXPIRE", made.keys.at(0), made.words.at(2)});
        return tell(made, message);
    }
    std::int64_t acquire(const std::string& name, std::int64_t permits) {
        if (value(name) < permits)
            return 0;
        ask({"DECRBY", name, std::to_string(permits)});
        return 1;
    }
    /// Before 3.16.2 nobody was told, which is not compared.
    std::int64_t add(const command& made, std::int64_t permits) {
        const std::string now = std::to_string(value(made.keys.at(0)) + permits);
        server_.command({"SET", made.keys.at(0), now});
        return tell(made, now);
    }
    std::int64_t drain(const std::string& name) {
        const std::int64_t all = value(name);
        if (ask({"EXISTS", name}) == 1)
            server_.command({"SET", name, "0"});
        return all;
    }
    std::int64_t count_down(const std::string& name, const std::string& channel) {
        const std::int64_t left = ask({"DECRBY", name, "1"});
        if (left <= 0)
            server_.command({"DEL", name});
        if (left == 0)
            server_.command({"PUBLISH", channel, "0"});
        return left == 0 ? 1 : 0;
    }
};

class counting_ours final : public counting_part {
public:
    counting_ours(support::redis_server& server, std::string label)
        : counting_part{server}
        , label_{std::move(label)} {}

    std::int64_t run(const command& made) override {
        const std::string &what = made.what, &name = made.keys.at(0);
        const std::string number = std::to_string(++last_number_);
        const std::vector<std::string> keys{name, "holdfast_requests:{" + name + "}:" + label_};
        if (what == "semaphore.acquire")
            return said(redis::scripts::take_semaphore, keys,
                        {made.words.at(0), "0", number, "0", "60000"}, 0);
        if (is_of_a_latch(made))
            return said(redis::scripts::change_latch, keys,
                        {verb_for(what), amount_in(made), "0", number, "0", "60000",
                         made.keys.at(1), "PUBLISH"},
                        0);
        const bool lasts = made.words.size() > 2;
        const std::string channel = "redisson_sc:{" + name + "}";
        std::string permits = amount_in(made), verb = verb_for(what);
        if (permits.starts_with('-')) {
            permits.erase(0, 1);
            verb = "take_back";
        }
        return said(redis::scripts::change_semaphore, keys,
                    {verb, permits, "0", lasts ? made.words.at(2) : "0", "0", number, "0", "60000",
                     channel, "PUBLISH"},
                    verb == "drain" ? 2 : 0);
    }

    /// A JVM cannot read less than none; nobody is woken by none; an addition is told, as by later
    /// versions; and an erased latch is an open one.
    std::vector<support::message> tells(const command& made,
                                        std::vector<support::message> recorded) const override {
        if (made.what == "latch.delete")
            for (support::message& each : recorded)
                each.payload = "0";
        if (!is_of_a_latch(made))
            std::erase_if(recorded, [](const support::message& each) {
                return std::stoll(each.payload) <= 0;
            });
        return recorded;
    }

private:
    static std::string verb_for(const std::string& what) {
        static const std::map<std::string, std::string> all{
            {"semaphore.set-permits-if-absent", "set_new"},
            {"semaphore.release", "add"},
            {"semaphore.release-if-exists", "add_if_there"},
            {"semaphore.add-permits", "add"},
            {"semaphore.drain", "drain"},
            {"latch.set-count-if-absent", "set_new"},
            {"latch.count-down", "count_down"},
            {"latch.delete", "erase"}};
        return all.at(what);
    }
    static std::string amount_in(const command& made) {
        if (made.what == "latch.set-count-if-absent")
            return made.words.at(1);
        if (is_of_a_latch(made))
            return "1";
        return made.words.empty() ? "0" : made.words.at(0);
    }
    std::int64_t said(const redis::script& what, const std::vector<std::string>& keys,
                      const std::vector<std::string>& words, std::size_t which) {
        return support::integers_of(support::run_script(server_, what, keys, words)).at(which);
    }

    const std::string label_;
    std::int64_t last_number_ = 0;
};

} // namespace

std::unique_ptr<counting_part> a_counting_jvm(support::redis_server& server) {
    return std::make_unique<counting_jvm>(server);
}

std::unique_ptr<counting_part> one_of_ours_that_counts(support::redis_server& server,
                                                       const std::string& label) {
    return std::make_unique<counting_ours>(server, label);
}

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
    /// A hold without an expiry in the JVM is a renewed hold here.
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
