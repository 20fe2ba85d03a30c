// SPDX-License-Identifier: Apache-2.0
// Prints the findings of `holdfast doctor`, as text or as JSON.
#pragma once

#include <holdfast/diagnosis.hpp>

#include <boost/json/object.hpp>

namespace cli {

void print_findings(const holdfast::diagnosis&);

boost::json::object diagnosis_to_json(const holdfast::diagnosis&);

} // namespace cli
