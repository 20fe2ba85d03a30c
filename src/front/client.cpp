// SPDX-License-Identifier: Apache-2.0
#include "config/errors.hpp"
#include "config/url.hpp"
#include "config/validation.hpp"
#include "front/async_calls.hpp"
#include "front/blocking_calls.hpp"
#include "front/context_end.hpp"
#include "runtime/environment.hpp"
#include "runtime/monitor.hpp"

#include <holdfast/client.hpp>

#include <boost/asio/strand.hpp>

namespace holdfast {
namespace {

/// Returns a function that tells whether it is called in a child process: a process that was forked
/// from this process, directly or indirectly, after this call.
std::function<bool()> forked_since_now() {
    return [made_in = runtime::fork_generation()] { return runtime::fork_generation() != made_in; };
}

/// Sets the options that the user did not set, and creates the store that the URL names.
options complete(options how) {
    if (!how.store)
        how = resolve_url(std::move(how));
    if (!how.random)
        how.random = runtime::system_random();
    check(how);
    return how;
}

asio::any_io_executor one_at_a_time(const asio::any_io_executor& executor, const options& how) {
    if (how.executor_is_serial)
        return executor;
    return asio::make_strand(executor);
}

/// Returns a function that tells whether the calling thread is inside this client's monitor
/// (runtime/monitor.hpp). That thread must not run the user's code.
std::function<bool()> visited_by_this_thread(const asio::any_io_executor& executor) {
    return [client_monitor = runtime::monitor::of(executor)] {
        return client_monitor && runtime::inline_call::here(*client_monitor);
    };
}

std::shared_ptr<sync::engine> make_engine(asio::any_io_executor executor, clock& time,
                                          std::shared_ptr<void> keeps, options how) {
    const bool own_thread = runtime::monitor::of(executor) != nullptr;
    const bool own_clock = keeps != nullptr;
    sync::engine_environment around{executor,
                                    time,
                                    std::move(keeps),
                                    forked_since_now(),
                                    visited_by_this_thread(executor),
                                    own_thread,
                                    own_clock};
    auto made = std::make_unique<sync::engine>(std::move(around), complete(std::move(how)));
    checked_replicas(made->how().required_replicas, made->bounds());
    return {made.release(), front::engine_deleter{}};
}

} // namespace

options client::with_url(std::string_view url) {
    options how;
    how.url = url;
    return how;
}

options client::with_url(const char* url) {
    if (!url)
        refuse("url: it is a null pointer; is an environment variable not set?");
    return with_url(std::string_view{url});
}

client::client(own_thread, options how)
    : owns_thread_{true} {
    how = complete(std::move(how)); // throws errors before the thread is created
    const auto loop = std::make_shared<runtime::loop>();
    engine_ = make_engine(loop->executor(), loop->time(), loop, std::move(how));
}

client::client(asio::any_io_executor executor, options how) {
    const asio::any_io_executor serial = one_at_a_time(executor, how);
    const auto time = std::make_shared<runtime::real_clock>(serial);
    engine_ = make_engine(serial, *time, time, std::move(how));
    front::let_go_with_context(engine_, time);
}

client::client(asio::any_io_executor executor, clock& time, options how)
    : engine_{make_engine(one_at_a_time(executor, how), time, nullptr, how)} {
    front::let_go_with_context(engine_);
}

client::client(client&&) noexcept = default;

client& client::operator=(client&& other) noexcept {
    client dropped{std::move(*this)};
    engine_ = std::move(other.engine_);
    owns_thread_ = other.owns_thread_;
    return *this;
}

client::~client() {
    if (!engine_ || engine_->forked() || engine_->closed())
        return;
    if (owns_thread_)
        close();
    else
        start_close(engine_, [](error_code) {});
}

void client::close() noexcept {
    if (!engine_ || engine_->forked() || engine_->closed())
        return;
    if (front::runs_here(*engine_))
        return start_close(engine_, [](error_code) {});
    const std::shared_ptr<sync::engine> engine = engine_;
    const auto pending_result = std::make_shared<front::one_shot_result<error_code>>(*engine);
    auto done = [pending_result] { pending_result->set_value(error_code{}, pending_result); };
    auto begin = [engine, done = std::move(done)]() mutable { engine->close(std::move(done)); };
    if (engine->executor_access().post(std::move(begin)))
        (void)pending_result->wait();
}

void client::start_close(std::shared_ptr<sync::engine> engine,
                         asio::any_completion_handler<void(error_code)> handler) {
    if (const error_code ec = front::objection_to_posting(*engine))
        return front::complete_elsewhere(std::move(handler), ec);
    auto begin = [engine,
                  waiting = front::awaited{std::move(handler), engine->executor()}]() mutable {
        auto done = [engine, waiting = std::move(waiting)]() mutable {
            waiting.complete(error_code{});
        };
        engine->close(std::move(done));
    };
    asio::post(engine->executor(), std::move(begin));
}

std::string client::id() const {
    const std::string owner = to_string(owner_id{engine_->identity(), 0});
    return owner.substr(0, owner.find(':'));
}

} // namespace holdfast
