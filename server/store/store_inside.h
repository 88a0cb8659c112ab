// The inside of the store. Everything that writes is a Job; jobs wait in a queue (store_queue.c),
// and all that wait are one batch, which is one transaction (store_batch.c). A job decides before
// its first write; only the disk makes a whole batch fail.
//
// The writer thread has its own connection. Callers share another one for reading, under a lock. In
// manual mode there is no thread and one connection does both.
#pragma once

#include "core/script/trial/memory_store.h"
#include "core/world/save/row.h"
#include "server/store/place/store_package.h"
#include "server/store/sql/sql.h"
#include "server/store/store.h"

#include <pthread.h>
#include <stdatomic.h>

#define STORE_ID_BYTES         64
#define STORE_APPLICATION      0x534c4f54 // "SLOT": what SQLite calls the application id
#define STORE_SCHEMA           12
#define STORE_EPOCH_MAX        INT64_MAX           // what a column holds
#define STORE_RESTORE_EPOCHS   (UINT64_C(1) << 32) // more than a world ever has starts in one life
#define STORE_RESTORE_VERSIONS (1u << 20)          // of manifests: more than reloads
#define STORE_WAL_PAGES_MAX    2000                // 8 MB, then the log is written back and emptied
#define STORE_BLOCKED_MAX      4096
#define STORE_REASON_BYTES     256
#define STORE_PATH_BYTES       4096
#define STORE_WORLD_BYTES_MAX  (512u << 20) // all rows of a world; a host that takes it holds them

typedef enum JobType {
    JOB_SAVE = STORE_SAVED,
    JOB_REQUEST = STORE_REQUESTED,
    JOB_HOST = STORE_HOST_RENEWED,
    JOB_TAKE = STORE_WORLD_TAKEN,
    JOB_RELEASE = STORE_WORLD_RELEASED,
    JOB_MAKE = STORE_WORLD_MADE,
    JOB_PROFILES = STORE_PROFILES_FOUND,
    JOB_PEERS = STORE_PEERS_FOUND,
    JOB_HOST_END = STORE_HOST_ENDED,
    JOB_CALL // somebody waits for it
} JobType;

// Who renews a host's row.
typedef enum HostMode {
    HOST_OWN,      // this process, whose first renewal takes the row over
    HOST_REGISTER, // another one: takes the row over
    HOST_KEEP      // another one: only while the row is its boot's
} HostMode;

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
    uint32_t fence;       // of the batch, for saves and requests that stand together
    bool is_in_order;     // its fence decides for it
    StoreRequest request; // JOB_REQUEST
    uint8_t *answer_bytes;
    // JOB_HOST, JOB_TAKE: for whom. Else: another host, which must hold the world; NULL: ourselves.
    const StoreHost *host;
    HostMode host_mode;
    bool is_again; // JOB_SAVE: it may be stored already
    uint64_t now, duration;
    JobCall call; // JOB_CALL
    void *user;
    bool done;
    _Alignas(uint64_t) uint8_t bytes[]; // what rows, request, host or user point to
};

typedef struct JobList {
    Job *first, *last;
} JobList;

// A world whose saves the disk refused: those after them have to wait as well, and are not fenced.
typedef struct BlockedWorld {
    char world_id[STORE_ID_BYTES + 1];
    uint64_t epoch, last;
    uint64_t unknown; // saves up to this number may be stored: their COMMIT had no answer
} BlockedWorld;

// Who wants to write a world, and as which epoch.
typedef struct Writer {
    const char *world_id;
    const StoreHost *host; // another machine's, which has to hold the world; NULL: ourselves
    uint64_t epoch;
} Writer;

// What one world writes in one batch: saves with numbers that follow each other, and requests. One
// fence decides for all of them.
typedef struct Fence {
    Writer writer;        // of the jobs
    uint64_t first, last; // the saves; first 0: none
    bool is_closed;       // a save that does not follow the one before came: no more
    bool writes;          // there is a request that changes something
    bool save_known, request_known;
    Status save, request;              // what was decided
    char place_id[STORE_ID_BYTES + 1]; // "": not known yet
} Fence;

// The players who are in a world, as its one row has them since the last save of that epoch.
typedef struct KeptPlayers {
    char world_id[STORE_ID_BYTES + 1];
    uint64_t epoch;
    uint8_t *bytes; // NULL: nothing is kept
    size_t byte_count;
    bool has_row; // false: it is known that there is none
} KeptPlayers;
#define STORE_KEPT_MAX  4096 // worlds
#define STORE_KEPT_NEAR 8    // places at which one is looked for; then the first gives way

struct StoreDatabase {
    Sql writer, second;
    Sql *reader; // one of them
    uint32_t store_count;
    char backup_lock[STORE_PATH_BYTES]; // "": in memory
};

