// SPDX-License-Identifier: Apache-2.0
#include "explanation.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace holdfast {
namespace {

/// What a server said, before it is known what that comes to.
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
                "It serves when it has read all; give it time (unavailable_patience)."},
    server_says{store_errc::busy_script, errc::unreachable, "busy_script", "BUSY",
                "The server is busy with a script that runs too long.",
                "Find whose script it is; SCRIPT KILL ends one that has written nothing."},
    server_says{store_errc::read_only, errc::unreachable, "read_only", "READONLY, (ROLE: slave)",
                "The server is a replica and takes no writes.",
                "Use the address of the primary; after a failover, look where it is now."},
    server_says{store_errc::master_down, errc::unreachable, "master_down", "MASTERDOWN",
                "The server is a replica that has lost its primary.",
                "Use the address of the primary, and see why the two cannot reach each other."},
    server_says{
        store_errc::cluster_down, errc::unreachable, "cluster_down", "CLUSTERDOWN",
        "The cluster does not serve the slot of this lock.",
        "Look at CLUSTER INFO and CLUSTER NODES: a slot has no node, or too many are gone."},
    server_says{store_errc::try_again, errc::unreachable, "try_again", "MOVED, ASK, TRYAGAIN",
                "The slot of this lock is on another node of the cluster, or on its way to one.",
                "Use the address of the node that has it, or a server that is no cluster."},
    server_says{store_errc::too_many_clients, errc::unreachable, "too_many_clients",
                "ERR max number of clients reached", "The server has as many clients as it may.",
                "Raise maxclients, or find out who opens so many (CLIENT LIST)."},
    server_says{store_errc::no_replicas, errc::unreachable, "no_replicas", "NOREPLICAS",
                "The server has too few replicas and takes no writes.",
                "Bring its replicas back, or lower min-replicas-to-write."},
    server_says{store_errc::disk_trouble, errc::unreachable, "disk_trouble", "MISCONF",
                "The server cannot save its data and takes no writes.",
                "Its log says why: a full disk, a folder it may not write to, no memory to fork."},
    server_says{store_errc::out_of_memory, errc::refused, "out_of_memory", "OOM",
                "The server has as much in memory as it may.",
                "Raise maxmemory or delete data; locks that are held can be released meanwhile."},
    server_says{store_errc::no_permission, errc::refused, "no_permission",
                "NOPERM, ACL failure in script", "This user has no right to do that.",
                "Grant it with ACL SETUSER; docs/security/ has the whole list."},
    server_says{store_errc::not_authenticated, errc::refused, "not_authenticated",
                "NOAUTH, WRONGPASS, (TLS alert)",
                "The server does not take this user, this password or this certificate.",
                "Check them; with ACL LIST, that the user is there and on."},
    server_says{store_errc::untrusted, errc::refused, "untrusted", "(TLS: its certificate)",
                "The server's certificate is not accepted; nothing was said to it.",
                "Its text says why: give the CA (ca_file), the name it is made for "
                "(server_name), or a certificate that is valid today."},
    server_says{store_errc::wrong_type, errc::refused, "wrong_type", "WRONGTYPE",
                "The key under the lock's name holds something that is no lock.",
                "Choose another name or prefix; nobody's data was touched."},
    server_says{store_errc::tls_failed, errc::unreachable, "tls_failed", "(TLS: the handshake)",
                "TLS could not be agreed on with the server.",
                "See that this port speaks TLS, 1.2 at least, and that nothing between cuts it."},
    server_says{store_errc::script_killed, errc::outcome_unknown, "script_killed",
                "ERR Script killed by user", "An operator ended the script.",
                "Find out who sends SCRIPT KILL: a script of holdfast takes microseconds."},
    server_says{store_errc::protocol, errc::outcome_unknown, "protocol", "(no answer of RESP2)",
                "The answer is none that the protocol knows.",
                "See what is at this address: Redis or Valkey, or a proxy that changes what "
                "they say."},
    server_says{store_errc::other, errc::refused, "other", "(any other error)",
                "The server refused with an error of its own.", "Its words say what is missing."},
};

constexpr bool each_has_its_place() {
    std::size_t place = 0;
    for (const server_says& one : refusals)
        if (one.code != static_cast<store_errc>(++place))
            return false;
    return refusals.back().code == store_errc::other; // the last there is
}
static_assert(each_has_its_place(), "in the order of store_errc, and none is missing");

} // namespace

explanation explain(errc what) noexcept {
    switch (what) {
    case errc::unreachable:
        return {"unreachable", "The store could not be asked.", "Nothing was done there.",
                "Check the address, and that a server answers there; then try again."};
    case errc::outcome_unknown:
        return {"outcome_unknown", "The request was sent and its answer never came.",
                "It may have been carried out. Nothing is yours; what it may have taken is "
                "released in the background, at the latest by the end of its lease.",
                "Try again."};
    case errc::refused:
        return {"refused", "The store refused.", "Nothing was done there.",
                "The server's words say why; asking again does not help."};
    case errc::lease_lost:
        return {"lease_lost", "The lease ended before it was released.",
                "Somebody else may have held the lock meanwhile.",
                "Treat what was done under it as done without a lock; see lost() and in_danger()."};
    case errc::not_owner:
        return {"not_owner", "The caller does not hold this lock.", "Nothing was done.",
                "Unlock once, in the thread that locked."};
    case errc::already_held:
        return {"already_held", "This thread holds the lock already, and it is not recursive.",
                "Nothing was done.", "Use a recursive_mutex, or do not lock twice."};
    case errc::invalid_argument:
        return {"invalid_argument", "A name, a length of time or an address is not allowed.",
                "Nothing was sent.", "Correct it; the text says which and why."};
    case errc::overloaded:
        return {"overloaded", "This client has as many requests waiting as it may.",
                "Nothing was sent.",
                "Ask for less at a time, or raise the bound that the text names."};
    case errc::would_deadlock:
        return {"would_deadlock", "The call would wait on the very thread that has to finish it.",
                "Nothing was sent.", "Use the asynchronous verb there."};
    case errc::clock_unstable:
        return {"clock_unstable", "The server's clock jumped twice while the lock was asked for.",
                "Nothing is held.", "Let NTP slew the server's clock, not step it."};
    case errc::closed:
        return {"closed", "The client is closed.",
                "Nothing was sent, and what was held ends with its lease.",
                "Close the client when nobody needs it any more."};
    case errc::forked:
        return {"forked", "The object was made before fork().", "Nothing was done.",
                "Use one that this process made."};
    }
    return {"", "This is no error of holdfast.", "", ""};
}

store_explanation explain(store_errc what) noexcept {
    const auto found = std::ranges::find(refusals, what, &server_says::code);
    if (found == refusals.end())
        return {{"", "This is no error of a store.", "", ""}, "", errc::refused};
    const char* const known = explain(found->equal_to).known;
    return {{found->name, found->meaning, known, found->advice}, found->words, found->equal_to};
}

} // namespace holdfast
