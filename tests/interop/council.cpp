// SPDX-License-Identifier: Apache-2.0
#include "interop/council.hpp"

#include "interop/peer.hpp"
#include "interop/server_state.hpp"

#include <algorithm>
#include <cctype>

namespace holdfast::interop {
namespace {

constexpr std::chrono::seconds timeout{90};

} // namespace

delegation::delegation(peer& where, bool is_jvm, const std::vector<std::string>& urls,
                       const client_settings& how) {
    for (const std::string& url : urls)
        clients_.push_back(std::make_unique<remote_client>(where, is_jvm, url, how));
}

// The first one's last lock may be made of all others.
delegation::~delegation() {
    for (auto& each : clients_)
        each.reset();
}

remote_lock delegation::one(const std::string& actor, const member& which,
                            const std::string& getter) {
    return client(which.server).thread(actor).lock(which.name, getter).patient(timeout);
}

remote_lock delegation::all(const std::string& actor, const std::vector<member>& members) {
    return combined(actor, "getMultiLock", members, "getLock");
}

remote_lock delegation::majority(const std::string& actor, const std::string& name,
                                 const std::string& getter) {
    std::vector<member> everywhere;
    for (std::size_t server = 0; server < clients_.size(); ++server)
        everywhere.push_back({server, name});
    return combined(actor, "getRedLock", everywhere, getter);
}

remote_lock delegation::combined(const std::string& actor, const std::string& object,
                                 const std::vector<member>& members, const std::string& getter) {
    std::string name = object;
    json::array over;
    for (const member& each : members) {
        name += " " + each.name;
        over.push_back(json::object{
            {"client", client(each.server).label()}, {"object", getter}, {"name", each.name}});
    }
    if (known_.emplace(object, name).second)
        process().ask({{"do", "combine"},
                       {"client", clients_.front()->label()},
                       {"object", object},
                       {"name", name},
                       {"over", std::move(over)}});
    return clients_.front()->thread(actor).lock(name, object).patient(timeout);
}

json::value patiently(ongoing call) {
    return support::soon(std::move(call.answer), timeout);
}

namespace {

std::string words_of(const encounter& what) {
    const std::string name = what.redisson.empty() ? what.neighbour : "redisson " + what.redisson;
    return name + (what.server.label.empty() ? "" : " on " + what.server.label) +
           (what.ours_first ? " ours first" : " others first");
}

std::vector<encounter> in_either_role(const std::vector<encounter>& of) {
    std::vector<encounter> all;
    for (encounter each : of)
        for (const bool ours_first : {false, true}) {
            each.ours_first = ours_first;
            all.push_back(each);
        }
    return all;
}

/// Those that are there; a missing one says so itself.
std::string labels_of_all_servers() {
    std::string all;
    for (const support::server_binary& each : support::servers())
        all += (all.empty() ? "" : ", ") + each.label;
    return all;
}

} // namespace

void PrintTo(const encounter& what, std::ostream* out) {
    *out << words_of(what);
}

std::vector<encounter> redissons() {
    std::vector<encounter> all;
    for (const std::string& version : redisson_versions())
        all.push_back({.redisson = version});
    if (all.empty())
        return {{}}; // which skips its tests with the reason
    return in_either_role(all);
}

std::vector<encounter> neighbours(const std::vector<std::string>& names) {
    std::vector<encounter> all;
    for (const std::string& name : names)
        all.push_back({.neighbour = name});
    return in_either_role(all);
}

std::vector<encounter> neighbours_on_each_server(const std::vector<std::string>& names) {
    std::vector<encounter> all;
    for (const encounter& each : neighbours(names))
        for (const support::server_binary& server : support::servers()) {
            all.push_back(each);
            all.back().server = server;
        }
    return all;
}

std::vector<encounter> in_one_role(std::vector<encounter> of) {
    std::erase_if(of, [](const encounter& each) { return each.ours_first; });
    return of;
}

std::string name_of_encounter(const ::testing::TestParamInfo<encounter>& info) {
    std::string name = words_of(info.param);
    for (char& letter : name)
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0)
            letter = '_';
    return name;
}