typedef struct RowsFound {
    uint64_t damaged, repaired, backfilled; // as in StoreStats
} RowsFound;

struct Store {
    StoreConfig config;
    // One batch; then each job has its answer. True: something was written.
    bool (*run)(Store *store, const JobList *batch);
    struct StoreRemote *remote; // NULL: the database is ours
    StoreDatabase *database;
    Sql *writer, *reader;
    int event; // eventfd: not zero while there are completions
    pthread_t thread;

    pthread_mutex_t lock; // what follows
    pthread_cond_t work, called;
    JobList waiting, completed;
    Job *taken; // the last one that store_poll gave out
    size_t bytes_waiting;
    bool urgent, closing;
    StoreStats stats;

    pthread_mutex_t read_lock;        // reader
    uint8_t origin[STORE_BOOT_BYTES]; // of events that come from here
    atomic_ullong listing_generation;

    // The writer thread's own.
    uint64_t now;              // of the transaction
    uint32_t checkpoint_pages; // when the log is written back next
    RowsFound found;           // not in the stats yet
    uint64_t disk_errors;      // not in the stats yet
    StoreDisk disk;            // of the last error
    bool host_is_ours;         // this boot has renewed its row
    StoreHost host;            // which
    bool own_host_known;       // looked at in this transaction
    Status own_host;           // whether its row is valid
    Fence *fences;             // of the batch
    SqlHeadRaise *raises;      // of fence_all
    uint32_t raise_max;
    uint32_t *fence_slots; // by hash of the world's id
    uint32_t fence_count, fence_max, fence_slot_count;
    KeptPlayers kept[STORE_KEPT_MAX];
    BlockedWorld *blocked;
    uint32_t blocked_count, blocked_next;
    uint8_t value[VALUE_BYTES_MAX];   // of the entry that a request is about
    uint8_t answer[STORE_ANSWER_MAX]; // of the request that runs
};

bool store_id_is_valid(const char *id);
uint64_t store_unix_ms(const Store *store);

// --- store_queue.c ------------------------------------------------------------------------------
MUST_USE Status queue_start(Store *store);
bool queue_is_closing(Store *store);
void queue_finish(Store *store); // commits what waits
void queue_free(Store *store);
// Runs it in the next transaction, and waits until that is on disk.
Status store_call(Store *store, JobCall call, void *user);
// It writes the head of that world, which is locked with those of the batch.
Status store_call_world(Store *store, const char *world_id, JobCall call, void *user);
// Around questions to the reader. The end gives what went wrong with it, else the status; rows that
// were damaged are counted, and a damaged answer is one.
void store_read_begin(Store *store);
Status store_read_end(Store *store, Status status, uint64_t damaged);

// --- store_open.c -------------------------------------------------------------------------------
MUST_USE Status store_sync_folder_of(const char *path);

// --- store_batch.c ------------------------------------------------------------------------------
// One transaction of all jobs; then each of them has its answer. True: something was written.
bool batch_run(Store *store, const JobList *batch);
// The row of our own host, which is ours already.
bool batch_is_renewal(const Store *store, const Job *job);
void batch_free(Store *store);
void job_refuse(Job *job, Status status); // without an answer of its own

// --- store_schema.c -----------------------------------------------------------------------------
// Checks, migrates and repairs what the connection has open. Without tables it is damaged, unless
// it is being made. A file of an older version is copied first, to `path`.v<version>.
MUST_USE Status schema_open(Sql *sql, const char *path, bool is_new, StoreStats *stats,
                            char *reason, size_t reason_bytes);

// --- store_postgres.c ---------------------------------------------------------------------------
// Connects to a server, and makes and checks the tables.
MUST_USE Status postgres_open(StoreDatabase *database, const char *url, char *reason,
                              size_t reason_bytes);

// --- store_migrate.c ----------------------------------------------------------------------------
// Makes every table, with what an older version (0: none) kept.
void schema_make(Sql *sql, int64_t version);

// --- store_world.c ------------------------------------------------------------------------------
// STATUS_NOT_FOUND; STATUS_MALFORMED: damaged.
Status world_find(Sql *sql, const char *world_id, StoreWorld *out);
Status world_make(Store *store, Sql *sql, const Job *job);
// STATUS_EXISTS: another world has its room code.
Status world_write(Sql *sql, const StoreWorld *world);
Status world_delete(Store *store, Sql *sql, void *world_id); // a JobCall
void world_clear(Sql *sql, const char *world_id);            // all rows but its own
bool world_is_valid(const StoreWorld *world);
void world_take_string(SqlRow *row, char *out, size_t out_bytes);

