// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace holdfast::interop {

/// What one worker knew, and when: a line each, with the nanoseconds of CLOCK_MONOTONIC, which all
/// processes of a machine share. Written at once and unbuffered, so that it survives a kill.
class history_writer {
public:
    /// Throws `std::system_error` if there is such a file already.
    explicit history_writer(const std::string& path);
    history_writer(const history_writer&) = delete;
    ~history_writer();

    void write(const std::string& what);

private:
    int file_;
};

} // namespace holdfast::interop
