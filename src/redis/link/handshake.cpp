// SPDX-License-Identifier: Apache-2.0
#include "redis/link/handshake.hpp"

#include "net/failure.hpp"
#include "redis/misdirection.hpp"
#include "redis/wire/classify.hpp"
#include "redis/wire/composer.hpp"
#include "redis/wire/info.hpp"
#include "redis/wire/number.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

using kind = reply::kind;
using std::chrono::microseconds;

/// Returns whether the error only means that the server forbids or does not know the command. After
/// any other error, such as LOADING or a missing password, requests would fail too.
bool can_do_without(const reply& answer) {
    return classify(answer.text) == store_errc::no_permission ||
           answer.text.starts_with("ERR unknown") || answer.text.starts_with("ERR Unknown");
}

/// Upper bound of plausible uptimes and clock values, in seconds. Larger values are ignored.
constexpr std::int64_t seconds_max = 1'000'000'000'000;

/// Reads a reply to TIME: seconds and microseconds, as two texts.
std::optional<microseconds> time_in(const reply& answer) {
    if (answer.type != kind::array || answer.items.size() != 2)
        return std::nullopt;
    if (answer.items[0].type != kind::text || answer.items[1].type != kind::text)
        return std::nullopt;
    const auto seconds = number_in<std::int64_t>(answer.items[0].text);
    const auto rest = number_in<std::int64_t>(answer.items[1].text);
    if (!seconds || !rest || *seconds < 0 || *seconds > seconds_max || *rest < 0)
        return std::nullopt;
    return std::chrono::seconds{*seconds} + microseconds{*rest};
}

std::optional<std::chrono::seconds> uptime_in(std::string_view info) {
    const auto seconds = number_in<std::int64_t>(info_field(info, "uptime_in_seconds"));
    if (!seconds || *seconds < 0 || *seconds > seconds_max)
        return std::nullopt;
    return std::chrono::seconds{*seconds};
}

} // namespace

bool is_replica(const reply& role) {
    return role.type == kind::array && !role.items.empty() && role.items.front().text == "slave";
}

std::string client_name(std::string_view label) {
    constexpr std::size_t length_max = 128;
    std::string name{label.empty() ? "holdfast" : label.substr(0, length_max)};
    const auto unprintable = [](char c) { return c < '!' || c > '~'; };
    std::ranges::replace_if(name, unprintable, '_');
    return name;
}

handshake::handshake(const options& how, credentials who, std::string_view label, purpose what_for)
    : how_{how}
    , who_{std::move(who)}
    , name_{client_name(label)} {
    if (!who_.password.empty() || !who_.user.empty())
        steps_.push_back(step::authenticate);
    // All databases share the same channels. Therefore a user without the right to SELECT can still
    // subscribe.
    if (how.database != 0 && what_for != purpose::listening)
        steps_.push_back(step::select_database);
    steps_.push_back(step::name_client);
    if (what_for != purpose::listening)
        steps_.insert(steps_.end(), {step::ask_role, step::ask_time});
    steps_.push_back(step::ask_identity);
    if (what_for == purpose::commands)
        steps_.push_back(step::ask_history);
    if (how.cluster)
        steps_.push_back(step::ask_node);
}

void handshake::compose(std::string& out) const {
    composer to{out};
    for (const step one : steps_) {
        switch (one) {
        case step::authenticate:
            if (who_.user.empty()) // servers before 6.0 have no users
                to.request({"AUTH", who_.password.reveal()});
            else
                to.request({"AUTH", who_.user, who_.password.reveal()});
            break;
        case step::select_database:
            to.request({"SELECT", std::to_string(how_.database)});
            break;
        case step::name_client:
            to.request({"CLIENT", "SETNAME", name_});
            break;
        case step::ask_role:
            to.request({"ROLE"});
            break;
        case step::ask_time:
            to.request({"TIME"});
            break;
        case step::ask_identity: // servers before 7.0 accept only one section in a request
            to.request({"INFO", "server"});
            break;
        case step::ask_history:
            to.request({"INFO", "replication"});
            break;
        case step::ask_node:
            to.request({"CLUSTER", "MYID"});
            break;
        }
    }
}

std::string_view handshake::words_for(step one) {
    switch (one) {
    case step::authenticate:
        return "AUTH";
    case step::select_database:
        return "SELECT";
    case step::name_client:
        return "CLIENT SETNAME";
    case step::ask_role:
        return "ROLE";
    case step::ask_time:
        return "TIME";
    case step::ask_identity:
        return "INFO server";
    case step::ask_history:
        return "INFO replication";
    case step::ask_node:
        return "CLUSTER MYID";
    }
    return {};
}

std::string_view handshake::awaited() const {
    return answered_ < steps_.size() ? words_for(steps_[answered_]) : std::string_view{};
}

void handshake::judge(const reply& answer) {
    const step asked = steps_.at(answered_);
    const bool must = asked == step::authenticate || asked == step::select_database;
    if (asked == step::ask_node) // ignore errors here, because CLUSTER SLOTS reports them too
        told_.node_id = answer.type == kind::text ? answer.text : std::string{};
    else if (answer.type != kind::error)
        judge_answer(asked, answer);
    else if (must || !can_do_without(answer))
        throw net::failure{classify(answer.text),
                           std::string{awaited()} + ": " + answer.text + hint_at(asked, answer)};
    ++answered_;
}

/// Returns a hint for the user if SELECT failed because the server is a Sentinel. Sentinels have no
/// databases.
std::string handshake::hint_at(step asked, const reply& answer) const {
    if (asked != step::select_database || !answer.text.starts_with("ERR unknown command"))
        return {};
    return " (if it is a Sentinel, " + advice_at_sentinel(how_) + ")";
}

void handshake::judge_answer(step asked, const reply& answer) {
    const bool wants_array = asked == step::ask_role || asked == step::ask_time;
    const bool wants_text = asked == step::ask_identity || asked == step::ask_history;
    if (answer.type != (wants_array ? kind::array : wants_text ? kind::text : kind::status))
        throw net::failure{store_errc::protocol,
                           "an unexpected answer to " + std::string{awaited()}};
    if (asked == step::ask_role && is_replica(answer))
        throw net::failure{store_errc::read_only, "ROLE: it is a replica, which grants no locks"};
    if (asked == step::ask_role && is_sentinel(answer))
        throw net::failure{store_errc::wrong_address,
                           "ROLE: it is a Sentinel; " + advice_at_sentinel(how_, &answer)};
    if (asked == step::ask_role)
        told_.tells_role = true;
    if (asked == step::ask_time)
        told_.shown = time_in(answer);
    if (asked == step::ask_identity) {
        told_.run_id = info_field(answer.text, "run_id");
        told_.uptime = uptime_in(answer.text);
    }
    if (asked == step::ask_history)
        told_.replication_id = info_field(answer.text, "master_replid");
}

} // namespace holdfast::redis
