// SPDX-License-Identifier: Apache-2.0
#include "front/context_end.hpp"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <mutex>
#include <vector>

namespace holdfast::front {
namespace {

/// Service of the execution context that a client uses. When the context ends, the context calls
/// `shutdown` of this service.
class context_end final : public asio::execution_context::service {
public:
    using key_type = context_end;
    static inline asio::execution_context::id id;

    explicit context_end(asio::execution_context& context)
        : service{context} {}
    context_end(const context_end&) = delete;

    /// Destroys the objects that were created on the context. The objects must be destroyed now,
    /// because a client that outlives the context must not destroy them later.
    ~context_end() override {
        for (const living& one : living_) {
            if (one.time && !one.home->forked())
                one.time->leave_executor();
            one.home->executor_gone();
        }
    }

    struct client {
        std::weak_ptr<sync::engine> home;
        std::weak_ptr<runtime::real_clock> time;
        std::shared_ptr<engine_deleter::destruction> destruction;
    };

    void add(client made) {
        const std::scoped_lock guard{mutex_};
        std::erase_if(known_, [](const client& known) { return known.destruction->is_over(); });
        known_.push_back(std::move(made));
    }

private:
    /// Engine that exists when the execution context begins to end. This reference keeps the engine
    /// alive until the destructor of this service, so that no other thread destroys the engine
    /// earlier.
    struct living {
        std::shared_ptr<sync::engine> home;
        std::shared_ptr<runtime::real_clock> time;
    };

    void shutdown() override {
        for (const client& known : known_) {
            living one{known.home.lock(), known.time.lock()};
            if (one.home)
                living_.push_back(std::move(one));
            else
                known.destruction->wait();
        }
        for (const living& one : living_)
            let_go(*one.home, one.time);
    }

    static void let_go(sync::engine& home, const std::shared_ptr<runtime::real_clock>& time) {
        home.executor_ends();
        if (time && !home.forked())
            time->let_go();
        home.executor_ended();
    }

    std::mutex mutex_;
    std::vector<client> known_;
    std::vector<living> living_;
};

/// Creates, on the given execution context, one object of each type that a store or a clock may
/// create there.
struct net_objects {
    explicit net_objects(const asio::any_io_executor& executor)
        : file{executor}
        , socket{executor}
        , resolver{executor} {}
    asio::posix::stream_descriptor file;
    asio::generic::stream_protocol::socket socket;
    asio::ip::tcp::resolver resolver;
};

} // namespace

void engine_deleter::operator()(sync::engine* made) const {
    end_->by_ = std::this_thread::get_id();
    if (!made->forked())
        delete made;
    end_->over_ = true;
    end_->over_.notify_all();
}

void engine_deleter::destruction::wait() const {
    if (by_.load() == std::this_thread::get_id() || runtime::fork_generation() != process_)
        return;
    over_.wait(false);
}

void let_go_with_context(const std::shared_ptr<sync::engine>& home,
                         const std::shared_ptr<runtime::real_clock>& own) {
    asio::execution_context& context = asio::query(home->executor(), asio::execution::context);
    // A context destroys its services in the reverse order of their creation. The objects below
    // create Asio's services before our service, so our service is destroyed before Asio's
    // services.
    const net_objects made_first{home->executor()};
    const auto* const deleter = std::get_deleter<engine_deleter>(home);
    asio::use_service<context_end>(context).add({home, own, deleter->end()});
}

} // namespace holdfast::front
