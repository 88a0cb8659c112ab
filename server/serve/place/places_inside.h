// The inside of places.h, for its files alone.
#pragma once

#include "server/build/job/job.h"
#include "server/serve/place/places.h"

typedef struct PlaceOpening PlaceOpening;
typedef struct PackageLook PackageLook;

// A revision that could not be built a moment ago: it is not tried again at once.
typedef struct PlaceBroken {
    uint8_t package_hash[32];
    uint64_t until_ns;
    PlaceRefusal refusal;
} PlaceBroken;
// A place that was built anew and what became of its worlds (place_reload.h).
typedef struct PlaceReload {
    uint64_t tag; // 0: free
    char place_id[PLACE_KEY_BYTES], job_id[JOB_ID_BYTES];
    uint64_t since_ns, unix_ms;
    uint32_t build_ms;
    uint32_t waiting; // worlds that have not answered
    uint32_t tried;   // that run it, and do not know yet whether it is good
    bool is_begun;    // all worlds were asked
    JobReload result;
} PlaceReload;
typedef struct PlaceBuilt PlaceBuilt;

#define PLACES_BROKEN_MAX  32
#define PLACES_CHANGED_MAX 64
#define PLACE_RELOADS_MAX  64

struct Places {
    pthread_rwlock_t lock; // of `all`, which the main thread alone changes
    ServePlace *all[SERVE_LOADED_MAX];
    uint32_t count;

    pthread_mutex_t mutex; // of what follows
    pthread_cond_t wake;
    PlaceOpening *first, *last; // wait for the thread
    PlaceOpening *opened;
    PlaceWish *arrived; // from the pool
    PackageLook *looked;
    char changed[PLACES_CHANGED_MAX][PLACE_KEY_BYTES];
    uint32_t changed_count;
    bool all_changed; // more than fit
    bool ends;

    atomic_bool cancel;            // ends the build that runs
    _Atomic uint64_t change_count; // rises before a change is told
    pthread_t thread;
    bool has_thread;

    // The main thread's.
    PlaceOpening *openings; // all that are not done
    PlaceBroken broken[PLACES_BROKEN_MAX];
    uint32_t broken_next;
    uint64_t swept_ns;
    bool looks_again; // a package could not be looked at; in the next sweep

    // place_reload.c. The main thread changes reloads, with the mutex.
    PlaceBuilt *built;
    PlaceReload reloads[PLACE_RELOADS_MAX]; // by tag
    uint64_t reload_tag;                    // the last one
};

// --- places.c -----------------------------------------------------------------------------------
void places_remove(Serve *serve, ServePlace *place);                  // on the main thread
ServePlace *places_current(const Serve *serve, const char *place_id); // the same; no reference

// --- place_closed.c -----------------------------------------------------------------------------
// It is private from now on: who may not play it any more leaves. On the main thread.
void places_closed(Serve *serve, const char *place_id);

// --- places_wish.c ------------------------------------------------------------------------------
void places_wishes_end(Serve *serve);
void places_wake(const Serve *serve); // the main thread looks now
