// SPDX-License-Identifier: Apache-2.0
// What real Redisson clients sent for read-write locks, replayed command by command: with our
// scripts in the place of both JVMs, of one, and of none, which tests the replay itself. What was
// waited for is in the recordings, as the requests that were sent then.
#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"
#include "support/listener.hpp"
#include "support/on_each_server.hpp"
#include "support/run_script.hpp"
#include "support/source_tree.hpp"
#include "trace_casts.hpp"
#include "trace_redisson.hpp"
#include "wire_trace.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include <gmock/gmock.h>

namespace holdfast::trace {
namespace {

using support::integers_of;
using support::run_script;

/// One who reads and writes in a recording. Owners are spelled as there: `CLIENT1:T1`.
class part {
public:
    explicit part(support::redis_server& server)
        : server_{server} {}
    virtual ~part() = default;

    // Whether it was granted, or was the caller's.
    virtual bool read(const std::string& name, const std::string& owner, std::int64_t lease) = 0;
    virtual bool write(const std::string& name, const std::string& owner, std::int64_t lease) = 0;
    virtual bool end_read(const std::string& name, const std::string& owner) = 0;
    virtual bool end_write(const std::string& name, const std::string& owner,
                           std::int64_t lease) = 0;

protected:
    std::int64_t ask(const std::vector<std::string>& words) {
        return server_.command(words).integer;
    }
    static std::string timer(const std::string& name, const std::string& owner, std::int64_t k) {
        return redis::timer_prefix(lock_name{name}) + ":" + owner +
               ":rwlock_timeout:" + std::to_string(k);
    }
    static std::string channel(const std::string& name) {
        return redis::shared_channel(lock_name{name}).text;
    }

    support::redis_server& server_;
};

/// docs: redisson-protocol.md, §10.
class jvm final : public part {
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

/// Counts what its threads enter again, as the library does.
class ours final : public part {
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

struct replay {
    support::server_binary server;
    std::string version;
    cast who;
};

void PrintTo(const replay& what, std::ostream* out) {
    *out << what.version << " on " << what.server.label;
}

std::vector<replay> all_replays() {
    std::vector<replay> all;
    for (const support::server_binary& server : support::servers())
        for (const char* version : {"3.13.6", "3.17.7", "3.27.2", "3.52.0", "4.7.0"})
            for (const cast& who : all_casts())
                all.push_back({server, version, who});
    return all;
}

std::string name_of(const ::testing::TestParamInfo<replay>& info) {
    return as_test_name(info.param.server.label + "_" + info.param.version + "_" +
                        info.param.who.name);
}

/// The word of a command that names its owner; a writer's without its end.
std::string owner_in(const command& made) {
    for (std::string word : made.words)
        if (word.starts_with("CLIENT")) {
            if (word.ends_with(":write"))
                word.resize(word.size() - 6);
            return word;
        }
    return {};
}

class SharedTraces : public ::testing::TestWithParam<replay> {
protected:
    void play(support::redis_server& server, const scenario& what) {
        server.command({"FLUSHALL"});
        support::listener messages{server.socket_path()};
        messages.subscribe_to_all();
        std::map<std::string, std::unique_ptr<part>> parts;
        for (const char* label : {"CLIENT1", "CLIENT2"}) {
            if (GetParam().who.ours.contains(label))
                parts[label] = std::make_unique<ours>(server);
            else
                parts[label] = std::make_unique<jvm>(server);
        }
        for (const step& each : what.steps) {
            SCOPED_TRACE(what.name + ", step " + std::to_string(each.number));
            if (each.made.what == "wait" && !each.arguments.empty())
                server.step_clock(duration{each.arguments[0].as_int64()});
            bool ended_nothing = false;
            for (const command& made : each.commands)
                ended_nothing = !run(server, parts, made) || ended_nothing;
            // Ours tells of a downgrade, too, and nothing where nothing was held.
            const auto told = messages.take();
            auto next = told.begin();
            const auto expected = ended_nothing ? decltype(each.messages){} : each.messages;
            for (const support::message& one : expected) {
                next = std::find(next, told.end(), one);
                EXPECT_NE(next, told.end()) << "not told: " << one.payload;
                next += next == told.end() ? 0 : 1;
            }
            if (each.state)
                compare(server, *each.state);
        }
    }

