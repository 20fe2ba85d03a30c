// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/redisson.hpp"
#include "bench/standstill/troubled.hpp"
#include "support/mariadb_server.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mysql/options.hpp>

namespace holdfast::bench {
namespace {

using support::mariadb_server;

class troubled_mariadb final : public troubled<mariadb_server> {
public:
    troubled_mariadb()
        : troubled{&mariadb_server::port, support::mariadb(),
                   mariadb_server::options{.tls = true}} {
        mysql::add_schemes();
        client{server().url()}.set_up();
    }

    std::string url() const override {
        return std::string{"mysql://"} + mariadb_server::user + ":" + mariadb_server::password +
               "@" + address() + "/" + mariadb_server::schema + settings_of_tls();
    }
};

} // namespace

std::unique_ptr<troubled_server> troubled_database() try {
    return std::make_unique<troubled_mariadb>();
} catch (const support::server_unavailable& missing) {
    throw not_here{missing.what()};
}

} // namespace holdfast::bench
