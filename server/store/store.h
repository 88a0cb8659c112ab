// What is kept, behind one asynchronous face: batches go in, completions come out, with one commit
// for everything that arrived meanwhile. Nothing that a running host calls waits for the disk.
//
// Who may write what:
//   - A host has a row (store_host_renew) that it renews every few seconds and that runs out.
//   - A world is held by one host and boot at a time (store_world_take). Each taking raises the
//     world's epoch. The lease of a world is valid while the row of the host that holds it is.
//   - A save carries (epoch, seq). It is written only if it is the next of the current epoch and
//     the lease is valid, which one UPDATE in the same transaction decides: the fence. A world that
//     is fenced (STATUS_DENIED) stops.
// A completion with STATUS_OK means: on disk, and survives pulling the plug.
//
// Functions may be called from any thread; completions are taken by store_poll.
//
// A store can also be another machine's: store_remote.h sends the batches there. Whoever answers
// for other hosts uses the functions with StoreHolder, which let a host touch only what it holds.
#pragma once

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/script/runtime/store_request.h"

typedef struct Store Store;

// --- opening ------------------------------------------------------------------------------------
// A database in memory that several stores of one thread share: several hosts in virtual time.
typedef struct StoreDatabase StoreDatabase;
MUST_USE Status store_database_open(StoreDatabase **out);
void store_database_close(StoreDatabase *database); // after the stores that use it

typedef struct StoreConfig {
    // The database file, whose folder exists; or the URL of a PostgreSQL server, postgres://….
    const char *path;
    uint32_t commit_ms;       // group commit: 50
    size_t bytes_waiting_max; // batches not committed or polled yet; more is STATUS_LIMIT
    // What the scripts of one place may keep; more is an error that the script sees.
    uint32_t data_keys_max;
    uint64_t data_bytes_max;
    uint64_t data_old_bytes_max; // values that were replaced; the oldest give way
    // The time, for fences and DataStore versions; NULL: the system's clock.
    uint64_t (*unix_ms)(void *user);
    void *unix_ms_user;
    // Manual mode, for tests: there is no thread, store_step commits what waits.
    bool manual;
    StoreDatabase *database; // instead of path; manual mode
    // Asked before each commit: true makes it fail as on a full disk.
    bool (*fault)(void *user);
    void *fault_user;
    // Other processes use the database too: changes that they must hear of become events.
    bool shared;
} StoreConfig;
StoreConfig store_config_default(void);

// Opens or makes the database, migrates it, checks it (a damaged one is STATUS_MALFORMED with a
// reason: never opened in part; one of a later version is STATUS_UNSUPPORTED; one that the disk
// does not let us read or write is STATUS_BLOCKED). The reason may be NULL; with STATUS_OK it says
// what was repaired, or nothing.
MUST_USE Status store_open(const StoreConfig *config, Store **out, char *reason, size_t bytes);
void store_close(Store *store); // commits what waits
// Closes without committing, as if the process had died; manual mode.
void store_crash(Store *store);
// Commits everything that waits, in one transaction; manual mode. The completions can be polled
// then.
void store_step(Store *store);

// For a copy that was restored from a backup, before its first use: raises every epoch and the
// version of every manifest beyond any that the life after the backup had, and forgets hosts,
// leases, resume tokens, sign-ins and links. So nothing that belongs to that other life is accepted
// here, and everybody signs in again.
MUST_USE Status store_restored(Store *store);

// --- worlds; for start-up and the command line: these wait for the disk -------------------------
typedef struct StoreWorld {
    char world_id[65];
    char place_id[65]; // whose DataStores it uses; "": a place of its own, with the world's id
    char room_code[17];
    char name[129];
    uint8_t place_hash[32];
    uint64_t created_unix_ms;
    uint64_t owner_id; // whose it is: they may delete it and invite; 0: nobody's
    uint64_t maker_id; // who had it made by joining; 0: nobody
    bool is_private;   // only by its code, or for those who are invited
    bool is_named;     // somebody gave it its name
} StoreWorld;
// STATUS_EXISTS: another world has that room code (none: ""). STATUS_MALFORMED: bad id, code, name.
MUST_USE Status store_world_put(Store *store, const StoreWorld *world);
MUST_USE Status store_world_find(Store *store, const char *world_id_or_code, StoreWorld *out);
uint32_t store_worlds(Store *store, StoreWorld *out, uint32_t max);
// Everything of it but the DataStores of its place; whoever runs it is fenced. Epochs go on if a
// world of that id is made again.
MUST_USE Status store_world_delete(Store *store, const char *world_id);
// Who may come into a private world. STATUS_LIMIT: WORLD_GUESTS_MAX are invited already.
MUST_USE Status store_guest_put(Store *store, const char *world_id, uint64_t account,
                                uint64_t now_unix_ms);
// A private world has this room code from then on. STATUS_NOT_FOUND: the account is not invited;
// STATUS_EXISTS: another world has the code. Nothing is changed then.
MUST_USE Status store_guest_delete(Store *store, const char *world_id, uint64_t account,
                                   const char *room_code);
