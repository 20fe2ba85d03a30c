// SPDX-License-Identifier: Apache-2.0
// `holdfast run --metrics-textfile`: the file for node_exporter, and what happens if it cannot be
// written.
#include "cli/server_test.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <unistd.h>

namespace holdfast::cli_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class MetricsFile : public on_server {
protected:
    MetricsFile() {
        std::string made = (fs::temp_directory_path() / "holdfast-metrics-XXXXXX").string();
        if (::mkdtemp(made.data()) == nullptr)
            throw std::runtime_error{"mkdtemp failed"};
        folder = made;
        file = folder / "job.prom";
    }
    ~MetricsFile() override {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    }

    std::vector<std::string> measured(const std::string& script,
                                      std::vector<std::string> options = {}) {
        options.insert(options.begin(), {"--metrics-textfile", file.string()});
        return shell(script, std::move(options));
    }
    std::string content() const {
        std::ifstream from{file};
        return {std::istreambuf_iterator<char>{from}, {}};
    }
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const fs::directory_entry& each : fs::directory_iterator{folder})
            names.push_back(each.path().filename().string());
        return names;
    }

    fs::path folder, file;
};
HOLDFAST_ON_EACH_SERVER(MetricsFile);

TEST_P(MetricsFile, IsReplacedWhenTheRunHasEnded) {
    std::ofstream{file} << "old\n";
    const ended done = run(measured("cat " + file.string() + "; exit 7"), url());
    EXPECT_EQ(done.status, 7);
    EXPECT_EQ(done.out, "old\n") << "it is not written before the end";
    EXPECT_THAT(done.err, IsEmpty());
    const std::string text = content();
    for (const char* const line :
         {"\n# TYPE holdfast_hold_seconds histogram\n",
          "\nholdfast_acquired_total{name=\"job\"} 1\n", "\nholdfast_held{name=\"job\"} 0\n",
          "\nholdfast_hold_seconds_count{name=\"job\"} 1\n",
          "\nholdfast_lost_total{cause=\"refused\",name=\"job\"} 0\n",
          "\nholdfast_run_exit_status{name=\"job\"} 7\n",
          "\nholdfast_run_end_time_seconds{name=\"job\"} "})
        EXPECT_THAT(text, HasSubstr(line));
    EXPECT_THAT(text, Not(testing::StartsWith("old")));
    EXPECT_THAT(files(), testing::ElementsAre("job.prom")) << "no temporary file is left";
    EXPECT_NE(fs::status(file).permissions() & fs::perms::others_read, fs::perms::none)
        << "node_exporter is another user";
}

TEST_P(MetricsFile, HasTheNameWithThePrefixInEachMetric) {
    EXPECT_EQ(run(measured("exit 7"), url() + "?prefix=shop:").status, 7);
    const std::string text = content();
    EXPECT_THAT(text, HasSubstr("\nholdfast_acquired_total{name=\"shop:job\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("\nholdfast_run_exit_status{name=\"shop:job\"} 7\n"));
    EXPECT_THAT(text, Not(HasSubstr("name=\"job\"")));
}

TEST_P(MetricsFile, SaysThatTheLockWasLost) {
    program holder{
        measured("trap 'exit 0' TERM; echo held; while :; do sleep 0.1; done", {"--lease", "3s"}),
        url()};
    ASSERT_EQ(holder.line(), "held");
    server().command({"DEL", name});
    EXPECT_EQ(holder.end().status, 75);
    const std::string text = content();
    EXPECT_THAT(text, HasSubstr("\nholdfast_lost_total{cause=\"refused\",name=\"job\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("\nholdfast_run_exit_status{name=\"job\"} 75\n"));
    EXPECT_THAT(text, HasSubstr("\nholdfast_held{name=\"job\"} 0\n"));
}

TEST_P(MetricsFile, SaysThatTheLockWasBusy) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_EQ(run(measured("true", {"-n", "-E", "9"}), url()).status, 9);
    holder.close_stdin();
    const std::string text = content();
    EXPECT_THAT(text, HasSubstr("\nholdfast_busy_total{name=\"job\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("\nholdfast_acquired_total{name=\"job\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("\nholdfast_run_exit_status{name=\"job\"} 9\n"));
    EXPECT_EQ(holder.end().status, 0);
}

TEST_P(MetricsFile, ThatCannotBeWrittenIsReportedAndChangesNoStatus) {
    const fs::path link = folder / "link.prom", elsewhere = folder / "elsewhere";
    std::ofstream{elsewhere} << "kept";
    fs::create_symlink(elsewhere, link);
    fs::create_directory(folder / "folder.prom");
    for (const auto& [path, why] :
         {std::pair<fs::path, std::string>{folder / "missing" / "job.prom", "No such file"},
          {folder / "folder.prom", "not a regular file"},
          {link, "not a regular file"},
          {"/dev/null", "not a regular file"}}) {
        file = path;
        const ended done = run(measured("exit 7"), url());
        EXPECT_EQ(done.status, 7) << path;
        EXPECT_THAT(done.err, HasSubstr("holdfast: cannot write the metrics to '" + path.string()));
        EXPECT_THAT(done.err, HasSubstr(why));
        EXPECT_FALSE(is_locked());
    }
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_FALSE(fs::is_regular_file("/dev/null"));
    EXPECT_EQ(files().size(), 3U) << "no temporary file is left";
}

TEST_P(MetricsFile, AProgramWithoutItsModuleSaysSoAndRunsTheCommand) {
    const fs::path copy = folder / "holdfast";
    fs::copy_file(program_path(), copy);
    std::vector<std::string> command = measured("exit 7");
    command.insert(command.begin(), copy.string());
    const ended done = program{program::exactly{.command = command}, url()}.end();
    EXPECT_EQ(done.status, 7);
    EXPECT_THAT(done.err, HasSubstr("holdfast: --metrics-textfile writes no metrics: "));
    EXPECT_THAT(done.err, HasSubstr("libholdfast-metrics"));
    EXPECT_FALSE(fs::exists(file));
}

TEST_P(MetricsFile, HostileNamesCannotForgeALine) {
    const std::string hostile =
        "a\" 1\nholdfast_held{name=\"b\"} 5\\\xff\x1b" + std::string(9000, 'x');
    const ended done = run({"run", "--metrics-textfile", file.string(), hostile, "true"}, url());
    EXPECT_EQ(done.status, 0) << done.err;
    const std::string label = R"(name="a\" 1)"
                              "\uFFFD"
                              R"(holdfast_held{name=\"b\"} 5\\)"
                              "\uFFFD\uFFFDxxx";
    const std::string text = content();
    EXPECT_THAT(text, HasSubstr("\nholdfast_acquired_total{" + label));
    EXPECT_THAT(text, HasSubstr("\nholdfast_run_exit_status{" + label));
    EXPECT_LT(text.size(), 20'000U) << "the name is shortened";
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(line.starts_with("# ") || line.find(R"({name="b)") == line.npos) << line;
}

TEST_P(MetricsFile, NamesOfSeveralLocksAreLabels) {
    const ended done = run(measured("true", {"--with", "shop:b"}), url());
    EXPECT_EQ(done.status, 0) << done.err;
    for (const char* const lock : {"job", "shop:b", "job + shop:b"})
        EXPECT_THAT(content(),
                    HasSubstr("\nholdfast_acquired_total{name=\"" + std::string{lock} + "\"} 1\n"));
}

} // namespace
} // namespace holdfast::cli_test
