// SPDX-License-Identifier: Apache-2.0
#include "sync/held_lock.hpp"

#include "sync/engine.hpp"
#include "sync/lock_descriptor.hpp"
#include "sync/release.hpp"
#include "sync/renewal.hpp"
#include "sync/wishes.hpp"

#include <boost/asio/post.hpp>

namespace holdfast::sync {
namespace {

std::stop_source stopped_source() {
    std::stop_source fresh;
    fresh.request_stop(); // no callback is registered on this token yet
    return fresh;
}

/// Returns a stop token of `source`. Creates the stop source first if this is necessary. If `over`
/// is true, the returned token is already stopped. If `for_good` is true, a stop source that this
/// call creates is already stopped, too. This call does not stop an existing stop source, because
/// that would run the user's callbacks under the mutex.
std::stop_token token_of(std::stop_source& source, bool over, bool for_good) {
    if (!source.stop_possible() && (for_good || !over))
        source = for_good ? stopped_source() : std::stop_source{};
    return over && !source.stop_requested() ? stopped_source().get_token() : source.get_token();
}

/// Returns the fencing token of the next local owner.
std::uint64_t next_token(std::uint64_t token) {
    return token == 0 ? token : token + 1;
}

hold hold_of(const request& wanted, const grant& got) {
    hold all{wanted.of->name, got.owner, wanted.of->kind};
    all.permits = wanted.permits();
    all.replicas = wanted.of->replicas;
    return all;
}

} // namespace

held_lock::held_lock(const request& wanted, const grant& got)
    : lock_handle{wanted.of->home}
    , what{hold_of(wanted, got)}
    , granted_at{home->now()}
    , settled_at{got.settled_at}
    , taken_at{granted_at}
    , late_lasts{wanted.lasts_unwanted()}
    , handed_on{0}
    , untried{got.is_brief}
    , token_{what.kind == lock_kind::fenced ? got.token : 0}
    , more_tokens_{got.tokens > 0 ? got.tokens - 1 : 0}
    , deferred_{wanted.of->deferred}
    , polled_within_{wanted.of->polls ? wanted.of->polls->longest : duration::zero()}
    , renewed_{wanted.renewed}
    , valid_until_{sync::valid_until(got.sent_at, got.term)}
    , store_forgets_at_{forgotten_at(granted_at, got.term)}
    , lease_{wanted.lease}
    , kept_by_others_{got.left_before.value_or(duration::max())} {
    if (!home->bounds().by_session)
        return;
    given_ = got.term;
    lease_ends_at_ = sync::valid_until(got.sent_at, lease_);
    valid_until_ = std::min(valid_until_, lease_ends_at_);
}

// Creates the hold of the next local owner. Only the executor changes `other`, so this constructor
// needs no mutex.
held_lock::held_lock(const held_lock& other, const request& wanted)
    : lock_handle{other.home}
    , what{other.what}
    , granted_at{home->now()}
    , settled_at{other.settled_at}
    , taken_at{other.taken_at}
    , late_lasts{other.late_lasts}
    , handed_on{other.handed_on + 1}
    , forces{other.forces}
    , others_listen{other.others_listen}
    , token_{next_token(other.token_)}
    , more_tokens_{other.more_tokens_ > 0 ? other.more_tokens_ - 1 : 0}
    , deferred_{wanted.of->deferred}
    , polled_within_{wanted.of->polls ? wanted.of->polls->longest : duration::zero()}
    , renewed_{true}
    , valid_until_{other.ends_at()}
    , store_forgets_at_{other.store_forgets_at()}
    , lease_{wanted.lease}
    , given_{other.given_} {
    if (!home->bounds().by_session)
        return;
    lease_ends_at_ = std::min(other.lease_ends_at_, later(granted_at, lease_));
    valid_until_ = std::min(valid_until_, lease_ends_at_);
}

/// Returns the mutex of this hold. Many holds can share a mutex: it is locked only for short times,
/// and a thread never locks the mutexes of two holds at once.
std::mutex& held_lock::mutex() const {
    return home->mutex_for(this);
}

held_lock::linked_holds& held_lock::ensure_linked_holds() {
    if (!linked_)
        linked_ = std::make_unique<linked_holds>();
    return *linked_;
}

duration held_lock::remaining() const noexcept {
    const std::scoped_lock guard{mutex()};
    if (phase_ != phase::held || given_up_)
        return duration::zero();
    return std::max(valid_until_ - home->now(), duration::zero());
}

std::vector<std::string> held_lock::permit_ids() const {
    std::vector<std::string> ids;
    if (what.kind != lock_kind::permit)
        return ids;
    owner_id each = what.owner;
    for (std::uint32_t i = 0; i < what.permits; ++i, ++each.number)
        ids.push_back(permit_id(each));
    return ids;
}

// Returns whether the hold has expired by the clock. The function is needed because a blocked
// executor reports the expiry late.
bool held_lock::term_is_over() const {
    return phase_ == phase::held && home->now() >= valid_until_;
}

bool held_lock::is_over() const {
    return phase_ == phase::lost || given_up_ || term_is_over();
}

bool held_lock::is_near_the_end() const {
    return needs_requests() && !untried && phase_ == phase::held &&
           home->now() + danger_period(effective_lease()) >= valid_until_;
}

std::stop_token held_lock::lost() const {
    const std::scoped_lock guard{mutex()};
    const bool over = is_over();
    return token_of(lost_, over, over);
}

std::stop_token held_lock::in_danger() const {
    const std::scoped_lock guard{mutex()};
    const bool over = is_over();
    return token_of(danger_, over || warned || is_near_the_end(), over);
}

std::stop_token held_lock::asked() const {
    if (what.kind == lock_kind::permit)
        return {};
    std::stop_token token;
    {
        const std::scoped_lock guard{mutex()};
        if (wishes_)
            return wishes_->source.get_token();
        wishes_ = std::make_unique<wish_state>();
        token = wishes_->source.get_token();
    }
    const auto self = std::const_pointer_cast<held_lock>(shared_from_this());
    (void)home->executor_access().post([self] { listen_for_wishes(self); });
    return token;
}

std::optional<wish> held_lock::received_wish() const {
    const std::scoped_lock guard{mutex()};
    return wishes_ ? wishes_->received : std::nullopt;
}

void held_lock::note_wish(wish got) {
    {
        const std::scoped_lock guard{mutex()};
        if (wishes_->received)
            return;
        wishes_->received = std::move(got);
    }
    // Do not request the stop under the mutex, because the request runs the user's callbacks.
    if (home->borrowed())
        asio::post(home->executor(),
                   [self = shared_from_this()] { self->fire(self->wishes_->source); });
    else
        fire(wishes_->source);
}

/// Wakes the coroutine that listens for wishes, because the hold has ended.
void held_lock::wake_listener() const noexcept {
    alarm* wake = nullptr;
    {
        const std::scoped_lock guard{mutex()};
        wake = wishes_ ? wishes_->wake : nullptr;
    }
    if (wake)
        wake->ring();
}

time_point held_lock::ends_at() const {
    return valid_until_;
}

bool held_lock::has_token_for_next_owner() const {
    return token_ == 0 || more_tokens_ > 0;
}

time_point held_lock::store_forgets_at() const {
    if (has_linked_request())
        return time_point::max();
    time_point last = store_forgets_at_;
    if (linked_)
        for (const std::shared_ptr<held_lock>& each : linked_->there)
            last = std::max(last, each->store_forgets_at_);
    return last;
}

time_point held_lock::remains_until() const {
    if (settled_at == time_point::min())
        return store_forgets_at();
    // The lease may be shorter now than at the grant, after an extension or a local hand-over.
    const duration longest = std::max(late_lasts, lasts_there(lease()));
    return std::max(store_forgets_at(), forgotten_at(settled_at, longest));
}

duration held_lock::lasts_there(duration asked) const {
    return home->bounds().by_session ? given_ : asked;
}

bool held_lock::needs_requests() const {
    return renewed() || (home->bounds().by_session && valid_until_ < lease_ends_at_);
}

void held_lock::stands_with(std::shared_ptr<held_lock> read) {
    const time_point now = home->now();
    std::vector<std::shared_ptr<held_lock>>& there = ensure_linked_holds().there;
    std::erase_if(there, [now](const auto& each) { return each->store_forgets_at_ <= now; });
    there.push_back(std::move(read));
}

void held_lock::end_linked_request(time_point until) {
    const std::scoped_lock guard{mutex()};
    --linked_->asked;
    store_forgets_at_ = std::max(store_forgets_at_, until);
}

void held_lock::tell_linked_of_release() const {
    if (what.kind != lock_kind::write || !linked_)
        return;
    for (const std::shared_ptr<held_lock>& each : linked_->there)
        each->note_released_write(what);
}

void held_lock::note_released_write(const hold& write) {
    // Number of released holds to remember. Eight holds are enough, because a failover rarely loses
    // more than the last few writes.
    constexpr std::size_t released_max = 8;
    std::vector<hold>& released = ensure_linked_holds().released;
    if (std::ranges::find(released, write.owner, &hold::owner) != released.end())
        return;
    if (released.size() == released_max)
        released.erase(released.begin());
    released.push_back(write);
}

std::vector<hold> held_lock::released_writes() const {
    return linked_ ? linked_->released : std::vector<hold>{};
}

bool held_lock::out_of_time() const {
    const std::optional<duration>& longest = home->how().max_hold;
    return longest && renewed() && home->now() >= later(granted_at, *longest);
}

unsigned held_lock::replicas() const noexcept {
    const std::scoped_lock guard{mutex()};
    return what.replicas;
}

bool held_lock::share() {
    const std::scoped_lock guard{mutex()};
    if (phase_ != phase::held || given_up_ || home->now() >= valid_until_)
        return false;
    ++shares_;
    return true;
}

held_lock::left held_lock::unshare() {
    const std::scoped_lock guard{mutex()};
    if (phase_ == phase::lost)
        return left::was_lost;
    if (phase_ != phase::held || shares_ == 0)
        return left::was_ended;
    return --shares_ == 0 ? left::nobody : left::others;
}

bool held_lock::shared_by_others() const {
    const std::scoped_lock guard{mutex()};
    return phase_ == phase::held && shares_ > 1 + ended_threads_;
}

void held_lock::thread_ended() noexcept {
    const std::scoped_lock guard{mutex()};
    ++ended_threads_;
}

void held_lock::thread_came_back() noexcept {
    const std::scoped_lock guard{mutex()};
    --ended_threads_;
}

bool held_lock::deserted() const {
    const std::scoped_lock guard{mutex()};
    return shares_ <= ended_threads_;
}

std::shared_ptr<lock_handle> held_lock::one_share() {
    return {std::make_shared<std::shared_ptr<held_lock>>(shared_from_this()), this};
}

void held_lock::extend(duration length, release_handler done) {
    sync::extend(shared_from_this(), length, std::move(done));
}

void held_lock::confirm(unsigned replicas, release_handler done) {
    sync::confirm(shared_from_this(), replicas, std::move(done));
}

void held_lock::renew_from_now_on(duration lease) {
    home->renewals().renew_from_now_on(*this, lease);
}

void held_lock::release(release_handler done, const asio::any_io_executor& where) {
    sync::release(shared_from_this(), std::move(done), where);
}

void held_lock::throw_if_not_detachable() const {
    const auto refuse_detach = [](const char* why) {
        throw worded_error{{make_error_code(errc::invalid_argument), why}};
    };
    if (home->bounds().by_session)
        refuse_detach("this store ends a hold together with the client's session, so a hold cannot "
                      "be detached");
    if (what.kind == lock_kind::read)
        refuse_detach("a read hold cannot be detached");
    if (has_linked_request() || (linked_ && !linked_->there.empty()))
        refuse_detach("this write hold is linked to a read hold of this client, so it cannot be "
                      "detached");
    if (phase_ != phase::held || given_up_ || home->now() >= valid_until_)
        throw worded_error{
            {make_error_code(errc::lease_lost), "the lease had ended before it was detached"}};
    if (shared_by_others())
        refuse_detach("other leases or threads share this hold, so it cannot be detached");
}

asio::awaitable<ticket> held_lock::detach() {
    throw_if_not_detachable();
    // If the store executed an earlier request of this owner after the release of the detached
    // hold, the request would take the lock again. So wait until no such request can arrive.
    if (settled_at > home->now()) {
        co_await home->nap(settled_at);
        throw_if_not_detachable();
    }
    ticket made{what.name.text, what.kind,    what.owner,
                token_,         what.permits, home->server_of(what.name).id};
    home->renewals().forget(*this);
    begin_release();
    end_release();
    home->tell_of(*this, event_kind::released, event_cause::none, home->now() - granted_at);
    home->detached(*this);
    co_return made;
}

void held_lock::release_unwaited(const asio::any_io_executor& where,
                                 const std::function<bool()>& sent_off) {
    --releases_announced_;
    release(release_handler{[](const failure&) {}}, where);
    // Let the next request of this thread follow at once, unless other clients wait: otherwise this
    // thread's requests would always come before theirs.
    if (sent_off() && !others_listen)
        home->release_sent_off(*this);
}

void held_lock::abandon() {
    if (deserted())
        home->abandon(shared_from_this());
    else
        home->fewer_share(*this); // an upgrade need not wait for the thread that ended
}

void held_lock::revalidate() noexcept {
    home->renewals().request_soon(*this);
}

void held_lock::extended(time_point sent_at, duration asked, duration term, unsigned replicas) {
    if (replicas < what.replicas)
        return perhaps_extended(term);
    const std::scoped_lock guard{mutex()};
    // An expired hold does not become valid again, because its user may have noticed the expiry.
    if (term_is_over()) {
        store_forgets_at_ = std::max(store_forgets_at_, forgotten_at(home->now(), term));
        return;
    }
    if (home->bounds().by_session) {
        given_ = term;
        lease_ends_at_ = std::max(lease_ends_at_, sync::valid_until(sent_at, asked));
    }
    valid_until_ =
        std::max(valid_until_, std::min(sync::valid_until(sent_at, term), lease_ends_at_));
    store_forgets_at_ = std::max(store_forgets_at_, forgotten_at(home->now(), term));
    extended_at_ = home->now();
    end_danger();
}

/// Marks the present danger of a loss as over. The next danger gets a new stop token. Call this
/// function under the mutex.
void held_lock::end_danger() {
    if (!std::exchange(warned, false))
        return;
    danger_ = std::stop_source{std::nostopstate};
}

bool held_lock::may_be_shortened() const {
    return what.kind == lock_kind::read && home->bounds().read_request_max != duration::max();
}

void held_lock::note_left(time_point sent_at, duration rest) {
    const time_point now = home->now();
    const bool is_shorter = later(now, rest) < valid_until_;
    if (what.kind == lock_kind::read) {
        constexpr duration least{100}, most = duration::max() / 2;
        kept_by_others_ = is_shorter ? rest : 2 * std::clamp(kept_by_others_, least, most);
        return;
    }
    const bool is_longer = later(sent_at, rest) > store_forgets_at_;
    const bool is_old = extensions > 0 || extended_at_ >= sent_at;
    const bool has_own_lease = what.kind == lock_kind::permit && !home->bounds().by_session;
    if (!has_own_lease || renewed() || is_old || !(is_shorter || is_longer))
        return;
    const std::scoped_lock guard{mutex()};
    valid_until_ = sync::valid_until(sent_at, rest);
    store_forgets_at_ = forgotten_at(now, rest);
    lease_ = rest;
    if (is_longer)
        end_danger();
}

void held_lock::confirmed(time_point sent_at, duration asked, duration term, unsigned replicas) {
    if (replicas > what.replicas && valid_until_ <= sync::valid_until(sent_at, term)) {
        const std::scoped_lock guard{mutex()};
        what.replicas = static_cast<std::uint8_t>(replicas);
    }
    extended(sent_at, asked, term, replicas);
}

void held_lock::perhaps_extended(duration asked) {
    const std::scoped_lock guard{mutex()};
    const time_point last = forgotten_at(home->now(), lasts_there(asked));
    store_forgets_at_ = std::max(store_forgets_at_, last);
}

void held_lock::set_lease(duration length, bool renewed) {
    const std::scoped_lock guard{mutex()};
    lease_ = length;
    renewed_ = renewed;
}

void held_lock::fire(std::stop_source& source) {
    std::stop_source firing{std::nostopstate};
    {
        const std::scoped_lock guard{mutex()};
        firing = source;
    }
    firing.request_stop(); // runs callbacks of the user, so never under the mutex
}

void held_lock::warn() {
    {
        const std::scoped_lock guard{mutex()};
        warned = true;
    }
    fire(danger_);
}

event_cause held_lock::why_lost() const {
    const std::scoped_lock guard{mutex()};
    if (lost_because_ == event_cause::none && term_is_over())
        return cause_of_expiry();
    return lost_because_;
}

/// Stores the cause of the loss. Call it under the mutex.
void held_lock::set_cause(event_cause why) {
    if (lost_because_ != event_cause::none)
        return;
    lost_because_ = why == event_cause::refused && forces > 0 ? event_cause::forced : why;
}

void held_lock::note_loss(event_cause why) {
    const std::scoped_lock guard{mutex()};
    set_cause(why);
}

bool held_lock::lose(event_cause why) {
    {
        const std::scoped_lock guard{mutex()};
        if (phase_ != phase::held)
            return false;
        phase_ = phase::lost;
        set_cause(why);
    }
    wake_listener();
    fire(danger_);
    fire(lost_);
    return true;
}

void held_lock::give_up() {
    {
        const std::scoped_lock guard{mutex()};
        given_up_ = true;
        set_cause(event_cause::closed);
    }
    wake_listener();
    fire(danger_);
    fire(lost_);
}

void held_lock::take_all_shares() {
    const std::scoped_lock guard{mutex()};
    shares_ = 1;
}

void held_lock::begin_release() {
    {
        const std::scoped_lock guard{mutex()};
        phase_ = phase::releasing;
    }
    wake_listener();
}

void held_lock::end_release() {
    {
        const std::scoped_lock guard{mutex()};
        phase_ = phase::ended;
    }
    wake_listener();
}

} // namespace holdfast::sync
