// The inside of remote_worlds.h, for remote_worlds.c and remote_reload.c alone.
#pragma once

#include "server/build/job/job.h"
#include "server/channel/script_table.h"
#include "server/serve/remote/http_remote.h"
#include "server/serve/remote/remote_worlds.h"

#define ORDER_TEXT_BYTES  257
#define REMOTE_NUMBER_MAX ((int64_t)1 << 53) // what JSON keeps exactly

typedef enum OrderKind {
    ORDER_KICK,
    ORDER_ANNOUNCE,
    ORDER_STOP,
    ORDER_EVIDENCE,
    ORDER_RELOAD
} OrderKind;

typedef struct RemoteOrder {
    uint64_t number;
    OrderKind kind;
    uint64_t account, report_id;
    char text[ORDER_TEXT_BYTES];
    uint8_t place_hash[32], revision[32]; // of ORDER_RELOAD: what it shall run
    bool is_now; // the same: it starts again at once if that takes a new start
} RemoteOrder;

// Somebody of whom the host must know what holds for them: bans, mutes, chat rule, blocks. That is
// looked up when it is sent, so one number is enough for any number of changes.
typedef struct RemotePerson {
    uint64_t account; // 0: free
    uint64_t number;  // of the order that tells the host; 0: it was told
    bool has_come;    // as the host said
} RemotePerson;

// A new form of its place that it was told to run (remote_reload.c).
typedef struct RemoteReload {
    uint64_t number; // of the order; 0: none was given, or all is known of it
    uint8_t place_hash[32];
    uint64_t tag;         // whose answer it is (place_reload.h)
    JobReloadState state; // as it said last
    bool is_settled;      // the same
    uint64_t deadline_ns; // until it must have said something
} RemoteReload;

typedef struct RemoteWorld {
    char world_id[65]; // "": free
    StoreHolder holder;
    uint64_t heard_ns;
    RemoteReport report;
    RemoteOrder orders[REMOTE_ORDERS_MAX]; // oldest first
    uint32_t order_count;
    uint64_t next_number;
    uint64_t stop_ns;                         // when it was last told to stop; 0: never
    bool asks_again;                          // the host reports everybody anew
    RemotePerson people[REMOTE_ACCOUNTS_MAX]; // the last ones, a ring
    uint32_t person_count, person_next;
    RemoteReload reload;
    uint8_t told_place[32]; // the form of its place that it was told of last
    ScriptTable *scripts;   // what they cost, as its host says; NULL: it has said nothing yet
    uint64_t scripts_version, scripts_ns, scripts_wanted_ns;
} RemoteWorld;

// Who was found to hold a world, and when.
typedef struct Checked {
    char world_id[65];
    StoreHolder holder;
    uint64_t ns;
} Checked;

// An account that was led to a world, and a report whose evidence a host was asked for.
typedef struct LedTo {
    uint64_t account, world;
} LedTo;
typedef struct Asked {
    uint64_t report_id, world;
} Asked;

struct RemoteWorlds {
    RemoteWorld *items[REMOTE_HOSTS_MAX]; // from malloc; the main thread's
    pthread_mutex_t lock;                 // of what follows
    Checked checked[REMOTE_HOSTS_MAX];    // by the world's hash; the last one stays
    LedTo led[REMOTE_LED_MAX];            // by hash; the last one stays
    Asked asked[REMOTE_ASKED_MAX];        // a ring
    uint32_t asked_next;
};

// --- remote_worlds.c ----------------------------------------------------------------------------
RemoteWorld *remote_world_find(const Serve *serve, const char *world_id); // NULL: not heard lately
bool remote_world_is_heard(const RemoteWorld *world);                     // NULL: no
bool remote_add_order(RemoteWorld *world, const RemoteOrder *order);      // false: too many
// Calls the handler on the main thread if that host holds the world, and refuses otherwise.
void remote_ask_held(Serve *serve, HttpRequest *request, HttpResponse *response,
                     const char *world_id, const StoreHolder *holder, MailHandler handler);

// --- remote_reload.c ----------------------------------------------------------------------------
typedef struct RemoteReloadReport {
    uint64_t number; // of the order; 0: it has none
    JobReloadState state;
    bool is_settled;
    uint32_t version;
    char reason[WORKER_REASON_BYTES];
} RemoteReloadReport;
// The member `reload` of a report.
void remote_reload_read(const JsonNode *node, RemoteReloadReport *out, JsonError *error);
void remote_reload_heard(Serve *serve, RemoteWorld *world, const RemoteReloadReport *report);
// If it runs an old form of its place and was not told of the new one, it is told.
void remote_reload_look(Serve *serve, RemoteWorld *world);
// Its host has taken it once more, with this form of its place.
void remote_reload_taken(Serve *serve, RemoteWorld *world, const ServePlace *form);
// The world is over there, or another process runs it.
void remote_reload_forget(Serve *serve, RemoteWorld *world);
bool remote_reload_wants_scripts(const RemoteWorld *world);
