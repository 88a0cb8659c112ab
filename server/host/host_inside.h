// The inside of a host, for the files of server/host alone.
//
//   host.c        creation, the step, who is who
//   host_join.c   who wants to come in: which world, a new one, a ticket
//   host_choose.c which world somebody gets, quotas, new worlds
//   host_index.c  worlds by id and room code
//   host_lease.c  the host's own row, by which all its worlds are leased
//   host_peer.c   hosts on the same store: who is there, and which one runs a world
//   host_world.c  the states of a world
//   host_begin.c  what a world begins with
//   host_hear.c   what a world process says
//   host_save.c   saves and requests on their way to the store and back
//   host_move.c   players who come from another world of the same place
//   host_reload.c scripts that change in a running world
//   host_ended.c  tickets of those who have lost the right since
//   host_order.c  kicks, mutes, announcements, chat rules
//   host_evidence.c  what was said, for reports
//   host_profiles.c  characters of those who come in
//   host_place.c  built places
//   host_places.c which of them are here, and which one a world runs with
#pragma once

#include "core/base/check.h"
#include "server/host/host_peer.h"
#include "server/host/host_place.h"
#include "server/host/host_reload.h"
#include "server/host/host_world.h"

#include <stdlib.h>
#include <string.h>

#define HOST_SECOND_NS       1000000000ull
#define HOST_MS_NS           1000000ull
#define HOST_DAMAGED_MAX     16 // lines of the log about damaged DataStore entries
#define HOST_ADMISSIONS_MAX  4096
#define HOST_MOVES_MAX       1024
#define HOST_GIVEN_MAX       4096
#define HOST_ASKS_MAX        4096 // questions to peers without an answer; a power of two
#define HOST_ENDED_SLOTS     65536
#define HOST_INVITED_SECONDS (TICKET_MS / 1000 + 2)
#define HOST_ACCOUNTS        65536 // that are remembered with the world they were in

// --- saves and requests -------------------------------------------------------------------------
typedef enum HostSaveState { SAVE_FREE, SAVE_SENT, SAVE_AGAIN, SAVE_DONE } HostSaveState;
typedef struct HostSave {
    HostSaveState state;
    uint64_t request, seq;
    uint8_t *rows;
    size_t bytes;
} HostSave;

typedef struct HostSaves {
    HostSave all[HOST_SAVES_MAX]; // in order from first on
    uint32_t first, count;
    uint64_t seq;      // of the last save in this epoch; the next has the next number
    uint64_t again_ns; // 0: nothing has to be tried again
    uint64_t requests[HOST_REQUESTS_MAX]; // the world's numbers; 0: free, else number + 1
    uint32_t request_count, request_next;
    uint64_t submitted, completed; // saves and requests together, in order
} HostSaves;

// --- scripts that change ------------------------------------------------------------------------
// Each HostPlace here is a reference.
typedef struct HostReload {
    // On its way to the world.
    HostPlace *place; // NULL: none
    uint64_t tag;
    uint32_t version;
    bool is_restore;  // it is the last good set
    bool is_unsigned; // its manifests are signed elsewhere, and have not come yet
    HostManifests manifests;
    bool *sends, *removes; // by rune: of this place, and of the one that runs
    size_t manifest_at;    // how much of the manifest is sent
    uint32_t at;           // how many of its runes are sent
    uint32_t parameters_at;
    bool is_sent;      // all of it; the world answers
    size_t step_bytes; // sent in this step
    uint64_t deadline_ns;
    // Waits until the way is free.
    HostPlace *next; // NULL: none
    uint64_t next_tag;
    // What the world runs.
    bool is_tried; // it is not known to be good yet
    uint64_t tried_tag;
    uint32_t tried_version;
    bool has_failed; // the last good set has to be sent
    HostPlace *good; // the last good set; NULL: it has never run here
    HostPlace *bad;  // the last one that failed here
    HostPlace *base; // that the host had when the world last switched
    // What the creator is told.
    bool is_known;
    HostReloadResult result;
    uint32_t told_version;
    uint64_t told_unix_ms, tick;
    char reason[CHANNEL_REASON_BYTES];
} HostReload;

// --- a world ------------------------------------------------------------------------------------
#define LOOK_NEVER UINT64_MAX

