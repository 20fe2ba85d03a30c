// SPDX-License-Identifier: Apache-2.0
// What a user is told when there can be no private server.
#include "cli/asking_verbs.hpp"
#include "cli/private_server.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>
#include <thread>

#include <sys/socket.h>
#include <sys/un.h>
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

/// Listens on a unix socket, and closes each connection before it has replied. A server that is
/// ending does that to a connection that it has just accepted.
class ending_server {
public:
    explicit ending_server(const fs::path& socket) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        socket.string().copy(address.sun_path, sizeof address.sun_path - 1);
        if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
            ::listen(listener_, SOMAXCONN) != 0)
            throw std::system_error{errno, std::generic_category(), socket.string()};
        closer_ = std::thread{[this] {
            for (int fd = -1; (fd = ::accept(listener_, nullptr, nullptr)) >= 0;)
                ::close(fd);
        }};
    }
    ending_server(const ending_server&) = delete;
    ending_server& operator=(const ending_server&) = delete;
    ~ending_server() {
        ::shutdown(listener_, SHUT_RDWR); // ends accept()
        closer_.join();
        ::close(listener_);
    }

private:
    int listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::thread closer_;
};

TEST_P(NoPrivateServer, IfItEndsBeforeItReplies) {
    fs::create_directory(folder / "holdfast");
    fs::permissions(folder / "holdfast", fs::perms::owner_all);
    const ending_server ending{folder / "holdfast" / "socket"};
    const ended told = run({"server", "status"});
    EXPECT_EQ(told.status, 1);
    EXPECT_EQ(told.out, "not running; it starts when it is needed\n");
    EXPECT_EQ(told.err, "");
    EXPECT_EQ(boost::json::parse(run({"server", "status", "--json"}).out).at("running"), false);
    for (const std::vector<std::string>& stop :
         {std::vector<std::string>{"server", "stop"}, {"server", "stop", "--force"}}) {
        const ended stopped = run(stop);
        EXPECT_EQ(stopped.status, 0);
        EXPECT_EQ(stopped.err, "");
    }
}

TEST_P(NoPrivateServer, WithALockThatIsALinkToElsewhere) {
    fs::create_directory(folder / "holdfast");
    fs::permissions(folder / "holdfast", fs::perms::owner_all);
    fs::create_symlink(folder / "victim", folder / "holdfast" / "lock");
    const ended refused = run({"run", "job", "--", "echo", "ran"});
    EXPECT_EQ(refused.status, 69);
    EXPECT_FALSE(fs::exists(folder / "victim"));
}

TEST_P(NoPrivateServer, OnAReadOnlyFileSystemThePathAndTheRemedyAreNamed) {
    if (std::system("unshare -m true 2>/dev/null") != 0) // NOLINT
        GTEST_SKIP() << "this user may not make mounts";
    fs::create_directory(folder / "holdfast");
    fs::permissions(folder / "holdfast", fs::perms::owner_all);
    std::vector<std::string> words{
        "unshare",
        "-m",
        "sh",
        "-c",
        "mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\" && "
        "exec \"$@\"",
        (folder / "holdfast").string()};
    for (const std::string& each : holdfast({"run", "job", "true"}).command)
        words.push_back(each);
    const ended refused = program{program::exactly{words}}.end();
    EXPECT_EQ(refused.status, 69);
    EXPECT_THAT(refused.err, HasSubstr((folder / "holdfast").string() +
                                       " cannot be written (Read-only file system)"));
    EXPECT_THAT(refused.err, HasSubstr("Set XDG_RUNTIME_DIR to a folder of yours"));
}

TEST_P(NoPrivateServer, IsNeededBecauseOfAUmaskThatRemovesTheRightsOfTheUser) {
    std::vector<std::string> words{"sh", "-c", "umask 0177; exec \"$0\" \"$@\""};
    for (const std::string& each : holdfast({"run", "job", "true"}).command)
        words.push_back(each);
    EXPECT_EQ(program{program::exactly{words}}.end().status, 0);
    EXPECT_EQ(fs::status(folder / "holdfast").permissions(), fs::perms::owner_all);
    // A folder that an earlier version has left is repaired.
    fs::permissions(folder / "holdfast", fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(run({"run", "job", "true"}).status, 0);
    EXPECT_EQ(fs::status(folder / "holdfast").permissions(), fs::perms::owner_all);
}

} // namespace
} // namespace holdfast::cli_test
