// The places that are loaded, and how they come and go while the server runs.
//
// With `sandlot up` a place is a package in the store. It is loaded when somebody wants to play it:
// the revision that the channel names is unpacked (revision_folder.h), built by a thread of its
// own, and given to the Host. Several who want it wait for one build. A place that nobody has used
// for a while (setting idle_place) is closed again. `sandlot world` and `sandlot host` have the
// folders that they were started with, for as long as they run.
//
//   wish ──pool: rights, which revision──▶ loaded? ──yes──▶ then
//                                            │ no
//                                            ▼
//                                 opening ──thread: unpack, build──▶ Host, registry ──▶ then
//
// The registry (ServePlace) is for HTTP threads. Whoever sends something of a place holds a
// reference until it is sent, so a place can be closed at any time. A revision that was replaced
// stays in the registry while worlds run with it: their players still fetch its files.
//
// The beta of a place is a place of its own to the Host, with the id of the place and "-beta", and
// so is its draft, with "-draft": their worlds are others, and so are their DataStores, so that a
// test never touches what players have. A draft is built by the queue of builds (place_build.h).
#pragma once

#include "server/build/base/reason.h"
#include "server/serve/serve_inside.h"
#include "server/store/place/store_package.h"

#define PLACE_BETA_ENDING  "-beta"
#define PLACE_DRAFT_ENDING "-draft"
#define PLACE_KEY_BYTES    65
// Those that are loaded, with those that were replaced and that worlds still run with.
#define SERVE_LOADED_MAX   (2 * HOST_PLACES_MAX)
#define PLACE_DRAFT_NUMBER UINT32_MAX // of its ServePlace: it has no revision

typedef enum PlaceChannel { PLACE_LIVE, PLACE_BETA, PLACE_DRAFT, PLACE_CHANNEL_COUNT } PlaceChannel;

// --- the registry; any thread -------------------------------------------------------------------
// One revision of a place.
struct ServePlace {
    atomic_uint more_references; // beyond the first
    HostPlace *place;            // a reference
    ServeAssets *assets;
    uint32_t number; // of the revision; 0: a folder, which is never closed
    // For hosts on other machines, of a control plane: the hash of what they fetch, and a number
    // that changes with it or with the signing key.
    uint8_t hash[32], revision[32];
    _Atomic uint64_t used_ns; // when somebody last asked for it
    atomic_bool is_private;   // what players get of it is not for everybody
    bool is_retired;          // another revision took its place; with the registry's lock
};

MUST_USE Status places_create(Serve *serve);
void places_destroy(Serve *serve); // refuses whoever waits; before host_destroy
// Takes over the reference, also when it fails.
MUST_USE Status serve_place_create(const Serve *serve, HostPlace *place, uint32_t number,
                                   ServePlace **out);
void serve_place_release(ServePlace *place); // NULL is allowed
// Takes over the reference. A place of the same id is retired by it. The main thread alone.
void places_put(Serve *serve, ServePlace *place);
HostPlace *places_host_place(const Serve *serve, uint32_t number); // NULL: there are fewer
// The first one for which `is_it` holds, newest first, with a reference; NULL: none. `is_it` is
// called with the registry's lock held and must be quick.
typedef bool (*PlaceMatch)(void *user, const ServePlace *place);
ServePlace *places_find(const Serve *serve, PlaceMatch is_it, void *user);
// All of them, newest first, each with a reference. Returns how many.
uint32_t places_hold_all(const Serve *serve, ServePlace *out[SERVE_LOADED_MAX]);
// By the id that the Host has it under; not a retired one.
ServePlace *places_find_id(const Serve *serve, const char *place_id);
// Sends these bytes of the place; the reference is the response's.
void serve_place_send(ServePlace *place, const uint8_t *bytes, size_t count,
                      HttpResponse *response);

// --- revisions; any thread that may wait --------------------------------------------------------
// Builds a revision and loads it. STATUS_MALFORMED: it cannot be built; others: not now.
MUST_USE Status place_open(Serve *serve, const StoreRevision *revision, const char *place_id,
                           const atomic_bool *cancel, ServePlace **out,
                           char reason[WORKER_REASON_BYTES]);
// After a channel of the place names another revision, or it was thrown away, restored, removed,
// hidden, or somebody is kept out of it. From any thread, once the store has it.
void serve_place_changed(Serve *serve, const char *place_id);

// Somebody has another role in the place now: they leave the worlds that are not for it, of the
// draft, of the beta, and of a private place. From any thread, once the store has it.
void serve_place_left(Serve *serve, const StorePackage *package, uint64_t account,
                      StorePackageRole role);

// --- wishes; the main thread --------------------------------------------------------------------
typedef enum PlaceRefusal {
    PLACE_FINE,
    PLACE_NONE,         // there is none, or they may not know of it
    PLACE_BETA_DENIED,  // only its team plays the beta
    PLACE_DRAFT_DENIED, // only those who work on it or test it play the draft
    PLACE_NO_DRAFT,
    PLACE_DRAFT_BROKEN, // the draft cannot be built as it is
    PLACE_KEPT_OUT,     // its team does not let them in
    PLACE_PAUSED,       // its class is
    PLACE_REMOVED,      // by an operator
    PLACE_TRASHED,
    PLACE_UNPUBLISHED, // the channel names no revision
    PLACE_BROKEN,      // the revision cannot be built any more
    PLACE_FULL,        // as many places are loaded as can be
    PLACE_BUSY,
    PLACE_STOPPING,
    PLACE_REFUSAL_COUNT
} PlaceRefusal;

// Somebody wants to play. It stays where it is until `then` is called, once, on the main thread.
typedef struct PlaceWish PlaceWish;
struct PlaceWish {
    char place_id[PLACE_KEY_BYTES]; // as the Host has it, with the ending of its channel
    const Identity *who;            // NULL: nobody is signed in
    bool has_every_right;           // a host of ours asks
    bool is_only_asking;            // may they? It is not opened
    void (*then)(PlaceWish *wish);
    PlaceRefusal refusal; // for `then`; PLACE_FINE: host_place has it
    // Of places.c.
    Serve *serve;
    PlaceWish *next;
    uint64_t change_count;
    uint32_t number, tries;
    uint8_t package_hash[32];
    char job_id[33]; // that builds the draft; "": none
};
void places_wish(Serve *serve, PlaceWish *wish);
// The answer for a refusal (http_join.c).
void places_refuse(HttpRequest *request, HttpResponse *response, PlaceRefusal refusal,
                   bool is_world);
void places_step(Serve *serve);

// The package of an id that the Host has, which may be that of a beta or a draft.
PlaceChannel place_id_channel(const char *place_id);
void place_id_package(const char *place_id, char out[PLACE_KEY_BYTES]);
const char *place_channel_name(PlaceChannel channel);   // "live"
const char *place_channel_ending(PlaceChannel channel); // "" for live
// What one must have all of to play it (rights.h).
uint32_t place_channel_rights(PlaceChannel channel);

// --- built_in.c ---------------------------------------------------------------------------------
// At the start of `sandlot up`: the folders become packages of the built-in account, with a new
// revision where one has changed, and the default place is loaded. Says what is wrong.
MUST_USE Status serve_built_in_open(Serve *serve);