struct HostWorld {
    Host *host;
    uint32_t number; // its slot in the host
    StoreWorld row;
    // NULL: not here. While it has a process, the one that it began with, or whose scripts it has
    // taken over since; else the one that it will start with. A reference: hosted_set_place.
    HostPlace *place;
    HostWorldState state;
    uint64_t state_ns;    // since when
    uint64_t deadline_ns; // of the state; 0: none
    bool wanted;          // it shall run
    bool has_lease;
    bool fenced;           // another host has it
    bool found_away;       // the database, when it was to be taken; said once
    uint64_t elsewhere_ns; // when the store last said so; 0: never
    bool is_held;          // it said who holds it
    StoreHeld held;
    // With peers.
    uint64_t asked;        // the question who runs it; 0: none
    uint64_t again_ns;     // when it is asked next, for those who wait; 0: it is not
    uint32_t tries;        // in a row, without a result
    uint32_t away_players; // as the host that holds it said last
    bool other_place;      // host_world_set_other_place
    uint32_t make_tries;

    // This life.
    HostLink *link;
    WorldConfig config; // epoch, secret and seed are this life's
    uint64_t epoch;
    uint16_t
        incarnation; // in tags, so that the answers to an earlier life are not taken for its own
    uint32_t manifest_version;
    bool told_stop, heard_stop;
    char stop_reason[CHANNEL_REASON_BYTES]; // "": the usual one
    bool is_shut;                           // clients do not come back by themselves
    uint64_t quiet_ns;                      // after the stop: when nothing more is expected
    uint64_t silent_ns;
    uint64_t starved_ns; // of its life, when half of the time until it counts as stuck was over
    bool is_half_stuck;
    uint64_t looked_ns, end_looked_ns;
    uint64_t told_until_ns; // when it ends by itself; 0: it was told none
    uint64_t second_ns, second_messages, second_bytes, second_logs;
    char failed[CHANNEL_REASON_BYTES]; // what it said before it ended
    HostSaves saves;
    HostStats stats;
    ScriptTable *scripts;     // what its scripts cost, as it said last; NULL: nothing yet
    uint64_t scripts_version; // one more each time; also over restarts of the world
    ClientTable *clients;     // which scripts its clients have, likewise
    uint32_t layers;          // of its jail
    uint64_t empty_ns;        // since when nobody is in it; 0: somebody is

    // All its lives.
    bool ever_ready;
    uint64_t started_ns;
    uint64_t crash_ns[8]; // when the last short lives ended; 0: it was a long one
    uint64_t starts, crashes, kills;
    uint32_t waiting; // joins that wait for it
    // Tickets that were given and not used yet, by the second in which they expire.
    struct {
        uint64_t second;
        uint32_t count;
    } invited[HOST_INVITED_SECONDS];
    uint64_t *guests; // who may come in, of a private one
    uint32_t guest_count;
    uint64_t maker_address; // where it was made from; 0: nobody counts it
    uint64_t make_tag;      // of the host_make that waits for it; 0: none
    bool gives_way;         // it stops so that another one can run, and is not counted any more
    // Who has used a ticket and is not let in yet: they come from another world, or the store is
    // asked for their characters.
    uint32_t arriving;
    // Who was let in since the last statistics and since those before: they may not be in them yet.
    uint32_t admitted[2];
    uint64_t damaged[HOST_DAMAGED_MAX]; // hashes of what the log has said is damaged
    uint32_t damaged_count;

    HostReload reload;
    struct Evidence *evidence; // NULL: none yet
    HostSocket *sockets;       // that wait, HOST_SOCKETS_MAX once one came
    uint32_t socket_count;
};

// --- who waits ----------------------------------------------------------------------------------
typedef struct WaitingJoin {
    HostJoin join;
    HostWorld *world;
    uint64_t deadline_ns;
} WaitingJoin;

// When somebody was removed (host_ended.c).
typedef struct HostEnded {
    uint64_t key; // 0: several share the slot
    uint64_t unix_ms;
} HostEnded;

// A player who is let in once what another world of the place has stored is in the store.
typedef struct HostMove {
    uint64_t account, connection, deadline_ns;
    HostWorld *from, *to;
    uint16_t from_incarnation, to_incarnation;
    bool has_left;  // the other world has said so
    uint64_t until; // completed of its saves must reach this
    Ticket ticket;
} HostMove;

// A player who is let in once the store has said which characters they have.
typedef struct HostAdmission {
    HostWorld *world; // NULL: free
    uint16_t incarnation;
    uint64_t connection;
    Ticket ticket;
} HostAdmission;

// Who was given a ticket for a world and has not used it, for those who show their sign-in there.
typedef struct HostGiven {
    uint64_t account, until_unix_ms;
    const HostWorld *world;
} HostGiven;

