// SPDX-License-Identifier: Apache-2.0
#include "cli/private_server.hpp"

#include <cstdlib>

namespace holdfast::cli_test {

namespace fs = std::filesystem;

with_private_server::with_private_server() {
    std::string pattern = fs::temp_directory_path() / "holdfast-XXXXXX";
    const fs::path top = ::mkdtemp(pattern.data());
    folder = top / "runtime";
    programs_ = top / "bin";
    for (const fs::path& each : {folder, programs_}) {
        fs::create_directory(each);
        fs::permissions(each, fs::perms::owner_all);
    }
}

with_private_server::~with_private_server() {
    try {
        run({"server", "stop", "--force"});
    } catch (const std::exception& failure) {
        ADD_FAILURE() << failure.what();
    }
    fs::remove_all(folder.parent_path());
}

void with_private_server::SetUp() {
    if (!fs::exists(GetParam().path) && !GetParam().path.starts_with("redis-server")) {
        if (support::servers_are_required())
            FAIL() << "there is no " << GetParam().path;
        GTEST_SKIP() << "there is no " << GetParam().path;
    }
    if (GetParam().path.starts_with('/'))
        fs::create_symlink(GetParam().path, programs_ / "redis-server");
}

program::exactly with_private_server::holdfast(const std::vector<std::string>& arguments,
                                               const std::vector<std::string>& environment) const {
    const char* const path = std::getenv("PATH");
    std::vector<std::string> words{"env", "XDG_RUNTIME_DIR=" + folder.string(),
                                   "PATH=" + programs_.string() + ":" + (path ? path : "")};
    words.insert(words.end(), environment.begin(), environment.end());
    words.push_back(program_path());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return {std::move(words)};
}

ended with_private_server::run(const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment) const {
    return program{holdfast(arguments, environment)}.end();
}

program::exactly with_private_server::holding(const std::string& name,
                                              const std::vector<std::string>& options) const {
    std::vector<std::string> words{"run"};
    words.insert(words.end(), options.begin(), options.end());
    for (const std::string& word : {name, std::string{"--"}, std::string{"sh"}, std::string{"-c"},
                                    std::string{"echo held; read nothing; true"}})
        words.push_back(word);
    return holdfast(words);
}

boost::json::object with_private_server::status() const {
    return boost::json::parse(run({"server", "status", "--json"}).out).as_object();
}

pid_t with_private_server::process() const {
    return static_cast<pid_t>(status().at("process").as_int64());
}

pid_t with_private_server::supervisor() const {
    return parent_of(process());
}

} // namespace holdfast::cli_test
