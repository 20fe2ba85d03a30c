// SPDX-License-Identifier: Apache-2.0
// docs/security where replicas are required: it is enough, and the right that is missing is named.
#include "support/acl_file.hpp"
#include "support/on_each_server.hpp"
#include "support/redis_replicas.hpp"
#include "support/thrown.hpp"

#include <holdfast/holdfast.hpp>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LeastPrivilegeWithReplicas : public support::on_each_kind_of_server {
protected:
    /// What a lock says that one replica must have confirmed.
    static std::string said_by_lock(support::redis_replicas& all,
                                    const std::vector<std::string>& rules) {
        const auto granted =
            all.primary().command(support::acl_setuser("app", "its", rules)).text;
        EXPECT_EQ(granted, "OK");
        options how;
        redis::options where;
        where.unix_socket = all.primary().socket_path();
        where.user = "app";
        where.password = "its";
        how.store = redis::make_store(where);
        how.required_replicas = 1;
        client home{how};
        mutex lock{home, "app:stock"};
        return support::thrown_by([&] {
                   lock.lock();
                   lock.unlock();
               })
            .text;
    }
};
HOLDFAST_ON_EACH_SERVER(LeastPrivilegeWithReplicas);

TEST_P(LeastPrivilegeWithReplicas, IsEnoughAndWaitIsNamed) {
    support::redis_replicas all{GetParam(), {}};
    std::vector<std::string> rules = support::rules_of_acl_file("app:");
    EXPECT_THAT(said_by_lock(all, rules), IsEmpty());
    ASSERT_EQ(std::erase(rules, "+wait"), 1u);
    EXPECT_THAT(said_by_lock(all, rules), AllOf(HasSubstr("granted: "), HasSubstr("+wait")));
}

} // namespace
} // namespace holdfast
