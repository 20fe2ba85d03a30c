// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include <lua.hpp>

namespace holdfast::handing {
namespace {

using redis::reply;

reply integer(std::int64_t value) {
    reply made;
    made.type = reply::kind::integer;
    made.integer = value;
    return made;
}

reply text(std::string value) {
    reply made;
    made.type = reply::kind::text;
    made.text = std::move(value);
    return made;
}

reply error(std::string value) {
    reply made = text(std::move(value));
    made.type = reply::kind::error;
    return made;
}

reply list(std::vector<reply> items) {
    reply made;
    made.type = reply::kind::array;
    made.items = std::move(items);
    return made;
}

/// Writes a score as Redis does.
std::string score_text(double score) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.17g", score);
    return digits;
}

void push(lua_State* lua, const reply& value) {
    switch (value.type) {
    case reply::kind::nil:
        lua_pushboolean(lua, 0);
        break;
    case reply::kind::integer:
        lua_pushnumber(lua, static_cast<lua_Number>(value.integer));
        break;
    case reply::kind::text:
        lua_pushlstring(lua, value.text.data(), value.text.size());
        break;
    case reply::kind::status:
    case reply::kind::error:
        lua_newtable(lua);
        lua_pushlstring(lua, value.text.data(), value.text.size());
        lua_setfield(lua, -2, value.type == reply::kind::error ? "err" : "ok");
        break;
    case reply::kind::array:
        lua_newtable(lua);
        for (std::size_t i = 0; i < value.items.size(); ++i) {
            push(lua, value.items[i]);
            lua_rawseti(lua, -2, static_cast<int>(i + 1));
        }
        break;
    }
}

/// Converts the value on the top of the stack, and removes it.
reply pop(lua_State* lua) {
    reply made;
    switch (lua_type(lua, -1)) {
    case LUA_TNUMBER:
        made = integer(static_cast<std::int64_t>(lua_tonumber(lua, -1)));
        break;
    case LUA_TSTRING:
        made = text(lua_tostring(lua, -1));
        break;
    case LUA_TBOOLEAN:
        if (lua_toboolean(lua, -1))
            made = integer(1);
        break;
    case LUA_TTABLE:
        lua_getfield(lua, -1, "err");
        if (lua_isstring(lua, -1)) {
            made = error(lua_tostring(lua, -1));
            lua_pop(lua, 1);
            break;
        }
        lua_pop(lua, 1);
        made.type = reply::kind::array;
        for (int i = 1;; ++i) {
            lua_rawgeti(lua, -1, i);
            if (lua_isnil(lua, -1)) {
                lua_pop(lua, 1);
                break;
            }
            made.items.push_back(pop(lua));
        }
        break;
    default:
        break;
    }
    lua_pop(lua, 1);
    return made;
}

void set_list(lua_State* lua, const char* name, const server::words& all) {
    lua_newtable(lua);
    for (std::size_t i = 0; i < all.size(); ++i) {
        lua_pushlstring(lua, all[i].data(), all[i].size());
        lua_rawseti(lua, -2, static_cast<int>(i + 1));
    }
    lua_setglobal(lua, name);
}

} // namespace

void server::closes::operator()(lua_State* lua) const noexcept {
    lua_close(lua);
}

server::server(const sim::sim_clock& clock, sim::dice dice, double rate, std::int64_t start)
    : clock_{clock}
    , dice_{dice}
    , rate_{rate}
    , base_{start}
    , since_{clock.now()}
    , lua_{luaL_newstate()} {
    lua_State* const lua = lua_.get();
    luaL_openlibs(lua);
    lua_newtable(lua);
    for (const auto& [name, function] : {std::pair{"call", &server::call},
                                         {"pcall", &server::pcall},
                                         {"error_reply", &server::error_reply}}) {
        lua_pushlightuserdata(lua, this);
        lua_pushcclosure(lua, function, 1);
        lua_setfield(lua, -2, name);
    }
    lua_setglobal(lua, "redis");
}

server::~server() = default;

void server::set_clock(std::int64_t micros) {
    base_ = micros;
    since_ = clock_.now();
    now_ = 0;
}

/// Moves the clock on. It shows another microsecond for each script, so that the choices that the
/// scripts make by the clock vary.
void server::advance() {
    const std::chrono::microseconds passed = clock_.now() - since_;
    const auto shown =
        base_ + static_cast<std::int64_t>(static_cast<double>(passed.count()) * rate_);
    now_ = std::max(shown, now_) + dice_.between(0, 3);
}

void server::expire() {
    advance();
    std::erase_if(data_, [this](const auto& each) {
        return each.second.expires && now_ / 1000 > *each.second.expires;
    });
}

server::content& server::data() {
    expire();
    return data_;
}

