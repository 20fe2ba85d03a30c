// SPDX-License-Identifier: Apache-2.0
// JVMs of before and after 3.22 in one cluster do not hear each other. With `pubsub=both`, ours are
// heard by both and hear both.
#include "interop/several_servers.hpp"

namespace holdfast::interop {
namespace {

/// Each with the oldest version too.
class SeveralServersFleet : public several_servers {
protected:
    void SetUp() override {
        several_servers::SetUp();
        if (!IsSkipped() && !HasFatalFailure())
            elder_ = client_of(shared_jvm(redisson_versions().front()), true);
    }
    remote_client& elder() { return *elder_; }

private:
    std::unique_ptr<remote_client> elder_;
};
std::vector<setting> with_sharded_messages() {
    std::vector<setting> all = one_way_in_cluster("both");
    std::erase_if(all, [](const setting& each) {
        return !each.redisson.empty() && !is_at_least(each.redisson, 3, 22);
    });
    return all;
}
INSTANTIATE_TEST_SUITE_P(Cluster, SeveralServersFleet, testing::ValuesIn(with_sharded_messages()),
                         name_of);

TEST_P(SeveralServersFleet, OurReleaseServesJvmsThatListenInEitherWay) {
    for (remote_client* jvm_of_either : {&elder(), &jvm()}) {
        remote_lock held = ours().thread("alice").lock("L");
        remote_lock wanted = jvm_of_either->thread("bob").lock("L");
        held.lock();
        ongoing waiting = parked(*jvm_of_either, wanted);
        EXPECT_TRUE(held.unlock());
        (void)soon(std::move(waiting.answer));
        EXPECT_TRUE(wanted.unlock());
    }
}

TEST_P(SeveralServersFleet, OursAreServedByJvmsThatTellInEitherWay) {
    int round = 0;
    for (remote_client* jvm_of_either : {&elder(), &jvm()}) {
        const std::string name = "{L}" + std::to_string(++round); // nobody listens there yet
        remote_lock held = jvm_of_either->thread("alice").lock(name);
        remote_lock wanted = ours().thread("bob").lock(name);
        held.lock();
        ongoing waiting = parked(ours(), wanted);
        EXPECT_TRUE(held.unlock());
        (void)soon(std::move(waiting.answer));
        EXPECT_TRUE(wanted.unlock());
    }
}

} // namespace
} // namespace holdfast::interop
