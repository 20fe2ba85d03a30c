// SPDX-License-Identifier: Apache-2.0
// Compiles the source of Boost.JSON, which is otherwise used as headers only.
#include <boost/json/src.hpp>
