// The inside of serve, for the files of server/serve alone: one `Serve`, which its rooms share.
// docs/ARCHITECTURE.md lists them.
#pragma once

#include "core/base/json_write.h"
#include "server/build/typescript/typescript.h"
#include "server/control/control.h"
#include "server/draft/draft.h"
#include "server/host/host_inside.h"
#include "server/host/host_people.h"
#include "server/serve/link_process.h"
#include "server/serve/mailbox.h"
#include "server/serve/operate/serve_log.h"
#include "server/serve/rooms.h"
#include "server/serve/serve.h"
#include "server/store/place/blob.h"
#include "server/sys/work_pool.h"

#include <pthread.h>
#include <stdatomic.h>

#define SERVE_PATH_BYTES   4096
#define SERVE_BLOB_CACHE   "public, max-age=31536000, immutable"
#define SERVE_BLOB_PRIVATE "private, max-age=31536000, immutable"

typedef struct ServeAssets ServeAssets;

typedef struct ServePlace ServePlace; // places.h

// Somebody who follows the log (http_logs.c).
typedef struct ServeLogWait {
    HttpDeferred *deferred;
    uint64_t deadline_ns;
} ServeLogWait;
#define SERVE_LOG_WAITS_MAX 16

// Somebody who follows what the scripts of a world cost (http_scripts.c).
typedef struct ServeScriptWait {
    HttpDeferred *deferred;
    char world_id[65];
    uint64_t after, deadline_ns;
} ServeScriptWait;
#define SERVE_SCRIPT_WAITS_MAX      64
#define SERVE_SCRIPT_WAITS_OF_WORLD 16

// A folder that became a package at the start, to be shown.
typedef struct ServeBuiltIn {
    char place_id[65], title[129];
} ServeBuiltIn;

// A teacher who read a draft, as the audit says (http_class.c).
typedef struct ServeDraftRead {
    uint64_t account, hour;
    char place_id[65];
} ServeDraftRead;
#define SERVE_DRAFT_READS 512
#define SERVE_CLASS_LOCKS 16

typedef struct Serve {
    ServeConfig config;
    const char *command;            // "sandlot world", for messages
    bool development;               // on a loopback address, without SECRET_KEY
    bool is_https;                  // as players see it
    TypeScriptLack typescript_lack; // what the compiler for it lacks, as this process began
    char data[SERVE_PATH_BYTES];
    char journal[SERVE_PATH_BYTES]; // "": none
    char build_key[SERVE_PATH_BYTES], build_cache[SERVE_PATH_BYTES];
    char host_id[33];
    char reached[STORE_ADDRESS_BYTES + 1]; // where players reach it
    uint8_t boot[TICKET_BOOT_BYTES];
    uint8_t address_secret[16]; // for http_join.c: the world learns no addresses
    int lock_file;
    const atomic_bool *cancel; // ends the first build

    struct Dev *dev;        // NULL: this is not `sandlot dev`
    struct Places *places;  // that are loaded
    char default_place[65]; // its id
    ServeBuiltIn built_in[SERVE_PLACES_MAX];
    uint32_t built_in_count;
    SigningKey key;
    uint8_t secret_key[SHA256_BYTES]; // the HMAC key for stored sign-ins
    Store *store;
    BlobStore *blobs;
    Drafts *drafts;           // NULL: no accounts
    struct EditDrafts *edits; // drafts that are open for editing; NULL: none can be
    Control *control;         // NULL: no accounts
    Control *guests;          // the sign-ins of a server without accounts; else NULL
    Host *host;               // the main thread's
    HostWorld *one_world;     // NULL with `many`
    HostBounds bounds;
    JournalWriter *journals;
    LinkConfig links;
    WorkPool *pool;
    WorkPool *issuer_pool;   // asking issuers of identities; NULL: there is none
    WorkPool *password_pool; // guessing passwords, which is slow, delays nobody else
    HttpServer *http;
    Mailbox *mailbox;
    Rooms *rooms;
    struct RemoteHosts *hosts;          // on other machines; NULL: no control plane
    struct RemoteWorlds *remote_worlds; // what they report; NULL likewise
    struct ServeRemote *remote;         // NULL: this is not such a host itself
    struct ServeReport *report;         // of such a host; NULL likewise
    struct ServeReload *reload;         // the same
    struct ServeOrdered *ordered;       // what it was told; NULL likewise
    struct ServePeers *peers;           // hosts on the same store; NULL: it is ours alone
    struct Fleet *fleet;                // what they say of their worlds; NULL likewise
    struct ListingFeed *feed;           // what the listing learns from worlds; NULL: no accounts
    struct ReadyCache *ready;           // answers of the listing; NULL: no accounts
    struct Live *live;                  // numbers that pages follow
    struct ServeBackup *backup;         // the last one that an operator asked for
    struct JobQueue *jobs;              // NULL until something is built; place_build.h
    pthread_mutex_t build_lock;
    pthread_mutex_t class_locks[SERVE_CLASS_LOCKS]; // by class: one change at a time
    pthread_mutex_t read_lock;                      // draft_reads
    ServeDraftRead draft_reads[SERVE_DRAFT_READS];
    uint32_t draft_read_next;
    uint64_t swept_ns;                              // when the trash was last emptied; main thread
    atomic_uint handout_count;                      // jobs that hand out places to classes
    atomic_uint upload_count;                       // bodies that come into files now
    atomic_bool is_ready, is_draining, is_stopping; // for /readyz
    char *list_text; // what worlds are told of words and phrases, the main thread's
    uint8_t *text;   // of large answers, the main thread's; NULL until somebody asks

    ServeLogWait log_waits[SERVE_LOG_WAITS_MAX]; // the main thread's
    uint32_t log_wait_count;
    uint64_t log_seen; // the last line when they were last looked at

    ServeScriptWait script_waits[SERVE_SCRIPT_WAITS_MAX]; // the main thread's
    uint32_t script_wait_count;

    uint64_t stop_ns; // when it stops as by SIGTERM; 0: not asked for. The main thread's
    int epoll, signals;
    int exit_code;
} Serve;

