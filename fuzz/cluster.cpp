// SPDX-License-Identifier: Apache-2.0
// Whatever the nodes of a cluster tell of slots, and wherever they send us: it is refused in words
// or noted within the bounds, and what a map says of itself stays true.
#include "any_reply.hpp"
#include "redis/client/resp.hpp"
#include "redis/topology/slot_map.hpp"

#include <boost/system/system_error.hpp>

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::redis {
namespace {

constexpr std::array words{"a", "b", "10.0.0.1", "::1", "", "?", "ip", "hostname", "node id"};
const server_address asked{"asked", 6379};

void check_ranges(const slot_ranges& told) {
    std::array<bool, slot_count> seen{};
    for (const slot_range& range : told) {
        fuzz::require(range.first <= range.last && range.last < slot_count, "slots out of bounds");
        fuzz::require(range.primary.host.empty() == (range.primary.port == 0), "half a primary");
        for (const server_address& each : range.replicas)
            fuzz::require(is_host(each.host) && each.port != 0, "a replica that is none");
        for (std::size_t slot = range.first; slot <= range.last; ++slot)
            fuzz::require(!std::exchange(seen.at(slot), true), "a slot twice");
    }
}

class story {
public:
    explicit story(fuzz::input& script)
        : script_{script} {}

    void play() {
        while (!script_.empty())
            step();
        check_map();
    }

private:
    void step() {
        switch (script_.choice(6)) {
        case 0:
            return answer(fuzz::any_reply(script_, words));
        case 1:
            return answer_of_ranges();
        case 2:
            return answer_in_bytes(script_.piece(script_.choice(256) * 4));
        case 3:
            return renew();
        case 4:
            return redirect(script_.piece(script_.choice(64)));
        default:
            return moved(static_cast<std::uint16_t>(script_.choice(64) * 256 % slot_count));
        }
    }

    void answer(const reply& said) {
        constexpr std::size_t asked_at_once = 3;
        if (answers_.size() == asked_at_once)
            return;
        try {
            answers_.push_back(read_slots(said, asked));
            check_ranges(answers_.back());
        } catch (const boost::system::system_error&) {
            return; // refused
        }
    }

    /// Nearly as it should be.
    void answer_of_ranges() {
        reply all;
        all.type = reply::kind::array;
        for (std::size_t count = script_.choice(8); count > 0; --count) {
            reply& one = all.items.emplace_back();
            one.type = reply::kind::array;
            for (int i = 0; i < 2; ++i) {
                reply& bound = one.items.emplace_back();
                bound.type = reply::kind::integer;
                bound.integer = fuzz::any_number(script_);
            }
            for (std::size_t nodes = 1 + script_.choice(3); nodes > 0; --nodes)
                one.items.push_back(node());
        }
        answer(all);
    }

    reply node() {
        reply one, host, port;
        one.type = reply::kind::array;
        host.type = reply::kind::text;
        host.text = fuzz::any_text(script_, words);
        port.type = reply::kind::integer;
        port.integer = fuzz::any_number(script_);
        one.items = {host, port};
        for (std::size_t more = script_.choice(3); more > 0; --more)
            one.items.push_back(fuzz::any_reply(script_, words));
        return one;
    }

    void answer_in_bytes(std::string_view bytes) {
        answer_reader reader{64 * 1024};
        try {
            reader.feed(bytes);
            while (const reply* const one = reader.next())
                answer(*one);
        } catch (const boost::system::system_error&) {
            return; // no answer at all
        }
    }

    /// Who owned each slot before is who the changes say, and nothing else has changed.
    void renew() {
        constexpr int enough = 5; // a look at all slots takes long here
        if (++renewals_ > enough)
            return;
        std::array<slot_map::node_number, slot_count> owners{};
        for (std::uint16_t slot = 0; slot < slot_count; ++slot)
            owners[slot] = map_.owner(slot);
        std::vector<server_address> known;
        for (std::size_t node = 0; node < map_.size(); ++node)
            known.push_back(map_.address(static_cast<slot_map::node_number>(node)));
        for (const slot_map::change& one : map_.renew(answers_, asked_at_)) {
            fuzz::require(one.from != one.to, "a change that is none");
            fuzz::require(one.from == slot_map::nobody || known.at(one.from) == at(one.from),
                          "who had the slots is forgotten");
            for (std::size_t slot = one.first; slot <= one.last; ++slot) {
                fuzz::require(owners[slot] == one.from, "a change from another");
                owners[slot] = one.to;
            }
        }
        for (std::uint16_t slot = 0; slot < slot_count; ++slot)
            fuzz::require(owners[slot] == map_.owner(slot), "a change that was not told");
        if (last_move_ && moves_ > asked_at_)
            fuzz::require(owner(last_move_->first) == last_move_->second, "MOVED was undone");
        check_map();
        answers_.clear();
        asked_at_ = map_.now();
    }

    void moved(std::uint16_t slot) {
        const server_address to{fuzz::any_text(script_, words), 1};
        if (map_.moved(slot, to) == slot_map::nobody)
            return;
        last_move_ = {slot, to};
        moves_ = map_.now();
        fuzz::require(owner(slot) == to, "MOVED was not noted");
    }

    void redirect(std::string_view error) {
        const redirection told = read_redirection(error, asked.host);
        using kind = redirection::kind;
        const bool elsewhere = told.what == kind::moved || told.what == kind::ask;
        fuzz::require(told.slot < slot_count, "a slot that is none");
        fuzz::require(elsewhere == !told.to.host.empty(), "sent nowhere, or without a reason");
        fuzz::require(!elsewhere || (is_host(told.to.host) && told.to.port != 0), "no address");
        if (error.starts_with("MOVED ") || error.starts_with("ASK "))
            fuzz::require(told.what != kind::none &&
                              told.done == redirection::outcome::not_carried_out,
                          "a redirection that may have been carried out");
    }

    void check_map() const {
        std::size_t served = 0;
        fuzz::require(map_.size() <= slot_map::nodes_max, "too many nodes");
        fuzz::require(map_.address(0) == asked, "the seed is forgotten");
        for (std::size_t node = 0; node < map_.size(); ++node) {
            const auto number = static_cast<slot_map::node_number>(node);
            served += map_.slots_of(number);
            for (const auto replica : map_.replicas_of(number))
                fuzz::require(replica < map_.size(), "a replica that nobody knows");
        }
        fuzz::require(served + map_.unserved() == slot_count, "slots are lost");
    }

    server_address at(slot_map::node_number node) const {
        return node == slot_map::nobody ? server_address{} : map_.address(node);
    }
    server_address owner(std::uint16_t slot) const { return at(map_.owner(slot)); }

    fuzz::input& script_;
    slot_map map_{std::array{asked}};
    std::vector<slot_ranges> answers_;
    int renewals_ = 0;
    slot_map::stamp asked_at_ = 0;
    slot_map::stamp moves_ = 0; // when the last one was noted
    std::optional<std::pair<std::uint16_t, server_address>> last_move_;
};

} // namespace
} // namespace holdfast::redis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    holdfast::fuzz::input script{data, size};
    holdfast::redis::story{script}.play();
    return 0;
}
