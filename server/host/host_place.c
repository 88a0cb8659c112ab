// One built place: scene, runes and manifests come from the pipeline (server/build); here they
// become what a world begins with, and what clients fetch by hash. The host reads no file of a
// creator itself, and gives out nothing but what the manifest replicates.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/base/sha256.h"
#include "server/build/pipeline/rune_set.h"
#include "server/build/sign/manifest_sign.h"
#include "server/host/host_inside.h"

#include <stdio.h>

// --- what is in it ------------------------------------------------------------------------------

// The numbers that decide how large a world is.
static void take_facts(HostPlace *place, const HostPlaceConfig *config)
{
    const PlaceFacts *facts = &place->built.facts;
    const uint32_t wanted = facts->player_max > 0 ? facts->player_max : WORLD_PLAYERS_DEFAULT;
    const uint32_t limit = config->player_max > 0 ? config->player_max : wanted;
    WorldConfig *numbers = &place->numbers;
    *numbers = world_config_default();
    numbers->stripped = place->built.stripped;
    numbers->stripped_bytes = place->built.stripped_bytes;
    numbers->development = config->development;
    numbers->player_max = wanted < limit ? wanted : limit;
    numbers->entity_max = facts->entity_max;
    numbers->json_session_max = JSON_SESSIONS_MAX;
}

// A rune enters a world as one entry.
static Status check_sizes(const BuildResult *built, char *reason, size_t bytes)
{
    for (uint32_t i = 0; i < built->rune_count; i++) {
        const BuildRune *rune = &built->runes[i];
        if (rune->count > ENTRY_BYTES_MAX || strlen(rune->path) > ENTRY_NAME_BYTES) {
            snprintf(reason, bytes,
                     "%s%s: its rune has %zu bytes, at most %u; cut the script in two", rune->path,
                     soul_language_ending(rune->language), rune->count, (unsigned)ENTRY_BYTES_MAX);
            return STATUS_LIMIT;
        }
    }
    return STATUS_OK;
}

static int compare_hashes(const void *a, const void *b, void *user)
{
    const BuildRune *runes = user;
    const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    const int order = memcmp(runes[first].hash, runes[second].hash, sizeof runes[first].hash);
    return order != 0 ? order : (first > second) - (first < second);
}

// A bundle asks for hundreds of hashes, and each place that is loaded may have them.
static Status order_runes(HostPlace *place)
{
    const BuildResult *built = &place->built;
    place->rune_order = calloc((size_t)built->rune_count + 1, sizeof *place->rune_order);
    if (place->rune_order == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < built->rune_count; i++) {
        if (built->runes[i].replicate) {
            place->rune_order[place->rune_order_count++] = i;
        }
    }
    qsort_r(place->rune_order, place->rune_order_count, sizeof *place->rune_order, compare_hashes,
            built->runes);
    return STATUS_OK;
}

Status host_place_create(const HostPlaceConfig *config, BuildResult *built, HostPlace **out,
                         char *reason, size_t bytes)
{
    Status status = check_sizes(built, reason, bytes);
    HostPlace *place = status == STATUS_OK ? calloc(1, sizeof *place) : NULL;
    if (place == NULL) {
        return status == STATUS_OK ? STATUS_LIMIT : status;
    }
    snprintf(place->place_id, sizeof place->place_id, "%s", config->place_id);
    snprintf(place->folder, sizeof place->folder, "%s", config->folder);
    snprintf(place->cdn_base, sizeof place->cdn_base, "%s",
             config->cdn_base != NULL ? config->cdn_base : "");
    place->built = *built;
    *built = (BuildResult){0};
    sha256_of(place->built.stripped, place->built.stripped_bytes, place->scene_hash);
    sha256_hex(place->scene_hash, place->scene_hex);
    RuneSet set;
    if (rune_set_make(&place->built, &set) == STATUS_OK) { // else it is not used
        memcpy(place->set_hash, set.hash, sizeof place->set_hash);
        sha256_hex(set.hash, place->set_hex);
        rune_set_free(&set);
    }
    take_facts(place, config);
    status = order_runes(place);
    if (status != STATUS_OK) {
        *built = place->built;
        place->built = (BuildResult){0};
        host_place_release(place);
        return status;
    }
    *out = place;
    return STATUS_OK;
}

HostPlace *host_place_hold(HostPlace *place)
{
    if (place != NULL) {
        atomic_fetch_add(&place->more_references, 1);
    }
    return place;
}

void host_place_release(HostPlace *place)
{
    if (place != NULL && atomic_fetch_sub(&place->more_references, 1) == 0) {
        build_result_free(&place->built);
        free(place->rune_order);
        free(place);
    }
}

uint32_t host_place_rune(const HostPlace *place, const uint8_t hash[32])
{
    uint32_t low = 0, high = place->rune_order_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint32_t number = place->rune_order[middle];
        const int order = memcmp(place->built.runes[number].hash, hash, SHA256_BYTES);
        if (order == 0) {
            return number; // scripts of equal bytes have one hash, and any of them will do
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return UINT32_MAX;
}

// --- manifests ----------------------------------------------------------------------------------

static Status sign_both(const SigningKey *key, ManifestList *list, HostManifests *out)
{
    Status status = manifest_sign(list, key, &out->server);
    if (status != STATUS_OK) {
        return status;
    }
    ManifestRow *sent = calloc((size_t)list->row_count + 1, sizeof *sent);
    if (sent == NULL) {
        return STATUS_LIMIT;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->row_count; i++) {
        if (list->rows[i].replicate) {
            ASSERT(!text_is(list->rows[i].run_context, "Server")); // manifest_read rejects it
            sent[count++] = list->rows[i];
        }
    }
    list->rows = sent;
    list->row_count = count;
    status = count <= MANIFEST_SCRIPTS_MAX ? manifest_sign(list, key, &out->client) : STATUS_LIMIT;
    free(sent);
    return status;
}

Status host_place_sign(const HostPlace *place, const SigningKey *key, uint64_t version_before,
                       uint64_t tick, HostManifests *out)
{
    *out = (HostManifests){.server = buffer_of(MANIFEST_BYTES_MAX),
                           .client = buffer_of(ENTRY_BYTES_MAX)};
    void *block = malloc(MANIFEST_ARENA_BYTES);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init(&arena, block, MANIFEST_ARENA_BYTES);
    ManifestList list;
    uint8_t signature[MANIFEST_SIGNATURE_BYTES];
    bool has_signature = false;
    JsonError error = {0};
    Status status = manifest_read(&arena, place->built.manifest, place->built.manifest_bytes, &list,
                                  signature, &has_signature, &error);
    if (status == STATUS_OK) {
        status = version_before >= UINT32_MAX ? STATUS_LIMIT : STATUS_OK;
    }
    if (status == STATUS_OK) {
        const uint32_t next = (uint32_t)version_before + 1;
        list.version = next > list.version ? next : list.version;
        list.server_tick = tick;
        list.cdn_base = text_from(place->cdn_base);
        out->version = list.version;
        ASSERT(out->version > version_before); // clients ignore a version that does not rise
        status = sign_both(key, &list, out);
    }
    free(block);
    if (status != STATUS_OK) {
        host_manifests_free(out);
    }
    return status;
}

void host_manifests_free(HostManifests *manifests)
{
    buffer_free(&manifests->server);
    buffer_free(&manifests->client);
}
