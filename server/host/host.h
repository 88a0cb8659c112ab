// A host: it keeps the store and the signing key, and runs worlds of places. This is its inside as
// a state machine: nothing in it waits, and clock, randomness, store and processes are given to it.
// So one host runs in a process (serve/serve.h), and three of them in a test in simulated time
// (tests/scenario/host).
//
//   Host       the store, the key, who may come in, all worlds
//   HostPlace  one built place (host_place.h)
//   HostWorld  one world: its row, lease and process (host_world.h)
//
// The owner calls host_step at least every HOST_STEP_MS, host_world_receive when the link of a
// world can be read, and host_store_poll when the store has answers. One thread.
#pragma once

#include "core/base/log.h"
#include "server/host/host_link.h"
#include "server/host/ticket.h"
#include "server/store/store.h"

#define HOST_STEP_MS        10
#define HOST_WORLDS_MAX     16384
#define HOST_PLACES_MAX     256
#define HOST_JOINS_MAX      4096  // that wait for a world
#define HOST_LEASE_MS       10000 // how long a renewal counts
#define HOST_LEASE_RENEW_MS 3000
#define HOST_JOIN_MS        20000 // how long a join waits for its world
#define HOST_IDLE_STOP_MS   300000
#define HOST_REASON_BYTES   97 // of what people are told, with its terminator

typedef struct Host Host;
typedef struct HostWorld HostWorld;
struct HostPeerAsk;
struct HostPeerAnswer;

// --- joining ------------------------------------------------------------------------------------
typedef struct HostJoin {
    uint64_t tag;     // for the answer
    char world[65];   // its id or room code; "": none is named
    char place[65];   // its id; "": none is named
    Ticket who;       // account, name and flags; the rest is filled in
    uint64_t address; // a number for where they are; 0: nobody counts it
    // When it was asked, before anybody looked whether they may: who was removed since gets no
    // ticket. 0: now.
    uint64_t asked_unix_ms;
    bool for_peer; // another host asks for the world to run; who and address are nobody's
} HostJoin;

// A world that somebody asks for, and does not enter yet.
typedef struct HostMake {
    uint64_t tag;     // for outside.made
    char place[65];   // its id; "": the default place
    char name[129];   // "": the place's
    bool is_private;  // only by its code, or for those who are invited
    uint64_t account; // whose it will be
    bool is_guest;
    uint64_t address; // as in HostJoin
} HostMake;

// Why there is no ticket. http_join.c has the words.
typedef enum HostRefusal {
    REFUSED_NOT,
    REFUSED_NO_WORLD, // there is none of that name here
    REFUSED_NO_PLACE,
    REFUSED_ENDING,      // the host is going down
    REFUSED_CROWD,       // too many come in at once
    REFUSED_FULL,        // the host runs as many worlds as it can
    REFUSED_ELSEWHERE,   // another host runs this world
    REFUSED_DISK,        // host_disk
    REFUSED_FAILING,     // it ends as soon as it starts
    REFUSED_UNAVAILABLE, // it cannot be started now
    REFUSED_LATE,        // it has not started in time
    REFUSED_BANNED,      // HostJoinAnswer.rules say until when
    REFUSED_FORBIDDEN,   // it is private
    REFUSED_WORLD_FULL,  // it has as many players as it may have
    REFUSED_QUOTA,       // this account has as many worlds as it may have
    REFUSED_ADDRESS,     // as many were made from this address as may be
    REFUSED_PLACE_FULL,  // the place has as many worlds as it may have
    REFUSED_DRAINING,    // no worlds are started any more
    REFUSED_UNCERTAIN,   // the host that has it does not answer, and its lease has not run out
    REFUSED_COUNT
} HostRefusal;

// What holds for somebody in a world, as the control plane has it.
typedef struct HostRules {
    uint64_t banned_until_unix_ms; // 0: not banned
    char ban_reason[HOST_REASON_BYTES];
    uint64_t muted_until_unix_ms; // 0: not muted
    char mute_reason[HOST_REASON_BYTES];
    ChatRule chat; // of this account; that of the world may be stricter
} HostRules;

// What holds for chat in a world. The texts have an entry per line and stay valid until the next
// call.
typedef struct HostChat {
    ChatRule rule;
    const char *phrases, *words;
    size_t phrase_bytes, word_bytes;
} HostChat;

// A line of evidence (host_evidence). The world has said it, and may lie; what the host knows
// itself is is_known: that the account was let into this world.
typedef struct HostHeard {
    uint64_t unix_ms; // when the host heard it
    uint64_t account;
    HeardKind kind;
    bool is_known;
    Text text;
} HostHeard;

