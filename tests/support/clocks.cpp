// SPDX-License-Identifier: Apache-2.0
#include "support/clocks.hpp"

#include "support/source_tree.hpp"

#include <chrono>
#include <cstdlib>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace holdfast::support {
namespace fs = std::filesystem;
namespace {

/// Shared library that moves the date of a process (clock_shim.c). It is built at its first use,
/// for this run only.
class built_shim {
public:
    built_shim() {
        std::string pattern = (fs::temp_directory_path() / "holdfast-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr)
            throw std::runtime_error{"cannot make a folder like " + pattern};
        folder_ = pattern;
        const std::string build = "cc -shared -fPIC -O1 -o '" + path() + "' '" +
                                  source_file("tests/support/clock_shim.c").string() + "'";
        if (std::system(build.c_str()) != 0)
            throw std::runtime_error{"cannot build the clock shim: " + build};
    }
    ~built_shim() {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    std::string path() const { return (folder_ / "clock_shim.so").string(); }

private:
    fs::path folder_;
};

std::string shim_path() {
    static const built_shim shim;
    return shim.path();
}

} // namespace

moved_clock::moved_clock(const fs::path& folder)
    : file_{(folder / "clock").string()} {
    const int file = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const bool sized = file >= 0 && ftruncate(file, sizeof *added_) == 0;
    void* shared = sized
                       ? mmap(nullptr, sizeof *added_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                       : MAP_FAILED;
    if (file >= 0)
        close(file);
    if (shared == MAP_FAILED)
        throw std::runtime_error{"cannot share " + file_};
    added_ = static_cast<std::int64_t*>(shared);
}

moved_clock::~moved_clock() {
    munmap(added_, sizeof *added_);
}

void moved_clock::step(duration length) {
    std::atomic_ref{* added_} += std::chrono::nanoseconds{length}.count();
}

void moved_clock::reset() {
    std::atomic_ref{* added_} = 0;
}

std::vector<std::string> moved_clock::environment() const {
    return {"LD_PRELOAD=" + shim_path(), "HOLDFAST_CLOCK_FILE=" + file_};
}

} // namespace holdfast::support
