// `sandlot world`, `sandlot host` and `sandlot up`: a process around a Host. It reads places, opens
// the data folder, serves HTTP and hands WebSockets over.
//
//   main thread      the Host: worlds, the store's answers, joins, signals
//   http threads     requests; what concerns worlds is answered by the main thread (mailbox.h)
//   pool             what blocks: files, builds (server/sys/work_pool.h)
//   store thread     the database (store.h)
//   journal thread   what worlds record (journal_writer.h)
#pragma once

#include "core/base/limits.h"
#include "core/base/sha256.h"
#include "core/base/status.h"
#include "core/wire/moderation.h"
#include "server/control/issuer/issuer.h"
#include "server/serve/operate/log_line.h"

#include <stdbool.h>
#include <stdint.h>

#define SERVE_ORIGINS_MAX 16
#define SERVE_PLACES_MAX  64
#define SERVE_SECRET_FILE "secret.key" // in the data folder: the key of whoever gives none

// Of `sandlot up` on a database that several processes share.
typedef enum ServeRole {
    SERVE_BOTH,    // control plane and host: `sandlot up`
    SERVE_CONTROL, // it runs no worlds: `sandlot control`
    SERVE_HOST     // it runs worlds, and answers players of them and other hosts: `sandlot host`
} ServeRole;

typedef struct ServeConfig {
    const char *places[SERVE_PLACES_MAX + 1]; // folders; ends with NULL; the first is the default
    bool many;                                // any number of worlds; else one, of the first place
    bool dev;                                 // the first place is watched (place/dev.h)
    const char *data;                         // folder; NULL: <place>/.sandlot/data
    const char *store;                        // URL of the database server; NULL: a file in data
    const char *address;                      // to listen on; loopback means development
    uint16_t port;                            // 0: any
    const char *name;                         // of the one world; NULL: the folder's
    const char *web;                          // root of the page; NULL: none
    const char *journal;   // "off", a file (many: a folder), or NULL: `journal` in the data folder
                           // (many: none)
    uint32_t journal_mb;   // at most; then it ends
    uint32_t player_max;   // 0: the place's
    uint32_t world_max;    // processes at once; 0: HOST_WORLDS_MAX
    uint32_t idle_stop_s;  // 0: five minutes
    uint32_t idle_place_s; // with `control`: until an unused place is closed
    uint32_t vote_seconds; // of play that a vote for a place needs
    uint32_t account_mb;   // what an account may store, in MiB; 0: ACCOUNT_MB_DEFAULT
    // Pages of other sites that may connect, "https://play.example"; ends with NULL.
    const char *origins[SERVE_ORIGINS_MAX + 1];
    const char *embed_origins[SERVE_ORIGINS_MAX + 1]; // may show the game inside their pages
    // Where players reach it, "https://play.example"; NULL: by address.
    const char *public_url;
    // Where this one of several hosts on a database is reached; NULL: as the public URL says.
    const char *host_url;
    ServeRole role;
    // Where scene and runes are too, "https://cdn.example" (`sandlot export-cdn`); NULL: nowhere.
    const char *cdn_base;
    // Proxies whose X-Forwarded-For is believed, "10.0.0.0/8"; ends with NULL.
    const char *trusted_proxies[HTTP_TRUSTED_PROXIES_MAX + 1];
    bool allow_weak_jail;
    bool allow_patroni; // a database that it manages is used nevertheless
    // A host of a control plane on another machine (serve_remote.h): no places, no data.
    const char *control_plane; // its address; NULL: this is none
    const char *world;         // id or room code; made if there is none
    const char *place_id;      // of a world that is made; NULL: the default place
    const char *host_key;      // or
    const char *host_key_file;
    uint32_t lease_s; // how long it may be cut off before others may take its world
    LogFormat log_format;
    LogLevel log_level; // events below it are left out
    // `sandlot up`: the control plane is in this process. Then `many` and `data` are set too.
    bool control;
    bool has_open_registration; // everybody may make an account
    ChatRule chat;              // what may be said everywhere
    ChatRule guest_chat;        // by those without an account
    bool approves_listing;      // an operator approves places before they are listed
    IssuerConfig oidc, clerk;   // issuers of identities; without an address, none
    // Where blobs are: "s3://…" (blob_s3.h), with its key; NULL: in files.
    const char *blobs, *s3_key_id, *s3_secret_key;
    uint32_t blob_cache_mb;
    // The HMAC key for the hashes of stored sign-ins. Without one, a random key in the data folder
    // serves, and a loopback listener means development.
    bool has_secret;
    uint8_t secret_key[SHA256_BYTES];
} ServeConfig;

ServeConfig serve_config_default(void);
// Until SIGTERM or SIGINT. The exit code: 0 after those, 1 when it could not start or go on; what
// went wrong is on standard error.
int serve_run(const ServeConfig *config);
