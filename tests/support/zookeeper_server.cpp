// SPDX-License-Identifier: Apache-2.0
#include "support/zookeeper_server.hpp"

#include "support/eventually.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace holdfast::support {
namespace fs = std::filesystem;
namespace {

/// Class path of Debian's ZooKeeper, with libraries that the manifest of its zookeeper.jar does not
/// name. TLS needs most of them; slf4j-simple writes the log.
constexpr const char* debians_classes =
    "/usr/share/java/zookeeper.jar:/usr/share/java/netty-codec.jar:"
    "/usr/share/java/netty-resolver.jar:/usr/share/java/netty-transport-native-unix-common.jar:"
    "/usr/share/java/slf4j-simple.jar";

std::string text_of(const std::string& file) {
    std::ostringstream all;
    all << std::ifstream{file}.rdbuf();
    return all.str();
}

/// Returns the mode of the server, for example "leader", from a reply to "srvr".
std::string mode_of(const std::string& answer) {
    constexpr std::string_view before = "Mode: ";
    const std::size_t at = answer.find(before);
    if (at == answer.npos)
        return {};
    const std::size_t from = at + before.size();
    return answer.substr(from, answer.find('\n', from) - from);
}

} // namespace

server_binary zookeeper() {
    const char* const set = std::getenv("HOLDFAST_ZOOKEEPER");
    return {"zookeeper", set != nullptr ? set : debians_classes};
}

std::vector<server_binary> newer_zookeepers() {
    return servers_in("HOLDFAST_NEWER_ZOOKEEPERS");
}

std::vector<server_binary> zookeepers() {
    std::vector<server_binary> all = newer_zookeepers();
    all.insert(all.begin(), zookeeper());
    return all;
}

zookeeper_server::zookeeper_server(server_binary which, options how)
    : which_{std::move(which)}
    , how_{std::move(how)} {
    const std::string first = which_.path.substr(0, which_.path.find(':'));
    if (!fs::exists(first))
        throw server_unavailable{"there is no " + first + ", of ZooKeeper"};
    port_ = how_.port != 0 ? how_.port : reserved_.emplace_back().number();
    if (how_.tls) {
        tls_port_ = reserved_.emplace_back().number();
        authority_.emplace();
        const identity own = authority_->issue("server");
        process_.write("server.pem", text_of(own.certificate_file) + text_of(own.key_file));
    }
    process_.write("zoo.cfg", configuration());
    restart_empty();
}

std::string zookeeper_server::configuration() const {
    std::ostringstream lines;
    lines << "tickTime=" << how_.tick.count() << "\n"
          << "dataDir=" << (process_.folder() / "data").string() << "\n"
          << "clientPort=" << port_ << "\n"
          << "clientPortAddress=127.0.0.1\n"
          << "maxClientCnxns=0\n"
          << "4lw.commands.whitelist=*\n"
          << "admin.enableServer=false\n";
    if (how_.tls)
        lines << tls_lines();
    for (const std::string& each : how_.lines)
        lines << each << "\n";
    return lines.str();
}

std::string zookeeper_server::tls_lines() const {
    return "secureClientPort=" + std::to_string(tls_port_) +
           "\nsecureClientPortAddress=127.0.0.1\n"
           "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n"
           "ssl.keyStore.type=PEM\nssl.keyStore.location=" +
           (process_.folder() / "server.pem").string() +
           "\nssl.trustStore.type=PEM\nssl.trustStore.location=" + authority_->file() +
           "\nssl.clientAuth=" + how_.client_certificates + "\n";
}

/// Returns a command line with which the server needs little memory and starts quickly: without the
/// optimising compiler, with a single-threaded garbage collector.
std::vector<std::string> zookeeper_server::command_line() const {
    const char* const java = std::getenv("HOLDFAST_JAVA");
    std::vector<std::string> words{java != nullptr ? java : "java",
                                   "-Xms32m",
                                   "-Xmx192m",
                                   "-XX:+UseSerialGC",
                                   "-XX:TieredStopAtLevel=1",
                                   "-XX:-UsePerfData",
                                   "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                                   "-Dzookeeper.extendedTypesEnabled=true",
                                   "-Dznode.container.checkIntervalMs=" +
                                       std::to_string(how_.container_check.count())};
    words.push_back(std::string{"-Dzookeeper.forceSync="} + (how_.forces_to_disk ? "yes" : "no"));
    words.insert(words.end(), how_.properties.begin(), how_.properties.end());
    for (const std::string& each :
         {std::string{"-cp"}, which_.path,
          std::string{"org.apache.zookeeper.server.quorum.QuorumPeerMain"},
          (process_.folder() / "zoo.cfg").string()})
        words.push_back(each);
    return words;
}

void zookeeper_server::start() {
    process_.start(command_line(), {}, [this] { return !mode_of(ask_soon("srvr")).empty(); });
}

void zookeeper_server::launch() {
    process_.start(command_line(), {}, [this] { return ask_soon("ruok") == "imok"; });
}

void zookeeper_server::restart() {
    stop();
    start();
}

void zookeeper_server::restart_empty() {
    stop();
    process_.remove("data");
    fs::create_directory(process_.folder() / "data");
    if (how_.number == 0)
        return start();
    process_.write("data/myid", std::to_string(how_.number) + "\n");
    launch(); // does not wait until it serves: the ensemble may have no majority
}