void server::replace(content fresh) {
    data_ = std::move(fresh);
    channels_.clear();
}

void server::unsubscribe_all(subscriber& who) {
    for (auto& [channel, all] : channels_)
        std::erase(all, &who);
}

std::string server::holder(const std::string& name) {
    const content& all = data();
    const auto found = all.find(name);
    return found == all.end() || found->second.hash.empty() ? ""
                                                            : found->second.hash.begin()->first;
}

std::size_t server::subscribers(const std::string& channel) const {
    const auto found = channels_.find(channel);
    return found == channels_.end() ? 0 : found->second.size();
}

std::int64_t server::left(const std::string& key) {
    const content& all = data();
    const auto found = all.find(key);
    const bool ends = found != all.end() && found->second.expires;
    return ends ? *found->second.expires - now_ / 1000 : 0;
}

reply server::run(const redis::script& what, const words& keys, const words& arguments) {
    ++scripts_run;
    expire();
    set_list(lua_.get(), "KEYS", keys);
    set_list(lua_.get(), "ARGV", arguments);
    reply said = evaluate(what);
    if (ran)
        ran(what.name);
    return said;
}

reply server::evaluate(const redis::script& what) {
    lua_State* const lua = lua_.get();
    const std::string name{what.name};
    auto known = loaded_.find(name);
    if (known == loaded_.end()) {
        std::string text{what.text};
        if (fault_ && fault_->script == name) {
            const std::size_t at = text.find(fault_->from);
            if (at == text.npos)
                throw std::logic_error{"the script " + name + " has no such text: " + fault_->from};
            text.replace(at, fault_->from.size(), fault_->to);
        }
        if (luaL_loadbuffer(lua, text.data(), text.size(), name.c_str()) != 0)
            throw std::logic_error{lua_tostring(lua, -1)};
        known = loaded_.emplace(name, luaL_ref(lua, LUA_REGISTRYINDEX)).first;
    }
    lua_rawgeti(lua, LUA_REGISTRYINDEX, known->second);
    if (lua_pcall(lua, 0, 1, 0) == 0 || lua_istable(lua, -1))
        return pop(lua);
    const reply failed = error("ERR " + std::string{lua_tostring(lua, -1)});
    lua_pop(lua, 1);
    return failed;
}

int server::call(lua_State* lua) {
    // The destructors in command() have run when Lua jumps out of this function.
    return command(lua, true) == 1 ? 1 : lua_error(lua);
}

int server::pcall(lua_State* lua) {
    command(lua, false);
    return 1;
}

int server::error_reply(lua_State* lua) {
    lua_newtable(lua);
    lua_pushvalue(lua, 1);
    lua_setfield(lua, -2, "err");
    return 1;
}

/// Runs one command, and leaves its result on the stack. Returns 0 if the caller must raise it.
int server::command(lua_State* lua, bool raises) {
    words all;
    for (int i = 1; i <= lua_gettop(lua); ++i) {
        // Redis writes a number of Lua like this.
        if (lua_type(lua, i) == LUA_TNUMBER) {
            char digits[40];
            std::snprintf(digits, sizeof digits, "%.17g", lua_tonumber(lua, i));
            all.emplace_back(digits);
        } else {
            std::size_t length = 0;
            const char* const bytes = lua_tolstring(lua, i, &length);
            all.emplace_back(bytes ? std::string{bytes, length} : "(no text)");
        }
    }
    auto* const self = static_cast<server*>(lua_touserdata(lua, lua_upvalueindex(1)));
    const reply said = self->execute(all);
    push(lua, said);
    return raises && said.type == reply::kind::error ? 0 : 1;
}

server::value* server::find(const std::string& key, value::type type, bool create, reply& refused) {
    const auto found = data_.find(key);
    if (found == data_.end()) {
        if (!create)
            return nullptr;
        value& made = data_[key];
        made.is = type;
        return &made;
    }
    if (found->second.is != type) {
        refused = error("WRONGTYPE Operation against a key holding the wrong kind of value");
        return nullptr;
    }
    return &found->second;
}

void server::remove_if_empty(const std::string& key) {
    const auto found = data_.find(key);
    if (found != data_.end() && found->second.hash.empty() && found->second.sorted_set.empty() &&
        found->second.is != value::type::text)
        data_.erase(found);
}

reply server::publish(const words& all) {
    const auto found = channels_.find(all.at(1));
    if (found == channels_.end())
        return integer(0);
    for (subscriber* const each : found->second)
        each->message(all.at(1), all.at(2));
    return integer(static_cast<std::int64_t>(found->second.size()));
}

