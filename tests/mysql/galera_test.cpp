// SPDX-License-Identifier: Apache-2.0
// What the other tests take for granted of the nodes that they start.
#include "support/eventually.hpp"
#include "support/galera_nodes.hpp"
#include "support/on_each_server.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using support::galera_nodes;

class GaleraNodes : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] { nodes_ = std::make_unique<galera_nodes>(); });
    }
    galera_nodes& nodes() { return *nodes_; }
    bool comes_to(std::size_t which, const std::string& value) {
        return support::eventually(
            [&] { return nodes()[which].value("SELECT a FROM t") == value; });
    }

private:
    std::unique_ptr<galera_nodes> nodes_;
};

TEST_F(GaleraNodes, BothTakeWritesAndBringUpToDateWhoWasAway) {
    nodes()[0].sql("CREATE TABLE t (a INT PRIMARY KEY) ENGINE=InnoDB");
    nodes()[0].sql("INSERT INTO t VALUES (1)");
    ASSERT_TRUE(comes_to(1, "1"));
    nodes()[1].sql("UPDATE t SET a = 2");
    ASSERT_TRUE(comes_to(0, "2"));

    for (const std::size_t away : {1U, 0U}) {
        nodes().leave(away);
        const std::string value = std::to_string(10 + away);
        nodes()[1 - away].sql("UPDATE t SET a = " + value);
        nodes().join(away);
        EXPECT_TRUE(comes_to(away, value));
    }
}

} // namespace
} // namespace holdfast
