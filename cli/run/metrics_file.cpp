// SPDX-License-Identifier: Apache-2.0
#include "cli/run/metrics_file.hpp"

#include "cli/descriptor.hpp"
#include "cli/terminal/output.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cli {
namespace {

#ifdef HOLDFAST_METRICS_MODULE

/// Folders that may contain the module, relative to this program's folder.
constexpr std::array module_folders{HOLDFAST_METRICS_FOLDERS};

/// Loads the metrics module and creates its observer. Returns null if this fails; `reasons` then
/// says why.
run_metrics* load(std::string& reasons) {
    for (const char* const folder : module_folders) {
        const std::string place = std::string{"$ORIGIN/"} + folder + "/" HOLDFAST_METRICS_MODULE;
        void* const module = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        void* const maker =
            module != nullptr ? ::dlsym(module, "holdfast_make_run_metrics") : nullptr;
        if (maker != nullptr)
            return reinterpret_cast<holdfast_run_metrics_maker*>(maker)();
        reasons += (reasons.empty() ? "" : "; ") + std::string{::dlerror()};
    }
    reasons += "; the module is in the package libholdfast-metrics of Debian";
    return nullptr;
}

#else

run_metrics* load(std::string& reasons) {
    reasons = "this holdfast was built without prometheus-cpp";
    return nullptr;
}

#endif

/// Throws the error of `errno`.
[[noreturn]] void fail() {
    throw std::system_error{errno, std::generic_category()};
}

/// Throws if the path exists and is not a regular file, for example /dev/stdout, because the rename
/// would replace that file.
void check_replaces_file(const std::string& path) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0) {
        if (errno != ENOENT)
            fail();
    } else if (!S_ISREG(found.st_mode)) {
        throw std::system_error{EINVAL, std::generic_category(), "it is not a regular file"};
    }
}

void write_all(int to, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(to, text.data(), text.size());
        if (written >= 0)
            text.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            fail();
    }
}

/// Writes the text to a new file beside `path`, and renames it to `path`. Throws
/// `std::system_error`. The name of the new file does not end in .prom, so node_exporter does not
/// read it.
void replace(const std::string& path, std::string_view text) {
    check_replaces_file(path);
    const std::string fresh = path + "." + std::to_string(std::random_device{}()) + ".tmp";
    const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        fail();
    try {
        descriptor written{file};
        write_all(written.get(), text);
        // Check close() and rename(), too: some file systems report a full disk only here.
        if (::close(written.release()) != 0 || ::rename(fresh.c_str(), path.c_str()) != 0)
            fail();
    } catch (...) {
        (void)::unlink(fresh.c_str());
        throw;
    }
}

} // namespace

metrics_file::metrics_file(std::string path)
    : path_{std::move(path)} {
    std::string reasons;
    counted_.reset(load(reasons));
    if (!counted_)
        say("--metrics-textfile writes no metrics: " + printable(reasons, 1000));
}

void metrics_file::write(const std::string& name, int status) const {
    if (!counted_)
        return;
    const std::chrono::duration<double> date = std::chrono::system_clock::now().time_since_epoch();
    try {
        const std::string text = counted_->text(name, date.count(), status);
        if (text.empty())
            throw std::system_error{ENOMEM, std::generic_category()};
        replace(path_, text);
    } catch (const std::exception& failure) {
        say("cannot write the metrics to '" + printable(path_) + "': " + failure.what());
    }
}

} // namespace cli
