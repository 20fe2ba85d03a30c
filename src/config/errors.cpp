// SPDX-License-Identifier: Apache-2.0
#include "config/errors.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/diagnosis.hpp>
#include <holdfast/inspection.hpp>
#include <holdfast/store.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace holdfast {
namespace {

/// Table row: one kind of server error, and the `errc` value that the error is equal to.
struct server_says {
    store_errc code;
    errc equal_to;
    const char* name;
    const char* words;
    const char* meaning;
    const char* advice;
};

constexpr std::array refusals{
    server_says{store_errc::loading, errc::unreachable, "loading", "LOADING",
                "The server is still reading its data from disk.",
                "Wait until the server has read all data. A call waits for unavailable_timeout."},
    server_says{store_errc::busy_script, errc::unreachable, "busy_script", "BUSY",
                "A script that runs too long keeps the server busy.",
                "Find out which program runs the script. SCRIPT KILL ends a script that has "
                "written nothing."},
    server_says{store_errc::read_only, errc::unreachable, "read_only", "READONLY, (ROLE: slave)",
                "The server accepts no writes: it is a replica, or it was set to read-only.",
                "Use the address of the primary, or of all servers. After a failover, another "
                "server is the primary."},
    server_says{
        store_errc::master_down, errc::unreachable, "master_down", "MASTERDOWN",
        "The server is a replica that has lost its primary.",
        "Use the address of the primary. Find out why the replica cannot reach the primary."},
    server_says{store_errc::cluster_down, errc::unreachable, "cluster_down", "CLUSTERDOWN",
                "The cluster does not serve the slot of this lock.",
                "Look at CLUSTER INFO and CLUSTER NODES: either the slot has no node, or too many "
                "nodes are down."},
    server_says{
        store_errc::try_again, errc::unreachable, "try_again", "MOVED, ASK, TRYAGAIN",
        "The server cannot execute the request now: the data is busy, or is moving to another "
        "server.",
        "Wait. If the error stays, look for the reason: a Redis cluster is being resharded, a "
        "transaction in the database stays open, or the servers have too much to do."},
    server_says{store_errc::too_many_clients, errc::unreachable, "too_many_clients",
                "ERR max number of clients reached", "The server has reached its limit of clients.",
                "Raise this limit, or find out which programs open so many connections (Redis: "
                "maxclients, CLIENT LIST; MySQL: max_connections, SHOW PROCESSLIST)."},
    server_says{store_errc::no_replicas, errc::unreachable, "no_replicas", "NOREPLICAS",
                "The server has too few replicas and takes no writes.",
                "Bring its replicas back, or lower min-replicas-to-write."},
    server_says{store_errc::disk_trouble, errc::unreachable, "disk_trouble", "MISCONF",
                "The server cannot save its data, so it accepts no writes.",
                "Look for the reason in the server's log: a full disk, a folder without the right "
                "to write, or too little memory to fork."},
    server_says{
        store_errc::out_of_memory, errc::refused, "out_of_memory", "OOM",
        "The server has reached a limit: of its memory, of a quota, or of the queue of one lock.",
        "Raise this limit (Redis: maxmemory; ZooKeeper: the quota of the path), or delete data. "
        "Held locks can still be renewed and released."},
    server_says{
        store_errc::no_permission, errc::refused, "no_permission", "NOPERM, ACL failure in script",
        "This user does not have a right that the request needs.",
        "Grant the right. docs/security/ lists all rights that a user needs on each store."},
    server_says{
        store_errc::not_authenticated, errc::refused, "not_authenticated",
        "NOAUTH, WRONGPASS, (TLS alert)",
        "The server does not accept this user, this password or this certificate.",
        "Check the user, the password and the certificate. To see the user at the server, use ACL "
        "LIST (Redis), SHOW GRANTS (MySQL) or getAcl (ZooKeeper)."},
    server_says{
        store_errc::untrusted, errc::refused, "untrusted", "(TLS: its certificate)",
        "The client does not accept the server's certificate, so it sent no request.",
        "Name the authority that signed the certificate (tls_ca_file), or the host name in the "
        "certificate (tls_server_name). Or give the server a certificate that is valid today."},
    server_says{store_errc::wrong_type, errc::refused, "wrong_type", "WRONGTYPE",
                "Under the name of this lock, the server has something else.",
                "Choose another name or prefix."},
    server_says{store_errc::tls_failed, errc::unreachable, "tls_failed", "(TLS: the handshake)",
                "The client and the server could not agree on TLS.",
                "Check that the server uses TLS 1.2 or newer on this port, and that no device on "
                "the network cuts the connection."},
    server_says{store_errc::script_killed, errc::outcome_unknown, "script_killed",
                "ERR Script killed by user", "An operator ended the script.",
                "Find out who sends SCRIPT KILL. A script of holdfast takes only microseconds."},
    server_says{store_errc::protocol, errc::outcome_unknown, "protocol",
                "(a reply that is not in the protocol)", "The reply does not follow the protocol.",
                "Check which program replies at this address: a server of the kind that the URL "
                "names, or a proxy that changes the replies."},
    server_says{store_errc::other, errc::refused, "other", "(any other error)",
                "The server refused the request with another error.",
                "Look for the reason in the server's own error message, or in its log."},
    server_says{store_errc::not_replicated, errc::outcome_unknown, "not_replicated", "(WAIT)",
                "Fewer replicas than required have confirmed the request in time.",
                "Check that the replicas are connected and are not far behind (INFO replication). "
                "required_replicas must not be more than the number of replicas."},
    server_says{store_errc::wrong_address, errc::refused, "wrong_address",
                "(a cluster node at redis://), (ROLE: sentinel)",
                "At the address of a single server, the client found a cluster or a Sentinel.",
                "Use redis+cluster:// for a cluster, and redis+sentinel:// for a Sentinel."},
    server_says{
        store_errc::not_set_up, errc::refused, "not_set_up", "(a table or path is missing)",
        "The schema, the tables or the chroot for the locks are missing, or have another form.",
        "Create the tables with holdfast doctor --create-tables, or with the statements that "
        "holdfast doctor prints. Create a chroot of ZooKeeper by hand."},
    server_says{store_errc::unfit, errc::refused, "unfit", "(its settings)",
                "With its settings, this server could grant a lock twice.",
                "holdfast doctor names the wrong setting and the right value."},
    server_says{
        store_errc::worn_out, errc::refused, "worn_out", "(a sequence number near 2^31)",
        "The sequence numbers of the nodes below this path are almost used up. After that, locks "
        "could be granted twice.",
        "Wait until nobody uses this path, and delete it. Then the numbers begin at 0 again."},
};

constexpr bool each_has_its_place() {
    std::size_t place = 0;
    for (const server_says& one : refusals)
        if (one.code != static_cast<store_errc>(++place))
            return false;
    return refusals.back().code == store_errc::worn_out; // the last code of store_errc
}
static_assert(each_has_its_place(), "in the order of store_errc, and none is missing");

} // namespace

