// See places.h: from a revision in the store to a place that worlds can run with.
#define _GNU_SOURCE
#include "server/serve/place/places.h"
#include "server/serve/place/revision_folder.h"
#include "server/serve/publish/spell_use.h"

#include <stdio.h>

static Status fail(char reason[WORKER_REASON_BYTES], Status status, const char *why)
{
    snprintf(reason, WORKER_REASON_BYTES, "%s", why);
    return status;
}

// The first error, for the log.
static void say_error(const BuildResult *built, char reason[WORKER_REASON_BYTES])
{
    for (uint32_t i = 0; i < built->diagnostics.count && reason[0] == '\0'; i++) {
        if (built->diagnostics.items[i].level == DIAGNOSTIC_ERROR) {
            diagnostic_text(&built->diagnostics.items[i], "", reason, WORKER_REASON_BYTES);
        }
    }
}

static Status build(const Serve *serve, const char *folder, const char *spells,
                    const atomic_bool *cancel, BuildResult *built, char reason[WORKER_REASON_BYTES])
{
    const BuildConfig config = serve_build_config(serve);
    const BuildRequest request = {.place = folder,
                                  .spells = spells[0] != '\0' ? spells : NULL,
                                  .pack = true,
                                  .cancel = cancel};
    Builder *builder = NULL;
    Status status = builder_create(&config, &builder);
    if (status != STATUS_OK) {
        return fail(reason, status, "no builder can be made");
    }
    status = builder_build(builder, &request, built, reason);
    builder_destroy(builder);
    if (status == STATUS_MALFORMED) {
        say_error(built, reason);
    }
    return status;
}

Status place_open(Serve *serve, const StoreRevision *revision, const char *place_id,
                  const atomic_bool *cancel, ServePlace **out, char reason[WORKER_REASON_BYTES])
{
    char folder[SERVE_PATH_BYTES], spells[SERVE_PATH_BYTES] = "";
    BuildResult built = {0};
    HostPlace *place = NULL;
    reason[0] = '\0';
    Status status = revision_folder_make(serve, revision, cancel, folder, reason);
    if (status == STATUS_OK) {
        status = spell_use_again(serve, revision->package_id, revision->revision, spells, reason);
    }
    if (status == STATUS_NOT_FOUND || status == STATUS_MISMATCH) {
        status = STATUS_MALFORMED; // the package is lost or damaged: trying again does not help
    }
    if (status == STATUS_OK) {
        status = build(serve, folder, spells, cancel, &built, reason);
    }
    if (status == STATUS_OK) {
        const HostPlaceConfig config = {.place_id = place_id,
                                        .folder = folder,
                                        .player_max = serve->config.player_max,
                                        .development = serve->development,
                                        .cdn_base = serve->config.cdn_base};
        status = host_place_create(&config, &built, &place, reason, WORKER_REASON_BYTES);
        // A rune that is too large stays so.
        status = status == STATUS_LIMIT && reason[0] != '\0' ? STATUS_MALFORMED : status;
    }
    build_result_free(&built);
    return status == STATUS_OK ? serve_place_create(serve, place, revision->revision, out) : status;
}