typedef struct AccountPlace {
    uint64_t account; // 0: free
    HostWorld *world;
    bool is_said;  // by the world: a resume token alone, which we were not asked about
    bool is_known; // host_accounts_known
} AccountPlace;

// Another host on the same store.
typedef struct HostPeer {
    StoreHost row;
    uint64_t probed_ns;
    uint64_t shunned_ns; // until when others get worlds first
    uint32_t placed;     // worlds that it got since it told its load
    bool is_refused, is_silent;
    bool is_ending; // it said so, which its row does only later
    bool is_ended;  // it was logged that its row is ended, and nothing else was heard of it since
} HostPeer;

typedef struct HostAsk {
    bool is_open;
    HostPeerKind kind;
    uint64_t tag, until_ns;
    uint64_t relay; // of PEER_PROBE: the PEER_CHECK that it answers; 0: none
    uint8_t boot[STORE_BOOT_BYTES];
    uint32_t world; // of PEER_RUN
} HostAsk;

struct Host {
    HostConfig config;
    HostPlace *places[HOST_PLACES_MAX];
    uint32_t place_count;
    char default_place[65];
    HostWorld **worlds; // HOST_WORLDS_MAX
    uint32_t world_count;
    // HOST_WORLDS_MAX, apart from the worlds: a step looks at all of them and at few of the worlds.
    bool *is_changed;      // HOST_WORLDS_MAX: host_take_changed gives it
    uint32_t changed_from; // none before this one
    uint64_t *look_ns; // when it is looked after next; 0: in every step, LOOK_NEVER: until woken
    // The numbers of worlds that have a row, sorted by id and by room code.
    uint32_t *by_id, *by_code;
    uint32_t id_count, code_count;
    UsedTickets used_tickets;
    WaitingJoin *joins; // HOST_JOINS_MAX
    uint32_t join_count;
    HostMove moves[HOST_MOVES_MAX];
    uint32_t move_count;
    HostAdmission *admissions; // HOST_ADMISSIONS_MAX
    uint32_t admission_next;
    AccountPlace *accounts;          // HOST_ACCOUNTS, by hash; the older one gives way
    HostGiven given[HOST_GIVEN_MAX]; // by account; the older one gives way
    HostEnded *ended;                // HOST_ENDED_SLOTS
    uint64_t stepped_ns;

    // The lease.
    uint64_t renew_sent_ns; // of the renewal that has no answer yet; 0: none
    uint64_t renewed_ns;    // when the last good one was sent
    uint64_t renew_next_ns;
    uint64_t writable_ns; // since when every renewal was good
    bool has_row;         // the host's row is in the store
    bool lease_lost;
    uint32_t reuse_next;   // slot of a world that may give way to another one
    bool own_row_is_there; // somebody has a valid row of this name, as the list of peers says
    bool disk_refuses;     // the last save did not get to the disk, and that was said

    uint64_t evidence_bytes; // of all worlds
    uint64_t evidence_swept_ns;

    // Peers; NULL until they were read.
    HostPeer *peers;
    uint32_t peer_count;
    bool peers_asked, peers_known;
    uint64_t peers_asked_ns;
    uint64_t peers_write_ns; // since when one is known to write while we cannot; 0: none is
    HostAsk asks[HOST_ASKS_MAX];
    bool said_stopped;   // peers may end our row since
    uint64_t ask_due_ns; // no open one is late before
    uint32_t ask_next;
    uint64_t ask_number;
    StoreHost own_load; // as the row has it
    uint32_t own_placed;

    bool stopping, draining, failed;
    uint64_t stop_ns;
    HostCounts counts;
};