// --- store_lease.c ------------------------------------------------------------------------------
Status host_renew(Store *store, Sql *sql, Job *job);
void host_renewed(Store *store, const Job *job); // it is on disk
Status world_take(Store *store, Sql *sql, Job *job);
Status world_release(Sql *sql, const Job *job);
// Whoever holds the world is fenced. STATUS_LIMIT: there are no more epochs.
Status world_fence(Sql *sql, const char *world_id);
// The fence. Raises the number of the world's last save from first - 1 to last: STATUS_DENIED when
// that is not the next of the epoch or somebody else holds the world, STATUS_BLOCKED when it has to
// be tried again. STATUS_EXISTS: all of them are stored already; STATUS_MISMATCH: some of them are.
Status fence_saves(Store *store, Sql *sql, const Writer *writer, uint64_t first, uint64_t last);
Status fence_requests(Store *store, Sql *sql, const Writer *writer, bool writes);
// Does another machine's host hold the world?
bool fence_is_holder(Sql *sql, const char *world_id, const StoreHost *host);
bool fence_has_save(Sql *sql, const Writer *writer, uint64_t seq); // of another machine's host
bool host_is_same(const StoreHost *a, const StoreHost *b);
// Raises the heads of all worlds that save in this batch, on an engine that has one statement for
// that. Those that it did not raise are decided one by one; if it is optimistic, that fails at the
// COMMIT.
void fence_all(Store *store, Sql *sql, bool is_optimistic);
// It is not known whether that save was stored, and it will come again.
void fence_unknown(Store *store, const char *world_id, uint64_t epoch, uint64_t seq);
// The disk refused that save.
void fence_blocked(Store *store, const char *world_id, uint64_t epoch, uint64_t seq);

// --- store_peers.c ------------------------------------------------------------------------------
Status peers_answer(Store *store, Sql *sql, Job *job);
Status host_end(Sql *sql, const Job *job);

// --- store_event.c ------------------------------------------------------------------------------
// What was noted in this transaction becomes rows; before the commit.
void events_write(Store *store, Sql *sql);
const uint8_t *event_kinds(void); // by SqlName, for Sql.note_kinds

// --- store_remote.c -----------------------------------------------------------------------------
void remote_free(Store *store);

// --- store_rows.c -------------------------------------------------------------------------------
MUST_USE Status rows_check(const uint8_t *rows, size_t bytes, uint32_t *count);
// A save that was fenced, with rows that were checked.
typedef struct Save {
    const char *world_id;
    uint64_t epoch;
    const uint8_t *rows;
    size_t row_bytes;
} Save;
void rows_apply(Store *store, Sql *sql, const Save *save);
// As store_rows, inside a transaction.
MUST_USE Status rows_read(Sql *sql, const char *world_id, StoreRowSink sink, void *user,
                          RowsFound *found);

// --- store_players.c ----------------------------------------------------------------------------
// One player's row of bytes, where it stands; no value: it is deleted.
typedef struct PlayerRow {
    uint64_t account;
    const uint8_t *bytes, *value;
    uint32_t byte_count, value_bytes;
    uint32_t number; // in its list: a later one replaces an earlier one
} PlayerRow;
#define PLAYERS_FEW 4 // need no memory of their own
typedef struct PlayerList {
    PlayerRow *items; // `few`, or from malloc
    uint32_t count, max;
    bool is_unsorted;
    PlayerRow few[PLAYERS_FEW];
} PlayerList;
bool players_list_add(PlayerList *list, const Row *row, const uint8_t *bytes, size_t byte_count);
void players_list_free(PlayerList *list);
// The rows of players among those of the save.
void players_apply(Store *store, Sql *sql, const Save *save, PlayerList *given);
// What was written may have been taken back, or somebody else may have written.
void players_forget(Store *store);
// A row of SQL_CHECKPOINT_READ, and of SQL_PLAYERS_READ; false: it is damaged.
bool players_take_checkpoint(SqlRow *row, RowPlayer *player);
bool players_take_all(SqlRow *row, const uint8_t **rows, size_t *bytes);

// --- store_profiles.c ---------------------------------------------------------------------------
typedef struct ProfileSet {
    RowProfiles row;
    char texts[PROFILES_MAX * 2 + 2][64]; // what the row points to
    uint32_t text_count;
    uint32_t damaged_count; // rows that were left out
} ProfileSet;
void profiles_write(Sql *sql, const RowProfiles *profiles);
void profiles_delete(Sql *sql, uint64_t account);
Status profiles_answer(Store *store, Sql *sql, Job *job); // epoch is the account
// What is stored of an account, made valid, and counted. The world is one that may know its name.
// True if what is stored is less.
bool profiles_load(Sql *sql, const char *world_id, uint64_t account, ProfileSet *out,
                   RowsFound *found);
// Every account that a world has ever seen gets a valid set; those that had none are counted.
void profiles_repair_all(Sql *sql, RowsFound *found);

