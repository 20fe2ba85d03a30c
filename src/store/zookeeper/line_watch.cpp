// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/line_watch.hpp"

#include "runtime/background.hpp"

#include <boost/system/system_error.hpp>

#include <utility>

namespace holdfast::zookeeper {
namespace {

/// State that a watch and its loop share. A ZooKeeper watch fires once and must then be set again.
/// The loop may outlive the watch.
struct listening {
    std::shared_ptr<household> home;
    std::string path;
    alarm* whom; ///< null: the watch was destroyed
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

/// Rings before the watch is set again, and once more afterwards. No change between the two is
/// missed.
asio::awaitable<void> go_on(std::shared_ptr<listening> it) {
    while (it->whom && it->set) {
        co_await it->change->wait_until(time_point::max());
        if (!it->whom || it->home->is_closed())
            break;
        it->whom->ring();
        try {
            co_await it->ask();
        } catch (const boost::system::system_error&) {
            it->set.reset(); // the caller polls instead
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
        wake.ring(); // the path does not exist
    co_return watching;
}

} // namespace holdfast::zookeeper
