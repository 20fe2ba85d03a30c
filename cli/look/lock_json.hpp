// SPDX-License-Identifier: Apache-2.0
// Formats the state of a lock as JSON. The names of the fields are part of the interface
// (holdfast(1), OUTPUT FOR PROGRAMS).
#pragma once

#include <holdfast/inspection.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Converts any bytes to a JSON string. Bytes that are not UTF-8 are replaced.
boost::json::string text_in_json(std::string_view);

/// Returns an object with the field `name`. If JSON cannot represent the name exactly, the field
/// `name_hex` has its bytes.
boost::json::object named(std::string_view name);

boost::json::object to_json(const holdfast::lock_state&);

boost::json::array texts_in_json(const std::vector<std::string>&);

/// Adds a list of the cluster's servers that could not be asked, unless the list is empty.
void add_unreachable(boost::json::object&, const std::vector<std::string>& servers);

/// Writes the object to stdout, on one line. Escapes control characters.
void write_json(const boost::json::object&);

} // namespace cli