explanation explain(errc what) noexcept {
    switch (what) {
    case errc::unreachable:
        return {"unreachable", "The client could not reach the store.", "Nothing was changed.",
                "Check the address, and whether a server replies there. Then try again."};
    case errc::outcome_unknown:
        return {"outcome_unknown", "The client sent the request, but got no reply.",
                "The server may have executed the request. You hold nothing: if the server has "
                "granted a lock, the client releases it in the background. The lock ends with its "
                "lease at the latest.",
                "Try again. But if the call changes a counter, read the counter first, because a "
                "second call could change it twice."};
    case errc::refused:
        return {"refused", "The store refused the request.", "Nothing was changed.",
                "Another attempt does not help. Look for the reason in the server's own error "
                "message, or in its log."};
    case errc::lease_lost:
        return {"lease_lost", "The lease ended before the lock was released.",
                "Another client may have held the lock meanwhile.",
                "Treat the work as if it was done without a lock. Use lost() and in_danger() to "
                "stop the work earlier."};
    case errc::not_owner:
        return {"not_owner", "The caller does not hold this lock.", "Nothing was done.",
                "Call unlock() once, in the thread that took the lock."};
    case errc::already_held:
        return {"already_held",
                "This thread holds the lock already, and the lock is not recursive.",
                "Nothing was done.", "Use a recursive_mutex, or do not take the lock twice."};
    case errc::invalid_argument:
        return {"invalid_argument", "A name, a duration or an address is not allowed.",
                "Nothing was sent.",
                "Correct the value. The headers and docs/url.md state which values are allowed."};
    case errc::overloaded:
        return {"overloaded", "This client has reached one of its limits.", "Nothing was sent.",
                "Make fewer calls at the same time, or raise the limit: options::waiters_max for "
                "calls that wait, requests_max in the options of the store for requests."};
    case errc::would_deadlock:
        return {"would_deadlock",
                "The call would wait for something that waits for this call: its own thread, or "
                "another upgrade.",
                "No lock was taken.",
                "On the client's executor, use an asynchronous function. In an upgrade, release "
                "the read lock and begin again."};
    case errc::clock_unstable:
        return {"clock_unstable",
                "The server's clock jumped twice while the client asked for the lock.",
                "You hold nothing.",
                "Let NTP change the server's clock slowly, and never in steps."};
    case errc::closed:
        return {"closed", "The client is closed.",
                "Nothing was sent. Locks that were held end with their leases.",
                "Close the client only when nobody needs it any more."};
    case errc::forked:
        return {"forked", "The object was created before fork().", "Nothing was done.",
                "Create a new object in this process."};
    }
    return {"", "This is not an error of holdfast.", "", ""};
}

