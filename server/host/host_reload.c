// See host_reload.h. One reload is on its way at a time. It is sent in pieces, a few in each step,
// so that neither the channel nor a tick of the world has to take all of it at once; the world
// checks it as if it came from a stranger, and so does the host with what the world says about it.
#include "server/host/host_reload.h"

#include "core/base/sha256.h"
#include "core/wire/manifest_restart.h"
#include "server/host/host_inside.h"

#include <inttypes.h>
#include <stdio.h>

#define BYTES_PER_STEP (128u << 10) // 12 MB/s; the queue of the channel has 16 MiB
#define PIECE_BYTES    (64u << 10)  // of the manifest
#define ANSWER_MS      20000u       // until a world has said what has become of what it got

static const char *const result_names[HOST_RELOAD_RESULT_COUNT] = {
    [HOST_RELOAD_SWITCHED] = "runs",      [HOST_RELOAD_GOOD] = "is good",
    [HOST_RELOAD_REFUSED] = "is refused", [HOST_RELOAD_REPLACED] = "is replaced by a newer one",
    [HOST_RELOAD_FAILED] = "has failed",  [HOST_RELOAD_RESTORED] = "runs again",
};

static void set_reference(HostPlace **slot, HostPlace *place)
{
    HostPlace *before = *slot;
    *slot = host_place_hold(place);
    host_place_release(before);
}

// --- what differs -------------------------------------------------------------------------------

// A place that did not come from the build has no frame.
static bool is_same_scene(const BuildResult *a, const BuildResult *b)
{
    if (a->frame_bytes >= SHA256_BYTES && b->frame_bytes >= SHA256_BYTES) {
        return memcmp(a->frame, b->frame, SHA256_BYTES) == 0;
    }
    return a->whole_bytes == b->whole_bytes && memcmp(a->whole, b->whole, a->whole_bytes) == 0;
}

bool host_place_is_same_but_scripts(const HostPlace *running, const HostPlace *built)
{
    const WorldConfig *a = &running->numbers, *b = &built->numbers;
    return strcmp(running->place_id, built->place_id) == 0 && a->player_max == b->player_max &&
           a->entity_max == b->entity_max && a->json_session_max == b->json_session_max &&
           a->development == b->development && is_same_scene(&running->built, &built->built);
}

static Status read_manifest(const HostPlace *place, void *block, ManifestList *out)
{
    Arena arena;
    arena_init(&arena, block, MANIFEST_ARENA_BYTES);
    uint8_t signature[MANIFEST_SIGNATURE_BYTES];
    bool has_signature = false;
    JsonError error = {0};
    return manifest_read(&arena, place->built.manifest, place->built.manifest_bytes, out, signature,
                         &has_signature, &error);
}

// What differs between the manifests of two places: the rows of the second that start again.
typedef struct Change {
    void *blocks[3];
    ManifestList now, next;
    bool *restarts; // by row of next
} Change;

static Status change_read(const HostPlace *running, const HostPlace *built, Change *out)
{
    *out = (Change){.restarts = calloc(MANIFEST_ROWS_MAX, sizeof *out->restarts)};
    bool has_memory = out->restarts != NULL;
    for (uint32_t i = 0; i < 3; i++) {
        out->blocks[i] = malloc(MANIFEST_ARENA_BYTES);
        has_memory = has_memory && out->blocks[i] != NULL;
    }
    Status status = has_memory ? read_manifest(running, out->blocks[0], &out->now) : STATUS_LIMIT;
    if (status == STATUS_OK) {
        status = read_manifest(built, out->blocks[1], &out->next);
    }
    if (status != STATUS_OK) {
        return status;
    }
    Arena scratch;
    arena_init(&scratch, out->blocks[2], MANIFEST_ARENA_BYTES);
    return manifest_restarts(&out->now, &out->next, &scratch, out->restarts);
}

static void change_free(Change *change)
{
    free(change->restarts);
    for (uint32_t i = 0; i < 3; i++) {
        free(change->blocks[i]);
    }
}