void council::SetUp() {
    if (misses_somebody())
        return;
    try {
        start_servers();
    } catch (const support::server_unavailable& why) {
        if (support::servers_are_required())
            FAIL() << why.what();
        GTEST_SKIP() << why.what();
    }
    describe();
}

bool council::misses_somebody() {
    const encounter& whom = GetParam();
    if (!whom.redisson.empty() || has_neighbour(whom.neighbour))
        return false;
    const auto miss = [&] {
        if (whom.neighbour.empty())
            return miss_redisson();
        const std::string why = "these tests need " + whom.neighbour + ": ./dev interop";
        if (support::servers_are_required())
            FAIL() << why;
        GTEST_SKIP() << why;
    };
    miss();
    return true;
}

void council::start_servers() {
    const std::vector<support::server_binary> kinds =
        GetParam().server.label.empty() ? support::servers() : std::vector{GetParam().server};
    for (std::size_t i = 0; i < size_; ++i) {
        servers_.push_back(std::make_unique<support::redis_server>(
            kinds[i % kinds.size()], support::redis_server::options{.tcp = true}));
        living_.push_back(i);
    }
}

void council::describe() {
    const encounter& whom = GetParam();
    RecordProperty("primitive", primitive_);
    RecordProperty("server",
                   whom.server.label.empty() ? labels_of_all_servers() : whom.server.label);
    if (!whom.redisson.empty())
        return RecordProperty("redisson", whom.redisson);
    RecordProperty("neighbour", whom.neighbour);
    RecordProperty("version", others().client(0).id());
}

std::unique_ptr<peer> council::new_process(bool of_others) {
    if (!of_others)
        return start_ours();
    const encounter& whom = GetParam();
    return whom.redisson.empty() ? start_neighbour(whom.neighbour) : start_jvm(whom.redisson);
}

std::unique_ptr<delegation> council::delegation_of(peer& process, bool of_others) {
    std::vector<std::string> urls;
    for (const auto& each : servers_)
        urls.push_back(each->url());
    return std::make_unique<delegation>(process, of_others && !GetParam().redisson.empty(), urls,
                                        how_);
}

delegation& council::others() {
    if (!others_ && GetParam().redisson.empty())
        neighbour_ = new_process(true);
    if (!others_)
        others_ = delegation_of(neighbour_ ? *neighbour_ : shared_jvm(GetParam().redisson), true);
    return *others_;
}

delegation& council::ours() {
    if (!ours_) {
        our_process_ = new_process(false);
        ours_ = delegation_of(*our_process_, false);
    }
    return *ours_;
}

void council::kill_server(std::size_t which) {
    server(which).stop();
    std::erase(living_, which);
}

std::size_t council::count_of(const std::string& key) {
    return static_cast<std::size_t>(std::ranges::count_if(living_, [&](std::size_t each) {
        return server(each).command({"EXISTS", key}).integer == 1;
    }));
}

std::int64_t council::keys() {
    std::int64_t all = 0;
    for (const std::size_t each : living_)
        all += static_cast<std::int64_t>(state_of(server(each)).size());
    return all;
}

std::vector<std::chrono::microseconds> council::ends_of(const std::string& key) {
    std::vector<std::chrono::microseconds> ends;
    for (const std::size_t each : living_)
        ends.emplace_back(duration{server(each).command({"PEXPIRETIME", key}).integer});
    return ends;
}

std::size_t council::ended(const std::vector<std::chrono::microseconds>& ends) {
    std::size_t over = 0;
    for (std::size_t i = 0; i < ends.size(); ++i)
        over += time_of(server(living_[i])) >= ends[i] ? 1 : 0;
    return over;
}

} // namespace holdfast::interop
