// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint.hpp"
#include "zookeeper/protocol.hpp"
#include "zookeeper/server_list.hpp"
#include "zookeeper/session.hpp"
#include "zookeeper/session_client.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::zookeeper {
namespace {

constexpr net::option_checks check{"zookeeper::options"};

constexpr duration session_shortest{100};
/// Maximum length of the chroot and of the root, in bytes. Each request contains paths that begin
/// with the chroot and the root, and a server accepts at most a megabyte in one request.
constexpr std::size_t path_bytes_max = 1000;

void check_servers(const std::vector<server_address>& all) {
    if (const auto twice = check.servers(all, usual_port, "servers"))
        check.require(false, "servers has " + twice->which.host + ":" +
                                 std::to_string(twice->which.port) + " twice");
}

bool is_step(std::string_view name) {
    const bool has_control =
        std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < ' '; });
    return !name.empty() && name != "." && name != ".." && !has_control;
}

/// Checks a path by the servers' rules. A server would refuse every request that contains an
/// invalid path.
void check_path(std::string_view path, const std::string& field) {
    check.require(path.size() <= path_bytes_max,
                  field + " is longer than " + std::to_string(path_bytes_max) + " bytes");
    bool well = path.starts_with('/') && path.size() > 1;
    while (well && !path.empty()) {
        path.remove_prefix(1);
        const std::string_view step = path.substr(0, path.find('/'));
        well = is_step(step);
        path.remove_prefix(step.size());
    }
    check.require(
        well,
        field + " is not a path of a node; a path begins with '/', does not end with '/', and none "
                "of its parts is empty, is '.' or '..', or contains a control character");
}

void check_tls(const tls_options& tls) {
    check.certificate(tls, "tls");
    check.require(tls.server_name.size() <= net::server_name_bytes_max,
                  "tls.server_name is longer than a host name can be");
    check.no_nul(tls.server_name, "tls.server_name");
    check.files(tls);
}

void check_login(const options& how) {
    check.require(how.user.find(':') == std::string::npos,
                  "user contains a colon, which separates it from the password");
    check.require(how.user.empty() || !how.password.empty() || how.credentials,
                  "user is given, but neither password nor credentials");
    check.require(how.password.empty() || !how.user.empty() || how.credentials,
                  "password is given, but neither user nor credentials");
    const bool logs_in = !how.user.empty() || how.credentials != nullptr;
    const bool has_certificate = how.tls && !how.tls->certificate_file.empty();
    check.require(how.acl != node_acl::creator || logs_in || has_certificate,
                  "acl is creator, but neither a user nor a certificate is given");
}

} // namespace

options checked(options how) {
    check_servers(how.servers);
    if (!how.chroot.empty())
        check_path(how.chroot, "chroot");
    if (!how.names_are_paths)
        check_path(how.root, "root");
    check.require(how.form <= node_form::kazoo, "form must be curator or kazoo");
    check.require(how.acl <= node_acl::creator, "acl must be open or creator");
    if (how.tls)
        check_tls(*how.tls);
    check_login(how);
    if (how.session_timeout != duration::zero())
        check.time(how.session_timeout, "session_timeout", session_shortest);
    check.time(how.connect_timeout, "connect_timeout");
    check.time(how.command_timeout, "command_timeout");
    check.backoff(how.backoff_min, how.backoff_max);
    check.require(how.requests_max > 0, "requests_max is 0");
    check.require(how.reply_bytes_max > 0, "reply_bytes_max is 0");
    return how;
}

namespace {

/// Session that uses a `session_client`. Each call holds a reference to the session client, so the
/// session may be destroyed while calls are running. Arguments of co_await are named variables
/// here, because g++ 12 destroys some temporaries twice.
class kept_session final : public session {
public:
    kept_session(options how, store_context home)
        : session_client_{std::make_shared<session_client>(std::move(how), std::move(home))} {}
    ~kept_session() override { session_client_->close(); }

