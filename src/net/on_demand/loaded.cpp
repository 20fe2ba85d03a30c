// SPDX-License-Identifier: Apache-2.0
#include "net/on_demand/module.hpp"

#include <array>

#include <dlfcn.h>

namespace holdfast::net {
namespace {

/// Beside this very object, or where it is installed. "$ORIGIN" is the object's own folder: what is
/// installed can be moved, and no folder of the environment is asked.
constexpr std::array folders{HOLDFAST_TLS_FOLDERS};

[[noreturn]] void fail(const std::string& reasons) {
    throw tls_trouble{store_errc::tls_failed,
                      "TLS cannot be loaded: " + reasons +
                          "; $ORIGIN is the folder of this program or library, which is installed "
                          "together with the module " HOLDFAST_TLS_MODULE};
}

/// Never unloaded: OpenSSL has things to do at the end of the program.
holdfast_tls_maker* load() {
    std::string reasons;
    for (const std::string folder : folders) {
        const std::string place = "$ORIGIN/" + folder + "/" HOLDFAST_TLS_MODULE;
        if (void* const module = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
            if (void* const maker = ::dlsym(module, "holdfast_make_tls_engine"))
                return reinterpret_cast<holdfast_tls_maker*>(maker);
        }
        reasons += (reasons.empty() ? "" : "; ") + std::string{::dlerror()};
    }
    fail(reasons);
}

} // namespace

std::unique_ptr<tls_engine> make_tls_engine(const tls_options& how,
                                            const std::string& server_name) {
    static holdfast_tls_maker* const make = load(); // a failure is tried again
    return std::unique_ptr<tls_engine>{make(how, server_name)};
}

} // namespace holdfast::net
