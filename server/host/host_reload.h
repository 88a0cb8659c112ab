// Scripts that change in a world that runs: a set of runes and parameters replaces the one that the
// world runs, between two ticks, and nobody leaves.
//
//   host_world_reload ─▶ signed, version + 1 ─▶ sent, as fast as the world reads it ─▶ the world's
//   gate ─▶ refused, nothing changed
//        └▶ switched at a tick ─▶ good after RELOAD_TRIAL_MS without faults, or when
//                              │  another one follows before
//                              └▶ failed: the last good set is sent as another reload ─▶ restored
//
// What always holds:
// - A world has one reload on its way and at most one that waits; a newer one replaces the one that
//   waits.
// - Versions only rise, also for a set that was refused and for one that comes back.
// - Each reload that was asked for brings back the last good set at most once, whatever the world
//   says about it.
// - A world that ends before its new set is good starts again with the last good one.
#pragma once

#include "server/host/host_place.h"

// Whether a world of `running` can take the scripts of `built` without a restart: scene and numbers
// are the same, and only runes and the parameters of scripts differ.
bool host_place_is_same_but_scripts(const HostPlace *running, const HostPlace *built);

// The world shall run the scripts and parameters of this place. Takes a reference of its own. The
// answers come by HostOutside.reloaded with this tag, perhaps before this returns: first REFUSED,
// REPLACED or SWITCHED; after SWITCHED either GOOD or, with a reason, FAILED and then RESTORED. A
// world that is not running has no script to replace: it starts with this place the next time, and
// the answer is GOOD. Whoever serves runes by HTTP serves those of this place before the call.
void host_world_reload(HostWorld *world, HostPlace *place, uint64_t tag);

// The answer to HostOutside.sign. Takes the manifests over; NULL: they are not signed, for this
// reason. One that comes late, of a reload that is no longer on its way, changes nothing.
void host_world_signed(HostWorld *world, const HostPlace *place, HostManifests *manifests,
                       const char *reason);

// What the creator can be told about the last reload of a world.
typedef struct HostReloadView {
    bool is_known; // there was one
    bool is_busy;  // one is on its way, or waits
    bool is_tried; // the world runs a set that is not known to be good yet
    HostReloadResult result;
    uint32_t version; // of the manifest
    uint64_t tick;    // of the switch
    uint64_t unix_ms; // when that was heard
    const char *reason;
} HostReloadView;
HostReloadView host_world_reload_view(const HostWorld *world);
// The place whose scripts the world runs, or will run at its next start; NULL: none is here.
HostPlace *host_world_place(const HostWorld *world);
// The one that it would begin with if it ended now; NULL: none is here.
HostPlace *host_world_place_next(const HostWorld *world);
