// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/watches.hpp"

#include <gtest/gtest.h>

namespace holdfast::zookeeper {
namespace {

using kind = node_event::kind;

class Watches : public ::testing::Test {
protected:
    watches::shared_watcher add(watches::of what, std::string path, int& told) {
        auto made = std::make_shared<watches::watcher>(
            watches::watcher{what, std::move(path), [&told] { ++told; }});
        all_.add(made);
        return made;
    }
    void hear(kind what, std::string path) {
        all_.heard({static_cast<std::int32_t>(what), std::move(path)});
    }

    watches all_;
    int node_ = 0, children_ = 0, other_ = 0;
};

TEST_F(Watches, AreToldOfWhatConcernsThem) {
    add(watches::of::node, "/a", node_);
    add(watches::of::children, "/a", children_);
    add(watches::of::node, "/b", other_);
    hear(kind::children, "/a");
    EXPECT_EQ(node_, 0);
    EXPECT_EQ(children_, 1);
    hear(kind::changed, "/a");
    EXPECT_EQ(node_, 1);
    EXPECT_EQ(other_, 0);
    EXPECT_EQ(all_.size(), 1u);
}

TEST_F(Watches, ADeletedNodeConcernsBoth) {
    add(watches::of::node, "/a", node_);
    add(watches::of::children, "/a", children_);
    hear(kind::deleted, "/a");
    EXPECT_EQ(node_, 1);
    EXPECT_EQ(children_, 1);
}

TEST_F(Watches, AreToldOnce) {
    add(watches::of::node, "/a", node_);
    hear(kind::changed, "/a");
    hear(kind::changed, "/a");
    all_.tell_all();
    EXPECT_EQ(node_, 1);
}

TEST_F(Watches, OfOnePathAreAllTold) {
    add(watches::of::node, "/a", node_);
    add(watches::of::node, "/a", other_);
    hear(kind::changed, "/a");
    EXPECT_EQ(node_, 1);
    EXPECT_EQ(other_, 1);
}

TEST_F(Watches, ThatWereRemovedAreNotTold) {
    const auto gone = add(watches::of::node, "/a", node_);
    add(watches::of::node, "/a", other_);
    all_.remove(gone);
    all_.tell_all();
    EXPECT_EQ(node_, 0);
    EXPECT_EQ(other_, 1);
    EXPECT_EQ(all_.size(), 0u);
}

TEST_F(Watches, WhoIsToldMayRemoveAnotherAndAddMore) {
    watches::shared_watcher second;
    auto first =
        std::make_shared<watches::watcher>(watches::watcher{watches::of::node, "/a", [&] {
                                                                all_.remove(second);
                                                                add(watches::of::node, "/a", node_);
                                                            }});
    all_.add(first);
    second = add(watches::of::node, "/a", other_);
    hear(kind::deleted, "/a");
    EXPECT_EQ(other_, 0);
    EXPECT_EQ(node_, 0) << "that was before";
    hear(kind::deleted, "/a");
    EXPECT_EQ(node_, 1);
}

TEST_F(Watches, WhatNobodyWatchesIsIgnored) {
    add(watches::of::node, "/a", node_);
    hear(kind::created, "/a");
    hear(kind::changed, "/else");
    all_.heard({-1, ""});
    EXPECT_EQ(node_, 0);
}

} // namespace
} // namespace holdfast::zookeeper