// Which runes have to be sent, by the rule that the world and its clients go by.
static Status plan(const HostPlace *running, HostReload *reload)
{
    const BuildResult *before = &running->built, *after = &reload->place->built;
    Change change;
    Status status = change_read(running, reload->place, &change);
    reload->sends = calloc((size_t)after->rune_count + 1, sizeof *reload->sends);
    reload->removes = calloc((size_t)before->rune_count + 1, sizeof *reload->removes);
    if (reload->sends == NULL || reload->removes == NULL) {
        status = STATUS_LIMIT;
    }
    for (uint32_t i = 0; status == STATUS_OK && i < after->rune_count; i++) {
        const uint32_t row = manifest_find(&change.next, text_from(after->runes[i].path));
        reload->sends[i] = row != UINT32_MAX && change.restarts[row];
    }
    for (uint32_t i = 0; status == STATUS_OK && i < before->rune_count; i++) {
        reload->removes[i] =
            manifest_find(&change.next, text_from(before->runes[i].path)) == UINT32_MAX;
    }
    change_free(&change);
    return status;
}

// --- what is told -------------------------------------------------------------------------------

static void answer(HostWorld *world, uint64_t tag, HostReloadResult result, uint32_t version,
                   const char *reason)
{
    const HostOutside *outside = &world->host->config.outside;
    HostReload *reload = &world->reload;
    const bool is_bad = result == HOST_RELOAD_REFUSED || result == HOST_RELOAD_FAILED;
    hosted_log(world, is_bad ? LOG_ERROR : LOG_INFO, "manifest %" PRIu32 " %s%s%s", version,
               result_names[result], reason[0] != '\0' ? ": " : "", reason);
    if (result != HOST_RELOAD_REPLACED) {
        reload->is_known = true;
        reload->result = result;
        reload->told_version = version;
        reload->told_unix_ms = host_unix_ms(world->host);
        // Why the last one failed is still to be read after the one before it has come back.
        if (result != HOST_RELOAD_RESTORED) {
            snprintf(reload->reason, sizeof reload->reason, "%s", reason);
        }
    }
    if (outside->reloaded != NULL) {
        outside->reloaded(outside->user, tag, world, result, version, reason);
    }
}

HostReloadView host_world_reload_view(const HostWorld *world)
{
    const HostReload *reload = &world->reload;
    return (HostReloadView){.is_known = reload->is_known,
                            .is_busy = reload->place != NULL || reload->next != NULL,
                            .is_tried = reload->is_tried,
                            .result = reload->result,
                            .version = reload->told_version,
                            .tick = reload->tick,
                            .unix_ms = reload->told_unix_ms,
                            .reason = reload->reason};
}

HostPlace *host_world_place(const HostWorld *world)
{
    return world->place;
}

// --- on its way ---------------------------------------------------------------------------------

static void drop_current(HostReload *reload)
{
    set_reference(&reload->place, NULL);
    host_manifests_free(&reload->manifests);
    free(reload->sends);
    free(reload->removes);
    reload->sends = reload->removes = NULL;
    reload->is_sent = reload->is_unsigned = false;
    reload->manifest_at = reload->at = reload->parameters_at = 0;
}

static void refuse_current(HostWorld *world, const char *reason)
{
    HostReload *reload = &world->reload;
    const bool is_restore = reload->is_restore;
    drop_current(reload);
    answer(world, reload->tag, HOST_RELOAD_REFUSED, reload->version, reason);
    if (is_restore && hosted_has_process(world)) {
        hosted_kill(world, "it refuses the last good scripts"); // it starts again with them
    }
}

static Status put_manifest(HostWorld *world)
{
    HostReload *reload = &world->reload;
    const Buffer *text = &reload->manifests.server;
    const size_t left = text->bytes - reload->manifest_at;
    const size_t count = left < PIECE_BYTES ? left : PIECE_BYTES;
    uint8_t bytes[CHANNEL_RELOAD_BYTES + PIECE_BYTES];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    byte_write_u32(&writer, reload->version);
    byte_write_u32(&writer, (uint32_t)text->bytes);
    byte_write_u32(&writer, (uint32_t)reload->manifest_at);
    byte_write_bytes(&writer, text->data + reload->manifest_at, count);
    ASSERT(writer.status == STATUS_OK);
    const Status status = world->link->face->put(world->link, CHANNEL_RELOAD, bytes, writer.at, -1);
    reload->manifest_at += status == STATUS_OK ? count : 0;
    return status;
}