bool store_guest_is_invited(Store *store, const char *world_id, uint64_t account);
// The sink must not call the store.
typedef void (*StoreGuestSink)(void *user, const char *world_id, uint64_t account);
MUST_USE Status store_guests(Store *store, StoreGuestSink sink, void *user);
// Every row of a world, in the form that ENTRY_ROW takes; called for each. STATUS_MALFORMED: one is
// damaged (the sink may have had others by then, each as it was written). A damaged profile is
// repaired instead, and counted. The sink must not call the store.
typedef void (*StoreRowSink)(void *user, const uint8_t *row, size_t bytes);
MUST_USE Status store_rows(Store *store, const char *world_id, StoreRowSink sink, void *user);

// --- hosts and leases ---------------------------------------------------------------------------
// All functions from here on only queue. STATUS_MALFORMED: an argument is invalid. STATUS_LIMIT:
// too much waits already. In both cases there will be no completion.
#define STORE_BOOT_BYTES    16
#define STORE_ADDRESS_BYTES 255

typedef struct StoreHost {
    char host_id[65];
    uint8_t boot[STORE_BOOT_BYTES]; // random, for one life of the process
    char address[STORE_ADDRESS_BYTES + 1];
    uint8_t public_key[32];
    bool draining; // takes no new worlds
    // A peer takes any world of this store and answers other peers. Its load, for placement: of
    // memory and of processor time for ticks, in thousandths of what the machine has.
    bool is_peer;
    uint32_t memory, tick, worlds, players;
    uint64_t expires_unix_ms; // only read: by store_peers_read
} StoreHost;
// Makes the host's row valid until now + duration. The first renewal of a boot through a store
// takes the row over from any process that had it: that one is STATUS_DENIED from then on, and must
// stop. Committed at once.
MUST_USE Status store_host_renew(Store *store, const StoreHost *host, uint64_t now_unix_ms,
                                 uint64_t duration_ms, uint64_t tag);
// All peers whose rows are valid at that time, as bytes for store_peers_read.
MUST_USE Status store_peers_find(Store *store, uint64_t now_unix_ms, uint64_t tag);
// Ends the row of a host that is known to be dead: its worlds can be taken at once. Compare and set
// on its boot: STATUS_DENIED if that boot does not have the row (any more). If the host lives after
// all, its next renewal is STATUS_DENIED, and the epochs fence what it still writes.
MUST_USE Status store_host_end(Store *store, const char *host_id,
                               const uint8_t boot[STORE_BOOT_BYTES], uint64_t tag);
// A peer with that address whose row is valid, but for the one with that id. Waits for the disk.
// STATUS_NOT_FOUND: there is none.
MUST_USE Status store_host_at(Store *store, const char *address, const char *but_host_id,
                              uint64_t now_unix_ms, StoreHost *out);
// A host that has ended well takes its own row along: nobody waits for it to expire. Waits for the
// disk. Not an error if that boot does not have the row.
MUST_USE Status store_host_leave(Store *store, const char *host_id,
                                 const uint8_t boot[STORE_BOOT_BYTES]);
// Takes a world for a host whose row is valid. The completion has the new epoch, whose first save
// is seq 1, and all rows of the world. Else: STATUS_EXISTS: another host holds it, and its row is
// valid; store_held_read says which. STATUS_NOT_FOUND: there is no such world. STATUS_MALFORMED:
// what is stored is damaged, and bytes say what. STATUS_DENIED: another boot has this host's row.
// STATUS_BLOCKED: this host's row has run out (renew it first), or the disk refuses.
MUST_USE Status store_world_take(Store *store, const char *world_id, const char *host_id,
                                 const uint8_t boot[STORE_BOOT_BYTES], uint64_t now_unix_ms,
                                 uint64_t tag);
// Gives the world up: nothing more is stored with this epoch, and every host may take it at once.
// STATUS_DENIED: somebody else has taken it.
MUST_USE Status store_world_release(Store *store, const char *world_id, uint64_t epoch,
                                    uint64_t tag);

// As store_world_put, for a world that is new, from a host's loop. STATUS_EXISTS: there is one with
// that id or room code.
MUST_USE Status store_world_make(Store *store, const StoreWorld *world, uint64_t tag);

// --- batches ------------------------------------------------------------------------------------
// The rows of one COMMAND_SAVE; checked row by row before anything is written: STATUS_MALFORMED.
// The completion may be STATUS_DENIED: fenced. After STATUS_BLOCKED (the disk refuses, or the
// host's row has run out and nobody has taken the world yet) the same save is to be tried again,
// and those after it in their order; until then those are STATUS_BLOCKED too.
MUST_USE Status store_save(Store *store, const char *world_id, uint64_t epoch, uint64_t seq,
                           const uint8_t *rows, size_t bytes, uint64_t tag);
// A DataStore request of a world's script; what it points to is copied.
MUST_USE Status store_request(Store *store, const char *world_id, uint64_t epoch,
                              const StoreRequest *request, uint64_t tag);