// A player reports another one, or the world, as the world says. The reporter is in it.
typedef struct HostReport {
    uint64_t reporter, account; // account 0: the world
    Text reason, text;          // the reason is valid, the text clean
} HostReport;

#define HOST_BAN_FOREVER INT64_MAX
// "you are banned here until …: reason".
void host_ban_text(const HostRules *rules, char *out, size_t bytes);

typedef struct HostJoinAnswer {
    HostRefusal refusal; // REFUSED_NOT: there is a ticket
    StoreDisk disk;      // of REFUSED_DISK
    HostRules rules;     // of REFUSED_BANNED
    const HostWorld *world;
    const char *address;        // of the host that runs it, "ws://192.0.2.1:7777"; NULL: this one
    const uint8_t *signing_key; // of that host, for its manifests; NULL: this one's
    char ticket[TICKET_TEXT_BYTES];
} HostJoinAnswer;

// A WebSocket for a world. `already` (malloc) is what was read of it, and the host's if it is
// taken.
typedef struct HostSocket {
    int descriptor;
    bool json;
    uint64_t address; // a number for where it comes from; 0: nobody counts it
    uint64_t number;  // its owner's, for socket_passed and socket_closed; 0: none
    uint8_t *already;
    size_t bytes;
} HostSocket;

// What has become of a reload; host_reload.h.
typedef enum HostReloadResult {
    HOST_RELOAD_SWITCHED, // the world runs it
    HOST_RELOAD_GOOD,     // and it has run without faults: it is the last good set from now on
    HOST_RELOAD_REFUSED,  // nothing has changed
    HOST_RELOAD_REPLACED, // a newer one was asked for before this one was sent; nothing has changed
    HOST_RELOAD_FAILED,   // it ran, and its scripts failed: the last good set comes back
    HOST_RELOAD_RESTORED, // the last good set runs again
    HOST_RELOAD_RESULT_COUNT
} HostReloadResult;

// --- what a host is given -----------------------------------------------------------------------
typedef struct HostOutside {
    void *user;
    uint64_t (*now_ns)(void *user); // never goes back
    uint64_t (*unix_ms)(void *user);
    void (*random)(void *user, void *out, size_t bytes);
    void (*log)(void *user, LogLevel level, const char *area, const char *text);
    MUST_USE Status (*start)(void *user, HostWorld *world, HostLink **out);
    void (*joined)(void *user, uint64_t tag, const HostJoinAnswer *answer);
    // Bans and mutes of an account in a world, and who shows a sign-in (account, name and flags are
    // filled in; STATUS_DENIED: nobody). NULL: there are no accounts.
    void (*rules)(void *user, uint64_t account, const char *world_id, HostRules *out);
    MUST_USE Status (*who)(void *user, const char *token, size_t bytes, Ticket *out);
    // `who` said STATUS_BLOCKED: only somebody who may wait can tell. They call host_auth_again on
    // the main thread when they know. NULL: then nobody is let in.
    void (*identify)(void *user, const HostWorld *world, uint64_t connection, const char *token,
                     size_t bytes);
    // A player is let into a world of this host, or led to one of another host. May be NULL.
    void (*entered)(void *user, const HostWorld *world, const Ticket *who);
    // The world says that they left it. May be NULL.
    void (*left)(void *user, const HostWorld *world, uint64_t account);
    // What may be said in a world of that place, whose chat an account does not want to see (at
    // most max; returns how many), and a report by a player. May be NULL.
    void (*chat)(void *user, const char *place_id, HostChat *out);
    uint32_t (*blocks)(void *user, uint64_t account, uint64_t *out, uint32_t max);
    void (*reported)(void *user, HostWorld *world, const HostReport *report);
    // The answer to host_make: the world's row is stored, or why not. May be NULL.
    void (*made)(void *user, uint64_t tag, const HostWorld *world, HostRefusal refusal);
    // There is no world for it; the caller of host_socket is told in another way.
    void (*refuse_socket)(void *user, HostSocket *socket);
    // What has become of sockets, by their numbers: a world process has it, says that it is closed
    // (any number, from a stranger), or has ended with all that it had. May be NULL.
    void (*socket_passed)(void *user, const HostWorld *world, uint64_t number);
    void (*socket_closed)(void *user, const HostWorld *world, uint64_t number);
    void (*sockets_ended)(void *user, const HostWorld *world);
    // What has become of a reload (host_reload.h): an answer to host_world_reload, with its tag.
    // The reason is "" or says, for people, what is wrong. May be NULL.
    void (*reloaded)(void *user, uint64_t tag, const HostWorld *world, HostReloadResult result,
                     uint32_t version, const char *reason);
    // A host without a key has the manifests of a reload signed elsewhere; the answer comes by
    // host_world_signed (host_reload.h). It is asked again while none comes. NULL: nobody signs.
    void (*sign)(void *user, HostWorld *world, HostPlace *place, uint32_t version_before,
                 uint64_t tick);
    // Whether this world, which has no process here, runs on another host with a form of its place
    // that was replaced: then it is given to nobody who asks for the place. May be NULL.
    bool (*is_outdated)(void *user, const HostWorld *world);
    // Other hosts on the same store (host_peer.h); the answer comes by host_peer_answer. NULL:
    // there are none, and the two below are not called.
    void (*peer_ask)(void *user, const StoreHost *peer, const struct HostPeerAsk *ask);
    void (*peer_answered)(void *user, uint64_t tag, const struct HostPeerAnswer *answer);
    // What this machine has to do now: memory, tick, worlds and players are filled in.
    void (*load)(void *user, StoreHost *out);
    // The store's answer to somebody else who uses it, see host_outside_tag. Rows that are kept are
    // set to NULL. May be NULL.
    void (*stored)(void *user, StoreCompletion *done);
} HostOutside;

