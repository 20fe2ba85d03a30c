// SPDX-License-Identifier: Apache-2.0
#include "interop/peer.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

namespace holdfast::interop {
namespace {

std::filesystem::path here() {
    return std::filesystem::canonical("/proc/self/exe").parent_path();
}

/// "3.13.6=/where/it/was/built;4.7.0=…"
std::map<std::string, std::string> builds(const char* variable) {
    const char* listed = std::getenv(variable);
    std::map<std::string, std::string> all;
    std::istringstream entries{listed != nullptr ? listed : ""};
    for (std::string entry; std::getline(entries, entry, ';');)
        all[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
    return all;
}

/// By number and not by letter: 3.9 comes before 3.13.
bool is_older(const std::string& one, const std::string& other) {
    return ::strverscmp(one.c_str(), other.c_str()) < 0;
}

std::vector<std::string> versions_in(const char* variable) {
    std::vector<std::string> versions;
    for (const auto& [version, folder] : builds(variable))
        versions.push_back(version);
    std::ranges::sort(versions, is_older);
    return versions;
}

constexpr const char* met_always = "HOLDFAST_REDISSON";
constexpr const char* met_once = "HOLDFAST_REDISSON_ONCE";
constexpr const char* met_neighbours = "HOLDFAST_NEIGHBOURS";

} // namespace

peer::peer(const std::vector<std::string>& command, const std::string& label)
    : process_{command, here() / (label + ".log")} {}

peer::~peer() {
    kill();
}

ongoing peer::begin(json::object command) {
    const std::scoped_lock guard{mutex_};
    ongoing made{++last_id_, {}};
    std::promise<json::value>& promised = open_[made.id];
    made.answer = promised.get_future();
    if (gone_)
        promised.set_exception(std::make_exception_ptr(peer_failure{"the process has ended"}));
    command["id"] = made.id;
    process_.say(json::serialize(command));
    return made;
}

void peer::listen() {
    while (const std::optional<std::string> line = process_.next_line()) {
        const json::object said = json::parse(*line).as_object();
        const std::scoped_lock guard{mutex_};
        auto promised = open_.extract(said.at("id").as_int64());
        if (const json::value* failure = said.if_contains("error"))
            promised.mapped().set_exception(
                std::make_exception_ptr(peer_failure{json::value_to<std::string>(*failure)}));
        else
            promised.mapped().set_value(said.at("result"));
    }
    const std::scoped_lock guard{mutex_};
    gone_ = true;
    for (auto& [id, promised] : std::exchange(open_, {}))
        promised.set_exception(std::make_exception_ptr(peer_failure{"the process has ended"}));
}

void peer::kill() {
    process_.signal(SIGKILL);
    if (listener_.joinable())
        listener_.join();
}

std::vector<std::string> redisson_versions() {
    return versions_in(met_always);
}

std::vector<std::string> redisson_versions_met_once() {
    return versions_in(met_once);
}

std::unique_ptr<peer> start_jvm(const std::string& redisson) {
    std::map<std::string, std::string> all = builds(met_always);
    all.merge(builds(met_once));
    const std::string folder = all.at(redisson);
    const std::string jars = folder + "/classes:" + folder + "/lib/*";
    // Small and quick to start, since there are several of them on a machine that has other work.
    return std::make_unique<peer>(std::vector<std::string>{"java", "-XX:+UseSerialGC", "-Xmx256m",
                                                           "-XX:-UsePerfData", "-cp", jars,
                                                           "holdfast.interop.Peer"},
                                  "redisson-" + redisson);
}

bool has_neighbour(const std::string& name) {
    return builds(met_neighbours).contains(name);
}

std::unique_ptr<peer> start_neighbour(const std::string& name) {
    return std::make_unique<peer>(std::vector<std::string>{builds(met_neighbours).at(name)}, name);
}

std::unique_ptr<peer> start_ours() {
    return std::make_unique<peer>(std::vector<std::string>{(here() / "interop_peer").string()},
                                  "holdfast");
}

peer& shared_jvm(const std::string& redisson) {
    static std::map<std::string, std::unique_ptr<peer>> running;
    std::unique_ptr<peer>& one = running[redisson];
    if (!one)
        one = start_jvm(redisson);
    return *one;
}

peer& shared_neighbour(const std::string& name) {
    static std::map<std::string, std::unique_ptr<peer>> running;
    std::unique_ptr<peer>& one = running[name];
    if (!one)
        one = start_neighbour(name);
    return *one;
}

} // namespace holdfast::interop