static Status put_entry(HostWorld *world, const Entry *entry)
{
    static uint8_t bytes[CHANNEL_MESSAGE_BYTES]; // a host has one thread
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    entry_write(entry, &writer);
    ASSERT(writer.status == STATUS_OK);
    world->reload.step_bytes += writer.at;
    return world->link->face->put(world->link, CHANNEL_ENTRY, bytes, writer.at, -1);
}

static Entry script_entry(const BuildRune *rune)
{
    return (Entry){
        .type = ENTRY_SCRIPT, .name = rune->path, .name_bytes = (uint32_t)strlen(rune->path)};
}

// A script that is no more: without bytes.
static Status put_removed(HostWorld *world, const BuildRune *rune)
{
    const Entry entry = script_entry(rune);
    return put_entry(world, &entry);
}

static Status put_rune(HostWorld *world, const BuildRune *rune)
{
    Entry entry = script_entry(rune);
    entry.flags = rune->replicate ? ENTRY_REPLICATE : 0u;
    entry.number = entry_context(rune->context);
    entry.bytes = rune->bytes;
    entry.byte_count = rune->count;
    return put_entry(world, &entry);
}

static Status put_packed(HostWorld *world, const BuildRune *rune)
{
    Entry entry = script_entry(rune);
    entry.flags = ENTRY_PACKED;
    entry.number = world->reload.place->built.packing;
    entry.bytes = rune->packed;
    entry.byte_count = rune->packed_count;
    return rune->packed != NULL ? put_entry(world, &entry) : STATUS_OK;
}

// Entities and prefabs that have a script, of the frame of a place.
typedef struct Scripted {
    uint64_t net_id;
    const char *prefab;
    size_t prefab_bytes;
    const uint8_t *parameters;
    size_t bytes;
} Scripted;

static ByteReader scripted_reader(const BuildResult *built)
{
    const bool has_frame = built->frame_bytes >= SHA256_BYTES;
    return byte_reader(has_frame ? built->frame + SHA256_BYTES : NULL,
                       has_frame ? built->frame_bytes - SHA256_BYTES : 0);
}

static bool scripted_read(ByteReader *reader, Scripted *out)
{
    if (reader->status != STATUS_OK || byte_reader_left(reader) == 0) {
        return false;
    }
    out->net_id = byte_read_u64(reader);
    out->prefab = (const char *)byte_read_block(reader, &out->prefab_bytes);
    out->parameters = byte_read_block(reader, &out->bytes);
    return reader->status == STATUS_OK && out->prefab_bytes <= ENTRY_NAME_BYTES &&
           out->bytes <= ENTRY_BYTES_MAX;
}

// The next parameters that differ, from `parameters_at` on; frames that are the same name the same
// things in the same order. STATUS_NOT_FOUND: there are no more.
static Status put_parameters(HostWorld *world)
{
    HostReload *reload = &world->reload;
    ByteReader before = scripted_reader(&world->place->built);
    ByteReader after = scripted_reader(&reload->place->built);
    Scripted old, new;
    for (uint32_t i = 0; scripted_read(&before, &old) && scripted_read(&after, &new); i++) {
        const bool is_same =
            old.bytes == new.bytes &&
            (old.bytes == 0 || memcmp(old.parameters, new.parameters, old.bytes) == 0);
        if (i < reload->parameters_at || is_same) {
            continue;
        }
        const Entry entry = {.type = ENTRY_PARAMETERS,
                             .number = new.net_id,
                             .name = new.prefab,
                             .name_bytes = (uint32_t) new.prefab_bytes,
                             .bytes = new.parameters,
                             .byte_count = new.bytes};
        const Status status = put_entry(world, &entry);
        reload->parameters_at = status == STATUS_OK ? i + 1 : reload->parameters_at;
        return status;
    }
    return STATUS_NOT_FOUND;
}

static Status put_last(HostWorld *world)
{
    const HostManifests *manifests = &world->reload.manifests;
    const Entry entry = {.type = ENTRY_RELOAD,
                         .number = manifests->version,
                         .bytes = manifests->client.data,
                         .byte_count = manifests->client.bytes};
    const Status status = put_entry(world, &entry);
    world->reload.is_sent = status == STATUS_OK;
    return status;
}

