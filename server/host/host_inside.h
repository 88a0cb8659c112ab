// The inside of a host, for the files of server/host alone.
//
//   host.c        creation, the main thread's loop, signals, when the world starts again
//   host_world.c  starting the world process, and what it says
//   host_save.c   saves and requests on their way to the store and back
//   host_http.c   what HTTP is answered
//   host_build.c  saving scripts and their builds, for an editor
//   host_place.c  the place as it was built, and its manifests
//   host_bounds.c how much of the machine the world process may use
//   host_asset.c  its pictures, sounds and models, for whoever asks
#pragma once

#include "core/base/json_write.h"
#include "server/build/pipeline/build.h"
#include "server/channel/channel.h"
#include "server/channel/journal_file.h"
#include "server/host/host.h"
#include "server/host/host_bounds.h"
#include "server/host/metrics.h"
#include "server/host/ticket.h"
#include "server/net/http.h"
#include "server/sys/process.h"

#include <pthread.h>
#include <stdatomic.h>

#define HOST_PATH_BYTES     4096
#define HOST_WAITING_MAX    1024 // sockets on their way to the world
#define HOST_SAVES_MAX      16   // a world has at most 8 without an answer
#define HOST_REQUESTS_MAX   1024 // DataStore requests without an answer
#define HOST_BLOB_CACHE     "public, max-age=31536000, immutable"
#define HOST_DAMAGED_MAX    16 // lines of the log about damaged DataStore entries
#define HOST_LEASE_MS       10000
#define HOST_LEASE_RENEW_MS 3000
#define HOST_LEASE_STOP_MS  7000

// A WebSocket on its way.
typedef struct HostSocket {
    int descriptor;
    bool json;
    uint64_t address; // as the world may know it (address_key); 0: nobody counts it
    uint64_t number;  // of http_socket_number
    uint8_t *already;
    size_t bytes;
} HostSocket;

typedef enum HostSaveState { SAVE_FREE, SAVE_SENT, SAVE_AGAIN } HostSaveState;
typedef struct HostSave {
    HostSaveState state;
    uint64_t request, seq;
    uint8_t *rows;
    size_t bytes;
} HostSave;

// What the host signs for one life of a world.
typedef struct HostManifests {
    uint32_t version;
    Buffer server, client; // JSON with signatures; host_manifests_free frees them
} HostManifests;

typedef struct HostAssets HostAssets;

typedef struct Host {
    HostConfig config;
    bool development;
    char data[HOST_PATH_BYTES];
    char journal_path[HOST_PATH_BYTES]; // "": none
    char host_id[33];
    uint8_t boot[TICKET_BOOT_BYTES];
    uint8_t address_secret[16]; // for address_key
    int lock_file;
    const atomic_bool *cancel; // ends the first build

    // The place; read only once it is built.
    char build_key[HOST_PATH_BYTES], build_cache[HOST_PATH_BYTES];
    BuildResult built;
    uint8_t scene_hash[32];
    char scene_hex[65];
    uint32_t player_max; // after the config and the place
    WorldConfig world;   // the numbers of the current world; place is NULL

    Store *store;
    StoreWorld row;
    HttpServer *http;
    WorkPool *pool; // for requests that wait for the disk
    SigningKey key;
    UsedTickets used_tickets;
    HostAssets *assets;      // host_asset.c's
    struct HostBuild *build; // host_build.c's; NULL until somebody saves

    // Between the threads, with the lock.
    pthread_mutex_t lock;
    HostSocket waiting[HOST_WAITING_MAX];
    uint32_t waiting_count;
    bool ready;
    bool closing; // no more sockets are taken
    uint16_t port;
    uint64_t epoch;
    bool lease_held, lease_lost;
    Metrics metrics;
    pid_t pid;

    int epoll, signals, wake;
    pthread_t lease_thread;
    pthread_cond_t lease_wake;
    bool lease_thread_runs, lease_thread_stop;

    // The world process; the main thread's alone.
    HostBounds bounds;
    Process process;
    bool running;    // there is a process
    bool spawned;    // it was started ahead, and has been told nothing yet
    bool was_ready;  // this one
    bool ever_ready; // any
    Channel channel;
    JournalFile journal;
    uint32_t manifest_version; // of the process that runs
    uint16_t incarnation;
    uint64_t restart_at_ns; // 0: none is due
    uint64_t started_ns;    // the process that runs
    uint64_t crash_ns[8];   // when the last ones were; 0: after a long life
    uint32_t crash_count;
    uint32_t silent_ms; // since the last sign of life, as this thread sees it
    uint64_t looked_ns; // when it last looked
    uint64_t second_ns, second_messages, second_bytes, second_logs;
    char failed[CHANNEL_REASON_BYTES]; // what it said before it ended
    HostSave saves[HOST_SAVES_MAX];    // in order from save_first on
    uint32_t save_first, save_count;
    uint64_t save_seq; // of the last save in this epoch; the next has the next number
    uint32_t request_count;
    uint64_t save_again_ns; // 0: nothing has to be tried again
    bool disk_refuses;      // the last save did not get to the disk, and that was said

    // The end.
    bool stop_wanted, stop_told, stop_heard;
    uint64_t stop_ns; // when it must be over
    uint64_t stop_quiet_ns;
    bool fenced;
    int exit_code;
    uint64_t damaged[HOST_DAMAGED_MAX]; // hashes of what the log has said is damaged
    uint32_t damaged_count;
} Host;