typedef struct HostConfig {
    HostOutside outside;
    Store *store;
    const SigningKey *key; // with remote: its public half alone
    char host_id[33];
    uint8_t boot[TICKET_BOOT_BYTES];
    char address[128];     // where other hosts and players reach this one
    bool development;      // guests come in under any name
    bool one_world;        // it begins at once, never stops for being empty, and ends the host
    bool store_is_private; // nobody else can reach it: a lease that the full disk does not let us
                           // renew is still ours
    // The store is a control plane's on another machine (store_remote.h), which also signs tickets
    // and manifests; a world that another host holds is waited for.
    bool remote;
    uint32_t lease_ms; // 0: HOST_LEASE_MS
    bool allow_weak_jail;
    bool account_profiles; // the store has the characters of accounts: whoever comes in brings
                           // theirs
    uint32_t world_max;    // processes; 0: HOST_WORLDS_MAX
    bool no_worlds;        // it leads players to others, and runs none itself
    uint32_t idle_stop_ms; // 0: HOST_IDLE_STOP_MS
} HostConfig;

// --- a host -------------------------------------------------------------------------------------
// The worlds of the store, of places that were added or will be, are known afterwards.
MUST_USE Status host_create(const HostConfig *config, Host **out);
// Every process has ended, or is killed here. What the store still holds is the store's.
void host_destroy(Host *host);

// Which life of the host this is (TICKET_BOOT_BYTES): that of its config, until others ended its
// row.
const uint8_t *host_boot(const Host *host);
// Where players reach it, once that is known: before the first host_step.
void host_set_address(Host *host, const char *address);
// A tag for what others ask of the host's store; the answer goes to outside.stored.
#define HOST_OUTSIDE_BITS 60
uint64_t host_outside_tag(uint64_t number); // below 1 << HOST_OUTSIDE_BITS

// Takes over a reference (host_place.h). The first one is the default place. A place of the same id
// is replaced by it: worlds that do not run begin with the new one at their next start, with all
// that is stored of them; worlds that run go on with the old one until they end. Those that nobody
// named and that are not private are given to nobody who asks for the place, and end once they are
// empty. At most HOST_PLACES_MAX.
void host_add_place(Host *host, HostPlace *place);
// The place is not here any more. Its worlds stay known, and run again once it is added again.
// `reason` is told to whoever is in one of them, and those who wait for one are refused; NULL: no
// world of it runs.
void host_remove_place(Host *host, const char *place_id, const char *reason);
uint32_t host_place_count(const Host *host);
HostPlace *host_place(Host *host, const char *place_id); // NULL: none; "": the default place
// Adds to HostPlace.use_count, also of places that were replaced, how many worlds run with it or
// are about to.
void host_count_uses(Host *host);
// Also worlds that do not run. NULL: none. By id or room code.
HostWorld *host_world(Host *host, const char *name);
uint32_t host_world_count(const Host *host);
HostWorld *host_world_at(Host *host, uint32_t number);
// A world of this place, from a row that the store has.
MUST_USE Status host_add_world(Host *host, const StoreWorld *row, HostWorld **out);

