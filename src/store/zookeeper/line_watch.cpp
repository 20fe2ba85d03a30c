// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/line_watch.hpp"

#include "runtime/background.hpp"

#include <boost/system/system_error.hpp>

#include <utility>

namespace holdfast::zookeeper {
namespace {

/// The ensemble tells of one change, and has to be asked again: the loop outlives whom it tells.
struct listening {
    std::shared_ptr<household> home;
    std::string path;
    alarm* whom; ///< null: nobody listens any more
    std::shared_ptr<alarm> change;
    std::unique_ptr<watch> set{};

    asio::awaitable<void> ask() {
        session::watched_listing got = co_await home->at->list_and_watch(path, *change);
        set = std::move(got.children_watched);
    }
};

class listening_watch final : public watch {
public:
    explicit listening_watch(std::shared_ptr<listening> it)
        : it_{std::move(it)} {}
    listening_watch(const listening_watch&) = delete;
    ~listening_watch() override {
        it_->whom = nullptr;
        it_->set.reset();
        it_->change->ring();
    }

private:
    const std::shared_ptr<listening> it_;
};

/// Rung before it asks again, and once more when that is done: what comes between is seen by one
/// who looks then.
asio::awaitable<void> go_on(std::shared_ptr<listening> it) {
    while (it->whom && it->set) {
        co_await it->change->wait_until(time_point::max());
        if (!it->whom || it->home->is_closed())
            break;
        it->whom->ring();
        try {
            co_await it->ask();
        } catch (const boost::system::system_error&) {
            it->set.reset(); // whoever waits polls
        }
        if (it->whom)
            it->whom->ring();
    }
}

} // namespace

asio::awaitable<std::unique_ptr<watch>> watch_line(std::shared_ptr<household> home,
                                                   std::string path, alarm& wake) {
    std::shared_ptr<alarm> change = home->context.time.make_alarm();
    const auto it =
        std::make_shared<listening>(listening{home, std::move(path), &wake, std::move(change)});
    auto watching = std::make_unique<listening_watch>(it);
    co_await it->ask();
    if (it->set)
        runtime::run_in_background(home->context, go_on(it));
    else
        wake.ring(); // nothing is there
    co_return watching;
}

} // namespace holdfast::zookeeper