/// Sends a four-letter word (such as "mntr") with a short timeout: a starting server accepts some
/// connections that it never answers.
std::string zookeeper_server::ask_soon(const std::string& four_letters) const {
    constexpr std::chrono::milliseconds soon{50};
    return words_at(port_, four_letters, soon);
}

std::string zookeeper_server::say(const std::string& four_letters) const {
    return words_at(port_, four_letters);
}

std::map<std::string, std::string> zookeeper_server::figures() const {
    std::map<std::string, std::string> all;
    std::istringstream lines{say("mntr")};
    for (std::string line; std::getline(lines, line);)
        if (const std::size_t tab = line.find('\t'); line.starts_with("zk_") && tab != line.npos)
            all[line.substr(3, tab - 3)] = line.substr(tab + 1);
    return all;
}

bool zookeeper_server::serves() const {
    return !mode().empty();
}

std::string zookeeper_server::mode() const {
    return mode_of(say("srvr"));
}

std::string zookeeper_server::tls_url() const {
    return "zk://127.0.0.1:" + std::to_string(tls_port_) + "?tls=yes";
}

namespace {

// In each server's configuration, the other servers are at ports of the partition. But a server
// also tells others its own address, and they may connect to it there. So the partition replaces
// the address in the passing bytes.

std::string address_of(std::uint16_t port) {
    return "127.0.0.1:" + std::to_string(port);
}

} // namespace

zookeeper_ensemble::zookeeper_ensemble(const server_binary& which, const options& how)
    : places_(how.size) {
    std::vector<zookeeper_server::options> wanted;
    for (std::size_t i = 0; i < how.size; ++i) {
        zookeeper_server::options each;
        each.tick = how.tick;
        each.number = static_cast<std::uint16_t>(i + 1);
        each.port = places_[i].client.number();
        each.lines = lines_for(i, how);
        // Repeat elections and attempts to connect soon.
        each.properties = {"-Dzookeeper.fastleader.maxNotificationInterval=500",
                           "-Dzookeeper.cnxTimeout=500"};
        each.properties.insert(each.properties.end(), how.properties.begin(), how.properties.end());
        wanted.push_back(each);
    }
    translate();
    for (const zookeeper_server::options& each : wanted)
        servers_.push_back(std::make_unique<zookeeper_server>(which, each));
    wait_until_all_serve();
}

std::vector<std::string> zookeeper_ensemble::lines_for(std::size_t which, const options& how) {
    std::vector<std::string> lines{"initLimit=25", "syncLimit=" + std::to_string(how.sync_limit)};
    for (std::size_t i = 0; i < places_.size(); ++i)
        lines.push_back("server." + std::to_string(i + 1) + "=" + as_seen_by(which, i));
    lines.insert(lines.end(), how.lines.begin(), how.lines.end());
    return lines;
}

std::string zookeeper_ensemble::as_seen_by(std::size_t who, std::size_t whom) {
    const place& there = places_[whom];
    std::uint16_t quorum = there.quorum.number(), election = there.election.number();
    if (who != whom) {
        const std::uint16_t from = places_[who].client.number(), to = there.client.number();
        quorum = ways_.way(from, to, quorum);
        election = ways_.way(from, to, election);
        elections_.push_back({who, whom, election});
    }
    return address_of(quorum) + ":" + std::to_string(election);
}

/// Makes the partition replace addresses in the servers' messages: when A tells B its address, B
/// gets the port that leads from B to A.
void zookeeper_ensemble::translate() {
    for (const election_way& there : elections_)
        for (const election_way& back : elections_)
            if (there.who == back.whom && there.whom == back.who)
                ways_.translate(there.port, address_of(places_[there.who].election.number()),
                                address_of(back.port));
}

std::string zookeeper_ensemble::url() const {
    std::string all = "zk://";
    for (const auto& each : servers_)
        all += (each == servers_.front() ? "" : ",") + each->address();
    return all;
}

void zookeeper_ensemble::wait_until_all_serve() {
    until("all of ZooKeeper serve", [this] {
        return std::all_of(servers_.begin(), servers_.end(),
                           [](const auto& each) { return each->serves(); });
    });
}

zookeeper_server& zookeeper_ensemble::one_that(const std::string& mode,
                                               const zookeeper_server* not_this) {
    zookeeper_server* found = nullptr;
    until("a server of ZooKeeper is " + mode, [&] {
        for (const auto& each : servers_)
            if (each.get() != not_this && each->is_up() && each->mode() == mode)
                found = each.get();
        return found != nullptr;
    });
    return *found;
}

std::vector<zookeeper_server*> zookeeper_ensemble::all_but(const zookeeper_server& one) {
    std::vector<zookeeper_server*> others;
    for (const auto& each : servers_)
        if (each.get() != &one)
            others.push_back(each.get());
    return others;
}

void zookeeper_ensemble::cut_off(const zookeeper_server& out) {
    ways_.cut({out.port()});
}

void zookeeper_ensemble::heal() {
    ways_.heal();
}

void zookeeper_ensemble::restore() {
    heal();
    for (const auto& each : servers_) {
        each->resume();
        each->launch();
    }
    wait_until_all_serve();
}

} // namespace holdfast::support
