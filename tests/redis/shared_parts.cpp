// SPDX-License-Identifier: Apache-2.0
#include "shared_parts.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
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

} // namespace holdfast::trace