// --- for other hosts ----------------------------------------------------------------------------
// A host on another machine, for which this process asks. It may lie: everything below is refused
// (STATUS_DENIED) unless the lease of the world is that of this host and boot.
typedef struct StoreHolder {
    char host_id[65];
    uint8_t boot[STORE_BOOT_BYTES];
    // It may have been asked before, by somebody who got no answer: a save of this epoch that is
    // stored already is STATUS_OK.
    bool is_again;
} StoreHolder;
MUST_USE Status store_save_for(Store *store, const StoreHolder *holder, const char *world_id,
                               uint64_t epoch, uint64_t seq, const uint8_t *rows, size_t bytes,
                               uint64_t tag);
MUST_USE Status store_request_for(Store *store, const StoreHolder *holder, const char *world_id,
                                  uint64_t epoch, const StoreRequest *request, uint64_t tag);
// Waits for the store. STATUS_OK: this host holds the world, and its row is valid.
MUST_USE Status store_world_is_held_by(Store *store, const StoreHolder *holder,
                                       const char *world_id, uint64_t now_unix_ms);
MUST_USE Status store_world_release_for(Store *store, const StoreHolder *holder,
                                        const char *world_id, uint64_t epoch, uint64_t tag);
// As store_host_renew, but it is said whether the row is taken over from any other boot (register),
// or renewed only while it is this boot's.
MUST_USE Status store_host_register(Store *store, const StoreHost *host, uint64_t now_unix_ms,
                                    uint64_t duration_ms, uint64_t tag);
MUST_USE Status store_host_keep(Store *store, const StoreHost *host, uint64_t now_unix_ms,
                                uint64_t duration_ms, uint64_t tag);
// Does it only read? Then it may be asked twice.
bool store_request_is_read(const StoreRequest *request);

typedef enum StoreCompletionType {
    STORE_SAVED,
    STORE_REQUESTED,
    STORE_HOST_RENEWED,
    STORE_WORLD_TAKEN,
    STORE_WORLD_RELEASED,
    STORE_WORLD_MADE,
    STORE_PROFILES_FOUND,
    STORE_PEERS_FOUND,
    STORE_HOST_ENDED
} StoreCompletionType;

typedef struct StoreCompletion {
    StoreCompletionType type;
    uint64_t tag;
    char world_id[65]; // "": it was about a host
    Status status;     // STATUS_DENIED: fenced; STATUS_BLOCKED: try again later
    bool ok;           // of a DataStore request: else bytes are the error
    bool damaged;      // what it was about is not what was written; the error says where
    bool is_unknown;   // STATUS_BLOCKED, and yet it may be stored: its COMMIT had no answer
    const uint8_t *bytes;
    size_t byte_count;
    // Of a world that was taken (through store_remote.h, `bytes` are its manifests). The rows stand
    // one after another, each as row_write writes it; they are the caller's, to be freed.
    uint64_t epoch;
    uint8_t *rows;
    size_t row_bytes;
} StoreCompletion;
// Takes one; its bytes are valid until the next call. False: none.
bool store_poll(Store *store, StoreCompletion *out);
int store_descriptor(const Store *store); // readable when there is one

// Who holds the world, of a store_world_take that was STATUS_EXISTS.
typedef struct StoreHeld {
    uint64_t epoch;
    uint8_t boot[STORE_BOOT_BYTES];
    char address[STORE_ADDRESS_BYTES + 1];
} StoreHeld;
// False: the completion does not say.
bool store_held_read(const StoreCompletion *done, StoreHeld *out);
// The hosts of a store_peers_find, at most max, by host_id.
#define STORE_PEERS_MAX 1024
uint32_t store_peers_read(const StoreCompletion *done, StoreHost *out, uint32_t max);

// Why the disk takes no writes.
typedef enum StoreDisk {
    STORE_DISK_FINE,
    STORE_DISK_FULL,
    STORE_DISK_READ_ONLY,
    STORE_DISK_FAILED,
    STORE_DISK_AWAY // the database server cannot be reached, or takes no writes
} StoreDisk;
const char *store_disk_text(StoreDisk disk); // "the disk is full"

typedef struct StoreStats {
    uint64_t commits, rows, bytes, refused, disk_errors;
    double commit_ms_last, commit_ms_max;
    bool disk_refuses;   // at the moment
    StoreDisk disk;      // why; fine while it does not refuse
    uint64_t repaired;   // sets of profiles that were damaged
    uint64_t backfilled; // users who had none yet and got the default
    uint64_t damaged;    // rows that are not what was written
    uint64_t bytes_waiting;
} StoreStats;
StoreStats store_stats(Store *store);

// --- blobs --------------------------------------------------------------------------------------
// The index of what blob.h keeps in files; waits for the disk. First the file, then this.
MUST_USE Status store_blob_put(Store *store, const uint8_t hash[32], uint64_t bytes);
MUST_USE Status store_blob_find(Store *store, const uint8_t hash[32], uint64_t *bytes);