// What is sent, in this order: the manifest, what is removed, each rune and the same packed,
// parameters, the manifest for clients. `at` counts what comes after the first manifest.
static Status put_next(HostWorld *world)
{
    HostReload *reload = &world->reload;
    const BuildResult *before = &world->place->built, *after = &reload->place->built;
    if (reload->manifest_at < reload->manifests.server.bytes) {
        reload->step_bytes += PIECE_BYTES;
        return put_manifest(world);
    }
    uint32_t at = reload->at;
    Status status;
    if (at < before->rune_count) {
        status = reload->removes[at] ? put_removed(world, &before->runes[at]) : STATUS_OK;
    } else if ((at -= before->rune_count) < 2 * after->rune_count) {
        const BuildRune *rune = &after->runes[at / 2];
        status = !reload->sends[at / 2] ? STATUS_OK
                 : at % 2 == 0          ? put_rune(world, rune)
                                        : put_packed(world, rune);
    } else {
        status = put_parameters(world);
        return status == STATUS_NOT_FOUND ? put_last(world) : status;
    }
    reload->at += status == STATUS_OK;
    return status;
}

static void send_more(HostWorld *world)
{
    HostReload *reload = &world->reload;
    reload->step_bytes = 0;
    while (!reload->is_sent && reload->step_bytes < BYTES_PER_STEP) {
        if (put_next(world) != STATUS_OK) {
            break; // its queue is full: again in the next step
        }
    }
    hosted_wake(world);
    // What it gets wakes it, so it has to speak as often as any other.
    if (world->stats.paused != 0) {
        world->stats.paused = 0;
        world->silent_ns = 0;
    }
}

static void begin_sending(HostWorld *world)
{
    HostReload *reload = &world->reload;
    ASSERT(reload->manifests.version > world->manifest_version);
    reload->version = reload->manifests.version;
    world->manifest_version = reload->version;
    reload->deadline_ns = host_now(world->host) + ANSWER_MS * HOST_MS_NS;
    send_more(world);
    world->link->face->flush(world->link);
}

static Status ask_signature(HostWorld *world)
{
    const HostOutside *outside = &world->host->config.outside;
    HostReload *reload = &world->reload;
    if (outside->sign == NULL) {
        return STATUS_UNSUPPORTED;
    }
    reload->deadline_ns = host_now(world->host) + ANSWER_MS * HOST_MS_NS;
    outside->sign(outside->user, world, reload->place, world->manifest_version, world->stats.tick);
    return STATUS_OK;
}

// Nobody has signed in time. The last good set is waited for: there is nothing better to run.
static void wait_for_signature(HostWorld *world)
{
    if (host_now(world->host) < world->reload.deadline_ns) {
        return;
    }
    if (world->reload.is_restore) {
        status_ignore(ask_signature(world));
    } else {
        refuse_current(world, "the control plane has not signed its manifest in time");
    }
}

static void begin_reload(HostWorld *world, HostPlace *place, uint64_t tag, bool is_restore)
{
    HostReload *reload = &world->reload;
    Host *host = world->host;
    ASSERT(reload->place == NULL);
    reload->tag = tag;
    reload->is_restore = is_restore;
    set_reference(&reload->place, place);
    Status status = plan(world->place, reload);
    if (status == STATUS_OK && host->config.remote) {
        reload->version = world->manifest_version;
        status = ask_signature(world);
        reload->is_unsigned = status == STATUS_OK;
    } else if (status == STATUS_OK) {
        status = host_place_sign(place, host->config.key, world->manifest_version,
                                 world->stats.tick, &reload->manifests);
    }
    if (status != STATUS_OK) {
        char why[128];
        snprintf(why, sizeof why, "its manifest cannot be signed here: %s", status_text(status));
        refuse_current(world, why);
    } else if (!reload->is_unsigned) {
        begin_sending(world);
    }
}

void host_world_signed(HostWorld *world, const HostPlace *place, HostManifests *manifests,
                       const char *reason)
{
    HostReload *reload = &world->reload;
    if (!reload->is_unsigned || reload->place != place || world->state != WORLD_RUNNING) {
        if (manifests != NULL) {
            host_manifests_free(manifests);
        }
        return;
    }
    if (manifests == NULL) {
        refuse_current(world, reason);
        return;
    }
    reload->is_unsigned = false;
    reload->manifests = *manifests;
    if (manifests->version <= world->manifest_version) {
        refuse_current(world, "its manifest was signed with an old version");
        return;
    }
    begin_sending(world);
}

