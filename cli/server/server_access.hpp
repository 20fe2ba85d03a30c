// SPDX-License-Identifier: Apache-2.0
// Functions that find the server for a command and create the client's options. The file also has
// an observer that remembers why a wait failed.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/options.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Registers the URL schemes of all kinds of stores that this program was built with.
void add_schemes();

/// Returns the URL of the server for a command: --url (`option`), else HOLDFAST_URL, else the URL
/// of this machine's private server, which it starts if necessary. HOLDFAST_REQUIRE_SERVER=1
/// forbids the private server. Throws `usage_error` and `no_server`.
std::string server_url(const std::optional<std::string>& option);

/// Returns the servers for a verb that can use a quorum: one URL, or the URLs of all nodes,
/// separated by spaces. HOLDFAST_URL may have the same form. Throws the errors of `server_url`.
/// Also throws `usage_error` in three cases: a quorum cannot have this number of nodes, a node is
/// named twice, or the nodes have different leases or prefixes.
std::string server_urls(const std::vector<std::string>& options);

/// Splits the text of `server_urls` into its URLs.
std::vector<std::string> each_url(const std::string& urls);

/// Throws `usage_error` if the text has several URLs. Call it for verbs that work on one server
/// only.
void require_one_url(const std::string& urls);

/// Returns the decoded value of a parameter in the query of a URL. Returns an empty text if the URL
/// does not have that parameter.
std::string parameter_of(const std::string& url, std::string_view name);

/// Returns the time that a parameter of the URL sets. Returns nothing if the URL does not set it,
/// or if the library refuses its text.
std::optional<std::chrono::duration<double>> time_in(const std::string& url, std::string_view name);

/// Returns the prefix of the locks' names (`?prefix=`). The prefix is the same in all URLs of a
/// quorum.
std::string prefix_of(const std::string& urls);

/// Removes the prefix from a name that the store has returned. Users write and see names without
/// the prefix.
std::string without_prefix(std::string name, std::string_view prefix);

/// Returns whether a lock on that server ends with its client's session. This is true for
/// ZooKeeper, where the lease time is the session timeout.
bool keeps_sessions(const std::string& url);

/// Returns whether the URL has the scheme of a Redis Cluster, with TLS or without.
bool is_of_cluster(std::string_view url);

/// Returns whether the URL is for Sentinels or a Redis Cluster, where another server takes over
/// when a server dies.
bool has_failover(std::string_view url);

/// Returns whether the URL is for Redis or Valkey. The result is also true for the private server's
/// URL.
bool is_on_redis(const std::string& url);

/// Returns whether this is the URL of this machine's private server.
bool is_private_server(const std::string& url);

/// Returns the URL without its password, for messages. The URLs of a quorum are separated by
/// commas.
std::string without_password(std::string url);

/// Returns a text that describes the server in messages: `this machine's private server`, or the
/// URL without its password.
std::string server_in_words(const std::string& url);

/// Returns a client's options for that server. HOLDFAST_USERNAME and HOLDFAST_PASSWORD apply if the
/// URL has no user name or password: other users could see a password on the command line.
holdfast::options reaching(std::string url);

/// Returns the text of an error on one line that is safe to print, without the error code. If the
/// text has a precise reason, the general advice is left out, too.
std::string reason_in_words(const boost::system::system_error&);

/// Observer that remembers what the functions of a lock do not return: why the last wait failed, in
/// the words of the server or system, and whether renewal has ended because of `max_hold`.
class last_words : public holdfast::observer {
public:
    /// If `tells` is true, prints on stderr when locks have moved to another server, and when the
    /// server denies a feature.
    explicit last_words(bool tells = false)
        : tells_{tells} {}

    void notify(const holdfast::event&) noexcept override;

    /// Prints the error of the store at `url`, and returns the exit status.
    int report(const boost::system::system_error&, const std::string& url,
               std::string_view refusal = "did not give the lock") const;

    bool max_hold_reached() const noexcept { return max_hold_reached_; }

private:
    std::string text_;
    std::string quorums_; ///< why the quorum failed as a whole
    bool max_hold_reached_ = false;
    const bool tells_;
};

} // namespace cli
