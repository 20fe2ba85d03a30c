// SPDX-License-Identifier: Apache-2.0
#include "redis/client/connection.hpp"

#include "net/byte_stream.hpp"
#include "net/endpoint.hpp"
#include "redis/client/error_replies.hpp"
#include "runtime/background.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <functional>

namespace holdfast::redis {

connection::connection(const store_context& home, const options& how)
    : byte_stream{home, how.command_timeout, "that is rediss://"}
    , reader_{how.reply_bytes_max,
              how.cluster ? answer_reader::items_max_in_cluster : answer_reader::items_max} {}

// Continue to read for a while after a failed write: a server that rejects a client may send an
// error and close the connection, without reading anything.
void connection::went_deaf(error_code why) {
    deaf_ = why;
    auto enough = [this] { cut({errc::unreachable, deaf_.message()}); };
    last_words_.emplace(home(), net::later(home().time.now(), timeout()), enough);
}

std::string connection::end_in_words(error_code why) const {
    std::string words = byte_stream::end_in_words(why == asio::error::eof && deaf_ ? deaf_ : why);
    if (is_silent() && to()->unix_socket.empty())
        words += ", before it said a word; does it want TLS (rediss://)?";
    return words;
}

asio::awaitable<reply> connection::answer() {
    for (;;) {
        if (reply* const come = next())
            co_return std::move(*come);
        co_await receive();
    }
}

void connection::cut(net::failure why) {
    last_words_.reset();
    byte_stream::cut(std::move(why));
}

namespace {

using std::chrono::microseconds;

/// Returns whether the server only forbids or does not know this command. The connection can then
/// be used without the command. Any other error, such as LOADING or a missing password, would also
/// fail requests about locks.
bool can_do_without(const reply& answer) {
    return classify(answer.text) == store_errc::no_permission ||
           answer.text.starts_with("ERR unknown") || answer.text.starts_with("ERR Unknown");
}

/// Greatest plausible uptime or clock value, in seconds. Greater values are ignored.
constexpr std::int64_t seconds_max = 1'000'000'000'000;

/// Reads a reply to TIME: seconds and microseconds, as two texts.
std::optional<microseconds> time_in(const reply& answer) {
    if (answer.type != reply::kind::array || answer.items.size() != 2)
        return std::nullopt;
    if (answer.items[0].type != reply::kind::text || answer.items[1].type != reply::kind::text)
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

/// Returns a URL for messages, for example `redis+cluster://host:port`. If the address is unknown,
/// the URL contains the words HOST:PORT instead.
std::string url_of(std::string_view what, const options& how) {
    const bool is_known = how.unix_socket.empty() && !how.sentinel && !how.cluster;
    const std::string where = is_known ? net::address_of({}, how.host, how.port) : "HOST:PORT";
    return std::string{how.tls ? "rediss+" : "redis+"}.append(what).append("://").append(where);
}

/// Returns whether the reply to INFO comes from a cluster node. Redis and Valkey have different
/// names for the field.
bool is_cluster_node(std::string_view info) {
    return info_field(info, "redis_mode") == "cluster" ||
           info_field(info, "server_mode") == "cluster";
}

} // namespace

bool is_replica(const reply& role) {
    return role.type == reply::kind::array && !role.items.empty() &&
           role.items.front().text == "slave";
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
    // A subscriber needs no SELECT, because all databases share the same channels. So a user
    // without the permission for SELECT can subscribe.
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
        case step::ask_identity: // before 7.0, one section for each request
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
    // Ignore errors here, because a later CLUSTER SLOTS reports the same errors.
    if (asked == step::ask_node)
        told_.node_id = answer.type == reply::kind::text ? answer.text : std::string{};
    else if (answer.type != reply::kind::error)
        judge_answer(asked, answer);
    else if (must || !can_do_without(answer))
        throw net::failure{classify(answer.text),
                           std::string{awaited()} + ": " + answer.text + hint_at(asked, answer)};
    // Report that the server is a replica only after the reply to INFO. If INFO shows that the
    // server is a cluster node, the error for a cluster node is reported instead.
    if (asked == step::ask_identity && is_at_replica_)
        throw net::failure{store_errc::read_only, "ROLE: it is a replica, which grants no locks"};
    ++answered_;
}

/// Returns a hint for the user if SELECT failed because the server is a Sentinel, which has no
/// databases.
std::string handshake::hint_at(step asked, const reply& answer) const {
    if (asked != step::select_database || !answer.text.starts_with("ERR unknown command"))
        return {};
    return " (if it is a Sentinel, " + advice_at_sentinel(how_) + ")";
}

void handshake::judge_answer(step asked, const reply& answer) {
    const bool wants_array = asked == step::ask_role || asked == step::ask_time;
    const bool wants_text = asked == step::ask_identity || asked == step::ask_history;
    if (answer.type != (wants_array  ? reply::kind::array
                        : wants_text ? reply::kind::text
                                     : reply::kind::status))
        throw net::failure{store_errc::protocol,
                           "an unexpected answer to " + std::string{awaited()}};
    if (asked == step::ask_role)
        is_at_replica_ = is_replica(answer);
    if (asked == step::ask_role && is_sentinel(answer))
        throw net::failure{store_errc::wrong_address,
                           "ROLE: it is a Sentinel; " + advice_at_sentinel(how_, &answer)};
    if (asked == step::ask_role)
        told_.tells_role = true;
    if (asked == step::ask_time)
        told_.shown = time_in(answer);
    if (asked == step::ask_identity && !how_.cluster && is_cluster_node(answer.text))
        throw net::failure{store_errc::wrong_address, "INFO: " + advice_at_cluster_node(how_)};
    if (asked == step::ask_identity) {
        told_.run_id = info_field(answer.text, "run_id");
        told_.uptime = uptime_in(answer.text);
    }
    if (asked == step::ask_history)
        told_.replication_id = info_field(answer.text, "master_replid");
}

namespace {

/// Returns whether only a cluster node sends this error: the request was about a slot of another
/// node, or about keys in several slots.
bool is_about_slots(std::string_view error) {
    return error.starts_with("MOVED ") || error.starts_with("ASK ") ||
           error.starts_with("CROSSSLOT ");
}

/// Returns whether the error means that the server does not know EVALSHA. Such a server is probably
/// a Sentinel: EVALSHA is the first command that a Sentinel rejects.
bool knows_no_scripts(std::string_view error) {
    return error.starts_with("ERR unknown command") && error.find("EVALSHA") != error.npos;
}

} // namespace

std::string advice_at_cluster_node(const options& how) {
    return "it is a node of a cluster, whose URL is " + url_of("cluster", how);
}

std::shared_ptr<const net::failure> misdirection(const node_context& context, const reply& answer) {
    if (answer.type != reply::kind::error || context.how.cluster)
        return nullptr;
    const auto told = [&](store_errc code, const std::string& advice) {
        return std::make_shared<const net::failure>(code, answer.text + " (" + advice + ")");
    };
    if (is_about_slots(answer.text))
        return told(store_errc::wrong_address, advice_at_cluster_node(context.how));
    if (classify(answer.text) == store_errc::cluster_down)
        return told(store_errc::cluster_down, advice_at_cluster_node(context.how));
    if (knows_no_scripts(answer.text))
        return told(store_errc::other, "if it is a Sentinel, " + advice_at_sentinel(context.how));
    return nullptr;
}

bool is_sentinel(const reply& role) {
    return role.type == reply::kind::array && !role.items.empty() &&
           role.items.front().text == "sentinel";
}

std::string advice_at_sentinel(const options& how, const reply* role) {
    std::string service = "SERVICE";
    if (role && role->items.size() > 1 && !role->items[1].items.empty())
        service = role->items[1].items.front().text;
    return "the URL is " + url_of("sentinel", how) + "/" + service;
}

namespace {

asio::awaitable<void> shake_hands(node_context& context, purpose what_for, connection& line,
                                  server_hello& told) {
    handshake greeting{
        context.how,
        net::credentials_now({context.how.user, context.how.password}, context.how.credentials),
        context.home.label, what_for};
    greeting.compose(line.outbox());
    const time_point sent_at = context.home.time.now();
    if (!line.send())
        co_await line.send_rest();
    while (!greeting.awaited().empty()) {
        line.occupied_with("waiting for the answer to " + std::string{greeting.awaited()});
        const reply answer = co_await line.answer();
        greeting.judge(answer);
    }
    told = greeting.told();
    told.peer = line.peer();
    const std::string node_id = context.node_id ? context.node_id() : std::string{};
    if (!node_id.empty() && !told.node_id.empty() && told.node_id != node_id)
        throw net::failure{errc::unreachable,
                           "another node answers there than the one that the cluster named"};
    if (told.shown)
        line.server_clock()->learn(sent_at, context.home.time.now(), *told.shown);
}

} // namespace

asio::awaitable<std::optional<net::failure>> establish(node_context& context, purpose what_for,
                                                       connection& line, server_hello& told) {
    try {
        const time_point give_up_at =
            net::later(context.home.time.now(), context.how.connect_timeout);
        const net::time_limit limit{context.home, give_up_at,
                                    net::give_up(line, context.how.connect_timeout)};
        if (context.find) {
            line.occupied_with("waiting to learn where the primary is");
            co_await context.find(give_up_at);
        }
        co_await line.dial(context.where, give_up_at);
        co_await shake_hands(context, what_for, line, told);
        co_return std::nullopt;
    } catch (...) {
        const net::failure why = net::trouble_of_attempt();
        line.cut(why);
        if (context.in_trouble)
            context.in_trouble();
        const std::string address = line.to() ? line.to()->address : context.address();
        co_return net::no_connection(address, why);
    }
}

reconnecting_connection::reconnecting_connection(node_context& context, purpose what_for,
                                                 channel_handler& whose)
    : context_{context}
    , home_{context.home}
    , purpose_{what_for}
    , channel_handler_{whose}
    , connectivity_{context.home}
    , backoff_{context.how.backoff_min, context.how.backoff_max}
    , rest_{home_.time.make_alarm()} {}

void reconnecting_connection::talk() {
    if (closed_)
        return;
    if (!std::exchange(running_, true))
        runtime::run_in_background(home_, keep_connected(channel_handler_.keep_alive()));
    else if (connected_ && !flush_is_due_ && line_->can_send())
        flush_soon();
}

asio::awaitable<void> reconnecting_connection::keep_connected(std::shared_ptr<void>) {
    // Continue only after talk() has returned, because the caller of talk() begins to wait for the
    // result after that.
    co_await asio::post(home_.executor, asio::use_awaitable);
    while (!closed_ && channel_handler_.wants_to_talk()) {
        if (home_.time.now() < not_before_) {
            co_await rest_->wait_until(not_before_);
            continue;
        }
        shared_connection line;
        server_hello told;
        std::optional<net::failure> failed;
        try {
            line = line_ = std::make_shared<connection>(home_, context_.how);
            failed = co_await establish(context_, purpose_, *line, told);
        } catch (const std::exception& why) { // for example out of memory; go on
            failed.emplace(errc::unreachable, why.what());
        }
        if (failed) {
            attempt_failed(*failed);
            continue;
        }
        conversation_begins(told);
        const net::failure why = co_await converse(*line);
        conversation_ended(why);
    }
    running_ = false;
}

void reconnecting_connection::pause() {
    duration length = backoff_.next(home_.random());
    if (home_.holds_any && home_.holds_any())
        length = std::min(length, pause_max_while_holding);
    not_before_ = net::later(home_.time.now(), length);
}

void reconnecting_connection::gone(const std::string& address, const net::failure& why) {
    if (purpose_ != purpose::more_commands)
        connectivity_.gone(address, why);
}

void reconnecting_connection::attempt_failed(const net::failure& why) {
    line_.reset();
    if (closed_ || std::exchange(moves_, false))
        return; // the next attempt follows at once, with the queued requests
    pause();
    gone(context_.address(), why);
    channel_handler_.connection_failed(why);
}

void reconnecting_connection::conversation_begins(const server_hello& told) {
    connected_ = true;
    connected_since_ = home_.time.now();
    connectivity_.back(context_.address());
    channel_handler_.connected(told);
}

asio::awaitable<net::failure> reconnecting_connection::converse(connection& line) {
    try {
        for (;;) {
            const time_point now = home_.time.now();
            while (reply* const answer = line.next())
                channel_handler_.hear(*answer, now);
            flush(); // the replies may have caused new requests
            co_await line.receive();
        }
    } catch (const net::failure& why) {
        line.cut(why);
        co_return why;
    } catch (const std::exception& why) {
        const net::failure told{errc::outcome_unknown, why.what()};
        line.cut(told);
        co_return told;
    }
}

void reconnecting_connection::conversation_ended(const net::failure& why) {
    connected_ = false;
    const std::string address = line_->to()->address;
    line_.reset();
    if (closed_)
        return;
    if (!std::exchange(moves_, false)) {
        // Reset the backoff only after a connection that lasted for a while. Some servers accept a
        // connection and close it at once; the backoff must grow then, too.
        if (home_.time.now() - connected_since_ > context_.how.backoff_max)
            backoff_.reset();
        pause();
    }
    const net::failure lost{why.code(), "connection to " + address + " lost: " + why.text()};
    gone(address, lost);
    channel_handler_.connection_lost(lost);
}

void reconnecting_connection::flush_soon() {
    flush_is_due_ = true;
    asio::post(home_.executor, [this, keep = channel_handler_.keep_alive()] {
        flush_is_due_ = false;
        flush();
    });
}

void reconnecting_connection::flush() {
    while (connected_ && line_->can_send()) {
        std::string& out = line_->outbox();
        try {
            channel_handler_.speak(out);
        } catch (const std::exception& why) { // never send an incomplete request
            return cut({errc::outcome_unknown, why.what()});
        }
        if (out.empty())
            return;
        if (!line_->send())
            runtime::run_in_background(home_, finish_sending(channel_handler_.keep_alive(), line_));
    }
}

asio::awaitable<void> reconnecting_connection::finish_sending(std::shared_ptr<void>,
                                                              shared_connection line) {
    co_await line->send_rest();
    if (line_ == line)
        flush();
}

void reconnecting_connection::cut(net::failure why) {
    if (line_)
        line_->cut(std::move(why));
}

void reconnecting_connection::move(net::failure why) {
    backoff_.reset();
    not_before_ = time_point::min();
    rest_->ring();
    moves_ = line_ != nullptr;
    cut(std::move(why));
}

void reconnecting_connection::close() {
    closed_ = true;
    rest_->ring();
    cut({errc::closed, "the client is closed"});
}

namespace {

std::function<void()> giving_up(connection& line) {
    return [&line] {
        line.cut({errc::unreachable, "no answer in time (" + line.occupation() + ")"});
    };
}

asio::awaitable<void> send(connection& line) {
    if (!line.send())
        co_await line.send_rest();
}

/// Returns whether the server refused the login only because the server has no password. The client
/// can then continue without a login.
bool is_unwanted(const reply& refusal) {
    return refusal.text.find("without any password") != std::string::npos ||
           refusal.text.find("no password is set") != std::string::npos;
}

/// Logs in. If the login is refused and `may_be_refused` is set, returns the server's error.
asio::awaitable<std::string> log_in(connection& line, const login& how) {
    const credentials& who = how.who;
    if (who.user.empty() && who.password.empty())
        co_return std::string{};
    composer to{line.outbox()};
    if (who.user.empty())
        to.request({"AUTH", who.password.reveal()});
    else
        to.request({"AUTH", who.user, who.password.reveal()});
    line.occupied_with("waiting for the answer to AUTH");
    co_await send(line);
    const reply said = co_await line.answer();
    if (said.type != reply::kind::error || is_unwanted(said))
        co_return std::string{};
    if (!how.may_be_refused)
        throw net::failure{classify(said.text), "AUTH: " + said.text};
    co_return "AUTH: " + said.text;
}

/// Throws the earlier login error if the server now refuses requests without a login.
void judge_unknown_user(const reply& answer, const std::string& refusal) {
    if (!refusal.empty() && answer.type == reply::kind::error && answer.text.starts_with("NOAUTH"))
        throw net::failure{store_errc::not_authenticated, refusal};
}

} // namespace

asio::awaitable<std::string> greet(const node_context& context, connection& line,
                                   std::shared_ptr<const destination> to, login how,
                                   time_point limit) {
    const net::time_limit bound{context.home, limit, giving_up(line)};
    co_await line.dial(std::move(to), limit);
    co_return co_await log_in(line, how);
}

asio::awaitable<std::vector<reply>> inquire(const node_context& context, connection& line,
                                            std::shared_ptr<const destination> to, login how,
                                            std::string words, std::size_t answers,
                                            time_point limit) {
    const net::time_limit bound{context.home, limit, giving_up(line)};
    const std::string refusal = co_await greet(context, line, std::move(to), std::move(how), limit);
    line.occupied_with("waiting for its answer");
    line.outbox() += words;
    const time_point sent_at = context.home.time.now();
    co_await send(line);
    std::vector<reply> all;
    while (all.size() < answers) {
        all.push_back(co_await line.answer());
        judge_unknown_user(all.back(), refusal);
        all.back().sent_at = sent_at;
        all.back().received_at = context.home.time.now();
    }
    line.cut({errc::unreachable, "it has answered"});
    co_return all;
}

} // namespace holdfast::redis