    asio::awaitable<creation> create(new_node) override;
    asio::awaitable<created_and_listed> create_and_list(new_node, std::string parent) override;
    asio::awaitable<listing> list(std::string path) override;
    asio::awaitable<std::optional<node_data>> get(std::string path) override;
    asio::awaitable<bool> set(std::string path, std::string data) override;
    asio::awaitable<bool> set_if_unchanged(std::string path, std::string data,
                                           std::int32_t version) override;
    asio::awaitable<removal> remove(std::string path) override;
    asio::awaitable<void> sync(std::string path) override;
    asio::awaitable<std::vector<bool>> confirm(std::span<const std::string> paths,
                                               time_point answer_by) override;
    asio::awaitable<void> prove_alive(time_point answer_by) override;
    asio::awaitable<std::unique_ptr<watch>> watch_node(std::string path, alarm& wake) override;
    asio::awaitable<std::unique_ptr<watch>> watch_node(std::string path,
                                                       std::function<void()> whom) override;
    asio::awaitable<watched_listing> list_and_watch(std::string path, alarm& wake) override;
    asio::awaitable<survey> look_around() override;

    session_state state() const override { return session_client_->state(); }
    std::shared_ptr<void> in_use() override { return session_client_->in_use(); }
    std::unique_ptr<watch> on_news(std::function<void(session_news)> whom) override {
        return session_client_->on_news(std::move(whom));
    }
    duration command_timeout() const noexcept override {
        return session_client_->how().command_timeout;
    }
    std::string address() const override { return session_client_->address(); }
    asio::awaitable<void> depart() override;
    void close() noexcept override { session_client_->close(); }

private:
    using shared_session_client = std::shared_ptr<session_client>;

