// What is kept, behind one asynchronous face: batches go in, completions come out, on one writer
// thread with one commit for everything that arrived meanwhile. Implementations: SQLite (one file
// per data folder, WAL), later PostgreSQL.
//
// Every world has a lease with an epoch; a save carries (epoch, seq) and is refused (STATUS_DENIED)
// when it is not the next of the current epoch: that world is fenced and stops. A completion with
// STATUS_OK means: on disk, and survives pulling the plug.
//
// Functions may be called from any thread; completions are taken by store_poll.
#pragma once

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/script/runtime/store_request.h"

typedef struct Store Store;

typedef struct StoreConfig {
    const char *path;         // the database file; its folder exists
    uint32_t commit_ms;       // group commit: 50
    size_t bytes_waiting_max; // batches not committed or polled yet; more is STATUS_LIMIT
    // What the scripts of one world may keep; more is an error that the script sees.
    uint32_t data_keys_max;
    uint64_t data_bytes_max;
    uint64_t (*unix_ms)(void); // the time of a DataStore version; NULL: the system's clock
} StoreConfig;
StoreConfig store_config_default(void);

// Opens or makes the database, migrates it, checks it (a damaged one is STATUS_MALFORMED with a
// reason: never opened in part; one of a later version is STATUS_UNSUPPORTED; one that the disk
// does not let us read or write is STATUS_BLOCKED). The reason may be NULL; with STATUS_OK it says
// what was repaired, or nothing.
MUST_USE Status store_open(const StoreConfig *config, Store **out, char *reason, size_t bytes);
void store_close(Store *store); // commits what waits

// --- worlds and leases; these wait for the disk -------------------------------------------------
typedef struct StoreWorld {
    char world_id[65];
    char room_code[17];
    char name[129];
    uint8_t place_hash[32];
    uint64_t created_unix_ms;
} StoreWorld;
// STATUS_EXISTS: another world has that room code (none: ""). STATUS_MALFORMED: bad id, code, name.
MUST_USE Status store_world_put(Store *store, const StoreWorld *world);
MUST_USE Status store_world_find(Store *store, const char *world_id_or_code, StoreWorld *out);
uint32_t store_worlds(Store *store, StoreWorld *out, uint32_t max);
// Everything of it; whoever runs it is fenced. Epochs go on if a world of that id is made again.
MUST_USE Status store_world_delete(Store *store, const char *world_id);
// Takes the world's lease: the next epoch, whose first save is seq 1. A lease that this host (by
// its id) holds is taken at once, another host's only when it has expired: STATUS_EXISTS. There
// must be such a world: STATUS_NOT_FOUND.
MUST_USE Status store_lease_take(Store *store, const char *world_id, const char *host_id,
                                 uint64_t now_unix_ms, uint64_t duration_ms, uint64_t *epoch);
// STATUS_DENIED: somebody else took it.
MUST_USE Status store_lease_renew(Store *store, const char *world_id, uint64_t epoch,
                                  uint64_t now_unix_ms, uint64_t duration_ms);
void store_lease_release(Store *store, const char *world_id, uint64_t epoch);
// Every row of a world, in the form that ENTRY_ROW takes; called for each. STATUS_MALFORMED: one is
// damaged (the sink may have had others by then, each as it was written). A damaged profile is
// repaired instead, and counted. The sink must not call the store.
typedef void (*StoreRowSink)(void *user, const uint8_t *row, size_t bytes);
MUST_USE Status store_rows(Store *store, const char *world_id, StoreRowSink sink, void *user);

// --- batches ------------------------------------------------------------------------------------
// The rows of one COMMAND_SAVE; checked row by row before anything is written: STATUS_MALFORMED,
// and no completion. STATUS_LIMIT: too much waits already, and no completion. After STATUS_BLOCKED
// the same save is to be tried again, and those after it in their order; until then those are
// STATUS_BLOCKED too.
MUST_USE Status store_save(Store *store, const char *world_id, uint64_t epoch, uint64_t seq,
                           const uint8_t *rows, size_t bytes, uint64_t tag);
// A DataStore request of a world's script; what it points to is copied.
MUST_USE Status store_request(Store *store, const char *world_id, uint64_t epoch,
                              const StoreRequest *request, uint64_t tag);

typedef struct StoreCompletion {
    uint64_t tag;
    char world_id[65];
    Status status; // STATUS_DENIED: fenced; STATUS_BLOCKED: the disk refuses (full), try later
    bool ok;       // of a DataStore request: else bytes are the error
    bool damaged;  // what it was about is not what was written; the error says where
    const uint8_t *bytes;
    size_t byte_count;
} StoreCompletion;
// Takes one; its bytes are valid until the next call. False: none.
bool store_poll(Store *store, StoreCompletion *out);
int store_descriptor(const Store *store); // readable when there is one

// Why the disk takes no writes.
typedef enum StoreDisk {
    STORE_DISK_FINE,
    STORE_DISK_FULL,
    STORE_DISK_READ_ONLY,
    STORE_DISK_FAILED
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
