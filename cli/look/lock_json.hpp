// SPDX-License-Identifier: Apache-2.0
// State of a lock as JSON for programs. The names of the fields are part of the interface
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

/// Returns an object with the `name`. If JSON cannot carry the name exactly, `name_hex` has its
/// bytes.
boost::json::object named(std::string_view name);

boost::json::object to_json(const holdfast::lock_state&);

boost::json::array texts_in_json(const std::vector<std::string>&);

/// Adds the servers of a cluster that could not be asked, if there are any.
void add_unreachable(boost::json::object&, const std::vector<std::string>& servers);

/// Writes one line on stdout. Escapes characters that a terminal would obey.
void write_json(const boost::json::object&);

} // namespace cli
