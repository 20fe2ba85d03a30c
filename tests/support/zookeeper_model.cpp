// SPDX-License-Identifier: Apache-2.0
#include "support/zookeeper_model.hpp"

#include "net/failure.hpp"
#include "store/zookeeper/nodes.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

namespace holdfast::support {

using zookeeper::listing;
using zookeeper::new_node;
using zookeeper::node_data;
using zookeeper::node_mode;
using zookeeper::parent_of;

namespace {

bool is_numbered(node_mode mode) {
    return mode == node_mode::persistent_sequential || mode == node_mode::ephemeral_sequential;
}

bool is_ephemeral(node_mode mode) {
    return mode == node_mode::ephemeral || mode == node_mode::ephemeral_sequential;
}

/// Session id that a server reports as the owner of a container node.
constexpr std::int64_t container_mark = std::numeric_limits<std::int64_t>::min();

/// Formats the number of a sequential node as a server does.
std::string ten_digits(std::int64_t number) {
    char text[32];
    std::snprintf(text, sizeof text, "%010d", static_cast<int>(number));
    return text;
}

} // namespace

zookeeper_model::zookeeper_model() {
    nodes_.emplace("/", node{});
}

zookeeper_model::~zookeeper_model() = default;

zookeeper::session::creation zookeeper_model::create(const new_node& what, std::int64_t session) {
    zookeeper::session::creation got;
    const std::string parent{parent_of(what.path)};
    const auto above = nodes_.find(parent);
    if (above == nodes_.end()) {
        got.why = zookeeper::session::refusal::no_parent;
        return got;
    }
    std::string path = what.path;
    if (is_numbered(what.mode))
        path += ten_digits(above->second.next_number);
    if (nodes_.contains(path)) {
        got.why = zookeeper::session::refusal::exists;
        return got;
    }
    ++above->second.next_number;
    node made;
    made.data = what.data;
    made.stat.czxid = made.stat.mzxid = made.stat.pzxid = above->second.stat.pzxid = ++zxid_;
    made.stat.made_at = 1'700'000'000'000 + zxid_;
    made.stat.ephemeral_owner = is_ephemeral(what.mode)             ? session
                                : what.mode == node_mode::container ? container_mark
                                                                    : 0;
    made.stat.data_length = static_cast<std::int32_t>(what.data.size());
    got.node = {path, made.stat};
    nodes_.emplace(path, std::move(made));
    fire(parent, true);
    return got;
}

listing zookeeper_model::list(const std::string& path) const {
    if (!nodes_.contains(path))
        return std::nullopt;
    std::vector<std::string> names;
    const std::string prefix = path == "/" ? path : path + '/';
    for (auto each = nodes_.upper_bound(prefix);
         each != nodes_.end() && each->first.starts_with(prefix); ++each)
        if (each->first.find('/', prefix.size()) == std::string::npos)
            names.push_back(each->first.substr(prefix.size()));
    return names;
}

zookeeper::session::removal zookeeper_model::remove(const std::string& path) {
    const auto found = nodes_.find(path);
    if (found == nodes_.end())
        return zookeeper::session::removal::absent;
    if (!list(path)->empty())
        return zookeeper::session::removal::has_children;
    nodes_.erase(found);
    nodes_.at(std::string{parent_of(path)}).stat.pzxid = ++zxid_;
    fire(path, false);
    fire(path, true);
    fire(std::string{parent_of(path)}, true);
    return zookeeper::session::removal::removed;
}

void zookeeper_model::fire(const std::string& path, bool of_children) {
    for (auto each = watches_.begin(); each != watches_.end();) {
        if (each->second.path == path && each->second.of_children == of_children) {
            each->second.fire();
            each = watches_.erase(each);
        } else {
            ++each;
        }
    }
}

std::uint64_t zookeeper_model::watch(set_watch what) {
    ++figures_.watches;
    watches_.emplace(++next_watch_, std::move(what));
    return next_watch_;
}

std::string zookeeper_model::make(std::string path, node_mode mode, std::int64_t session,
                                  std::string data) {
    const std::scoped_lock guard{mutex_};
    std::vector<std::string> missing;
    for (std::string_view each = parent_of(path); !nodes_.contains(std::string{each});
         each = parent_of(each))
        missing.emplace_back(each);
    for (; !missing.empty(); missing.pop_back())
        (void)create({missing.back(), {}, node_mode::container}, 0);
    return create({std::move(path), std::move(data), mode}, session).node.path;
}

bool zookeeper_model::erase(const std::string& path) {
    const std::scoped_lock guard{mutex_};
    return remove(path) == zookeeper::session::removal::removed;
}

std::optional<node_data> zookeeper_model::at(const std::string& path) {
    const std::scoped_lock guard{mutex_};
    return see(path);
}

std::optional<node_data> zookeeper_model::see(const std::string& path) const {
    const auto found = nodes_.find(path);
    if (found == nodes_.end())
        return std::nullopt;
    node_data seen{found->second.data, found->second.stat};
    seen.stat.children = static_cast<std::int32_t>(list(path)->size());
    seen.stat.child_version =
        static_cast<std::int32_t>(found->second.next_number * 2 - seen.stat.children);
    return seen;
}

std::vector<std::string> zookeeper_model::children(const std::string& path) {
    const std::scoped_lock guard{mutex_};
    return list(path).value_or(std::vector<std::string>{});
}

void zookeeper_model::set_next_number(const std::string& path, std::int64_t number) {
    const std::scoped_lock guard{mutex_};
    nodes_.at(path).next_number = number;
}

void zookeeper_model::set_servers(zookeeper::survey seen) {
    const std::scoped_lock guard{mutex_};
    seen_ = std::move(seen);
}

void zookeeper_model::erase_if_empty(const std::string& path) {
    const std::scoped_lock guard{mutex_};
    (void)remove(path);
}

zookeeper_model::figures zookeeper_model::so_far() {
    const std::scoped_lock guard{mutex_};
    return figures_;
}

std::size_t zookeeper_model::watches() {
    const std::scoped_lock guard{mutex_};
    return watches_.size();
}

// Sessions of the model: how a client reads and changes the tree, and how a session ends.

using zookeeper::session_news;
using zookeeper::session_state;

namespace {

/// Callback that does nothing after its owner was destroyed.
using callback = std::shared_ptr<std::function<void()>>;

std::function<void()> posting(const asio::any_io_executor& to, const callback& what) {
    return [to, weak = std::weak_ptr{what}] {
        asio::post(to, [weak] {
            if (const callback there = weak.lock())
                (*there)();
        });
    };
}

} // namespace

class zookeeper_model::watch_handle final : public holdfast::watch {
public:
    watch_handle(zookeeper_model& model, std::uint64_t id, callback whom)
        : model_{model}
        , id_{id}
        , whom_{std::move(whom)} {}
    watch_handle(const watch_handle&) = delete;
    ~watch_handle() override {
        const std::scoped_lock guard{model_.mutex_};
        model_.watches_.erase(id_);
    }

private:
    zookeeper_model& model_;
    const std::uint64_t id_;
    const callback whom_;
};

class zookeeper_model::model_session final : public zookeeper::session {
public:
    model_session(zookeeper_model& model, const store_context& context, fault_function faults,
                  duration timeout)
        : model_{model}
        , executor_{context.executor}
        , time_{context.time}
        , faults_{std::move(faults)}
        , timeout_{timeout} {}
    model_session(const model_session&) = delete;
    ~model_session() override {
        close();
        *here_ = false;
    }

