// Which places are here, and which one a world runs with. Places come and go while worlds run: a
// world keeps the place that it began with until its process has ended.
#include "server/host/host_inside.h"

#include <stdio.h>

static uint32_t find_place(const Host *host, const char *place_id)
{
    uint32_t at = 0;
    while (at < host->place_count && strcmp(host->places[at]->place_id, place_id) != 0) {
        at += 1;
    }
    return at;
}

HostPlace *host_place(Host *host, const char *place_id)
{
    const uint32_t at = find_place(host, place_id[0] != '\0' ? place_id : host->default_place);
    return at < host->place_count ? host->places[at] : NULL;
}

uint32_t host_place_count(const Host *host)
{
    return host->place_count;
}

// --- what a world runs with ---------------------------------------------------------------------

void hosted_set_place(HostWorld *world, HostPlace *place)
{
    if (place == world->place) {
        return;
    }
    host_place_release(world->place);
    world->place = host_place_hold(place);
    // What is stored of it was stored with another form of the place.
    if (place != NULL &&
        memcmp(world->row.place_hash, place->scene_hash, sizeof place->scene_hash) != 0) {
        world->other_place = true;
    }
}

void hosted_renew_place(HostWorld *world)
{
    if (!hosted_has_process(world)) {
        const bool is_free = world->row.world_id[0] == '\0'; // a slot without a world
        hosted_set_place(world, is_free ? NULL : hosted_place_now(world));
    }
}

bool hosted_has_place(const HostWorld *world)
{
    return world->place != NULL && host_place(world->host, world->row.place_id) != NULL;
}

// A world that is given new scripts, tries them, or gets the last good ones back is not.
bool hosted_is_outdated(const HostWorld *world)
{
    return !world->reload.is_tried && !hosted_reload_is_busy(world) &&
           world->place != hosted_place_now(world) && !world->row.is_named &&
           !world->row.is_private;
}

// --- places come and go -------------------------------------------------------------------------

static void renew_worlds(Host *host, const char *place_id)
{
    for (uint32_t i = 0; i < host->world_count; i++) {
        if (strcmp(host->worlds[i]->row.place_id, place_id) == 0) {
            hosted_renew_place(host->worlds[i]);
        }
    }
}

void host_add_place(Host *host, HostPlace *place)
{
    const uint32_t at = find_place(host, place->place_id);
    if (at < host->place_count) {
        HostPlace *old = host->places[at];
        host->places[at] = place;
        renew_worlds(host, place->place_id);
        host_place_release(old);
        return;
    }
    ASSERT(host->place_count < HOST_PLACES_MAX);
    if (host->default_place[0] == '\0') {
        memcpy(host->default_place, place->place_id, sizeof host->default_place);
    }
    host->places[host->place_count++] = place;
    renew_worlds(host, place->place_id);
}

// Whoever is in it is told why. One that is being made is stored all the same: the store has it.
static void stop_world(HostWorld *world, const char *reason)
{
    host_joins_refuse(world, REFUSED_NO_PLACE);
    if (world->state == WORLD_MAKING) {
        world->wanted = false;
    } else if (!host_world_is_stopped(world)) {
        host_world_stop(world, reason);
    }
}

void host_remove_place(Host *host, const char *place_id, const char *reason)
{
    const uint32_t at = find_place(host, place_id);
    if (at == host->place_count) {
        return;
    }
    HostPlace *place = host->places[at];
    host->places[at] = host->places[--host->place_count];
    for (uint32_t i = 0; i < host->world_count && reason != NULL; i++) {
        if (strcmp(host->worlds[i]->row.place_id, place->place_id) == 0) {
            stop_world(host->worlds[i], reason);
        }
    }
    renew_worlds(host, place->place_id);
    host_place_release(place);
}

void host_count_uses(Host *host)
{
    for (uint32_t i = 0; i < host->world_count; i++) {
        const HostWorld *world = host->worlds[i];
        if (world->place != NULL) {
            world->place->use_count += !host_world_is_stopped(world) || world->waiting > 0;
            hosted_reload_count_uses(world);
        }
    }
}