reply server::execute(const words& all) {
    std::string name = all.at(0);
    std::ranges::transform(name, name.begin(),
                           [](char c) { return static_cast<char>(std::tolower(c)); });
    if (name == "time")
        return list(
            {text(std::to_string(now_ / 1'000'000)), text(std::to_string(now_ % 1'000'000))});
    if (name == "publish" || name == "spublish")
        return publish(all);
    if (name == "pubsub")
        return count_subscribers(all);
    if (std::optional<reply> said = execute_on_key(name, all))
        return *said;
    return name.front() == 'h' ? execute_on_hash(name, all) : execute_on_sorted_set(name, all);
}

reply server::count_subscribers(const words& all) {
    std::vector<reply> counts;
    for (std::size_t i = 2; i < all.size(); ++i) {
        counts.push_back(text(all[i]));
        counts.push_back(integer(static_cast<std::int64_t>(subscribers(all[i]))));
    }
    return list(std::move(counts));
}

/// Runs a command that is for keys of any type, or for texts. Returns nothing for other commands.
std::optional<reply> server::execute_on_key(const std::string& name, const words& all) {
    const auto found = data_.find(all.at(1));
    const bool exists = found != data_.end();
    if (name == "pttl") {
        const bool ends = exists && found->second.expires;
        return integer(ends ? *found->second.expires - now_ / 1000 : exists ? -1 : -2);
    }
    if (name == "exists")
        return integer(exists);
    if (name == "del")
        return integer(static_cast<std::int64_t>(data_.erase(all.at(1))));
    if (name == "get") {
        reply refused;
        const value* const held = find(all.at(1), value::type::text, false, refused);
        return held ? text(held->text) : refused;
    }
    if (name == "incrby") {
        reply refused;
        value* const held = find(all.at(1), value::type::text, true, refused);
        if (!held)
            return refused;
        const std::int64_t sum =
            (held->text.empty() ? 0 : std::stoll(held->text)) + std::stoll(all.at(2));
        held->text = std::to_string(sum);
        return integer(sum);
    }
    if (name != "pexpire")
        return std::nullopt;
    if (!exists)
        return integer(0);
    const std::int64_t length = std::stoll(all.at(2));
    if (length <= 0)
        data_.erase(found);
    else
        found->second.expires = now_ / 1000 + length;
    return integer(1);
}

reply server::execute_on_hash(const std::string& name, const words& all) {
    reply refused;
    value* const held = find(all.at(1), value::type::hash, name == "hset", refused);
    if (refused.type == reply::kind::error)
        return refused;
    const bool has = held && all.size() > 2 && held->hash.contains(all[2]);
    if (name == "hset")
        return integer(held->hash.insert_or_assign(all.at(2), all.at(3)).second);
    if (name == "hlen")
        return integer(held ? static_cast<std::int64_t>(held->hash.size()) : 0);
    if (name == "hexists")
        return integer(has);
    if (name == "hget")
        return has ? text(held->hash.at(all[2])) : reply{};
    if (name == "hkeys") {
        std::vector<reply> fields;
        if (held)
            for (const auto& each : held->hash)
                fields.push_back(text(each.first));
        return list(std::move(fields));
    }
    if (name == "hdel") {
        if (has)
            held->hash.erase(all[2]);
        remove_if_empty(all[1]);
        return integer(has);
    }
    return error("ERR the model does not know the command " + name);
}

reply server::execute_on_sorted_set(const std::string& name, const words& all) {
    reply refused;
    value* const held = find(all.at(1), value::type::sorted_set, name == "zadd", refused);
    if (refused.type == reply::kind::error)
        return refused;
    const bool has = held && all.size() > 2 && held->sorted_set.contains(all[2]);
    if (name == "zcard")
        return integer(held ? static_cast<std::int64_t>(held->sorted_set.size()) : 0);
    if (name == "zscore")
        return has ? text(score_text(held->sorted_set.at(all[2]))) : reply{};
    if (name == "zadd")
        return integer(held->sorted_set.insert_or_assign(all.at(3), std::stod(all.at(2))).second);
    if (name == "zrem") {
        std::size_t removed = 0;
        for (std::size_t i = 2; held && i < all.size(); ++i)
            removed += held->sorted_set.erase(all[i]);
        remove_if_empty(all[1]);
        return integer(static_cast<std::int64_t>(removed));
    }
    if (name == "zpopmin") {
        if (!held)
            return list({});
        const auto first = std::ranges::min_element(held->sorted_set, {}, [](const auto& each) {
            return std::pair{each.second, each.first};
        });
        reply popped = list({text(first->first), text(score_text(first->second))});
        held->sorted_set.erase(first);
        remove_if_empty(all[1]);
        return popped;
    }
    return error("ERR the model does not know the command " + name);
}

} // namespace holdfast::handing
