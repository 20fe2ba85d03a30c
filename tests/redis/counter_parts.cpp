// SPDX-License-Identifier: Apache-2.0
#include "counter_parts.hpp"

#include "store/redis/scripts.hpp"
#include "support/run_script.hpp"

#include <map>
#include <utility>

namespace holdfast::trace {
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

} // namespace holdfast::trace
