// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/redisson.hpp"
#include "bench/standstill/troubled.hpp"
#include "support/zookeeper_server.hpp"

namespace holdfast::bench {
namespace {

using support::zookeeper_server;

class keeper final : public troubled<zookeeper_server> {
public:
    keeper()
        : troubled{&zookeeper_server::tls_port, support::zookeeper(),
                   zookeeper_server::options{.tls = true}} {}

    std::string url() const override { return "zk://" + address() + settings_of_tls(); }
};

} // namespace

std::unique_ptr<troubled_server> troubled_keeper() try {
    return std::make_unique<keeper>();
} catch (const support::server_unavailable& missing) {
    throw not_here{missing.what()};
}

} // namespace holdfast::bench