    asio::awaitable<creation> create(new_node what) override {
        const std::string path = what.path;
        std::function<creation()> act = [this, what] {
            ++model_.figures_.creates;
            return model_.create(what, id_);
        };
        return call<creation>("create", path, std::move(act), true);
    }
    asio::awaitable<created_and_listed> create_and_list(new_node what,
                                                        std::string parent) override {
        const std::string path = what.path;
        std::function<created_and_listed()> act = [this, what, parent] {
            ++model_.figures_.creates;
            ++model_.figures_.lists;
            created_and_listed got{model_.create(what, id_), {}};
            got.children = model_.list(parent);
            return got;
        };
        return call<created_and_listed>("create_and_list", path, std::move(act), true);
    }
    asio::awaitable<listing> list(std::string path) override {
        std::function<listing()> act = [this, path] {
            ++model_.figures_.lists;
            return model_.list(path);
        };
        return call<listing>("list", path, std::move(act), false);
    }
    asio::awaitable<std::optional<node_data>> get(std::string path) override {
        std::function<std::optional<node_data>()> act = [this, path] {
            ++model_.figures_.gets;
            return model_.see(path);
        };
        return call<std::optional<node_data>>("get", path, std::move(act), false);
    }
    asio::awaitable<bool> set(std::string path, std::string data) override {
        std::function<bool()> act = [this, path, data] {
            const auto found = model_.nodes_.find(path);
            if (found == model_.nodes_.end())
                return false;
            found->second.data = data;
            found->second.stat.mzxid = ++model_.zxid_;
            ++found->second.stat.version;
            model_.fire(path, false);
            return true;
        };
        return call<bool>("set", path, std::move(act), true);
    }
    asio::awaitable<bool> set_if_unchanged(std::string path, std::string data,
                                           std::int32_t version) override {
        std::function<bool()> act = [this, path, data, version] {
            const auto found = model_.nodes_.find(path);
            if (found == model_.nodes_.end() || found->second.stat.version != version)
                return false;
            found->second.data = data;
            found->second.stat.mzxid = ++model_.zxid_;
            ++found->second.stat.version;
            model_.fire(path, false);
            return true;
        };
        return call<bool>("set", path, std::move(act), true);
    }
    asio::awaitable<removal> remove(std::string path) override {
        std::function<removal()> act = [this, path] {
            ++model_.figures_.removes;
            return model_.remove(path);
        };
        return call<removal>("remove", path, std::move(act), true);
    }
    asio::awaitable<void> sync(std::string path) override {
        std::function<bool()> act = [this] {
            ++model_.figures_.syncs;
            return true;
        };
        co_await call<bool>("sync", std::move(path), std::move(act), false);
    }
    asio::awaitable<zookeeper::survey> look_around() override {
        std::function<zookeeper::survey()> act = [this] { return model_.seen_; };
        return call<zookeeper::survey>("look_around", {}, std::move(act), false);
    }
    asio::awaitable<std::vector<bool>> confirm(std::span<const std::string> paths,
                                               time_point) override {
        const std::vector<std::string> all{paths.begin(), paths.end()};
        std::function<std::vector<bool>()> act = [this, all] {
            ++model_.figures_.confirms;
            std::vector<bool> there;
            for (const std::string& each : all)
                there.push_back(model_.nodes_.contains(each));
            return there;
        };
        return call<std::vector<bool>>("confirm", all.empty() ? std::string{} : all.front(),
                                       std::move(act), true);
    }

