// SPDX-License-Identifier: Apache-2.0
// What is known of a lock, for programs. The names of the fields are part of the interface
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

/// Any bytes as near as JSON can carry them.
boost::json::string text_in_json(std::string_view);

/// A name as JSON can carry it: `name`, and where that is not all of it, its bytes as `name_hex`.
boost::json::object named(std::string_view name);

boost::json::object to_json(const holdfast::lock_state&);

boost::json::array texts_in_json(const std::vector<std::string>&);

/// Servers of a cluster that could not be asked, if there are any.
void add_unreachable(boost::json::object&, const std::vector<std::string>& servers);

/// Writes one line on stdout. Letters that a terminal would obey are escaped.
void write_json(const boost::json::object&);

} // namespace cli
