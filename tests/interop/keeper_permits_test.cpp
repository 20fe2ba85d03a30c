// SPDX-License-Identifier: Apache-2.0
// Curator's InterProcessSemaphoreV2 and our leased_semaphore, at one path of a ZooKeeper server.
#include "interop/keeper_meeting.hpp"

namespace holdfast::interop {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;

class WeShareOut : public keeper_meeting {
protected:
    static constexpr int there_are = 2;

    void SetUp() override {
        keeper_meeting::SetUp();
        if (!numbers_are_shared())
            tell_both("permits", there_are); // Curator's clients have a number each
    }
    /// Whether Curator's clients take it from where ours left it.
    virtual bool numbers_are_shared() const { return false; }

    remote_permits of(remote_client& whose, const std::string& actor) {
        return remote_permits{whose.thread(actor)};
    }
    void set_permits() { EXPECT_TRUE(of(ours(), "owner").try_set_permits(there_are)); }

    std::vector<std::string> leases() const {
        return nodes_below(shared_keeper(), path() + "/leases");
    }
    std::vector<std::string> queue() const {
        return nodes_below(shared_keeper(), path() + "/locks");
    }

    /// Returns when it waits, behind those who did before.
    ongoing waiting(remote_permits& whose) {
        const std::size_t before = queue().size();
        ongoing call = whose.begin_acquire();
        EXPECT_TRUE(eventually([&] { return queue().size() > before; }));
        return call;
    }
    static std::string id_in(ongoing served) {
        return json::value_to<std::string>(soon(std::move(served.answer)));
    }
};
INSTANTIATE_TEST_SUITE_P(CuratorAnd, WeShareOut, ::testing::ValuesIn(with_curator({permit_maker})),
                         name_of_keeper_setting);

TEST_P(WeShareOut, PermitsOfBothSidesAreCountedTogether) {
    set_permits();
    remote_permits alice = of(first(), "alice"), bob = of(second(), "bob");
    const std::string one = alice.acquire(), other = bob.acquire();
    EXPECT_THAT(leases(), ElementsAre(MatchesRegex("_c_.*-lease-[0-9]*"),
                                      MatchesRegex("_c_.*-lease-[0-9]*")));
    EXPECT_THAT(queue(), IsEmpty());
    for (remote_permits* each : {&alice, &bob})
        EXPECT_FALSE(each->try_acquire_for(20ms));
    EXPECT_TRUE(come_to(2, "/leases")) << "whoever gave up left something";
    EXPECT_TRUE(come_to(0, "/locks"));
    EXPECT_TRUE(alice.try_release(one));
    const std::optional<std::string> third = bob.try_acquire_for(10s);
    ASSERT_TRUE(third);
    EXPECT_FALSE(alice.try_acquire());
    EXPECT_TRUE(bob.try_release(other));
    EXPECT_TRUE(bob.try_release(*third));
    EXPECT_THAT(leases(), IsEmpty());
    EXPECT_THAT(queue(), IsEmpty());
}

TEST_P(WeShareOut, AReleaseWakesTheOtherSidesWaiters) {
    set_permits();
    const std::unique_ptr<remote_client> third = another(!others_are_first());
    remote_permits alice = of(first(), "alice"), bob = of(second(), "bob"),
                   carol = of(*third, "carol");
    const std::string one = alice.acquire(), other = alice.acquire();
    ongoing bobs = waiting(bob), carols = waiting(carol);
    // The first who waits has made its own already, if it is Curator.
    EXPECT_TRUE(come_to(others_are_first() ? 2 : 3, "/leases"));
    EXPECT_TRUE(alice.try_release(one));
    const std::string of_bob = id_in(std::move(bobs));
    EXPECT_FALSE(support::is_ready(carols.answer));
    EXPECT_TRUE(alice.try_release(other));
    const std::string of_carol = id_in(std::move(carols));
    EXPECT_TRUE(bob.try_release(of_bob));
    EXPECT_TRUE(carol.try_release(of_carol));
}

TEST_P(WeShareOut, AKilledHoldersPermitsComeBackWhenItsSessionHasEnded) {
    set_permits();
    const std::unique_ptr<peer> process = new_process(others_are_first());
    const std::unique_ptr<remote_client> doomed = doomed_client_of(*process, others_are_first());
    remote_permits dies = of(*doomed, "doomed"), bob = of(second(), "bob");
    const std::string kept = bob.acquire();
    (void)dies.acquire();
    ongoing waits = waiting(bob);
    process->kill();
    const std::string served = id_in(std::move(waits));
    EXPECT_THAT(leases(), SizeIs(2));
    EXPECT_TRUE(bob.try_release(served));
    EXPECT_TRUE(bob.try_release(kept));
}

TEST_P(WeShareOut, AKilledWaitersPlaceIsTakenByTheNext) {
    set_permits();
    const std::unique_ptr<peer> process = new_process(!others_are_first());
    const std::unique_ptr<remote_client> doomed = doomed_client_of(*process, !others_are_first());
    const std::unique_ptr<remote_client> third = another(others_are_first());
    remote_permits alice = of(first(), "alice"), dies = of(*doomed, "doomed"),
                   behind = of(*third, "carol");
    const std::string one = alice.acquire(), other = alice.acquire();
    ongoing lost = waiting(dies), waits = waiting(behind);
    process->kill();
    EXPECT_TRUE(alice.try_release(one));
    const std::string served = id_in(std::move(waits));
    EXPECT_TRUE(behind.try_release(served));
    EXPECT_TRUE(alice.try_release(other));
    EXPECT_THROW((void)soon(std::move(lost.answer)), peer_failure);
}

class WeShareOutACount : public WeShareOut {
    bool numbers_are_shared() const override { return true; }
};
HOLDFAST_AT_KEEPER(WeShareOutACount, with_curator({permit_maker}));

TEST_P(WeShareOutACount, WhichCuratorReadsWhereOursSetIt) {
    set_permits();
    remote_permits alice = of(first(), "alice"), bob = of(second(), "bob"),
                   carol = of(others(), "carol");
    const std::string one = alice.acquire(), other = bob.acquire();
    EXPECT_FALSE(carol.try_acquire_for(20ms));
    EXPECT_TRUE(alice.try_release(one));
    EXPECT_TRUE(carol.try_acquire_for(10s));
    EXPECT_TRUE(bob.try_release(other));
}

} // namespace
} // namespace holdfast::interop