store_explanation explain(store_errc what) noexcept {
    const auto found = std::ranges::find(refusals, what, &server_says::code);
    if (found == refusals.end())
        return {{"", "This is not an error of a store.", "", ""}, "", errc::refused};
    const char* const known = explain(found->equal_to).known;
    return {{found->name, found->meaning, known, found->advice}, found->words, found->equal_to};
}

namespace {

std::string sentences_of(const explanation& of) {
    std::string all{of.meaning};
    for (const char* const more : {of.known, of.advice})
        if (*more != '\0')
            all.append(" ").append(more);
    return all;
}

// Ids of the error categories. They are constants, because two shared libraries in one program may
// both contain this code. Equal ids make their error categories equal.
struct category final : boost::system::error_category {
    constexpr category() noexcept
        : error_category{0xbe854fc4efea3759} {}
    const char* name() const noexcept override { return "holdfast"; }
    std::string message(int value) const override {
        return sentences_of(explain(static_cast<errc>(value)));
    }
};

struct store_category final : boost::system::error_category {
    constexpr store_category() noexcept
        : error_category{0xe13a80e3d0672aa1} {}
    const char* name() const noexcept override { return "holdfast.store"; }
    std::string message(int value) const override {
        return sentences_of(explain(static_cast<store_errc>(value)));
    }
    error_condition default_error_condition(int value) const noexcept override {
        return explain(static_cast<store_errc>(value)).equal_to;
    }
};

constexpr category instance;
constexpr store_category store_instance;

} // namespace

error_code make_error_code(errc e) noexcept {
    return {static_cast<int>(e), instance};
}
error_condition make_error_condition(errc e) noexcept {
    return {static_cast<int>(e), instance};
}
error_code make_error_code(store_errc e) noexcept {
    return {static_cast<int>(e), store_instance};
}

namespace {

constexpr std::size_t bytes_shown_max = 64;

void append_escaped(std::string& text, char byte) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    if (byte == '"' || byte == '\\') {
        text.append({'\\', byte});
    } else if (byte >= ' ' && byte <= '~') {
        text.push_back(byte);
    } else {
        const auto value = static_cast<unsigned char>(byte);
        text.append({'\\', 'x', digits[value / 16], digits[value % 16]});
    }
}

/// Exception whose what() contains only the reason. Without this class, Boost would append the
/// general message of the error code.
class refusal final : public boost::system::system_error {
public:
    explicit refusal(std::string why)
        : system_error{make_error_code(errc::invalid_argument)}
        , why_{std::move(why)} {}
    const char* what() const noexcept override { return why_.c_str(); }

private:
    std::string why_;
};

} // namespace

void refuse(const std::string& why) {
    throw refusal{why};
}

std::string in_quotes(std::string_view bytes) {
    std::string text{'"'};
    for (const char byte : bytes.substr(0, bytes_shown_max))
        append_escaped(text, byte);
    text.push_back('"');
    if (bytes.size() > bytes_shown_max)
        text += "... (" + std::to_string(bytes.size()) + " bytes)";
    return text;
}

const char* words_for(lock_kind kind) noexcept {
    switch (kind) {
    case lock_kind::read:
    case lock_kind::write:
        return "a read-write lock";
    case lock_kind::token:
        return "a token lock";
    case lock_kind::permit:
        return "a leased semaphore";
    case lock_kind::plain:
    case lock_kind::spin:
    case lock_kind::fenced:
    case lock_kind::fair:
        break;
    }
    return "a mutex";
}

const char* words_for(counter_kind kind) noexcept {
    switch (kind) {
    case counter_kind::permits:
        return "a leased semaphore";
    case counter_kind::latch:
        return "a latch";
    case counter_kind::rate:
        return "a rate limiter";
    case counter_kind::semaphore:
        break;
    }
    return "a semaphore";
}

void throw_wrong_type(std::string_view there, std::string_view wanted) {
    std::string text{there};
    text.append(" has this name, and ").append(wanted).append(" was asked for");
    throw boost::system::system_error{make_error_code(store_errc::wrong_type), text};
}

const char* to_string(severity how_bad) noexcept {
    switch (how_bad) {
    case severity::fine:
        return "fine";
    case severity::note:
        return "note";
    case severity::warning:
        return "warning";
    case severity::danger:
        return "danger";
    }
    return "";
}

const char* to_string(key_kind kind) noexcept {
    switch (kind) {
    case key_kind::lock:
        return "lock";
    case key_kind::read_write_lock:
        return "read-write lock";
    case key_kind::token_lock:
        return "token lock";
    case key_kind::other:
        break;
    }
    return "other";
}

} // namespace holdfast
