// SPDX-License-Identifier: Apache-2.0
#include "support/mariadb_data.hpp"

#include "support/mariadb_server.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace holdfast::support {
namespace fs = std::filesystem;
namespace {

/// File lock that only one process holds at a time. The kernel releases it when the process ends.
class file_lock {
public:
    explicit file_lock(const fs::path& file)
        : file_{open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)} {
        if (file_ < 0 || flock(file_, LOCK_EX) != 0)
            throw server_unavailable{"cannot lock " + file.string()};
    }
    file_lock(const file_lock&) = delete;
    ~file_lock() { close(file_); }

private:
    int file_;
};

std::string text_in(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream{file}.rdbuf();
    return text.str();
}

/// Returns the SQL statements that make MariaDB's own tables. The statements are installed with the
/// server. The program that usually sends them needs further statements from another package, so it
/// is not used.
std::string system_tables() {
    constexpr std::array names{"system_tables.sql", "system_tables_data.sql"};
    for (const fs::path folder : {"/usr/share/mysql", "/usr/share/mariadb"})
        for (const std::string before : {"mysql_", "mariadb_"})
            if (fs::exists(folder / (before + names[0])))
                return text_in(folder / (before + names[0])) +
                       text_in(folder / (before + names[1]));
    throw server_unavailable{"MariaDB's mysql_system_tables.sql is not there"};
}

std::string our_schema() {
    const std::string schema = mariadb_server::schema, user = mariadb_server::user;
    return "CREATE DATABASE " + schema + ";\nCREATE USER " + user + "@'%' IDENTIFIED BY '" +
           mariadb_server::password + "';\nGRANT ALL ON " + schema + ".* TO " + user + "@'%';\n";
}

/// Returns the first statements for the server, one per line. A server that only creates its data
/// requires one statement per line.
std::string first_statements(const server_binary& which) {
    // without this right, MySQL does not tell a user whether the server is a replica
    if (is_mysql(which))
        return our_schema() + "GRANT REPLICATION CLIENT ON *.* TO " + mariadb_server::user +
               "@'%';\n";
    return "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n" + system_tables() +
           "FLUSH PRIVILEGES;\n" + our_schema();
}

std::string quoted(const std::string& word) {
    // the word needs no escaping: the folder of a test program has no quote in its name
    return "'" + word + "'";
}

std::string command_that_makes(const server_binary& which, const fs::path& data,
                               const fs::path& statements) {
    std::string command = quoted(which.path);
    for (const std::string& each : data_arguments(which, data))
        command += " " + quoted(each);
    const std::string file = quoted(statements.string());
    command +=
        is_mysql(which) ? " --initialize-insecure --init-file=" + file : " --bootstrap < " + file;
    return command + " > " + quoted(data.string() + ".log") + " 2>&1";
}

void make_data(const server_binary& which, const fs::path& wanted, const std::string& statements) {
    const fs::path beside = wanted.string() + ".new";
    fs::remove_all(beside);
    fs::create_directories(beside);
    const fs::path file = wanted.string() + ".sql";
    std::ofstream{file} << statements;
    if (std::system(command_that_makes(which, beside, file).c_str()) != 0)
        throw server_unavailable{
            which.path + " does not make its data. It said: " + text_in(beside.string() + ".log")};
    fs::rename(beside, wanted);
}

} // namespace

bool is_mysql(const server_binary& which) {
    return which.label.starts_with("mysql");
}

std::vector<std::string> data_arguments(const server_binary& which, const fs::path& data) {
    std::vector<std::string> words{"--no-defaults", "--datadir=" + data.string(),
                                   // Temporary files go to a folder outside the data: a starting
                                   // server deletes the temporary tables in its tmpdir.
                                   "--tmpdir=" + data.parent_path().string(),
                                   "--innodb-autoextend-increment=1", "--innodb-flush-method=fsync",
                                   "--innodb-use-native-aio=0", "--innodb-buffer-pool-size=8M",
                                   "--performance-schema=OFF", "--skip-log-bin"};
    const std::vector<std::string> more =
        is_mysql(which)
            ? std::vector<std::string>{"--innodb-redo-log-capacity=8M", "--skip-innodb-doublewrite",
                                       "--mysqlx=OFF", "--secure-file-priv=NULL"}
            : std::vector<std::string>{"--innodb-log-file-size=4M",
                                       "--innodb-data-file-path=ibdata1:1M:autoextend",
                                       "--innodb-temp-data-file-path=ibtmp1:1M:autoextend"};
    words.insert(words.end(), more.begin(), more.end());
    if (geteuid() == 0)
        words.emplace_back("--user=root"); // the server refuses to run as root without this option
    return words;
}

fs::path prepared_data(const server_binary& which) {
    if (!fs::exists(which.path))
        throw server_unavailable{"there is no " + which.path};
    const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path() / "server_data";
    fs::create_directories(folder);
    const std::string statements = first_statements(which);
    std::string version = which.path + std::to_string(fs::file_size(which.path)) + statements;
    for (const std::string& each : data_arguments(which, folder))
        version += each;
    const fs::path data =
        folder / (which.label + "-" + std::to_string(std::hash<std::string>{}(version)));
    const file_lock alone{folder / "lock"};
    if (!fs::exists(data))
        make_data(which, data, statements);
    return data;
}

} // namespace holdfast::support