// The next one that is due, if the way is free. After a failure the last good set comes back first,
// also if a newer one waits: only what differs is sent, so scripts that failed and are the same in
// the newer one would not start again, and it would be found good without them.
static void begin_next(HostWorld *world)
{
    HostReload *reload = &world->reload;
    if (world->state != WORLD_RUNNING || reload->place != NULL) {
        return;
    }
    if (reload->has_failed) {
        reload->has_failed = false;
        begin_reload(world, reload->good, reload->tried_tag, true);
    } else if (reload->next != NULL) {
        HostPlace *next = reload->next;
        reload->next = NULL;
        begin_reload(world, next, reload->next_tag, false);
        host_place_release(next);
    }
}

void hosted_reload_step(HostWorld *world)
{
    HostReload *reload = &world->reload;
    begin_next(world);
    if (reload->place == NULL) {
        return;
    }
    if (reload->is_unsigned) {
        wait_for_signature(world);
        return;
    }
    if (!reload->is_sent) {
        send_more(world);
    }
    if (host_now(world->host) >= reload->deadline_ns) {
        hosted_kill(world, "it does not say what has become of its new scripts");
    }
}

bool hosted_reload_is_busy(const HostWorld *world)
{
    const HostReload *reload = &world->reload;
    return reload->place != NULL || reload->next != NULL || reload->has_failed;
}

// --- asked for ----------------------------------------------------------------------------------

// It does not run, so there is nothing to switch.
static void take_for_later(HostWorld *world, HostPlace *place, uint64_t tag)
{
    HostReload *reload = &world->reload;
    set_reference(&reload->good, place);
    set_reference(&reload->base, host_place(world->host, world->row.place_id));
    hosted_renew_place(world);
    answer(world, tag, HOST_RELOAD_GOOD, world->manifest_version, "");
}

void host_world_reload(HostWorld *world, HostPlace *place, uint64_t tag)
{
    HostReload *reload = &world->reload;
    if (world->place == NULL || !host_place_is_same_but_scripts(world->place, place)) {
        answer(world, tag, HOST_RELOAD_REFUSED, world->manifest_version,
               "more than scripts and parameters differ: the world has to start again");
        return;
    }
    if (!hosted_has_process(world)) {
        take_for_later(world, place, tag);
        return;
    }
    if (place == world->place && !reload->is_tried && !hosted_reload_is_busy(world)) {
        answer(world, tag, HOST_RELOAD_GOOD, world->manifest_version, ""); // it runs already
        return;
    }
    if (reload->next != NULL) {
        answer(world, reload->next_tag, HOST_RELOAD_REPLACED, world->manifest_version, "");
    }
    set_reference(&reload->next, place);
    reload->next_tag = tag;
    hosted_wake(world);
    begin_next(world);
}

// --- what the world says ------------------------------------------------------------------------

static void found_good(HostWorld *world)
{
    HostReload *reload = &world->reload;
    reload->is_tried = false;
    set_reference(&reload->good, world->place);
    set_reference(&reload->bad, NULL);
    answer(world, reload->tried_tag, HOST_RELOAD_GOOD, reload->tried_version, "");
}

// What it was compared with has failed while it was on its way, so scripts of it that failed may
// not have started again. The last good set comes back, and then this one again, whole, unless
// there is a newer one.
static void switched_over_failed(HostWorld *world, HostPlace *place)
{
    HostReload *reload = &world->reload;
    const uint64_t tag = reload->tag;
    hosted_set_place(world, place);
    drop_current(reload);
    if (reload->next == NULL) {
        set_reference(&reload->next, place);
        reload->next_tag = tag;
    } else {
        answer(world, tag, HOST_RELOAD_REPLACED, world->manifest_version, "");
    }
}