// --- store_account.c ----------------------------------------------------------------------------
// STATUS_NOT_FOUND; STATUS_MALFORMED: damaged.
typedef struct StoreAccount StoreAccount;
typedef struct StoreSignIn StoreSignIn;
Status account_by_id(Sql *sql, uint64_t account_id, StoreAccount *out);
Status account_by_name(Sql *sql, const char *name, StoreAccount *out);
void account_write(Sql *sql, const StoreAccount *account);
// By SQL_SIGN_IN_PUT or SQL_SIGN_IN_USED.
void account_write_sign_in(Sql *sql, SqlName name, const StoreSignIn *sign_in);

// --- store_package.c ----------------------------------------------------------------------------
bool package_take(SqlRow *row, StorePackage *out); // false: damaged
// STATUS_NOT_FOUND; STATUS_MALFORMED: damaged.
Status package_by_id(Sql *sql, const char *package_id, StorePackage *out);
void package_leave(Sql *sql, uint64_t account);        // of somebody who is deleted
uint64_t package_bytes_of(Sql *sql, uint64_t account); // of blobs and rows that its packages use
void package_write_use(Sql *sql, const uint8_t hash[32], const char *package_id,
                       StoreBlobPurpose purpose, uint32_t number, uint64_t bytes);

// --- store_draft.c ------------------------------------------------------------------------------
void draft_delete(Sql *sql, const char *package_id); // files and history
void draft_forget_maker(Sql *sql, uint64_t account); // who wrote which version

// --- store_edit.c -------------------------------------------------------------------------------
void edit_log_delete(Sql *sql, const char *package_id);
struct StoreEditHead;
Status edit_head_find(Sql *sql, const char *package_id, struct StoreEditHead *out);
void edit_forget_maker(Sql *sql, uint64_t account); // who made which change

// --- store_listing.c ----------------------------------------------------------------------------
typedef struct StoreListing StoreListing;
typedef struct StoreCounts StoreCounts;
// The package was written: its row of the listing follows, in the same transaction.
void listing_follow(Sql *sql, const StorePackage *package);
void listing_forget(Sql *sql, const char *package_id); // everything but the package
void listing_renamed(Sql *sql, uint64_t account);      // words of the creator's name
bool listing_take(SqlRow *row, StoreListing *out);
Status listing_by_id(Sql *sql, const char *package_id, StoreListing *out);
void listing_write(Sql *sql, const StoreListing *listing); // but for its counts
void listing_write_counts_row(Sql *sql, const char *package_id, const StoreCounts *counts);

// --- store_play.c -------------------------------------------------------------------------------
void play_forget_person(Sql *sql, uint64_t account); // votes, favourites, plays

// --- store_class.c ------------------------------------------------------------------------------
struct StorePupil;
void class_write_pupil(Sql *sql, const struct StorePupil *pupil);
bool class_has_pupil(Sql *sql, uint64_t account); // is it in any class?
// All of a teacher, to the next one of the class, or to the built-in account.
void class_give(Sql *sql, uint64_t account);
void handout_forget_maker(Sql *sql, uint64_t account);

// --- store_report.c -----------------------------------------------------------------------------
void report_forget_maker(Sql *sql, uint64_t account); // reports stay, without who made them

// --- store_history.c ----------------------------------------------------------------------------
typedef struct DataKey {
    const char *place_id;
    bool ordered;
    Text store, key;
} DataKey;
void data_put_key(SqlRow *row, const DataKey *key); // the four parameters of its name

// The value of a key that is about to be replaced or removed; no bytes: it was removed already.
typedef struct OldValue {
    uint64_t version;
    const uint8_t *value;
    size_t bytes;
} OldValue;
// Keeps it if there is room, and forgets what is too old of the key.
void history_add(Store *store, Sql *sql, const DataKey *key, const OldValue *old);
void history_forget(Sql *sql, const DataKey *key); // the key is forgotten altogether
void history_recount(Sql *sql, const char *place_id);
// Writes the value, or nil if it is not kept; false: it is damaged.
bool history_find(Sql *sql, const DataKey *key, uint64_t version, ByteWriter *answer);
// The versions whose values are kept, newest first.
uint32_t history_versions(Sql *sql, const DataKey *key, uint64_t versions[STORE_VERSIONS_MAX]);
void history_sweep(Sql *sql, uint64_t now_unix_ms); // what is older than HISTORY_DAYS

// --- store_data.c -------------------------------------------------------------------------------
bool data_is_read(const StoreRequest *request);
// Entries of the place were deleted: counts what it keeps again.
void data_recount(Sql *sql, const char *place_id);
// As memory_store_run, for one place.
bool data_run(Store *store, Sql *sql, const char *place_id, const StoreRequest *request,
              ByteWriter *answer);
