// SPDX-License-Identifier: Apache-2.0
#include "support/galera_nodes.hpp"

#include "support/eventually.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace holdfast::support {
namespace fs = std::filesystem;
namespace {

constexpr const char* provider = "/usr/lib/galera/libgalera_smm.so";

/// Script that a joining Galera node and its donor call to copy all data. This script copies
/// nothing. It only tells the joining node up to which position its data are complete, in a file,
/// because both nodes are on this machine. The donor's cache then sends the newer changes.
/// (MariaDB's own scripts are in a package that also installs a service.)
constexpr const char* hand_over = R"(#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
    --role) role=$2 ;;
    --address) address=$2 ;;
    --datadir) data=${2%/} ;;
    --gtid) position=$2 ;;
    --parent) parent=$2 ;;
    --bypass) bypass=1 ;;
  esac
  shift
done
if [ "$role" = joiner ]; then
  rm -f "$data/position"
  echo "ready 127.0.0.1:1$data"
  until [ -s "$data/position" ] || ! kill -0 "$parent"; do sleep 0.01; done
  cat "$data/position"
else
  [ -n "$bypass" ] || exit 1 # it would take a copy
  data=/${address#*/}
  echo "$position" > "$data/position.new"
  mv "$data/position.new" "$data/position"
  echo "done $position"
fi
)";

std::string local(const reserved_port& port) {
    return "127.0.0.1:" + std::to_string(port.number());
}

} // namespace

galera_nodes::galera_nodes(const server_binary& which, std::vector<std::string> arguments)
    : arguments_{std::move(arguments)} {
    if (!fs::exists(provider))
        throw server_unavailable{std::string{"there is no "} + provider};
    const std::string script = "wsrep_sst_local";
    scripts_.write(script, hand_over);
    fs::permissions(scripts_.folder() / script, fs::perms::owner_all);

    // The second node starts with a copy of the first node's data. Run the first node once before,
    // so that its data are those of a cluster node.
    nodes_[0] = std::make_unique<mariadb_server>(which, options_of(0, "--wsrep-new-cluster"));
    nodes_[0]->shut_down();
    mariadb_server::options second = options_of(1);
    second.data = scripts_.folder() / "data";
    fs::copy(nodes_[0]->data_folder(), second.data, fs::copy_options::recursive);
    nodes_[0]->start();
    nodes_[1] = std::make_unique<mariadb_server>(which, second);
    wait_until_together();
}

std::vector<std::string> galera_nodes::arguments_of(std::size_t which) const {
    const place& own = places_[which];
    std::vector<std::string> words{
        "--wsrep-on=ON",
        std::string{"--wsrep-provider="} + provider,
        "--wsrep-cluster-name=holdfast",
        "--wsrep-cluster-address=gcomm://" + local(places_[0].group) + "," +
            local(places_[1].group),
        "--wsrep-node-name=node" + std::to_string(which),
        "--wsrep-node-address=" + local(own.group),
        "--wsrep-sst-method=local",
        "--wsrep-provider-options=gmcast.listen_addr=tcp://" + local(own.group) +
            ";ist.recv_addr=" + local(own.transfer) +
            ";gcache.size=4M;gcache.page_size=4M;evs.keepalive_period=PT0.2S"
            ";evs.inactive_check_period=PT0.2S;evs.suspect_timeout=PT2S"
            ";evs.inactive_timeout=PT4S;evs.install_timeout=PT4S",
        "--binlog-format=ROW",
        "--innodb-autoinc-lock-mode=2"};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    return words;
}

mariadb_server::options galera_nodes::options_of(std::size_t which,
                                                 const std::string& first) const {
    mariadb_server::options how;
    how.port = places_[which].sql.number();
    how.arguments = arguments_of(which);
    if (!first.empty())
        how.arguments.push_back(first);
    const char* const path = std::getenv("PATH");
    how.environment = {"PATH=" + scripts_.folder().string() + ":" +
                       (path != nullptr ? path : "/usr/bin:/bin")};
    return how;
}

void galera_nodes::wait_until_together() {
    const auto is_ready = [](const std::unique_ptr<mariadb_server>& each) {
        return each->counted("wsrep_cluster_size") == size &&
               each->counted("wsrep_local_state") == 4;
    };
    until("both nodes take writes",
          [&] { return std::all_of(nodes_.begin(), nodes_.end(), is_ready); });
}

void galera_nodes::leave(std::size_t which) {
    nodes_.at(which)->shut_down();
}

void galera_nodes::join(std::size_t which) {
    nodes_.at(which)->restart(arguments_of(which));
    wait_until_together();
}

} // namespace holdfast::support
