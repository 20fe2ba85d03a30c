// SPDX-License-Identifier: Apache-2.0
#include "net/on_demand/module.hpp"

#include <array>

#include <dlfcn.h>

namespace holdfast::net {
namespace {

/// Folders in which the TLS module is searched: the folder of this library or program ("$ORIGIN")
/// and the folder of the installation. Because of "$ORIGIN", an installation can be moved to
/// another folder. Environment variables cannot add folders.
constexpr std::array folders{HOLDFAST_TLS_FOLDERS};

std::string not_loaded(const std::string& reasons) {
    return "TLS cannot be loaded: " + reasons +
           "; $ORIGIN is the folder of this program or library, which is installed together with "
           "the module " HOLDFAST_TLS_MODULE;
}

/// Loads the TLS module. Returns null if the module cannot be loaded; `reasons` then says why. The
/// module is never unloaded, because OpenSSL runs cleanup code at the end of the program.
holdfast_tls_maker* load(std::string& reasons) {
    for (const char* const folder : folders) {
        const std::string place = std::string{"$ORIGIN/"} + folder + "/" HOLDFAST_TLS_MODULE;
        if (void* const module = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE))
            if (void* const maker = ::dlsym(module, "holdfast_make_tls_engine"))
                return reinterpret_cast<holdfast_tls_maker*>(maker);
        reasons += (reasons.empty() ? "" : "; ") + std::string{::dlerror()};
    }
    return nullptr;
}

} // namespace

maybe_trouble make_tls_engine(const tls_options& how, const std::string& server_name,
                              std::unique_ptr<tls_engine>& made) {
    std::string reasons;
    // load() loads the shared library for TLS at the first call, and returns the function that
    // makes a TLS engine.
    holdfast_tls_maker* const make = load(reasons);
    if (!make)
        return tls_trouble{store_errc::tls_failed, not_loaded(reasons)};
    made.reset(make(how, server_name));
    return std::nullopt;
}

} // namespace holdfast::net
