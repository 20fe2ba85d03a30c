// SPDX-License-Identifier: Apache-2.0
// Sessions of the model: what a client sees of the tree, and how a session ends.
#include "net/failure.hpp"
#include "support/zookeeper_model.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::support {

using zookeeper::listing;
using zookeeper::new_node;
using zookeeper::node_data;
using zookeeper::session_news;
using zookeeper::session_state;

namespace {

/// Callback that may be called after its owner was destroyed. It does nothing then.
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

    // The model calls these functions with its mutex held.

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

    /// Opens a new session, or resumes the old session. On a resume, every watch fires.
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
    /// becomes false when this object is destroyed
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
