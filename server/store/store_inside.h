// The inside of the store: one writer thread with its connection, one connection for reading that
// callers share under a lock, and the queues between. Everything that writes is a Job; a batch of
// jobs is one transaction. A job decides before its first write and is undone alone if it fails;
// only the disk makes a whole batch fail.
#pragma once

#include "core/script/trial/memory_store.h"
#include "core/world/save/row.h"
#include "server/store/sql.h"
#include "server/store/store.h"

#include <pthread.h>

#define STORE_ID_BYTES      64
#define STORE_SCHEMA        3
#define STORE_EPOCH_MAX     INT64_MAX // what a column holds
#define STORE_WAL_PAGES_MAX 2000      // 8 MB, then the log is written back and emptied
#define STORE_BLOCKED_MAX   4096
#define STORE_REASON_BYTES  256

typedef enum JobType { JOB_SAVE, JOB_REQUEST, JOB_CALL } JobType;

typedef struct Job Job;
typedef Status (*JobCall)(Store *store, Sql *sql, void *user);

struct Job {
    Job *next;
    JobType type;
    StoreCompletion answer;
    uint64_t epoch, seq;
    size_t cost; // what it counts for bytes_waiting_max
    // JOB_SAVE: the rows.
    const uint8_t *rows;
    size_t row_bytes;
    uint32_t row_count;
    StoreRequest request; // JOB_REQUEST
    uint8_t *answer_bytes;
    // JOB_CALL: somebody waits for it.
    JobCall call;
    void *user;
    bool done;
    uint8_t bytes[]; // what rows or request point to
};

typedef struct JobList {
    Job *first, *last;
} JobList;

// A world whose saves the disk refused: those after them have to wait as well, and are not fenced.
typedef struct BlockedWorld {
    char world_id[STORE_ID_BYTES + 1];
    uint64_t epoch, last;
} BlockedWorld;

struct Store {
    StoreConfig config;
    int event; // eventfd: not zero while there are completions
    pthread_t thread;

    pthread_mutex_t lock; // what follows
    pthread_cond_t work, called;
    JobList waiting, completed;
    Job *taken; // the last one that store_poll gave out
    size_t bytes_waiting;
    bool urgent, closing;
    StoreStats stats;

    pthread_mutex_t read_lock; // reader
    Sql reader;

    // The writer thread's own.
    Sql writer;
    int checkpoint_pages;          // when the log is written back next
    uint64_t damaged, disk_errors; // not in the stats yet
    StoreDisk disk;                // of the last error
    BlockedWorld *blocked;
    uint32_t blocked_count, blocked_next;
    uint8_t value[VALUE_BYTES_MAX];   // of the entry that a request is about
    uint8_t answer[STORE_ANSWER_MAX]; // of the request that runs
};

bool store_id_is_valid(const char *id);
// Runs it on the writer thread in the next transaction, and waits until that is on disk.
Status store_call(Store *store, JobCall call, void *user);

// --- store_schema.c -----------------------------------------------------------------------------
// Checks, migrates and repairs what the connection has open. Without tables it is damaged, unless
// it is being made.
MUST_USE Status schema_open(Sql *sql, bool is_new, StoreStats *stats, char *reason,
                            size_t reason_bytes);

// --- store_world.c ------------------------------------------------------------------------------
// Raises the number of the world's last save: STATUS_DENIED when it is not the next of the epoch.
Status head_advance(Store *store, Sql *sql, const char *world_id, uint64_t epoch, uint64_t seq);
// The disk refused that save.
void head_blocked(Store *store, const char *world_id, uint64_t epoch, uint64_t seq);
bool head_epoch_is(Sql *sql, const char *world_id, uint64_t epoch);

// --- store_rows.c -------------------------------------------------------------------------------
MUST_USE Status rows_check(const uint8_t *rows, size_t bytes, uint32_t *count);
void rows_apply(Sql *sql, const char *world_id, const uint8_t *rows, size_t bytes); // checked ones
typedef struct RowsFound {
    uint64_t damaged, repaired, backfilled; // as in StoreStats
} RowsFound;
// As store_rows.
MUST_USE Status rows_read(Sql *sql, const char *world_id, StoreRowSink sink, void *user,
                          RowsFound *found);

// --- store_profiles.c ---------------------------------------------------------------------------
typedef struct ProfileSet {
    RowProfiles row;
    char texts[PROFILES_MAX * 2 + 2][64]; // what the row points to
    uint32_t text_count;
    uint32_t damaged_count; // rows that were left out
} ProfileSet;
void profiles_write(Sql *sql, const char *world_id, const RowProfiles *profiles);
void profiles_delete(Sql *sql, const char *world_id, uint64_t account);
// What is stored of an account, made valid, and counted. True if what is stored is less.
bool profiles_load(Sql *sql, const char *world_id, uint64_t account, ProfileSet *out,
                   RowsFound *found);
// Every account that a world has ever seen gets a valid set; those that had none are counted.
void profiles_repair_all(Sql *sql, RowsFound *found);

// --- store_data.c -------------------------------------------------------------------------------
bool data_is_read(const StoreRequest *request);
// As memory_store_run, for one world.
bool data_run(Store *store, Sql *sql, const char *world_id, const StoreRequest *request,
              ByteWriter *answer);