void host_log(LogLevel level, const char *area, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// folder/name; false when it does not fit.
bool host_join_path(char out[HOST_PATH_BYTES], const char *folder, const char *name);

// --- host_place.c -------------------------------------------------------------------------------
// Builds it, or finds it built; what is wrong is on standard error.
MUST_USE Status host_place_open(Host *host);
// How this place is built, once it was opened; lives as long as the host.
BuildConfig host_build_config(const Host *host);
void host_place_close(Host *host);
// Writes the types that editors need into the place, unless the data is kept elsewhere.
void host_place_renew_types(const Host *host);
// The number of a replicated rune by its hash, 64 hex digits; UINT32_MAX: none that may be given
// away.
uint32_t host_place_rune(const Host *host, const char *hex);
// Signs the manifests for a life that begins at that tick, with a version above that one.
MUST_USE Status host_place_sign(const Host *host, uint64_t version_before, uint64_t tick,
                                HostManifests *out);
void host_manifests_free(HostManifests *manifests);

// --- host_asset.c -------------------------------------------------------------------------------
// Of a place that was built.
MUST_USE Status host_asset_open(Host *host);
void host_asset_close(Host *host);
// GET /blob/<name> of an asset or the thumbnail; 404 for all others.
void host_asset_blob(Host *host, const char *name, HttpRequest *request, HttpResponse *response);
// GET /api/assets
void host_asset_list(void *user, HttpRequest *request, HttpResponse *response);

// --- host_world.c -------------------------------------------------------------------------------
// Starts the first process ahead: its program is loaded while the host opens its data.
MUST_USE Status host_world_spawn(Host *host);
MUST_USE Status host_world_start(Host *host);
void host_world_receive(Host *host); // everything on the channel
void host_world_watch(Host *host);   // is it stuck, does it flood?
// Queues an entry. A world that does not take it any more is ended.
void host_world_send_entry(Host *host, const Entry *entry);
void host_world_pass_sockets(Host *host);
// Closes the sockets that wait for a world, with a code that says to try again later.
void host_world_refuse_sockets(Host *host);
void host_world_kill(Host *host, const char *why);
void host_world_flush(Host *host);
// The process is gone: its last words are heard, everything of it is let go.
void host_world_ended(Host *host, int code);

// --- host_save.c --------------------------------------------------------------------------------
void host_save_receive(Host *host, const ChannelReport *report);
void host_request_receive(Host *host, const ChannelReport *report);
void host_store_poll(Host *host); // the store's answers
void host_save_retry(Host *host); // what the disk refused, when it is time
// Waits until what the store was given is on disk, at most that long; what is left is forgotten.
void host_save_drain(Host *host, uint32_t timeout_ms);

// --- host_http.c --------------------------------------------------------------------------------
MUST_USE Status host_http_start(Host *host);
// A member of an object: a text, or null for NULL.
void host_write_member(JsonWriter *json, const char *name, const char *text);
// A world in development believes whoever asks, so it answers this machine alone. True: the request
// came through a proxy, and the response says so.
bool host_http_refuse_forwarded(const Host *host, HttpRequest *request, HttpResponse *response);
