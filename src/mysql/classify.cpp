// SPDX-License-Identifier: Apache-2.0
#include "mysql/classify.hpp"

#include <algorithm>
#include <array>

namespace holdfast::mysql {
namespace {

enum class then { nothing, again, leave, cut };

struct known_error {
    unsigned number;
    store_errc code;
    then what = then::nothing;
};

/// Errors after which the statement was certainly not carried out. `unknown_errors` lists the
/// errors after which the outcome is unknown.
constexpr std::array known_errors{
    known_error{1205, store_errc::try_again, then::again}, // the wait for a row lock timed out
    // Deadlock; on Galera: a conflict with another node's transaction.
    known_error{1213, store_errc::try_again, then::again},
    // the same conflict as 1213, in group replication
    known_error{3101, store_errc::try_again, then::again},
    known_error{1290, store_errc::read_only, then::leave},
    known_error{1792, store_errc::read_only, then::leave},
    known_error{1836, store_errc::read_only, then::leave},
    known_error{1047, store_errc::read_only, then::leave}, // Galera: the node is not ready
    known_error{3168, store_errc::read_only, then::leave},
    known_error{1040, store_errc::too_many_clients, then::cut},
    known_error{1203, store_errc::too_many_clients, then::cut},
    known_error{1226, store_errc::too_many_clients, then::cut},
    known_error{1044, store_errc::not_authenticated},
    known_error{1045, store_errc::not_authenticated, then::cut},
    known_error{1130, store_errc::not_authenticated, then::cut}, // this host may not connect
    known_error{1156, store_errc::not_authenticated, then::cut},
    known_error{1251, store_errc::not_authenticated, then::cut},
    known_error{1698, store_errc::not_authenticated, then::cut},
    known_error{1820, store_errc::not_authenticated, then::cut}, // the password must be changed
    known_error{1862, store_errc::not_authenticated, then::cut}, // the password has expired
    known_error{3118, store_errc::not_authenticated, then::cut}, // the account is locked
    known_error{4151, store_errc::not_authenticated, then::cut}, // the account is locked (MariaDB)
    known_error{2049, store_errc::not_authenticated, then::cut},
    known_error{2059, store_errc::not_authenticated, then::cut},
    known_error{2061, store_errc::not_authenticated, then::cut},
    known_error{5010, store_errc::not_authenticated, then::cut},
    known_error{1142, store_errc::no_permission},
    known_error{1143, store_errc::no_permission},
    known_error{1227, store_errc::no_permission},
    known_error{1370, store_errc::no_permission},
    known_error{1049, store_errc::not_set_up},
    known_error{1146, store_errc::not_set_up},
    known_error{1054, store_errc::not_set_up},
    known_error{1665, store_errc::unfit}, // binlog_format is STATEMENT
    known_error{1021, store_errc::disk_trouble},
    known_error{1114, store_errc::disk_trouble},
    known_error{3, store_errc::disk_trouble},
};

/// Errors after which nothing was carried out: the connection was not made, or the server is
/// shutting down.
constexpr std::array unreachable_errors{1053u, 1129u, 2001u, 2002u, 2003u, 2004u, 2005u, 2007u};

/// Errors after which the outcome is unknown. The server's errors in this list abort a running
/// statement at any point.
constexpr std::array unknown_errors{1152u, 1158u, 1159u, 1160u, 1161u, 1180u,
                                    1317u, 1927u, 1969u, 3024u, 4031u};

/// Errors of libmariadb that mean that the reply violates the protocol.
constexpr std::array garbled_errors{2012u, 2014u, 2027u};

bool is_of_library(unsigned error) {
    return (error >= 2000 && error < 3000) || (error >= 5000 && error < 6000);
}

template <typename List>
bool is_one_of(const List& list, unsigned error) {
    return std::ranges::find(list, error) != list.end();
}

bool has(std::string_view words, std::string_view part) {
    return words.find(part) != words.npos;
}

/// Classifies a TLS error by the text of OpenSSL or libmariadb. The text tells whether the
/// certificate is untrusted or something else failed.
store_errc classify_tls(std::string_view words) {
    const bool untrusted = has(words, "certificate verify failed") || has(words, "self-signed") ||
                           has(words, "self signed") || has(words, "Validation of SSL server") ||
                           has(words, "unable to get") || has(words, "ostname mismatch") ||
                           has(words, "has expired") || has(words, "certificate is not trusted") ||
                           has(words, "IP address mismatch") || has(words, "not yet valid");
    return untrusted ? store_errc::untrusted : store_errc::tls_failed;
}

std::string hint_of(unsigned error) {
    switch (error) {
    case 1156:
    case 2059:
        return "libmariadb has no plug-in for the way in which this user logs in; it looks for "
               "them in the folder of its package (libmariadb3)";
    case 5010:
        return "the server asks for the password in a way that would show it to anyone on the way; "
               "use TLS, or another plug-in for this user";
    case 1203:
    case 1226:
        return "the limit is this account's (MAX_USER_CONNECTIONS, max_user_connections): raise "
               "it, "
               "or lower connections_max";
    case 1129:
        return "an administrator has to FLUSH HOSTS there";
    default:
        return {};
    }
}

/// ER_USER_LIMIT_REACHED. The number does not tell which limit of the account was reached; the text
/// does.
constexpr unsigned limit_of_account = 1226;

/// Returns whether a storage engine reports a full disk. The system's error number (28 is ENOSPC)
/// is only in the text.
bool is_full_disk(unsigned error, std::string_view words) {
    return (error == 1030 || error == 1026) && has(words, "28");
}

} // namespace

meaning classify(unsigned error, std::string_view words) {
    if (error == limit_of_account && has(words, "'max_") && !has(words, "max_user_connections"))
        return {.code = store_errc::other,
                .hint = "the account has used up what it may do in an hour; SHOW CREATE USER tells "
                        "its limits, and ALTER USER lifts them"};
    const auto known = std::ranges::find(known_errors, error, &known_error::number);
    if (known != known_errors.end())
        return {.code = known->code,
                .again = known->what == then::again,
                .leave = known->what == then::leave,
                .cut = known->what == then::leave || known->what == then::cut,
                .hint = hint_of(error)};
    if (error == 2026)
        return {.code = classify_tls(words), .cut = true};
    if (is_full_disk(error, words))
        return {.code = store_errc::disk_trouble};
    if (is_one_of(garbled_errors, error))
        return {.code = store_errc::protocol, .cut = true};
    if (is_one_of(unreachable_errors, error))
        return {.code = make_error_code(errc::unreachable), .cut = true, .hint = hint_of(error)};
    if (is_one_of(unknown_errors, error) || is_of_library(error))
        return {.code = make_error_code(errc::outcome_unknown), .cut = true};
    return {.code = store_errc::other};
}

meaning classify_connecting(unsigned error, std::string_view words) {
    meaning found = classify(error, words);
    found.again = false;
    found.cut = true;
    if (found.code == errc::outcome_unknown)
        found.code = make_error_code(errc::unreachable);
    return found;
}

net::failure failure_of(const meaning& what, unsigned error, std::string_view words) {
    std::string text = "error " + std::to_string(error) + ": " + std::string{words};
    if (!what.hint.empty())
        text += " (" + what.hint + ")";
    return {what.code, std::move(text)};
}

} // namespace holdfast::mysql