// folder/name; false when it does not fit.
bool serve_join_path(char out[SERVE_PATH_BYTES], const char *folder, const char *name);
// Prints it and gives 1.
int serve_data_failed(const Serve *serve, const char *what, const char *why);

// --- serve_data.c -------------------------------------------------------------------------------
// Finds and makes the folder; NULL, or why not.
const char *serve_data_find(Serve *serve);
uint64_t serve_account_bytes_max(const Serve *serve); // what an account may store
int serve_data_open(Serve *serve);                    // everything in it; 0, or the exit code
void serve_data_close(Serve *serve);
void serve_say_damaged(const Serve *serve, const char *what);

// --- serve_place.c ------------------------------------------------------------------------------
MUST_USE Status serve_places_open(Serve *serve); // builds them; says what is wrong
MUST_USE bool serve_build_paths(Serve *serve);
// "place_" and the name of the folder.
void serve_place_id(const char *folder, char out[65]);
BuildConfig serve_build_config(const Serve *serve);
// Writes the types that editors need into the place, unless the data is kept elsewhere.
void serve_renew_types(const Serve *serve, const char *folder);
MUST_USE Status serve_world_open(Serve *serve);  // the row of the one world
MUST_USE Status serve_worlds_open(Serve *serve); // with `many`: those that the store has

// --- serve_up.c ---------------------------------------------------------------------------------
int serve_secret_open(Serve *serve); // 0, or the exit code
void serve_print_up(const Serve *serve, const char *address, unsigned port);

// --- HTTP ---------------------------------------------------------------------------------------
void serve_person_open(Serve *serve); // http_person.c: goes on with deletions of the last life
MUST_USE Status serve_http_start(Serve *serve);
void serve_made(void *user, uint64_t tag, const HostWorld *world,
                HostRefusal refusal);                                      // HostOutside
void serve_joined(void *user, uint64_t tag, const HostJoinAnswer *answer); // HostOutside
void serve_take_socket(void *user, const MailSocket *mail);                // on the main thread
// Who a sign-in is, with or without accounts.
Control *serve_people(const Serve *serve);
void serve_refuse_socket(void *user, HostSocket *socket); // HostOutside