    asio::awaitable<std::unique_ptr<holdfast::watch>> watch_node(std::string path,
                                                                 alarm& wake) override {
        std::function<void()> ring = [&wake] { wake.ring(); };
        return watch_node(std::move(path), std::move(ring));
    }
    asio::awaitable<std::unique_ptr<holdfast::watch>>
    watch_node(std::string path, std::function<void()> whom) override {
        const auto heard = std::make_shared<std::function<void()>>(std::move(whom));
        std::function<std::uint64_t()> act = [this, path, heard] {
            if (!model_.nodes_.contains(path))
                return std::uint64_t{0};
            return model_.watch({path, false, id_, posting(executor_, heard)});
        };
        const std::uint64_t id =
            co_await call<std::uint64_t>("watch_node", std::move(path), std::move(act), false);
        if (id == 0)
            co_return nullptr;
        co_return std::make_unique<watch_handle>(model_, id, heard);
    }
    asio::awaitable<watched_listing> list_and_watch(std::string path, alarm& wake) override {
        const auto heard = std::make_shared<std::function<void()>>([&wake] { wake.ring(); });
        std::uint64_t id = 0;
        std::function<listing()> act = [this, path, heard, &id] {
            ++model_.figures_.lists;
            listing found = model_.list(path);
            if (found)
                id = model_.watch({path, true, id_, posting(executor_, heard)});
            return found;
        };
        watched_listing got;
        got.children =
            co_await call<listing>("list_and_watch", std::move(path), std::move(act), false);
        if (id != 0)
            got.children_watched = std::make_unique<watch_handle>(model_, id, heard);
        co_return got;
    }

    session_state state() const override {
        const bool beats = users_.use_count() > 1 && connected_;
        const time_point kept = beats ? time_.now() + timeout_ * 7 / 12 : time_point::min();
        return {id_, timeout_, connected_, id_ == 0 ? time_point::min() : std::max(alive_, kept)};
    }
    std::shared_ptr<void> in_use() override { return users_; }
    std::unique_ptr<holdfast::watch> on_news(std::function<void(session_news)> whom) override {
        class session_listener final : public holdfast::watch {
        public:
            session_listener(std::shared_ptr<bool> alive, model_session& of,
                             std::list<std::function<void(session_news)>>::iterator at)
                : alive_{std::move(alive)}
                , of_{of}
                , at_{at} {}
            session_listener(const session_listener&) = delete;
            ~session_listener() override {
                if (*alive_)
                    of_.listeners_.erase(at_);
            }

        private:
            const std::shared_ptr<bool> alive_;
            model_session& of_;
            const std::list<std::function<void(session_news)>>::iterator at_;
        };
        const auto at = listeners_.insert(listeners_.end(), std::move(whom));
        return std::make_unique<session_listener>(here_, *this, at);
    }
    duration command_timeout() const noexcept override { return std::chrono::seconds{3}; }
    std::string address() const override { return "model"; }
    asio::awaitable<void> depart() override {
        if (id_ != 0)
            model_.end_session(id_);
        id_ = 0;
        co_return;
    }
    void close() noexcept override {
        closed_ = true;
        const std::scoped_lock guard{model_.mutex_};
        model_.sessions_.erase(id_);
    }