    const shared_session_client session_client_;
};

using shared_session_client = std::shared_ptr<session_client>;

shared_request asked(session_client& of, message what) {
    auto made = std::make_shared<request>(std::move(what));
    of.ask(made);
    return made;
}

/// Returns true if the request succeeded, and false if it failed with the error `expected`. Throws
/// for any other error.
bool went_well(const request& done, std::int32_t expected, const std::string& in_words) {
    if (done.error != answered::well && done.error != expected)
        throw failure_of(done.error, in_words);
    return done.error == answered::well;
}

message creation_message(const session_client& of, const new_node& node) {
    return create_message(of.below_chroot(node.path), node.data, node.mode, of.how().acl);
}

bool lacks_containers(const request& done, const new_node& node) {
    return node.mode == node_mode::container && done.error == answered::unimplemented;
}

session::creation creation_of(const session_client& of, const request& done, const new_node& node) {
    session::creation made;
    if (done.error == answered::no_node)
        made.why = session::refusal::no_parent;
    else if (!went_well(done, answered::node_exists, "the creation of " + node.path))
        made.why = session::refusal::exists;
    else
        made.node = read_created(done.body);
    const std::string& chroot = of.how().chroot;
    if (made.node.path.starts_with(chroot))
        made.node.path.erase(0, chroot.size());
    return made;
}

listing listing_of(const request& done, const std::string& path) {
    if (!went_well(done, answered::no_node, "the list of " + path))
        return std::nullopt;
    return read_children(done.body);
}

/// Throws `not_set_up` if the chroot does not exist. Call it if the answer to `asked_before` says
/// that a node does not exist, because a missing chroot must not look like a free lock. Checks each
/// time, because the chroot may be deleted while clients use it. The check ends at the time limit
/// of `asked_before`.
asio::awaitable<void> require_chroot(shared_session_client home, shared_request asked_before) {
    const std::string& chroot = home->how().chroot;
    if (chroot.empty())
        co_return;
    const std::string asks = "whether there is the chroot " + chroot;
    const time_point limit = asked_before->asked_at + home->how().command_timeout;
    shared_request done = asked(*home, exists_message(chroot));
    co_await home->settled_by(done, limit);
    if (went_well(*done, answered::no_node, asks))
        co_return;
    // Sync and ask again, because a server that lags behind may not know yet that the chroot was
    // created.
    const shared_request synced = asked(*home, sync_message(chroot));
    done = asked(*home, exists_message(chroot));
    co_await home->settled_by(done, limit);
    if (!went_well(*done, answered::no_node, asks))
        throw net::failure{store_errc::not_set_up,
                           "the chroot '" + chroot + "' does not exist at " + home->address() +
                               ": create this node, or correct the path in the URL"};
}

/// Checks whether the session still exists, after a pause of the process. The check changes
/// nothing, so it does no harm if its answer is lost. If the session has expired, the caller's next
/// request goes to a new session. Without the check, the caller's own request would be lost, and
/// its outcome would be unknown.
asio::awaitable<void> check_session(shared_session_client home) {
    try {
        const std::vector<std::string> root{home->below_chroot("/")};
        const shared_request done = asked(*home, check_message(root));
        co_await home->settled_by(done, done->asked_at + home->how().command_timeout);
    } catch (const net::failure& why) {
        if (why.code() == errc::closed)
            throw;
    }
}

asio::awaitable<session::creation> kept_session::create(new_node node) {
    const shared_session_client home = session_client_;
    if (home->may_have_expired())
        co_await check_session(home);
    shared_request done = asked(*home, creation_message(*home, node));
    co_await home->settled(done);
    if (lacks_containers(*done, node)) {
        node.mode = node_mode::persistent;
        const time_point limit = done->asked_at + home->how().command_timeout;
        done = asked(*home, creation_message(*home, node));
        co_await home->settled_by(done, limit);
    }
    if (done->error == answered::no_node)
        co_await require_chroot(home, done);
    co_return creation_of(*home, *done, node);
}

/// Throws the failure of a request that followed the creation of a node. The code never means
/// "nothing was executed", because the caller would then forget the node.
[[noreturn]] void fail_behind_creation(const net::failure& why) {
    const bool nothing_done = why.code() == errc::refused || why.code() == errc::unreachable ||
                              why.code() == errc::overloaded;
    throw net::failure{nothing_done ? make_error_code(errc::outcome_unknown) : why.code(),
                       why.text()};
}

asio::awaitable<session::created_and_listed> kept_session::create_and_list(new_node node,
                                                                           std::string parent) {
    const shared_session_client home = session_client_;
    if (home->may_have_expired())
        co_await check_session(home);
    const shared_request made = asked(*home, creation_message(*home, node));
    shared_request listed;
    std::optional<net::failure> unlisted;
    try {
        listed = asked(*home, list_message(home->below_chroot(parent), false));
        // Wait for the answer to the list request only. The server answers in order, so it has
        // answered the creation request before.
        co_await home->settled(listed);
    } catch (const net::failure& why) {
        unlisted = why;
    }
    co_await home->settled(made);
    created_and_listed both;
    both.made = creation_of(*home, *made, node);
    try {
        if (!unlisted)
            both.children = listing_of(*listed, parent);
    } catch (const net::failure& why) {
        unlisted = why;
    }
    if (unlisted)
        fail_behind_creation(*unlisted);
    co_return both;
}

asio::awaitable<listing> kept_session::list(std::string path) {
    const shared_session_client home = session_client_;
    if (home->may_have_expired())
        co_await check_session(home);
    const shared_request done = asked(*home, list_message(home->below_chroot(path), false));
    co_await home->settled(done);
    if (done->error == answered::no_node)
        co_await require_chroot(home, done);
    co_return listing_of(*done, path);
}

asio::awaitable<std::optional<node_data>> kept_session::get(std::string path) {
    const shared_session_client home = session_client_;
    if (home->may_have_expired())
        co_await check_session(home);
    const shared_request done = asked(*home, get_message(home->below_chroot(path), false));
    co_await home->settled(done);
    if (done->error == answered::no_node)
        co_await require_chroot(home, done);
    if (!went_well(*done, answered::no_node, "the data of " + path))
        co_return std::nullopt;
    co_return read_data(done->body);
}

asio::awaitable<bool> kept_session::set(std::string path, std::string data) {
    const shared_session_client home = session_client_;
    if (home->may_have_expired())
        co_await check_session(home);
    const shared_request done = asked(*home, set_message(home->below_chroot(path), data));
    co_await home->settled(done);
    if (done->error == answered::no_node)
        co_await require_chroot(home, done);
    co_return went_well(*done, answered::no_node, "new data of " + path);
}

asio::awaitable<bool> kept_session::set_if_unchanged(std::string path, std::string data,
                                                     std::int32_t version) {
    const shared_session_client home = session_client_;
    if (home->may_have_expired())
        co_await check_session(home);
    const shared_request done = asked(*home, set_message(home->below_chroot(path), data, version));
    co_await home->settled(done);
    if (done->error == answered::bad_version)
        co_return false;
    if (done->error == answered::no_node)
        co_await require_chroot(home, done);
    co_return went_well(*done, answered::no_node, "new data of " + path);
}

asio::awaitable<session::removal> kept_session::remove(std::string path) {
    const shared_session_client home = session_client_;
    if (home->may_have_expired())
        co_await check_session(home);
    const shared_request done = asked(*home, remove_message(home->below_chroot(path)));
    co_await home->settled(done);
    if (done->error == answered::not_empty)
        co_return removal::has_children;
    co_return went_well(*done, answered::no_node, "the deletion of " + path) ? removal::removed
                                                                             : removal::absent;
}

asio::awaitable<void> kept_session::sync(std::string path) {
    const shared_session_client home = session_client_;
    if (home->may_have_expired())
        co_await check_session(home);
    const shared_request done = asked(*home, sync_message(home->below_chroot(path)));
    co_await home->settled(done);
    went_well(*done, answered::well, "a sync");
}

asio::awaitable<void> kept_session::prove_alive(time_point answer_by) {
    const shared_session_client home = session_client_;
    if (!home->may_end_soon())
        co_return;
    // Send a write first: its answer may be proof enough that the session still exists. Otherwise
    // resume the session on a new connection, and send another write.
    co_await confirm({}, answer_by);
    if (!home->may_end_soon())
        co_return;
    home->connect_anew();
    co_await confirm({}, answer_by);
}

asio::awaitable<std::vector<bool>> kept_session::confirm(std::span<const std::string> paths,
                                                         time_point answer_by) {
    const shared_session_client home = session_client_;
    std::vector<std::string> whole;
    for (const std::string& path : paths)
        whole.push_back(home->below_chroot(path));
    if (paths.empty())
        whole.push_back(home->below_chroot("/"));
    const shared_request done = asked(*home, check_message(whole));
    const time_point limit = std::min(answer_by, done->asked_at + home->how().command_timeout);
    co_await home->settled_by(done, limit);
    went_well(*done, answered::no_node, "a check");
    const auto found = read_checks(done->body, whole.size());
    // The server's check stops at the first missing node, so the nodes after it must be checked
    // again. A server answers the requests of a session in order, so the new answers show a state
    // that is at least as new as the write.
    std::vector<shared_request> again(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i)
        if (!found[i])
            again[i] = asked(*home, exists_message(whole[i]));
    std::vector<bool> there(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (again[i])
            co_await home->settled_by(again[i], limit);
        there[i] = again[i]
                       ? went_well(*again[i], answered::no_node, "whether there is " + paths[i])
                       : *found[i];
    }
    co_return there;
}

asio::awaitable<std::unique_ptr<watch>> kept_session::watch_node(std::string path, alarm& wake) {
    std::function<void()> ring = [&wake] { wake.ring(); };
    return watch_node(std::move(path), std::move(ring));
}

asio::awaitable<std::unique_ptr<watch>> kept_session::watch_node(std::string path,
                                                                 std::function<void()> whom) {
    const shared_session_client home = session_client_;
    if (home->may_have_expired())
        co_await check_session(home);
    const std::string whole = home->below_chroot(path);
    const auto who = std::make_shared<watches::watcher>(
        watches::watcher{watches::of::node, whole, std::move(whom)});
    const auto done = std::make_shared<request>(get_message(whole, true));
    std::unique_ptr<watch> watching = home->watch_with(done, who);
    home->ask(done);
    co_await home->settled(done);
    if (!went_well(*done, answered::no_node, "the data of " + path))
        co_return nullptr;
    co_return watching;
}

asio::awaitable<session::watched_listing> kept_session::list_and_watch(std::string path,
                                                                       alarm& wake) {
    const shared_session_client home = session_client_;
    if (home->may_have_expired())
        co_await check_session(home);
    const std::string whole = home->below_chroot(path);
    const auto who = std::make_shared<watches::watcher>(
        watches::watcher{watches::of::children, whole, [&wake] { wake.ring(); }});
    const auto done = std::make_shared<request>(list_message(whole, true));
    watched_listing both;
    both.children_watched = home->watch_with(done, who);
    home->ask(done);
    co_await home->settled(done);
    if (done->error == answered::no_node)
        co_await require_chroot(home, done);
    both.children = listing_of(*done, path);
    if (!both.children)
        both.children_watched = nullptr;
    co_return both;
}

asio::awaitable<survey> kept_session::look_around() {
    const shared_session_client home = session_client_;
    co_return co_await home->look_around();
}

asio::awaitable<void> kept_session::depart() {
    const shared_session_client home = session_client_;
    co_await home->depart();
}

} // namespace

std::unique_ptr<session> make_session(options how, store_context home) {
    return std::make_unique<kept_session>(std::move(how), std::move(home));
}

} // namespace holdfast::zookeeper
