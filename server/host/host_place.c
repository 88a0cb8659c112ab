// What a host runs: the place as it was built. The pipeline (server/build) brings scene, runes and
// manifests; here they become what a world begins with, and what clients fetch by hash. The host
// reads no file of a creator itself, and gives out nothing but what the manifest replicates.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/base/sha256.h"
#include "server/build/base/diagnostic.h"
#include "server/build/pipeline/build_show.h"
#include "server/build/place/editor_files.h"
#include "server/build/sign/manifest_sign.h"
#include "server/host/host_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- building -----------------------------------------------------------------------------------

BuildConfig host_build_config(const Host *host)
{
    BuildConfig config = build_config_default();
    config.allow_weak_jail = host->config.allow_weak_jail;
    config.key = host->build_key;
    // Who keeps the data elsewhere wants nothing written into the place.
    config.cache = host->config.data != NULL ? host->build_cache : NULL;
    return config;
}

static Status build(Host *host)
{
    char reason[WORKER_REASON_BYTES] = "";
    if (!host_join_path(host->build_key, host->data, "ticket.key") ||
        !host_join_path(host->build_cache, host->data, "cache")) {
        return STATUS_RANGE;
    }
    const BuildConfig config = host_build_config(host);
    Builder *builder = NULL;
    Status status = builder_create(&config, &builder);
    if (status != STATUS_OK) {
        fprintf(stderr, "sandlot world: the place cannot be built: %s\n", status_text(status));
        return status;
    }
    BuildShow show = build_show_begin();
    const BuildRequest request = {.place = host->config.place,
                                  .write = host->config.data == NULL,
                                  .pack = true,
                                  .progress = build_show_progress,
                                  .user = &show,
                                  .cancel = host->cancel};
    status = builder_build(builder, &request, &host->built, reason);
    builder_destroy(builder);
    build_show_end(&show);
    build_show_diagnostics(&host->built.diagnostics, host->config.place);
    if (status != STATUS_OK) {
        diagnostic_print(stderr, "sandlot world: %s cannot be built%s%s", host->config.place,
                         reason[0] != '\0' ? ": " : "", reason);
    }
    return status;
}

// As `sandlot build` does, where the build may write.
void host_place_renew_types(const Host *host)
{
    char reason[WORKER_REASON_BYTES] = "";
    bool written = false;
    if (host->config.data == NULL &&
        editor_files_renew_types(host->config.place, &written, reason) != STATUS_OK) {
        host_log(LOG_WARN, "build", "no types for editors: %s", reason);
    }
}

static void say_built(const Host *host)
{
    char counts[BUILD_SHOW_BYTES];
    build_show_counts(&host->built, counts);
    host_log(LOG_INFO, "build", "%s", counts);
}

// --- what is in it ------------------------------------------------------------------------------

// The numbers that decide how large a world is.
static void take_facts(Host *host)
{
    const PlaceFacts *facts = &host->built.facts;
    const uint32_t wanted = facts->player_max > 0 ? facts->player_max : WORLD_PLAYERS_DEFAULT;
    const uint32_t limit = host->config.player_max > 0 ? host->config.player_max : wanted;
    host->player_max = wanted < limit ? wanted : limit;
    WorldConfig *world = &host->world;
    *world = world_config_default();
    world->stripped = host->built.stripped;
    world->stripped_bytes = host->built.stripped_bytes;
    world->development = host->development;
    world->player_max = host->player_max;
    world->entity_max = facts->entity_max;
    world->json_session_max = JSON_SESSIONS_MAX;
}

// A rune enters a world as one entry.
static Status check_sizes(const Host *host)
{
    for (uint32_t i = 0; i < host->built.rune_count; i++) {
        const BuildRune *rune = &host->built.runes[i];
        if (rune->count > ENTRY_BYTES_MAX || strlen(rune->path) > ENTRY_NAME_BYTES) {
            fprintf(stderr,
                    "sandlot world: %s%s: its rune has %zu bytes, at most %u; cut the script in "
                    "two\n",
                    rune->path, soul_language_ending(rune->language), rune->count,
                    (unsigned)ENTRY_BYTES_MAX);
            return STATUS_LIMIT;
        }
    }
    return STATUS_OK;
}

Status host_place_open(Host *host)
{
    Status status = build(host);
    if (status == STATUS_OK) {
        sha256_of(host->built.stripped, host->built.stripped_bytes, host->scene_hash);
        sha256_hex(host->scene_hash, host->scene_hex);
        take_facts(host);
        status = check_sizes(host);
    }
    if (status == STATUS_OK) {
        status = host_asset_open(host);
    }
    if (status == STATUS_OK) {
        say_built(host);
        host_place_renew_types(host);
    }
    return status;
}

void host_place_close(Host *host)
{
    host_asset_close(host);
    build_result_free(&host->built);
}

uint32_t host_place_rune(const Host *host, const char *hex)
{
    for (uint32_t i = 0; i < host->built.rune_count; i++) {
        const BuildRune *rune = &host->built.runes[i];
        char text[65];
        sha256_hex(rune->hash, text);
        // Two scripts of equal bytes have one hash: the one that is sent decides.
        if (rune->replicate && strcmp(text, hex) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

// --- manifests ----------------------------------------------------------------------------------

static Status sign_both(const Host *host, ManifestList *list, HostManifests *out)
{
    Status status = manifest_sign(list, &host->key, &out->server);
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
            sent[count++] = list->rows[i];
        }
    }
    list->rows = sent;
    list->row_count = count;
    status = count <= MANIFEST_SCRIPTS_MAX ? manifest_sign(list, &host->key, &out->client)
                                           : STATUS_LIMIT;
    free(sent);
    return status;
}

Status host_place_sign(const Host *host, uint64_t version_before, uint64_t tick, HostManifests *out)
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
    Status status = manifest_read(&arena, host->built.manifest, host->built.manifest_bytes, &list,
                                  signature, &has_signature, &error);
    if (status == STATUS_OK) {
        status = version_before >= UINT32_MAX ? STATUS_LIMIT : STATUS_OK;
    }
    if (status == STATUS_OK) {
        const uint32_t next = (uint32_t)version_before + 1;
        list.version = next > list.version ? next : list.version;
        list.server_tick = tick;
        out->version = list.version;
        ASSERT(out->version > version_before); // clients ignore a version that does not rise
        status = sign_both(host, &list, out);
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