    // The model calls the functions below while it holds its mutex.

    void end_soon() {
        tell_soon([](model_session& me) {
            me.id_ = 0;
            me.connected_ = false;
            me.alive_ = time_point::min();
            me.tell(session_news::ended);
        });
    }
    void cut_soon() {
        tell_soon([](model_session& me) { me.lose_connection(); });
    }

private:
    void tell_soon(std::function<void(model_session&)> what) {
        asio::post(executor_, [this, alive = here_, what = std::move(what)] {
            if (*alive && !closed_)
                what(*this);
        });
    }

    void tell(session_news what) {
        const auto all = listeners_;
        for (const auto& each : all)
            each(what);
    }
    void lose_connection() {
        if (!connected_)
            return;
        connected_ = false;
        tell(session_news::suspended);
    }

    /// Opens a new session, or resumes the old session after a lost connection. A resumed session
    /// gets all its watches fired.
    void connect() {
        if (std::exchange(connected_, true))
            return;
        const bool resumes = id_ != 0;
        {
            const std::scoped_lock guard{model_.mutex_};
            if (!resumes) {
                id_ = model_.next_session_++;
                model_.sessions_.emplace(id_, this);
            }
            for (auto& [number, each] : model_.watches_)
                if (resumes && each.session == id_)
                    each.fire();
        }
        alive_ = time_.now() + timeout_;
        tell(resumes ? session_news::resumed : session_news::opened);
    }

    [[noreturn]] static void fail(errc why) { throw net::failure{why, "as the test wants it"}; }

    template <typename T>
    asio::awaitable<T> call(std::string_view verb, std::string path, std::function<T()> act,
                            bool writes) {
        if (closed_)
            fail(errc::closed);
        const std::shared_ptr<bool> alive = here_;
        const zookeeper_fate met = faults_ ? faults_({verb, path}) : zookeeper_fate{};
        co_await asio::post(executor_, asio::use_awaitable);
        if (!*alive || closed_)
            fail(errc::closed);
        if (met.unsent)
            fail(errc::unreachable);
        connect();
        if (met.refused)
            throw net::failure{*met.refused, "as the test wants it"};
        const time_point sent_at = time_.now();
        T said{};
        if (!met.lost) {
            const std::scoped_lock guard{model_.mutex_};
            ++model_.figures_.all;
            said = act();
        }
        co_await asio::post(executor_, asio::use_awaitable);
        if (!*alive || closed_)
            fail(errc::closed);
        if (met.lost || met.answer_lost) {
            lose_connection();
            fail(errc::outcome_unknown);
        }
        if (writes && id_ != 0)
            alive_ = std::max(alive_, sent_at + timeout_ * 9 / 10);
        co_return said;
    }

    zookeeper_model& model_;
    const asio::any_io_executor executor_;
    clock& time_;
    const fault_function faults_;
    const duration timeout_;
    /// Becomes false when this object is destroyed.
    const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
    std::int64_t id_ = 0;
    bool connected_ = false;
    bool closed_ = false;
    time_point alive_ = time_point::min();
    std::shared_ptr<int> users_ = std::make_shared<int>(0);
    std::list<std::function<void(session_news)>> listeners_;
};

std::unique_ptr<zookeeper::session>
zookeeper_model::connect(const store_context& context, fault_function faults, duration timeout) {
    return std::make_unique<model_session>(*this, context, std::move(faults), timeout);
}

void zookeeper_model::end_session(std::int64_t id) {
    const std::scoped_lock guard{mutex_};
    std::vector<std::string> gone;
    for (const auto& [path, each] : nodes_)
        if (each.stat.ephemeral_owner == id)
            gone.push_back(path);
    for (const std::string& each : gone)
        (void)remove(each);
    for (auto& [number, each] : watches_)
        if (each.session == id)
            each.fire();
    const auto found = sessions_.find(id);
    if (found == sessions_.end())
        return;
    found->second->end_soon();
    sessions_.erase(found);
}

void zookeeper_model::cut(std::int64_t id) {
    const std::scoped_lock guard{mutex_};
    if (const auto found = sessions_.find(id); found != sessions_.end())
        found->second->cut_soon();
}

std::vector<std::int64_t> zookeeper_model::sessions() {
    const std::scoped_lock guard{mutex_};
    std::vector<std::int64_t> all;
    for (const auto& [id, each] : sessions_)
        all.push_back(id);
    return all;
}

} // namespace holdfast::support
