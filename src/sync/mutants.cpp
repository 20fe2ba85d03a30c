// SPDX-License-Identifier: Apache-2.0
#include "sync/mutants.hpp"

#ifdef HOLDFAST_MUTANTS
namespace holdfast::sync {
mutant planted_mutant = mutant::none;
} // namespace holdfast::sync
#endif
