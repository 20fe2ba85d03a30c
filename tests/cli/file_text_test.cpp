// SPDX-License-Identifier: Apache-2.0
// The program's functions that read whole files.
#include "cli/file_text.hpp"

#include <csignal>
#include <fstream>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

namespace holdfast::cli_test {
namespace {

TEST(FileText, ReadOfAnEndedProcessReportsNothing) {
    const pid_t child = ::fork();
    if (child == 0)
        for (;;)
            ::pause();
    ASSERT_GT(child, 0);
    const std::string path = "/proc/" + std::to_string(child) + "/stat";
    const cli::descriptor stat{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    EXPECT_TRUE(cli::content_of(path)) << "the process still runs";

    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_FALSE(cli::rest_of(stat)) << "the file is open, and the read fails with ESRCH";
    EXPECT_FALSE(cli::content_of(path)) << "the file is gone";
}

TEST(FileText, ReadOfAFolderReportsNothing) {
    EXPECT_FALSE(cli::content_of("/"));
}

TEST(FileText, ReadReturnsTheWholeFileWithItsZeroBytes) {
    char path[] = "/tmp/holdfast-text-XXXXXX";
    const cli::descriptor file{::mkostemp(path, O_CLOEXEC)};
    std::string text(10'000, 'a');
    text[5000] = '\0';
    std::ofstream{path, std::ios::binary} << text;
    EXPECT_EQ(cli::content_of(path), text);
    ::unlink(path);
}

} // namespace
} // namespace holdfast::cli_test
