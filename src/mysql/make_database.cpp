// SPDX-License-Identifier: Apache-2.0
#include "mysql/connecting.hpp"
#include "mysql/connection_pool.hpp"
#include "mysql/database.hpp"
#include "mysql/libmariadb.hpp"
#include "net/endpoint.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::mysql {
namespace {

constexpr net::option_checks check{"mysql::options"};

constexpr duration keep_alive_least = std::chrono::seconds{1};

/// Greatest allowed value of each option that sets a number of connections. A server allows only a
/// few hundred connections for all its clients, so a greater value is probably a mistake.
constexpr std::size_t connections_most = 1000;
/// Maximum length of an identifier in MySQL and MariaDB, in bytes.
constexpr std::size_t identifier_bytes_max = 64;
/// Maximum length of the first table's name, in bytes. The name of each other table is the first
/// name with a suffix. No name may be longer than 64 bytes.
constexpr std::size_t table_bytes_max = 48;

void check_servers(const std::vector<server_address>& all) {
    if (const auto twice = check.servers(all, usual_port, "servers"))
        check.require(false, "servers contains the same server twice: " + twice->numbers());
}

void check_place(const options& how) {
    if (how.unix_socket.empty())
        return check_servers(how.servers);
    check.unix_socket(how.unix_socket);
    check.require(!how.tls, "tls cannot be used with unix_socket");
}

/// Checks a name that statements contain between backquotes. The check is needed because the
/// statements do not escape the name.
void check_identifier(const std::string& name, std::string_view field, std::size_t most) {
    const std::string subject{field};
    check.require(!name.empty(), subject + " is empty");
    check.require(name.size() <= most, subject + " has " + std::to_string(name.size()) +
                                           " bytes; allowed are 1 to " + std::to_string(most));
    check.require(name.find_first_of(std::string_view{"\0`/\\.", 5}) == name.npos,
                  subject + " contains a NUL byte, a backquote, a slash, a backslash or a dot");
    check.require(name.back() != ' ', subject + " ends with a blank");
}

/// Checks `tls.server_name`, which must be the same as the host. libmariadb can check a certificate
/// only for the host that it connects to.
void check_server_name(const tls_options& tls, const std::vector<server_address>& servers) {
    const bool same = std::ranges::all_of(servers, [&](const server_address& each) {
        return tls.server_name.empty() || each.host == tls.server_name;
    });
    check.require(same, "tls.server_name is \"" + tls.server_name +
                            "\", and libmariadb can check a certificate only for the host that it "
                            "connects to; leave it empty, and use a host name that is in the "
                            "certificate");
}

void check_tls(const options& how) {
    if (!how.tls)
        return;
    const tls_options& tls = *how.tls;
    check.certificate(tls, "tls");
    check_server_name(tls, how.servers);
    check.files(tls);
}

void check_login(const options& how) {
    check.no_nul(how.user, "user");
    check.no_nul(how.password.reveal(), "password");
    check.no_nul(how.server_key_file, "server_key_file");
    check.require(how.server_key_file.empty() || !how.tls,
                  "server_key_file cannot be used with tls");
}

void check_number(std::size_t value, std::string_view field, std::size_t least) {
    check.require(value >= least && value <= connections_most,
                  std::string{field} + " is " + std::to_string(value) + "; allowed are " +
                      std::to_string(least) + " to 1000");
}

} // namespace

options checked(options how) {
    check_place(how);
    check_identifier(how.schema, "schema", identifier_bytes_max);
    check_identifier(how.table, "table", table_bytes_max);
    check_login(how);
    check_tls(how);
    check_number(how.connections_max, "connections_max", 1);
    check_number(how.wait_connections_max, "wait_connections_max", 0);
    check.time(how.connect_timeout, "connect_timeout");
    check.time(how.command_timeout, "command_timeout");
    check.backoff(how.backoff_min, how.backoff_max);
    check.time(how.keep_alive, "keep_alive", keep_alive_least);
    check.require(how.requests_max > 0, "requests_max is 0");
    return how;
}

namespace {

class pooled_database final : public database {
public:
    pooled_database(options how, store_context home)
        : pool_{std::make_shared<pool>(std::move(how), std::move(home), make_factory)} {}
    ~pooled_database() override { pool_->close(); }
    pooled_database(const pooled_database&) = delete;

    asio::awaitable<answers> run(statements& what, call_options options) override {
        return pool_->run(what, std::move(options));
    }
    asio::awaitable<std::shared_ptr<pinned_connection>>
    connection_to_wait_on(time_point limit) override {
        return pool_->connection_to_wait_on(limit);
    }
    std::optional<server_facts> facts() const override { return pool_->facts(); }
    bool has_bells() const override { return pool_->has_bells(); }
    void no_bells_here() noexcept override { pool_->no_bells_here(); }
    duration command_timeout() const noexcept override { return pool_->how().command_timeout; }
    std::string address() const override { return pool_->address(); }
    void close() noexcept override { pool_->close(); }

private:
    static std::unique_ptr<connection_factory> make_factory(const store_context& home,
                                                            const options& how) {
        return std::make_unique<libmariadb_factory>(home, how);
    }

    const std::shared_ptr<pool> pool_;
};

} // namespace

std::unique_ptr<database> make_database(options how, store_context home) {
    prepare_library();
    return std::make_unique<pooled_database>(std::move(how), std::move(home));
}

} // namespace holdfast::mysql
