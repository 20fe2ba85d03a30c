// SPDX-License-Identifier: Apache-2.0
#include "mysql/store_fixture.hpp"
#include "support/cut_lock.hpp"

namespace holdfast::mysql {
namespace {

using support::way;

class MysqlCut : public on_store, protected support::cut_lock {
protected:
    MysqlCut()
        : cut_lock{5s} {} // a lease is much longer

    void SetUp() override {
        on_store::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        proxy_.emplace(server().socket_path());
        options through = reaching(server());
        through.unix_socket = proxy_->socket_path();
        through.connections_max = 1;
        through.backoff_max = 50ms;
        use(client_of(through, {.observer = told_}), make_client(), name_);
    }
};

TEST_F(MysqlCut, ALockThatIsAskedForIsTakenOnce) {
    cut_everywhere(89, [this](std::size_t bytes) { return lock_cut(way::requests, bytes); });
}
TEST_F(MysqlCut, ALockThatIsGrantedIsTakenOnce) {
    cut_everywhere(11, [this](std::size_t bytes) { return lock_cut(way::answers, bytes); });
}
TEST_F(MysqlCut, AReleaseThatIsAskedForIsDone) {
    cut_everywhere(29, [this](std::size_t bytes) { return unlock_cut(way::requests, bytes); });
}
TEST_F(MysqlCut, AReleaseThatIsAcknowledgedIsDone) {
    cut_everywhere(7, [this](std::size_t bytes) { return unlock_cut(way::answers, bytes); });
}

} // namespace
} // namespace holdfast::mysql