uint64_t host_now(const Host *host);
uint64_t host_unix_ms(const Host *host);
void host_log(const Host *host, LogLevel level, const char *area, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// The same about a world, which is named where there can be several.
void hosted_log(const HostWorld *world, LogLevel level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// May this world run, or run on? NULL: one that is not made yet.
bool host_has_room(const Host *host, const HostWorld *world);

// --- tags of what the store is asked ------------------------------------------------------------
typedef enum HostTag {
    TAG_RENEW = 1,
    TAG_MAKE,
    TAG_TAKE,
    TAG_RELEASE,
    TAG_SAVE,
    TAG_REQUEST,
    TAG_PROFILES,
    TAG_PEERS,
    TAG_HOST_END,
    TAG_NOTHING, // an answer that nobody needs
    TAG_OUTSIDE = 15
} HostTag;
// u4 kind · u20 world · u16 incarnation · u24 index
uint64_t host_tag(HostTag kind, const HostWorld *world, uint32_t index);

// --- host_lease.c -------------------------------------------------------------------------------
void host_lease_step(Host *host);
void host_lease_peer_wrote(Host *host, uint64_t wrote_ns); // as one said
void host_lease_watch(Host *host);                         // is it still ours?
void host_lease_answer(Host *host, const StoreCompletion *done);
bool host_lease_is_good(const Host *host);  // worlds may run
bool host_lease_may_take(const Host *host); // worlds may be taken
// When worlds end by themselves, on the host's clock; 0: never.
uint64_t host_lease_worlds_end_ns(const Host *host);
bool host_lease_is_late(const Host *host);     // two renewals had no answer
bool host_lease_has_stopped(const Host *host); // it is lost, and no world runs any more

// --- host_peer.c --------------------------------------------------------------------------------
bool host_has_peers(const Host *host);
void host_peers_refresh(Host *host);
void host_peers_answer(Host *host, const StoreCompletion *done);
void host_peers_step(Host *host);
// Who holds a world according to the store or to a third host may be going down already, and says
// so itself: it is asked before anybody is led to it. False: it cannot be, or need not.
bool host_ask_holder(HostWorld *world);
bool host_peers_can_take(const Host *host); // a world that nobody runs
HostPeer *host_peer_find(Host *host, const char *host_id, const uint8_t *boot); // NULL: any id
// Another host is asked to run this world, or who does; joins wait for the answer. False: it shall
// run here.
bool host_place_world(HostWorld *world);
void host_place_again(HostWorld *world);    // a little later; or whoever waits is refused
bool hosted_is_uncertain(HostWorld *world); // does the host that holds it seem gone?

// Its row or its state is another one now.
void hosted_changed(HostWorld *world);

// --- host_world.c -------------------------------------------------------------------------------
// Asks the store for a row with another room code and, at first, id; the state is MAKING.
void hosted_make(HostWorld *world);
void hosted_want(HostWorld *world); // it shall run
void hosted_stop(HostWorld *world); // it shall not
void hosted_wake(HostWorld *world);
void hosted_step(HostWorld *world);
void hosted_answer(HostWorld *world, HostTag kind, const StoreCompletion *done);
void hosted_fence(HostWorld *world, const char *why); // it is another host's now
void hosted_kill(HostWorld *world, const char *why);
void hosted_send_entry(HostWorld *world, const Entry *entry);
void hosted_pass_sockets(HostWorld *world);
void hosted_free(HostWorld *world);
bool hosted_has_process(const HostWorld *world);
void hosted_look_for_end(HostWorld *world);

// --- host_places.c ------------------------------------------------------------------------------
void hosted_set_place(HostWorld *world, HostPlace *place);
void hosted_renew_place(HostWorld *world);     // of one without a process: as it is here now
bool hosted_has_place(const HostWorld *world); // it can start again
// It runs with a place that was replaced or removed since, and nobody can ask for it but by its
// name: it ends once it is empty.
bool hosted_is_outdated(const HostWorld *world);

// --- host_begin.c -------------------------------------------------------------------------------
// Tells its new link how it begins, from what the store gave with the world.
MUST_USE Status hosted_begin(HostWorld *world, const StoreCompletion *taken);

// --- host_hear.c --------------------------------------------------------------------------------
void hosted_admit(HostWorld *world, uint64_t connection, const Ticket *ticket); // NULL: nobody
void hosted_send_auth(HostWorld *world, uint64_t connection, const Ticket *ticket,
                      const uint8_t *profiles, size_t bytes);
void hosted_hear_rest(HostWorld *world);  // what it said before it ended
void hosted_tell_until(HostWorld *world); // when it ends by itself, if that has changed
void hosted_watch(HostWorld *world);      // is it stuck?

// --- host_save.c --------------------------------------------------------------------------------
void hosted_save_receive(HostWorld *world, const ChannelReport *report);
void hosted_request_receive(HostWorld *world, const ChannelReport *report);
void hosted_save_answer(HostWorld *world, uint32_t index, const StoreCompletion *done);
void hosted_request_answer(HostWorld *world, uint32_t index, const StoreCompletion *done);
void hosted_save_retry(HostWorld *world); // what the disk refused, when it is time
bool hosted_saves_wait(const HostWorld *world);
void hosted_saves_forget(HostWorld *world); // and say what was lost

// --- host_index.c -------------------------------------------------------------------------------
MUST_USE Status host_index_open(Host *host);
void host_index_close(Host *host);
void host_index_add(HostWorld *world); // its row is in the store
void host_index_remove(HostWorld *world);

// --- host_choose.c ------------------------------------------------------------------------------
// The world for a join, perhaps a new one; NULL: why says why there is none.
HostWorld *host_choose(Host *host, const HostJoin *join, HostRefusal *why);
void hosted_made(HostWorld *world, HostRefusal refusal); // whoever asked for it is told
// Is there room for a process of it, perhaps because an empty world is stopped?
bool host_make_room(Host *host, const HostWorld *world);
bool host_account_is_in(const HostWorld *world, uint64_t account); // host_move.c
uint32_t hosted_session_count(const HostWorld *world);
bool hosted_is_full_elsewhere(const HostWorld *world); // as the host that runs it said // who is
                                                       // connected or on the way
bool hosted_is_empty(const HostWorld *world);

// --- host_join.c --------------------------------------------------------------------------------
uint32_t hosted_invited(const HostWorld *world); // tickets that can still be used
void hosted_invite_used(HostWorld *world, const Ticket *ticket);
// Was this account given a ticket that could be used now? Once.
bool hosted_take_given(HostWorld *world, uint64_t account);
void host_joins_answer(HostWorld *world); // it runs
void host_joins_lead(HostWorld *world);   // another host runs it: to that one
void host_joins_refuse(HostWorld *world, HostRefusal refusal);
void host_joins_step(Host *host);
#define ROOM_CODE_RANDOM  6
#define ROOM_CODE_PRIVATE 10 // letters of a code that nobody may guess
void room_code_from(const uint8_t *random, uint32_t letters, char out[17]);
void room_code_make(const Host *host, bool is_private, char out[17]);
uint32_t hosted_player_count(const HostWorld *world); // with those who are on their way

// --- host_reload.c ------------------------------------------------------------------------------
void hosted_reload_step(HostWorld *world);
bool hosted_reload_is_busy(const HostWorld *world);
void hosted_reloaded(HostWorld *world, const ChannelReport *report); // CHANNEL_RELOADED
void hosted_reload_started(HostWorld *world); // its process is about to begin with its place
void hosted_reload_ended(HostWorld *world);   // its process has
void hosted_reload_free(HostWorld *world);
// What it starts with the next time: the host's place, or the last good set if that one has failed
// here or is older; NULL: the place is not here.
HostPlace *hosted_place_now(const HostWorld *world);
void hosted_reload_count_uses(const HostWorld *world);

// --- host_order.c -------------------------------------------------------------------------------
HostRules hosted_rules(const HostWorld *world, uint64_t account);
// True: they may not come in, and the world is told why.
bool hosted_refuse_banned(HostWorld *world, uint64_t connection, uint64_t account);
// What holds for them is told to the world: before it lets them in, by connection, or of somebody
// who has come in by a resume token (connection 0).
void hosted_tell_rules(HostWorld *world, uint64_t connection, uint64_t account);
void hosted_tell_chat(HostWorld *world); // it runs
void hosted_refuse_auth(HostWorld *world, uint64_t connection, const char *error, const char *why);

// --- host_ended.c -------------------------------------------------------------------------------
// Was this account removed from here at that time or later?
bool hosted_has_ended(const HostWorld *world, uint64_t account, uint64_t since_unix_ms);

// --- host_evidence.c ----------------------------------------------------------------------------
void hosted_heard(HostWorld *world, const ChannelReport *report);
void hosted_reported(HostWorld *world, const ChannelReport *report);
void hosted_evidence_free(HostWorld *world);
void host_evidence_step(Host *host); // forgets what is too old

// --- host_profiles.c ----------------------------------------------------------------------------
// True: the store is asked for their characters, and they are let in with the answer.
bool host_profiles_ask(HostWorld *world, uint64_t connection, const Ticket *ticket);
void host_profiles_answer(Host *host, uint32_t index, const StoreCompletion *done);
// Removes from a save what a world may not say: characters of players who are not in it.
size_t hosted_filter_profiles(HostWorld *world, uint8_t *rows, size_t bytes);
bool host_account_was_in(const HostWorld *world, uint64_t account); // host_move.c

// --- host_move.c --------------------------------------------------------------------------------
// True: the player comes from another world of the place and is let in later.
bool host_move_begin(HostWorld *to, uint64_t connection, const Ticket *ticket);
void host_move_left(HostWorld *from, uint64_t account);
// By a resume token alone: they leave the world that they were in.
void host_move_came(HostWorld *to, uint64_t account);
void host_moves_step(Host *host);
void host_account_note(HostWorld *world, uint64_t account);
bool host_account_was_let_in(const HostWorld *world, uint64_t account); // we have let them in
