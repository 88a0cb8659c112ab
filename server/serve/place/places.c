// See places.h: the registry of loaded places.
#define _GNU_SOURCE
#include "server/serve/place/places.h"

#include "server/control/order/rights.h"
#include "server/serve/http/http_asset.h"
#include "server/serve/place/place_reload.h"
#include "server/serve/place/places_inside.h"
#include "server/serve/remote/http_host.h"
#include "server/sys/clock.h"

#include <stdio.h>

Status places_create(Serve *serve)
{
    struct Places *places = calloc(1, sizeof *places);
    if (places == NULL) {
        return STATUS_LIMIT;
    }
    pthread_rwlock_init(&places->lock, NULL);
    pthread_mutex_init(&places->mutex, NULL);
    pthread_cond_init(&places->wake, NULL);
    serve->places = places;
    return STATUS_OK;
}

void places_destroy(Serve *serve)
{
    struct Places *places = serve->places;
    if (places == NULL) {
        return;
    }
    places_wishes_end(serve);
    place_reload_end(serve);
    for (uint32_t i = 0; i < places->count; i++) {
        serve_place_release(places->all[i]);
    }
    pthread_cond_destroy(&places->wake);
    pthread_mutex_destroy(&places->mutex);
    pthread_rwlock_destroy(&places->lock);
    free(places);
    serve->places = NULL;
}

// --- references ---------------------------------------------------------------------------------

Status serve_place_create(const Serve *serve, HostPlace *place, uint32_t number, ServePlace **out)
{
    ServePlace *made = calloc(1, sizeof *made);
    if (made == NULL || serve_assets_create(place, &made->assets) != STATUS_OK) {
        free(made);
        host_place_release(place);
        return STATUS_LIMIT;
    }
    made->place = place;
    made->number = number;
    atomic_store(&made->is_private, number != 0); // until the store has said otherwise
    atomic_store(&made->used_ns, clock_ns());
    if (serve->control != NULL || serve->config.control) {
        serve_hosts_name_place(serve, made);
    }
    *out = made;
    return STATUS_OK;
}

void serve_place_release(ServePlace *place)
{
    if (place != NULL && atomic_fetch_sub(&place->more_references, 1) == 0) {
        serve_assets_destroy(place->assets);
        host_place_release(place->place);
        free(place);
    }
}

// --- who is in it -------------------------------------------------------------------------------

ServePlace *places_current(const Serve *serve, const char *place_id)
{
    const struct Places *places = serve->places;
    for (uint32_t i = 0; i < places->count; i++) {
        if (!places->all[i]->is_retired && strcmp(places->all[i]->place->place_id, place_id) == 0) {
            return places->all[i];
        }
    }
    return NULL;
}

void places_remove(Serve *serve, ServePlace *place)
{
    struct Places *places = serve->places;
    pthread_rwlock_wrlock(&places->lock);
    uint32_t at = 0;
    while (at < places->count && places->all[at] != place) {
        at += 1;
    }
    const bool is_there = at < places->count;
    if (is_there) { // in their order: newer ones are found first
        places->count -= 1;
        memmove(&places->all[at], &places->all[at + 1],
                (places->count - at) * sizeof places->all[0]);
    }
    pthread_rwlock_unlock(&places->lock);
    if (is_there) {
        serve_place_release(place);
    }
}

// There are more replaced revisions than fit: the one that was not asked for longest.
static void remove_retired(Serve *serve)
{
    const struct Places *places = serve->places;
    ServePlace *oldest = NULL;
    for (uint32_t i = 0; i < places->count; i++) {
        ServePlace *place = places->all[i];
        if (place->is_retired &&
            (oldest == NULL || atomic_load(&place->used_ns) < atomic_load(&oldest->used_ns))) {
            oldest = place;
        }
    }
    ASSERT(oldest != NULL);
    places_remove(serve, oldest);
}

void places_put(Serve *serve, ServePlace *place)
{
    struct Places *places = serve->places;
    ServePlace *old = places_current(serve, place->place->place_id);
    if (places->count == SERVE_LOADED_MAX) {
        remove_retired(serve);
    }
    pthread_rwlock_wrlock(&places->lock);
    if (old != NULL) {
        old->is_retired = true;
        atomic_store(&old->used_ns, clock_ns());
    }
    places->all[places->count++] = place;
    pthread_rwlock_unlock(&places->lock);
}

