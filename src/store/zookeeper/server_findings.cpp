// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/server_findings.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::zookeeper {
namespace {

class judgement {
public:
    explicit judgement(const survey& of)
        : of_{of} {}

    std::vector<finding> all() {
        for (const server_seen& each : of_.servers)
            judge(each);
        judge_silence();
        judge_leader();
        judge_way();
        return std::move(found_);
    }

private:
    void add(severity how_bad, const char* topic, std::string what, std::string remedy = {}) {
        found_.push_back({how_bad, topic, std::move(what), std::move(remedy)});
    }

    void judge(const server_seen& one) {
        if (!one.trouble.empty())
            return add(severity::warning, "servers", one.address + ": " + one.trouble,
                       "Bring it back, or take it out of the URL: a client that loses its server "
                       "goes on to the next one.");
        std::string what =
            one.address + ": answers within " + std::to_string(one.delay.count()) + " ms";
        if (!one.role.empty())
            what += ", " + one.role;
        if (!one.version.empty())
            what += ", version " + one.version;
        add(severity::fine, "servers", std::move(what));
    }

    std::size_t count(bool (*which)(const server_seen&)) const {
        return static_cast<std::size_t>(std::ranges::count_if(of_.servers, which));
    }
    static bool is_silent(const server_seen& one) {
        return one.trouble.empty() && one.role.empty();
    }
    static bool stands_alone(const server_seen& one) { return one.role == "standalone"; }
    static bool leads(const server_seen& one) { return one.role == "leader"; }
    static bool follows(const server_seen& one) { return !one.role.empty() && !leads(one); }

    void judge_silence() {
        const std::size_t silent = count(is_silent);
        if (silent > 0)
            add(severity::note, "servers",
                std::to_string(silent) + " of " + std::to_string(of_.servers.size()) +
                    " do not say what they are: version and leader were not looked at there",
                "Let the word srvr through: a proxy keeps it back, or the server is an old one. "
                "Locks do not need it.");
    }

    void judge_leader() {
        if (count(stands_alone) > 0 && of_.servers.size() > 1)
            return add(severity::danger, "leader",
                       "one of several servers is an ensemble of its own (standalone): locks there "
                       "exclude nobody at the others",
                       "Name only servers of one ensemble.");
        if (count(leads) > 1)
            return add(severity::danger, "leader",
                       "two servers lead: they are of different ensembles, or an election is under "
                       "way",
                       "Ask again. If it stays so, name only servers of one ensemble.");
        const auto leader = std::ranges::find_if(of_.servers, leads);
        if (leader != of_.servers.end())
            return add(severity::fine, "leader",
                       leader->address + " leads, in epoch " + std::to_string(leader->epoch));
        if (count(follows) == of_.servers.size() && count(stands_alone) == 0)
            add(severity::note, "leader", "none of the servers in the URL leads",
                "Name all servers of the ensemble, so that clients find those that are left.");
    }

    void judge_way() {
        if (of_.over_tls)
            return add(severity::fine, "tls", "the connections are encrypted");
        add(severity::note, "tls",
            "the connections are not encrypted: whoever is on the way reads and changes them",
            "Use ?tls=yes where the way leads over a network that others use.");
    }

    const survey& of_;
    std::vector<finding> found_;
};

} // namespace

std::vector<finding> judge_servers(const survey& seen) {
    return judgement{seen}.all();
}

} // namespace holdfast::zookeeper