// Answered by outside.joined, perhaps before this returns.
void host_join(Host *host, const HostJoin *join);
// Answered by outside.made, perhaps before this returns.
void host_make(Host *host, const HostMake *make);
// A world whose id, code or state has changed since it was last given here; NULL: no more.
HostWorld *host_take_changed(Host *host);
// In the order of their ids, from the first one after that id on; UINT32_MAX: no more.
uint32_t host_world_after(const Host *host, const char *world_id);
uint32_t host_world_next(const Host *host, uint32_t position);
HostWorld *host_world_in_order(const Host *host, uint32_t position);
// STATUS_NOT_FOUND, STATUS_LIMIT: the socket is still the caller's.
MUST_USE Status host_socket(Host *host, const char *world, const HostSocket *socket);

// Orders to running worlds: those that somebody is in. `world` is an id or room code; "": all of
// them. They give how many worlds were told, not whether anybody was there. Texts are cleaned; a
// reason is cut after HOST_REASON_BYTES.
// Who is removed comes in again with a ticket that they are given afterwards, if they may.
uint32_t host_kick(Host *host, uint64_t account, const char *world, const char *reason);
// From all worlds of a place.
uint32_t host_kick_from_place(Host *host, uint64_t account, const char *place_id,
                              const char *reason);
// HostOutside.identify is done: the sign-in that came with this connection of a world in that life
// (host_world_life) is looked at once more.
void host_auth_again(Host *host, const char *world_id, uint64_t life, uint64_t connection,
                     const char *token, size_t bytes);
// The tickets that the account has for that world or place ("": for all) are good no more.
void host_end_tickets(Host *host, uint64_t account, const char *where);
// The world process of that life (host_world_life) closes the socket with that number.
void host_close_socket(Host *host, uint64_t life, uint64_t number);
uint32_t host_announce(Host *host, const char *world, const char *text);
// The account's characters were changed in the store: a world that it is in hears of them (a row).
void host_profiles_changed(Host *host, uint64_t account, const uint8_t *row, size_t bytes);
// Who was let in and is not known to the control plane of a host on another machine yet; at most
// max. They may have left since.
uint32_t host_accounts_new(const Host *host, uint64_t *out, uint32_t max);
// Those who were let into worlds of that place, at most max; returns how many.
uint32_t host_accounts_in(const Host *host, const char *place_id, uint64_t *out, uint32_t max);
void host_accounts_known(Host *host, const uint64_t *accounts, uint32_t count);
void host_accounts_unknown(Host *host); // none of them is
// The world that the account was let into last, if it runs here; NULL: none.
const HostWorld *host_account_world(const Host *host, uint64_t account);
// What the control plane has decided since (HostOutside.rules) is carried out where the account is.
void host_rules_changed(Host *host, uint64_t account, const char *world);

// The same of what holds for chat in worlds of a place ("": all), and of whom an account blocks.
void host_chat_changed(Host *host, const char *place_id);
void host_blocks_changed(Host *host, uint64_t account);
// The world that the account was last let into here; NULL: none.
HostWorld *host_world_of(Host *host, uint64_t account);
// What was said in a world and who came and went in the last EVIDENCE_MS, the oldest first.
typedef void (*HostHeardSink)(void *user, const HostHeard *heard);
void host_evidence(HostWorld *world, HostHeardSink sink, void *user);

void host_step(Host *host);
void host_store_poll(Host *host);

// Everybody is told, everything is saved, every world ends, within ms.
void host_stop(Host *host, uint32_t ms);
bool host_is_over(const Host *host);
// Starts no worlds any more; those that run go on. False: it does again.
void host_drain(Host *host, bool drains);
bool host_is_draining(const Host *host);
bool host_is_stopping(const Host *host);
bool host_is_ready(const Host *host); // worlds can be started
// Something is not as it should be: a world could not be started or went to another host (with
// one_world), or something was lost at the end.
bool host_has_failed(const Host *host);

typedef struct HostCounts {
    uint64_t starts, crashes, kills; // of world processes
    uint64_t sockets_passed, sockets_refused;
    uint64_t tickets_given, tickets_admitted, tickets_refused;
    uint64_t joins_refused[REFUSED_COUNT]; // by why
    uint64_t saves_lost, requests_lost;    // not on disk when their time was over
    uint64_t renewals, renewals_failed, leases_lost;
    uint64_t profiles_refused;         // of players who are not in the world that sent them
    uint64_t evidence_dropped;         // lines without room
    uint64_t reports_refused;          // of players who are not in the world that sent them
    uint64_t reloads_ignored;          // what worlds said of scripts that nobody had sent
    uint64_t moves_waited, moves_late; // players who came from another world of the place
    uint64_t peers_asked, peers_ended; // questions to other hosts, and rows of dead ones
} HostCounts;
const HostCounts *host_counts(const Host *host);
void host_note_refused(Host *host, HostRefusal refusal); // a join that the owner refused itself
StoreDisk host_disk(const Host *host);                   // why worlds cannot start, if that is why
