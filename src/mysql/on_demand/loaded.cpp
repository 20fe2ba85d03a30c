// SPDX-License-Identifier: Apache-2.0
// Defines libmariadb's functions as wrappers that call the library loaded at run time. The program
// links these wrappers instead of libmariadb.
#include "mysql/libmariadb.hpp"

#include <cstdarg>
#include <string>

#include <dlfcn.h>
#include <mysql.h>

/// Table of the functions of libmariadb that this component calls: result, name, parameters,
/// arguments. If a function is missing in this table, the linker links libmariadb itself; a test of
/// the program detects this.
#define HOLDFAST_FORWARDED(F)                                                                      \
    F(my_ulonglong, mysql_affected_rows, (MYSQL * my), (my))                                       \
    F(void, mysql_close, (MYSQL * my), (my))                                                       \
    F(unsigned int, mysql_errno, (MYSQL * my), (my))                                               \
    F(const char*, mysql_error, (MYSQL * my), (my))                                                \
    F(unsigned long*, mysql_fetch_lengths, (MYSQL_RES * rows), (rows))                             \
    F(MYSQL_ROW, mysql_fetch_row, (MYSQL_RES * rows), (rows))                                      \
    F(unsigned int, mysql_field_count, (MYSQL * my), (my))                                         \
    F(void, mysql_free_result, (MYSQL_RES * rows), (rows))                                         \
    F(my_socket, mysql_get_socket, (MYSQL * my), (my))                                             \
    F(const char*, mysql_get_ssl_cipher, (MYSQL * my), (my))                                       \
    F(MYSQL*, mysql_init, (MYSQL * my), (my))                                                      \
    F(my_ulonglong, mysql_insert_id, (MYSQL * my), (my))                                           \
    F(unsigned int, mysql_num_fields, (MYSQL_RES * rows), (rows))                                  \
    F(int, mysql_read_query_result_cont, (my_bool * failed, MYSQL * my, int what),                 \
      (failed, my, what))                                                                          \
    F(int, mysql_read_query_result_start, (my_bool * failed, MYSQL * my), (failed, my))            \
    F(MYSQL*, mysql_real_connect,                                                                  \
      (MYSQL * my, const char* host, const char* user, const char* password, const char* schema,   \
       unsigned int port, const char* socket, unsigned long flags),                                \
      (my, host, user, password, schema, port, socket, flags))                                     \
    F(int, mysql_send_query_cont, (int* failed, MYSQL* my, int what), (failed, my, what))          \
    F(int, mysql_send_query_start,                                                                 \
      (int* failed, MYSQL* my, const char* text, unsigned long length),                            \
      (failed, my, text, length))                                                                  \
    F(int, mysql_server_init, (int count, char** values, char** groups), (count, values, groups))  \
    F(int, mysql_store_result_cont, (MYSQL_RES * *rows, MYSQL * my, int what), (rows, my, what))   \
    F(int, mysql_store_result_start, (MYSQL_RES * *rows, MYSQL * my), (rows, my))                  \
    F(void, mysql_thread_end, (), ())                                                              \
    F(my_bool, mysql_thread_init, (), ())

namespace holdfast::mysql {
namespace {

// File name of the library (its soname), which contains the version of the interface.
constexpr const char* library = "libmariadb.so.3";
constexpr const char* options_function = "mysql_optionsv";

#define HOLDFAST_NAME(result, name, parameters, arguments) #name,
constexpr const char* all_functions[] = {HOLDFAST_FORWARDED(HOLDFAST_NAME) options_function};
#undef HOLDFAST_NAME

struct loaded_library {
    void* handle = nullptr;
    std::string objection{};
};

/// Loads the library. The library is never unloaded, because OpenSSL runs cleanup code when the
/// program exits.
loaded_library load() {
    loaded_library made{.handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)};
    if (made.handle == nullptr) {
        made.objection = ::dlerror();
        return made;
    }
    for (const char* const name : all_functions)
        if (::dlsym(made.handle, name) == nullptr)
            made.objection = std::string{library} + " is too old, it has no " + name;
    return made;
}

const loaded_library& the_library() {
    static const loaded_library loaded = load();
    return loaded;
}

template <typename Function>
Function* function_in_library(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(the_library().handle, name));
}

} // namespace

std::string objection_to_library() {
    const std::string& objection = the_library().objection;
    if (objection.empty())
        return {};
    return "MySQL's client library cannot be loaded: " + objection +
           "; install it (Debian: the package libmariadb3)";
}

/// Clears the error queue of the OpenSSL that libmariadb uses. Does nothing if libmariadb was built
/// without OpenSSL.
void forget_tls_errors() noexcept {
    static auto* const clear = function_in_library<void()>("ERR_clear_error");
    if (clear != nullptr)
        clear();
}

} // namespace holdfast::mysql

extern "C" {

#define HOLDFAST_FORWARD(result, name, parameters, arguments)                                      \
    result name parameters {                                                                       \
        static auto* const real = holdfast::mysql::function_in_library<decltype(name)>(#name);     \
        return real arguments;                                                                     \
    }
HOLDFAST_FORWARDED(HOLDFAST_FORWARD)
#undef HOLDFAST_FORWARD
#undef HOLDFAST_FORWARDED

/// Forwards the call to libmariadb. An option for a connection attribute has two values. Any other
/// option has one value.
int mysql_optionsv(MYSQL* my, enum mysql_option option, ...) {
    static auto* const real = holdfast::mysql::function_in_library<decltype(mysql_optionsv)>(
        holdfast::mysql::options_function);
    va_list values;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvarargs" // the signature comes from libmariadb
    va_start(values, option);
#pragma GCC diagnostic pop
    const void* const first = va_arg(values, const void*);
    const void* const second =
        option == MYSQL_OPT_CONNECT_ATTR_ADD ? va_arg(values, const void*) : nullptr;
    va_end(values);
    return real(my, option, first, second);
}

} // extern "C"
