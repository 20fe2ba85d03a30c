// SPDX-License-Identifier: Apache-2.0
#include "explanation.hpp"

namespace holdfast {
namespace {

/// What a server said, before it is known what it comes to.
struct server_says {
    errc equal_to;
    const char* name;
    const char* words;
    const char* meaning;
    const char* advice;
};

server_says refusal_of(store_errc what) noexcept {
    switch (what) {
    case store_errc::loading:
        return {errc::unreachable, "loading", "LOADING",
                "The server is still reading its data from disk.",
                "It serves when it has read all; give it time (unavailable_patience)."};
    case store_errc::busy_script:
        return {errc::unreachable, "busy_script", "BUSY",
                "The server is busy with a script that runs too long.",
                "Find whose script it is; SCRIPT KILL ends one that has written nothing."};
    case store_errc::read_only:
        return {errc::unreachable, "read_only", "READONLY, (ROLE: slave)",
                "The server is a replica and takes no writes.",
                "Use the address of the primary; after a failover, look where it is now."};
    case store_errc::master_down:
        return {errc::unreachable, "master_down", "MASTERDOWN",
                "The server is a replica that has lost its primary.",
                "Use the address of the primary, and see why the two cannot reach each other."};
    case store_errc::cluster_down:
        return {
            errc::unreachable, "cluster_down", "CLUSTERDOWN",
            "The cluster does not serve the slot of this lock.",
            "Look at CLUSTER INFO and CLUSTER NODES: a slot has no node, or too many are gone."};
    case store_errc::try_again:
        return {errc::unreachable, "try_again", "MOVED, ASK, TRYAGAIN",
                "The slot of this lock is on another node of the cluster, or on its way to one.",
                "Use the address of the node that has it, or a server that is no cluster."};
    case store_errc::too_many_clients:
        return {errc::unreachable, "too_many_clients", "ERR max number of clients reached",
                "The server has as many clients as it may.",
                "Raise maxclients, or find out who opens so many (CLIENT LIST)."};
    case store_errc::no_replicas:
        return {errc::unreachable, "no_replicas", "NOREPLICAS",
                "The server has too few replicas and takes no writes.",
                "Bring its replicas back, or lower min-replicas-to-write."};
    case store_errc::disk_trouble:
        return {errc::unreachable, "disk_trouble", "MISCONF",
                "The server cannot save its data and takes no writes.",
                "Its log says why: a full disk, a folder it may not write to, no memory to fork."};
    case store_errc::out_of_memory:
        return {errc::refused, "out_of_memory", "OOM",
                "The server has as much in memory as it may.",
                "Raise maxmemory or delete data; locks that are held can be released meanwhile."};
    case store_errc::no_permission:
        return {errc::refused, "no_permission", "NOPERM, ACL failure in script",
                "This user has no right to do that.",
                "Grant it with ACL SETUSER; docs/security/ has the whole list."};
    case store_errc::not_authenticated:
        return {errc::refused, "not_authenticated", "NOAUTH, WRONGPASS",
                "The server does not take this user or this password.",
                "Check both; with ACL LIST, that the user is there and on."};
    case store_errc::wrong_type:
        return {errc::refused, "wrong_type", "WRONGTYPE",
                "The key under the lock's name holds something that is no lock.",
                "Choose another name or prefix; nobody's data was touched."};
    case store_errc::script_killed:
        return {errc::outcome_unknown, "script_killed", "ERR Script killed by user",
                "An operator ended the script.",
                "Find out who sends SCRIPT KILL: a script of holdfast takes microseconds."};
    case store_errc::protocol:
        return {errc::outcome_unknown, "protocol", "(no answer of RESP2)",
                "The answer is none that the protocol knows.",
                "See what is at this address: Redis or Valkey, or a proxy that changes what "
                "they say."};
    case store_errc::other:
        return {errc::refused, "other", "(any other error)",
                "The server refused with an error of its own.", "Its words say what is missing."};
    }
    return {errc::refused, "", "", "This is no error of a store.", ""};
}

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
    const server_says found = refusal_of(what);
    const bool is_one = *found.name != '\0';
    const char* const known = is_one ? explain(found.equal_to).known : "";
    return {{found.name, found.meaning, known, found.advice}, found.words, found.equal_to};
}

} // namespace holdfast
