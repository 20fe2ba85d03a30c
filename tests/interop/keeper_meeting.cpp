// SPDX-License-Identifier: Apache-2.0
#include "interop/keeper_meeting.hpp"

#include "support/on_each_server.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <sstream>

namespace holdfast::interop {
namespace {

const char* words_of(naming how) {
    switch (how) {
    case naming::kazoos:
        return "named as kazoo does";
    case naming::counted:
        return "which counts Curator's names too";
    case naming::curators:
        return "named as Curator does";
    case naming::own:
        return "";
    }
    return "";
}

std::string column_of(const keeper_setting& what) {
    return what.neighbour + (what.names == naming::own ? "" : ", ") + words_of(what.names);
}

std::vector<keeper_setting> at_each(const std::vector<keeper_setting>& of,
                                    const std::vector<std::string>& getters) {
    std::vector<keeper_setting> all;
    for (keeper_setting each : of)
        for (const std::string& getter : getters)
            for (const bool ours_first : {false, true}) {
                each.getter = getter;
                each.ours_first = ours_first;
                all.push_back(each);
            }
    return all;
}

/// As they are called where they come from.
std::string primitive_of(const keeper_setting& what) {
    if (what.getter == permit_maker)
        return "semaphore";
    return what.getter == "getLock" ? "mutex" : "read-write lock";
}

} // namespace

void PrintTo(const keeper_setting& what, std::ostream* out) {
    *out << column_of(what) << ", " << what.getter << ", "
         << (what.ours_first ? "ours first" : "others first");
}

std::vector<keeper_setting> with_curator(const std::vector<std::string>& getters) {
    return at_each({{"curator"}}, getters);
}

std::vector<keeper_setting> with_kazoo(const std::vector<std::string>& getters) {
    return at_each(
        {{"kazoo", naming::kazoos}, {"kazoo", naming::counted}, {"kazoo", naming::curators}},
        getters);
}

std::vector<keeper_setting> only_others_first(std::vector<keeper_setting> of) {
    std::erase_if(of, [](const keeper_setting& each) { return each.ours_first; });
    return of;
}

std::string name_of_keeper_setting(const ::testing::TestParamInfo<keeper_setting>& info) {
    std::ostringstream words;
    PrintTo(info.param, &words);
    std::string name;
    for (const char letter : words.str())
        if (std::isalnum(static_cast<unsigned char>(letter)) != 0)
            name += letter;
        else if (!name.ends_with('_'))
            name += '_';
    return name;
}

support::zookeeper_server& shared_keeper() {
    // Sessions of 1 to 20 s.
    static support::zookeeper_server server{support::zookeepers().front(),
                                            {.tick = 500ms, .lines = {"maxSessionTimeout=20000"}}};
    return server;
}

std::string new_root() {
    static std::atomic<int> last = 0;
    return "/meeting" + std::to_string(++last);
}

json::object told_to(const std::string& neighbour, naming how) {
    json::object all;
    if (neighbour == "kazoo" && how == naming::counted)
        all["counts"] = "both";
    if (neighbour == "kazoo" && how == naming::curators)
        all["names"] = "curator";
    return all;
}

json::object told_to_ours(naming how) {
    return {{"form", how == naming::kazoos ? "kazoo" : "curator"}};
}

std::vector<std::string> nodes_below(const support::zookeeper_server& server,
                                     const std::string& path) {
    std::vector<std::string> names;
    std::istringstream lines{server.say("dump")};
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("\t" + path + "/"))
            names.push_back(line.substr(path.size() + 2));
    return names;
}

void keeper_meeting::SetUp() {
    support::make_or_skip([this] {
        const std::string& whom = GetParam().neighbour;
        if (!has_neighbour(whom))
            throw support::server_unavailable{"these tests need " + whom + ": ./dev interop"};
        shared_keeper();
    });
    if (IsSkipped() || HasFatalFailure())
        return;
    how_.root = new_root();
    RecordProperty("primitive", primitive_of(GetParam()));
    RecordProperty("keeper", shared_keeper().label());
    RecordProperty("neighbour", column_of(GetParam()));
}

remote_client& keeper_meeting::others() {
    if (!others_) {
        others_ = another(true);
        RecordProperty("version", others_->id());
    }
    return *others_;
}

remote_client& keeper_meeting::ours() {
    if (!ours_)
        ours_ = another(false);
    return *ours_;
}

std::unique_ptr<remote_client> keeper_meeting::another(bool of_others) {
    if (of_others)
        return client_of(shared_neighbour(GetParam().neighbour), true);
    if (!our_process_)
        our_process_ = start_ours();
    return client_of(*our_process_, false);
}

std::unique_ptr<peer> keeper_meeting::new_process(bool of_others) {
    return of_others ? start_neighbour(GetParam().neighbour) : start_ours();
}

std::unique_ptr<remote_client> keeper_meeting::client_of(peer& process, bool of_others,
                                                         duration session) {
    client_settings how = how_;
    how.lease_time = session;
    how.keeper = of_others ? told_to(GetParam().neighbour, GetParam().names)
                           : told_to_ours(GetParam().names);
    for (const auto& each : more_)
        how.keeper.insert(each);
    return std::make_unique<remote_client>(process, false, shared_keeper().url(), how);
}

bool keeper_meeting::come_to(std::size_t count, const std::string& below) const {
    return eventually([&] { return nodes_below(shared_keeper(), path() + below).size() == count; });
}

ongoing keeper_meeting::in_line(const std::function<ongoing()>& begin) {
    const std::vector<std::string> before = nodes();
    const auto is_new = [&](const std::string& each) {
        return std::ranges::find(before, each) == before.end();
    };
    ongoing call = begin();
    EXPECT_TRUE(eventually(
        [&] { return support::is_ready(call.answer) || std::ranges::any_of(nodes(), is_new); }));
    return call;
}

void keeper_meeting::die_holding(bool of_others) {
    const std::unique_ptr<peer> doomed = new_process(of_others);
    const std::unique_ptr<remote_client> its = doomed_client_of(*doomed, of_others);
    lock_of(*its, "doomed").lock();
    doomed->kill();
}

} // namespace holdfast::interop