    /// False: what was to be ended was not there.
    static bool run(support::redis_server& server,
                    std::map<std::string, std::unique_ptr<part>>& parts, const command& made) {
        if (!made.is_script) {
            (void)redisson{server}.run(made); // questions, and what a stranger does
            return true;
        }
        const std::string owner = owner_in(made), name = made.keys.at(0);
        const bool granted = made.answer && made.answer->is_null();
        part& by = *parts.at(made.by);
        if (made.what == "read.acquire" || made.what == "write.acquire") {
            const std::int64_t lease = std::stoll(made.words.at(0));
            const auto take = [&] {
                return made.what == "read.acquire" ? by.read(name, owner, lease)
                                                   : by.write(name, owner, lease);
            };
            bool got = take();
            if (!got && granted) { // it waited until a lease was over
                server.step_clock(duration{server.command({"PTTL", name}).integer + 5});
                got = take();
            }
            EXPECT_EQ(got, granted) << made.by << ' ' << made.what;
        } else if (made.what == "read.unlock") {
            return by.end_read(name, owner);
        } else if (made.what == "write.unlock") {
            return by.end_write(name, owner, std::stoll(made.words.at(1)));
        }
        return true;
    }

    /// Whose fields and timers there are; how long they last differs on purpose (README.md).
    void compare(support::redis_server& server, const json::object& recorded) const {
        std::set<std::string> expected, found;
        for (const auto& [name, key] : recorded)
            if (is_kept(name))
                expected.insert(name);
        for (const redis::reply& each : server.command({"KEYS", "*"}).items)
            found.insert(each.text);
        EXPECT_EQ(found, expected);
        for (const auto& [name, key] : recorded) {
            if (key.at("type").as_string() != "hash" || !is_kept(name))
                continue;
            std::set<std::string> fields, there;
            for (const auto& [field, count] : key.at("value").as_object())
                fields.insert(field);
            for (const redis::reply& each : server.command({"HKEYS", std::string{name}}).items)
                there.insert(each.text);
            EXPECT_EQ(there, fields);
        }
    }

    /// Ours need no latch, and have one timer for a thread that has entered twice.
    bool is_kept(std::string_view name) const {
        if (name.starts_with("redisson_unlock_latch"))
            return false;
        const bool is_second =
            name.find(":rwlock_timeout:") != name.npos && !name.ends_with(":rwlock_timeout:1");
        return !is_second || !std::ranges::any_of(GetParam().who.ours, [&](const auto& label) {
            return name.find(label) != name.npos;
        });
    }
};

INSTANTIATE_TEST_SUITE_P(Redisson, SharedTraces, ::testing::ValuesIn(all_replays()), name_of);

TEST_P(SharedTraces, EndAsTheyWereRecorded) {
    // Forcing knows owners by their form, which labels have not (scripts_shared_test.cpp); and a
    // name that an RLock keeps is refused by ours.
    const std::set<std::string> other_matters{"force-unlock", "plain-lock-on-the-same-name"};
    const replay& what = GetParam();
    std::optional<support::redis_server> server;
    try {
        server.emplace(what.server, support::redis_server::options{.own_clock = true});
    } catch (const support::server_unavailable& why) {
        ASSERT_FALSE(support::servers_are_required()) << why.what();
        GTEST_SKIP() << why.what();
    }
    const recording recorded =
        read(support::source_file("tests/redis/traces/" + what.version + "/rw.jsonl"));
    std::size_t played = 0;
    for (const scenario& each : recorded.scenarios) {
        if (other_matters.contains(each.name))
            continue;
        play(*server, each);
        ++played;
    }
    EXPECT_GE(played, 4u);
}

} // namespace
} // namespace holdfast::trace
