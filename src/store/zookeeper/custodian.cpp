// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/custodian.hpp"

#include "runtime/background.hpp"
#include "store/zookeeper/household.hpp"

#include <boost/system/system_error.hpp>

#include <functional>
#include <string>
#include <utility>

namespace holdfast::zookeeper {
namespace {

/// Delay between a grant and the watch of its node. Most holds are released before, and another
/// client rarely deletes the node so soon.
constexpr duration unwatched_for{100};

} // namespace

struct custodian::entry {
    entry(own_node n, doubter& d)
        : node{std::move(n)}
        , whom{d} {}
    own_node node;
    doubter& whom;
    time_point from{};
    std::unique_ptr<watch> set{};
    entries* in = nullptr;
    entries::iterator at{};
};

class custodian::membership final : public watch {
public:
    membership(std::shared_ptr<household> home, std::shared_ptr<entry> one)
        : home_{std::move(home)}
        , one_{std::move(one)} {}
    membership(const membership&) = delete;
    ~membership() override {
        one_->set.reset();
        one_->in->erase(one_->at);
    }

private:
    const std::shared_ptr<household> home_;
    const std::shared_ptr<entry> one_;
};

std::unique_ptr<watch> custodian::over(own_node node, doubter& whom) {
    const auto one = std::make_shared<entry>(std::move(node), whom);
    one->in = &unwatched_;
    one->at = unwatched_.insert(unwatched_.end(), one);
    wait_for(one);
    return std::make_unique<membership>(home_.shared_from_this(), one);
}

void custodian::wait_for(const std::shared_ptr<entry>& one) {
    unwatched_.splice(unwatched_.end(), *one->in, one->at);
    one->in = &unwatched_;
    one->from = home_.context.time.now() + unwatched_for;
    if (running_ || home_.is_closed())
        return;
    running_ = true;
    if (!wake_)
        wake_ = home_.context.time.make_alarm();
    runtime::run_in_background(home_.context, run(home_.shared_from_this()));
}

void custodian::try_again() {
    const entries all = watched_;
    for (const std::shared_ptr<entry>& each : all)
        if (!each->set)
            wait_for(each);
}

void custodian::close() noexcept {
    if (wake_)
        wake_->ring();
}

asio::awaitable<void> custodian::run(std::shared_ptr<household> home) {
    while (!home->is_closed() && !unwatched_.empty()) {
        const time_point from = unwatched_.front()->from;
        if (from > home->context.time.now()) {
            co_await wake_->wait_until(from);
            continue;
        }
        const std::weak_ptr<entry> one = unwatched_.front();
        unwatched_.front()->in = &watched_;
        watched_.splice(watched_.end(), unwatched_, unwatched_.begin());
        co_await set(one);
    }
    running_ = false;
}

asio::awaitable<void> custodian::set(std::weak_ptr<entry> one) {
    const std::string path = one.lock()->node.path;
    std::function<void()> rung = [this, one] { changed(one); };
    std::unique_ptr<watch> made;
    try {
        made = co_await home_.at->watch_node(path, std::move(rung));
    } catch (const boost::system::system_error&) {
        co_return; // renewals check the node even without a watch
    }
    const std::shared_ptr<entry> there = one.lock();
    if (!there)
        co_return;
    there->set = std::move(made);
    if (!there->set)
        there->whom.doubt();
}

/// Reports the hold as doubtful, because its node has changed. The watch has fired, so it must be
/// set again.
void custodian::changed(const std::weak_ptr<entry>& one) {
    const std::shared_ptr<entry> there = one.lock();
    if (!there || home_.is_closed())
        return;
    wait_for(there);
    there->whom.doubt();
}

} // namespace holdfast::zookeeper
