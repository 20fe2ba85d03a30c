// SPDX-License-Identifier: Apache-2.0
// What a user is told when there can be no private server.
#include "cli/asking_verbs.hpp"
#include "cli/private_server.hpp"

#include <fstream>

#include <unistd.h>

namespace holdfast::cli_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class NoPrivateServer : public with_private_server {
protected:
    void is_refused_because(const std::string& why) {
        std::vector<std::vector<std::string>> verbs = asking_verbs();
        verbs.insert(verbs.end(), {{"server", "status"}, {"server", "stop"}});
        for (const std::vector<std::string>& verb : verbs) {
            SCOPED_TRACE(verb.front());
            const ended refused = run(verb);
            EXPECT_EQ(refused.status, 69);
            EXPECT_EQ(refused.out, "");
            EXPECT_THAT(refused.err, HasSubstr(why));
        }
    }
};
HOLDFAST_ON_EACH_SERVER(NoPrivateServer);

TEST_P(NoPrivateServer, WithoutAProgramForIt) {
    const ended missing = run({"run", "job", "--", "echo", "ran"}, {"PATH=/nowhere"});
    EXPECT_EQ(missing.status, 69);
    EXPECT_EQ(missing.out, "");
    EXPECT_THAT(missing.err, HasSubstr("apt install redis-server"));
    EXPECT_THAT(missing.err, HasSubstr("HOLDFAST_URL"));
}

TEST_P(NoPrivateServer, WithAProgramThatDoesNotStartWhoseWordsAreTold) {
    const fs::path broken = folder / "redis-server";
    std::ofstream{broken} << "#!/bin/sh\necho 'there is sand'\necho 'in the gears'\nexit 1\n";
    fs::permissions(broken, fs::perms::owner_all);
    const ended failed = run({"run", "job", "--", "echo", "ran"}, {"PATH=" + folder.string()});
    EXPECT_EQ(failed.status, 69);
    EXPECT_THAT(failed.err, HasSubstr(broken.string() + " does not start"));
    EXPECT_THAT(failed.err, HasSubstr("It said: there is sand in the gears\n"));
}

TEST_P(NoPrivateServer, WithATimeToLingerThatIsNone) {
    const ended wrong = run({"run", "job", "--", "echo", "ran"}, {"HOLDFAST_SERVER_LINGER=soon"});
    EXPECT_EQ(wrong.status, 64);
    EXPECT_THAT(wrong.err, HasSubstr("HOLDFAST_SERVER_LINGER: 'soon' is no length of time"));
}

TEST_P(NoPrivateServer, WhereAFolderWasChosenThatCannotBeUsed) {
    const fs::path file = folder / "file";
    std::ofstream{file} << "x";
    const std::vector<std::pair<std::string, std::string>> choices{
        {file.string(), "it is no folder of this user's that can be written"},
        {(folder / "nothing").string(), "it is no folder"},
        {"runtime", "it is no absolute path"}};
    for (const auto& [chosen, why] : choices) {
        const ended told = run({"server", "status"}, {"XDG_RUNTIME_DIR=" + chosen});
        EXPECT_THAT(told.err, HasSubstr("XDG_RUNTIME_DIR=" + chosen + " is not used (" + why));
        EXPECT_THAT(told.err, HasSubstr("the private server is in /tmp/holdfast-"));
    }
    const ended login = run({"server", "status"}, {"XDG_RUNTIME_DIR=/run/user/4711"});
    EXPECT_EQ(login.err, "") << "a login's own, which never counts";
}

TEST_P(NoPrivateServer, InAFolderThatOthersMayEnter) {
    fs::create_directory(folder / "holdfast");
    fs::permissions(folder / "holdfast", fs::perms::owner_all | fs::perms::others_read);
    is_refused_because("is open to others");
    fs::permissions(folder / "holdfast", fs::perms::owner_all);
}

TEST_P(NoPrivateServer, InAFolderThatIsALinkToElsewhere) {
    fs::create_directory(folder / "elsewhere");
    fs::permissions(folder / "elsewhere", fs::perms::owner_all);
    fs::create_symlink(folder / "elsewhere", folder / "holdfast");
    is_refused_because("cannot be opened");
    EXPECT_TRUE(fs::is_empty(folder / "elsewhere"));
    fs::remove(folder / "holdfast");
}

TEST_P(NoPrivateServer, InAFolderOfSomebodyElse) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root can make one";
    fs::create_directory(folder / "holdfast");
    ASSERT_EQ(::chown((folder / "holdfast").c_str(), 12345, 12345), 0);
    is_refused_because("belongs to another user");
    fs::remove(folder / "holdfast");
}

TEST_P(NoPrivateServer, WithALockThatIsALinkToElsewhere) {
    fs::create_directory(folder / "holdfast");
    fs::permissions(folder / "holdfast", fs::perms::owner_all);
    fs::create_symlink(folder / "victim", folder / "holdfast" / "lock");
    const ended refused = run({"run", "job", "--", "echo", "ran"});
    EXPECT_EQ(refused.status, 71);
    EXPECT_FALSE(fs::exists(folder / "victim"));
}

} // namespace
} // namespace holdfast::cli_test
