// SPDX-License-Identifier: Apache-2.0
// File of `holdfast run --metrics-textfile`.
#pragma once

#include "cli/run/metrics_module.hpp"

#include <holdfast/observer.hpp>

#include <memory>
#include <string>

namespace cli {

/// Writes the metrics of one run to a file, for the textfile collector of node_exporter. A failure
/// is printed on stderr, and does not change the run or its exit status.
class metrics_file {
public:
    /// Loads the metrics module. If this fails, prints the reason; `observer()` then returns null.
    explicit metrics_file(std::string path);

    /// Returns the observer that counts the events for the file, or null if nothing can be counted.
    std::shared_ptr<holdfast::observer> observer() const { return counted_; }

    /// Writes a temporary file in the same folder, and then renames it to the real name. So a
    /// reader never sees a part of the content. Does nothing if there is no observer.
    void write(const std::string& name, int status) const;

private:
    const std::string path_;
    std::shared_ptr<run_metrics> counted_;
};

} // namespace cli