static void switched(HostWorld *world, uint64_t tick)
{
    HostReload *reload = &world->reload;
    HostPlace *place = host_place_hold(reload->place);
    const bool is_restore = reload->is_restore;
    if (reload->has_failed && !is_restore) {
        switched_over_failed(world, place);
        host_place_release(place);
        return;
    }
    if (reload->is_tried) { // it has run until now without failing: the one to come back to
        found_good(world);
    }
    hosted_set_place(world, place);
    set_reference(&reload->base, host_place(world->host, world->row.place_id));
    reload->tick = tick;
    reload->has_failed = false;
    reload->is_tried = !is_restore;
    reload->tried_version = reload->version;
    reload->tried_tag = reload->tag;
    drop_current(reload);
    answer(world, reload->tag, is_restore ? HOST_RELOAD_RESTORED : HOST_RELOAD_SWITCHED,
           reload->version, "");
    host_place_release(place);
}

// It cannot be said again of the same set, so each reload that was asked for brings back the last
// good one once.
static void found_bad(HostWorld *world, const char *reason)
{
    HostReload *reload = &world->reload;
    reload->is_tried = false;
    if (world->place != reload->good) { // else it was asked for again, and there is no better one
        reload->has_failed = true;
        set_reference(&reload->bad, world->place);
    }
    answer(world, reload->tried_tag, HOST_RELOAD_FAILED, reload->tried_version, reason);
}

void hosted_reloaded(HostWorld *world, const ChannelReport *report)
{
    HostReload *reload = &world->reload;
    const bool is_current =
        reload->place != NULL && !reload->is_unsigned && report->version == reload->version;
    const bool is_tried = reload->is_tried && report->version == reload->tried_version;
    if (is_current && reload->is_sent && report->reload == RELOAD_SWITCHED) {
        switched(world, report->tick);
    } else if (is_current && report->reload == RELOAD_REFUSED) {
        refuse_current(world, report->text);
    } else if (is_tried && report->reload == RELOAD_GOOD) {
        found_good(world);
    } else if (is_tried && report->reload == RELOAD_FAILED) {
        found_bad(world, report->text);
    } else {
        // Late, of a set that was replaced since or that has come back; or a lie.
        world->host->counts.reloads_ignored += 1;
    }
    if (hosted_has_process(world)) {
        begin_next(world);
    }
}

// --- a process begins and ends ------------------------------------------------------------------

void hosted_reload_started(HostWorld *world)
{
    set_reference(&world->reload.good, world->place);
}

void hosted_reload_ended(HostWorld *world)
{
    HostReload *reload = &world->reload;
    static const char why[] = "the world ended before it was known to be good";
    if (reload->is_tried &&
        world->told_stop) { // it was asked to end, and had not failed until then
        found_good(world);
    } else if (reload->is_tried) {
        found_bad(world, why);
    }
    reload->has_failed = false; // it starts again with the last good set
    if (reload->place != NULL && !reload->is_restore) {
        set_reference(&reload->bad, reload->place);
        drop_current(reload);
        answer(world, reload->tag, HOST_RELOAD_REFUSED, reload->version, why);
    } else if (reload->place != NULL) {
        drop_current(reload);
    }
    if (reload->next != NULL) {
        HostPlace *next = reload->next;
        reload->next = NULL;
        take_for_later(world, next, reload->next_tag);
        host_place_release(next);
    }
    if (reload->good == host_place(world->host, world->row.place_id)) {
        set_reference(&reload->good, NULL); // it starts with that anyway, and the place may close
    }
}

void hosted_reload_free(HostWorld *world)
{
    HostReload *reload = &world->reload;
    drop_current(reload);
    set_reference(&reload->next, NULL);
    set_reference(&reload->good, NULL);
    set_reference(&reload->base, NULL);
    set_reference(&reload->bad, NULL);
}

// --- which place a world starts with ------------------------------------------------------------

HostPlace *hosted_place_now(const HostWorld *world)
{
    const HostReload *reload = &world->reload;
    HostPlace *here = host_place(world->host, world->row.place_id);
    const bool is_older = here != NULL && (here == reload->base || here == reload->bad);
    return is_older && reload->good != NULL ? reload->good : here;
}

HostPlace *host_world_place_next(const HostWorld *world)
{
    return hosted_place_now(world);
}

void hosted_reload_count_uses(const HostWorld *world)
{
    const HostReload *reload = &world->reload;
    HostPlace *const held[] = {reload->place, reload->next, reload->good};
    for (uint32_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        if (held[i] != NULL) {
            held[i]->use_count += 1;
        }
    }
}
