// SPDX-License-Identifier: Apache-2.0
#include <holdfast/error.hpp>

#include <string>

namespace holdfast {
namespace {

const char* text_of(errc what) {
    switch (what) {
    case errc::unreachable:
        return "The store could not be reached; nothing was done there.";
    case errc::outcome_unknown:
        return "The request was sent and its answer never came; it may have been carried out.";
    case errc::refused:
        return "The store refused; nothing was done there.";
    case errc::lease_lost:
        return "The lease ended before it was released; somebody else may have held the lock "
               "meanwhile.";
    case errc::not_owner:
        return "The caller does not hold this lock; nothing was done.";
    case errc::already_held:
        return "This thread holds the lock already, and it is not recursive; nothing was done.";
    case errc::invalid_argument:
        return "A name, a length of time or an address is not allowed; nothing was sent.";
    case errc::overloaded:
        return "This client has as many requests waiting as it may; nothing was sent.";
    case errc::would_deadlock:
        return "The call would wait on the very thread that has to finish it; nothing was sent.";
    case errc::clock_unstable:
        return "The server's clock jumped twice while the lock was asked for; nothing is held.";
    case errc::closed:
        return "The client is closed; nothing was sent, and what was held ends with its lease.";
    case errc::forked:
        return "The object was made before fork(); use one that this process made.";
    }
    return "This is no error of holdfast.";
}

/// What a server said, and what it comes to in terms of the lock.
struct meaning {
    const char* text;
    errc equal_to;
};

meaning meaning_of(store_errc what) {
    switch (what) {
    case store_errc::loading:
        return {"The server is still reading its data from disk.", errc::unreachable};
    case store_errc::busy_script:
        return {"The server is busy with a script that runs too long.", errc::unreachable};
    case store_errc::read_only:
        return {"The server is a replica and takes no writes.", errc::unreachable};
    case store_errc::master_down:
        return {"The server is a replica that has lost its primary.", errc::unreachable};
    case store_errc::cluster_down:
        return {"The cluster does not serve this slot.", errc::unreachable};
    case store_errc::try_again:
        return {"The slot is on another node, or on its way to one.", errc::unreachable};
    case store_errc::too_many_clients:
        return {"The server has as many clients as it may.", errc::unreachable};
    case store_errc::no_replicas:
        return {"The server has too few replicas and takes no writes.", errc::unreachable};
    case store_errc::disk_trouble:
        return {"The server cannot save its data and takes no writes.", errc::unreachable};
    case store_errc::out_of_memory:
        return {"The server has no memory left and refused.", errc::refused};
    case store_errc::no_permission:
        return {"The server refused: this user has no right to do that.", errc::refused};
    case store_errc::not_authenticated:
        return {"The server refused the user or the password.", errc::refused};
    case store_errc::wrong_type:
        return {"The key under the lock's name holds something that is no lock.", errc::refused};
    case store_errc::script_killed:
        return {"An operator ended the script; it may have done its work before.",
                errc::outcome_unknown};
    case store_errc::protocol:
        return {"The answer is none that the protocol knows; the request may have been carried "
                "out.",
                errc::outcome_unknown};
    case store_errc::other:
        return {"The server refused with an error of its own.", errc::refused};
    }
    return {"This is no error of a store.", errc::refused};
}

// Categories with a number are equal by it, even where two shared objects have this code in them.
struct category final : boost::system::error_category {
    constexpr category() noexcept
        : error_category{0xbe854fc4efea3759} {}
    const char* name() const noexcept override { return "holdfast"; }
    std::string message(int value) const override { return text_of(static_cast<errc>(value)); }
};

struct store_category final : boost::system::error_category {
    constexpr store_category() noexcept
        : error_category{0xe13a80e3d0672aa1} {}
    const char* name() const noexcept override { return "holdfast.store"; }
    std::string message(int value) const override {
        return meaning_of(static_cast<store_errc>(value)).text;
    }
    error_condition default_error_condition(int value) const noexcept override {
        return meaning_of(static_cast<store_errc>(value)).equal_to;
    }
};

constexpr category instance;
constexpr store_category store_instance;

} // namespace

error_code make_error_code(errc e) noexcept {
    return {static_cast<int>(e), instance};
}
error_condition make_error_condition(errc e) noexcept {
    return {static_cast<int>(e), instance};
}
error_code make_error_code(store_errc e) noexcept {
    return {static_cast<int>(e), store_instance};
}

} // namespace holdfast