HostPlace *places_host_place(const Serve *serve, uint32_t number)
{
    return number < serve->places->count ? serve->places->all[number]->place : NULL;
}

ServePlace *places_find(const Serve *serve, PlaceMatch is_it, void *user)
{
    struct Places *places = serve->places;
    ServePlace *found = NULL;
    pthread_rwlock_rdlock(&places->lock);
    for (uint32_t i = places->count; i > 0 && found == NULL; i--) {
        if (is_it(user, places->all[i - 1])) {
            found = places->all[i - 1];
            atomic_fetch_add(&found->more_references, 1);
        }
    }
    pthread_rwlock_unlock(&places->lock);
    if (found != NULL) {
        atomic_store(&found->used_ns, clock_ns());
    }
    return found;
}

uint32_t places_hold_all(const Serve *serve, ServePlace *out[SERVE_LOADED_MAX])
{
    struct Places *places = serve->places;
    uint32_t count = 0;
    pthread_rwlock_rdlock(&places->lock);
    for (uint32_t i = places->count; i > 0; i--) {
        out[count] = places->all[i - 1];
        atomic_fetch_add(&out[count]->more_references, 1);
        count += 1;
    }
    pthread_rwlock_unlock(&places->lock);
    return count;
}

static bool has_id(void *user, const ServePlace *place)
{
    return !place->is_retired && strcmp(place->place->place_id, user) == 0;
}

ServePlace *places_find_id(const Serve *serve, const char *place_id)
{
    return places_find(serve, has_id, (void *)(uintptr_t)place_id);
}

// --- sending ------------------------------------------------------------------------------------

typedef struct PlaceStream {
    ServePlace *place;
    const uint8_t *bytes;
    size_t count;
} PlaceStream;

static int64_t read_stream(void *user, uint64_t at, void *out, size_t bytes)
{
    const PlaceStream *stream = user;
    if (at >= stream->count) {
        return -1;
    }
    const size_t left = stream->count - (size_t)at;
    const size_t given = left < bytes ? left : bytes;
    memcpy(out, stream->bytes + at, given);
    return (int64_t)given;
}

static void end_stream(void *user)
{
    PlaceStream *stream = user;
    serve_place_release(stream->place);
    free(stream);
}

void serve_place_send(ServePlace *place, const uint8_t *bytes, size_t count, HttpResponse *response)
{
    PlaceStream *stream = count > 0 ? malloc(sizeof *stream) : NULL;
    if (stream == NULL) { // nothing to send, or no memory: the client sees that it is not all
        serve_place_release(place);
        response->status = count > 0 ? 503 : 200;
        response->body = NULL;
        response->bytes = 0;
        return;
    }
    *stream = (PlaceStream){place, bytes, count};
    response->bytes = count;
    response->stream = (HttpStream){.read = read_stream, .end = end_stream, .user = stream};
}

// --- ids ----------------------------------------------------------------------------------------

static const struct {
    const char *name, *ending;
    uint32_t rights;
} channels[PLACE_CHANNEL_COUNT] = {
    [PLACE_LIVE] = {"live", "", RIGHT_PLAY},
    [PLACE_BETA] = {"beta", PLACE_BETA_ENDING, RIGHT_TEST},
    [PLACE_DRAFT] = {"draft", PLACE_DRAFT_ENDING, RIGHT_TEST},
};

const char *place_channel_name(PlaceChannel channel)
{
    return channels[channel].name;
}

const char *place_channel_ending(PlaceChannel channel)
{
    return channels[channel].ending;
}

uint32_t place_channel_rights(PlaceChannel channel)
{
    return channels[channel].rights;
}

static bool ends_with(const char *text, const char *ending)
{
    const size_t bytes = strlen(text), count = strlen(ending);
    return bytes > count && strcmp(text + bytes - count, ending) == 0;
}

PlaceChannel place_id_channel(const char *place_id)
{
    return ends_with(place_id, PLACE_BETA_ENDING)    ? PLACE_BETA
           : ends_with(place_id, PLACE_DRAFT_ENDING) ? PLACE_DRAFT
                                                     : PLACE_LIVE;
}

void place_id_package(const char *place_id, char out[PLACE_KEY_BYTES])
{
    const size_t bytes = strlen(place_id);
    const size_t ending = strlen(channels[place_id_channel(place_id)].ending);
    snprintf(out, PLACE_KEY_BYTES, "%.*s", (int)(bytes - ending), place_id);
}
