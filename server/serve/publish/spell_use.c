// See spell_use.h.
#define _GNU_SOURCE
#include "server/serve/publish/spell_use.h"

#include "core/base/hash.h"
#include "core/script/vm/vm.h"
#include "server/build/place/place_file.h"
#include "server/build/place/place_folder.h"
#include "server/draft/draft.h"
#include "server/serve/place/place_build.h"
#include "server/serve/place/revision_folder.h"
#include "server/serve/publish/spell_bundle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_BACK_MAX 20 // revisions, for the last one that is ready

_Static_assert(SERVE_PATH_BYTES <= PATH_MAX, "the folder fits");

// One place that is about to be built.
typedef struct Taking {
    Serve *serve;
    const char *job_id; // its log gets the notes
    const char *place_id;
    uint64_t maker;
    SpellList before, lock; // of the last revision that is ready; of the file
    bool has_lock;
    char *reason;
} Taking;

__attribute__((format(printf, 2, 3))) static Status refuse(const Taking *taking, const char *format,
                                                           ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(taking->reason, WORKER_REASON_BYTES, format, arguments);
    va_end(arguments);
    return STATUS_MALFORMED;
}

static Status fail_store(const Taking *taking, Status status)
{
    snprintf(taking->reason, WORKER_REASON_BYTES, "the spells cannot be read: %s",
             status_text(status));
    return status == STATUS_MALFORMED ? STATUS_BLOCKED : status;
}

// --- what was taken before ----------------------------------------------------------------------

static Status read_record(Serve *serve, const char *place_id, uint32_t number, SpellRecord *out,
                          char reason[WORKER_REASON_BYTES])
{
    StoreBlobRef blob;
    uint8_t *text = NULL;
    size_t bytes = 0;
    *out = (SpellRecord){.bytes = 0};
    Status status = store_blob_used(serve->store, place_id, STORE_BLOB_SPELLS, number, &blob);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = blob_read(serve->blobs, blob.hash, SPELL_LOCK_BYTES, &text, &bytes);
    }
    if (status == STATUS_OK) {
        status = spell_list_read_lock(text, bytes, &out->list, reason);
        memcpy(out->hash, blob.hash, sizeof out->hash);
        out->bytes = bytes;
    }
    free(text);
    return status;
}

// Of the newest revision below that one which is ready.
static Status read_last(Serve *serve, const char *place_id, uint32_t below, SpellList *out)
{
    SpellRecord *record = malloc(sizeof *record);
    StoreRevision *revisions = malloc(LOOK_BACK_MAX * sizeof *revisions);
    char reason[WORKER_REASON_BYTES];
    uint32_t count = 0;
    Status status =
        record != NULL && revisions != NULL
            ? store_revisions(serve->store, place_id, below, revisions, LOOK_BACK_MAX, &count)
            : STATUS_LIMIT;
    out->count = 0;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        if (revisions[i].state == STORE_REVISION_READY) {
            status = read_record(serve, place_id, revisions[i].revision, record, reason);
            *out = record->list;
            break;
        }
    }
    free(revisions);
    free(record);
    return status;
}

// --- taking -------------------------------------------------------------------------------------

// The spell, if somebody may use it: who may play a place may use a spell. *number: the revision of
// that channel, which may be 0, or the one that is asked for. STATUS_NOT_FOUND: they may not, or
// there is no such revision for them.
static Status find_spell(Serve *serve, const char *spell_id, const char *wanted, uint64_t maker,
                         uint32_t *number)
{
    StorePackage package;
    uint32_t rights = 0, asked = 0;
    const Identity who = {.account = maker};
    const Status status = rights_find(serve->store, spell_id, &who, &package, &rights);
    if (status != STATUS_OK) {
        return status;
    }
    if (package.kind != STORE_SPELL || (rights & RIGHT_PLAY) == 0) {
        return STATUS_NOT_FOUND;
    }
    const uint32_t beta = (rights & RIGHT_TEST) != 0 ? package.beta : 0;
    if (!revision_id_read(wanted, &asked)) {
        *number = strcmp(wanted, "beta") == 0 ? beta : package.live;
        return STATUS_OK;
    }
    *number = asked;
    const bool is_known = (rights & RIGHT_READ) != 0 || asked == package.live || asked == beta;
    return is_known ? STATUS_OK : STATUS_NOT_FOUND;
}

// Fills in the hashes of a revision. STATUS_NOT_FOUND: none that is ready.
static Status find_hashes(Serve *serve, uint32_t number, SpellUse *use)
{
    StoreRevision revision;
    StoreBlobRef module;
    Status status = store_revision_find(serve->store, use->spell_id, number, &revision);
    if (status == STATUS_OK) {
        status =
            revision.state == STORE_REVISION_READY
                ? store_blob_used(serve->store, use->spell_id, STORE_BLOB_MODULE, number, &module)
                : STATUS_NOT_FOUND;
    }
    if (status == STATUS_OK) {
        use->revision = number;
        memcpy(use->package, revision.package_hash, sizeof use->package);
        memcpy(use->module, module.hash, sizeof use->module);
    }
    return status;
}

static Status take_new(const Taking *taking, SpellUse *use)
{
    uint32_t number = 0;
    Status status = find_spell(taking->serve, use->spell_id, use->wanted, taking->maker, &number);
    if (status == STATUS_OK && number == 0) {
        return refuse(taking, "the spell %s has no %s revision", use->spell_id, use->wanted);
    }
    if (status == STATUS_OK) {
        status = find_hashes(taking->serve, number, use);
    }
    if (status == STATUS_NOT_FOUND) {
        return refuse(taking, "there is no spell %s that you may use, or no revision %s of it",
                      use->spell_id, use->wanted);
    }
    return status == STATUS_OK ? status : fail_store(taking, status);
}

// A lock can say anything. What the last revision of this very place was built with is believed,
// also if the spell is gone since. Everything else must be what the store has of a spell that may
// be used; who knows its hashes has had that revision, also if it is not live any more.
static Status take_locked(const Taking *taking, const SpellUse *locked, SpellUse *use)
{
    const SpellUse *before = spell_list_find(&taking->before, use->spell_id);
    uint32_t unused;
    if (before == NULL || !spell_use_equal(before, locked)) {
        SpellUse there = *use;
        Status status = find_spell(taking->serve, use->spell_id, "live", taking->maker, &unused);
        if (status == STATUS_OK) {
            status = find_hashes(taking->serve, locked->revision, &there);
        }
        if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
            return fail_store(taking, status);
        }
        if (status != STATUS_OK || !spell_use_equal(&there, locked)) {
            return refuse(taking,
                          SPELL_LOCK ": there is no r%u of %s with these hashes that you "
                                     "may use",
                          locked->revision, use->spell_id);
        }
    }
    *use = *locked;
    return STATUS_OK;
}

// What the channel names, if it is not what was taken: 0: nothing new.
static uint32_t find_update(Serve *serve, const SpellUse *use, uint64_t maker)
{
    uint32_t number = 0;
    const char *channel = strcmp(use->wanted, "beta") == 0 ? "beta" : "live";
    const bool is_found = find_spell(serve, use->spell_id, channel, maker, &number) == STATUS_OK;
    return is_found && number != use->revision ? number : 0;
}

static void note_update(const Taking *taking, const SpellUse *use)
{
    char line[256];
    const uint32_t update = find_update(taking->serve, use, taking->maker);
    if (update != 0) {
        snprintf(line, sizeof line,
                 "spell %s: r%u stays; there is r%u, which \"r%u\" in place.json takes",
                 use->spell_id, use->revision, update, update);
        job_note(serve_jobs(taking->serve), taking->job_id, line);
    }
}

// Each is what the lock says, as long as place.json wants the same as then.
static Status take_all(const Taking *taking, SpellList *list)
{
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < list->count && status == STATUS_OK; i++) {
        SpellUse *use = &list->items[i];
        const SpellUse *locked =
            spell_list_find(taking->has_lock ? &taking->lock : &taking->before, use->spell_id);
        const bool holds = locked != NULL && strcmp(locked->wanted, use->wanted) == 0;
        status = holds ? take_locked(taking, locked, use) : take_new(taking, use);
        if (status == STATUS_OK) {
            note_update(taking, use);
        }
    }
    return status;
}

// --- the folder of modules ----------------------------------------------------------------------

// A module as a file of the folder, in memory of its own.
static Status add_file(const SpellUse *use, const SpellModule *module, PlaceFolder *files)
{
    PlaceFile *file = &files->files[files->file_count];
    char *path = NULL;
    uint8_t *text = malloc(module->bytes + 1);
    if (text == NULL || asprintf(&path, "%s%s%s.lua", use->spell_id,
                                 module->name[0] != '\0' ? "/" : "", module->name) < 0) {
        free(text);
        return STATUS_LIMIT;
    }
    memcpy(text, module->text, module->bytes);
    *file = (PlaceFile){.path = path, .data = text, .bytes = module->bytes};
    files->file_count += 1;
    return STATUS_OK;
}

static Status add_modules(Serve *serve, const SpellUse *use, PlaceFolder *files, uint64_t *bytes)
{
    uint8_t *text = NULL;
    size_t count = 0;
    SpellBundle bundle = {.count = 0};
    Status status = blob_read(serve->blobs, use->module, SPELL_BUNDLE_BYTES_MAX, &text, &count);
    status = status == STATUS_OK ? spell_bundle_parse(text, count, &bundle) : status;
    for (uint32_t i = 0; i < bundle.count && status == STATUS_OK; i++) {
        status = add_file(use, &bundle.modules[i], files);
    }
    free(bundle.memory);
    free(text);
    *bytes = count;
    return status;
}

static Status make_folder(Serve *serve, SpellRecord *record, char out[SERVE_PATH_BYTES],
                          char reason[WORKER_REASON_BYTES])
{
    PlaceFolder files = {
        .files = calloc((size_t)SPELLS_PER_PLACE_MAX * SPELL_MODULES_MAX, sizeof(PlaceFile))};
    Status status = files.files != NULL ? STATUS_OK : STATUS_LIMIT;
    for (uint32_t i = 0; i < record->list.count && status == STATUS_OK; i++) {
        status = add_modules(serve, &record->list.items[i], &files, &record->module_bytes[i]);
        if (status != STATUS_OK) {
            snprintf(reason, WORKER_REASON_BYTES, "the module of the spell %s is not kept: %s",
                     record->list.items[i].spell_id, status_text(status));
        }
    }
    if (status == STATUS_OK) {
        status = revision_folder_fill(serve, record->hash, &files, out, reason);
    }
    place_folder_free(&files);
    return status;
}

// The record becomes a blob, whose hash names the folder.
static Status keep_record(Serve *serve, SpellRecord *record)
{
    Buffer text = buffer_of(SPELL_LOCK_BYTES);
    spell_list_write(&record->list, &text);
    const Status status = text.status == STATUS_OK
                              ? blob_put(serve->blobs, text.data, text.bytes, record->hash)
                              : text.status;
    record->bytes = text.bytes;
    buffer_free(&text);
    return status;
}

// --- revisions and drafts -----------------------------------------------------------------------

static Status read_wanted(const char *folder, SpellList *out, char reason[WORKER_REASON_BYTES])
{
    uint8_t *text = NULL;
    size_t bytes = 0;
    out->count = 0;
    Status status = place_file_read(folder, "place.json", JSON_BYTES_MAX, &text, &bytes);
    if (status != STATUS_OK) {
        return STATUS_OK; // the build says what is wrong with it
    }
    status = spell_list_read_place(text, bytes, out, reason);
    free(text);
    return status;
}

static Status read_lock(const char *folder, Taking *taking)
{
    uint8_t *text = NULL;
    size_t bytes = 0;
    Status status = place_file_read(folder, SPELL_LOCK, SPELL_LOCK_BYTES, &text, &bytes);
    taking->has_lock = status == STATUS_OK;
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        return refuse(taking, SPELL_LOCK " cannot be read: %s", status_text(status));
    }
    status = spell_list_read_lock(text, bytes, &taking->lock, taking->reason);
    free(text);
    return status;
}

// `out` has what place.json wants, and then what is taken.
static Status take_spells(Taking *taking, const char *folder, uint32_t below, SpellRecord *out)
{
    Status status = read_last(taking->serve, taking->place_id, below, &taking->before);
    if (status != STATUS_OK) {
        return fail_store(taking, status);
    }
    status = read_lock(folder, taking);
    status = status == STATUS_OK ? take_all(taking, &out->list) : status;
    if (status == STATUS_OK && keep_record(taking->serve, out) != STATUS_OK) {
        snprintf(taking->reason, WORKER_REASON_BYTES, "the spells cannot be written down");
        status = STATUS_BLOCKED;
    }
    return status;
}

Status spell_use_revision(Serve *serve, const StoreRevision *revision, const char *folder,
                          SpellRecord *out, char spells[SERVE_PATH_BYTES],
                          char reason[WORKER_REASON_BYTES])
{
    spells[0] = '\0';
    *out = (SpellRecord){.bytes = 0};
    Status status = read_wanted(folder, &out->list, reason);
    if (status != STATUS_OK || out->list.count == 0) {
        return status;
    }
    Taking *taking = calloc(1, sizeof *taking);
    if (taking == NULL) {
        return STATUS_LIMIT;
    }
    *taking = (Taking){.serve = serve,
                       .job_id = revision->job_id,
                       .place_id = revision->package_id,
                       .maker = revision->maker_id,
                       .reason = reason};
    status = take_spells(taking, folder, revision->revision, out);
    free(taking);
    return status == STATUS_OK ? make_folder(serve, out, spells, reason) : status;
}

Status spell_use_again(Serve *serve, const char *place_id, uint32_t number,
                       char spells[SERVE_PATH_BYTES], char reason[WORKER_REASON_BYTES])
{
    SpellRecord *record = malloc(sizeof *record);
    Status status =
        record != NULL ? read_record(serve, place_id, number, record, reason) : STATUS_LIMIT;
    spells[0] = '\0';
    if (status == STATUS_OK && record->bytes > 0) {
        status = make_folder(serve, record, spells, reason);
    }
    free(record);
    return status;
}

// The lock of a draft says what was taken. If somebody else writes it at this moment, theirs stays,
// and the next build takes that.
static Status write_lock(const Taking *taking, const SpellRecord *record)
{
    Buffer text = buffer_of(SPELL_LOCK_BYTES);
    uint8_t *now = NULL, hash[SHA256_BYTES];
    size_t bytes = 0;
    StoreDraftFile about;
    char reason[WORKER_REASON_BYTES] = "";
    Drafts *drafts = taking->serve->drafts;
    spell_list_write(&record->list, &text);
    const bool is_there =
        draft_read(drafts, taking->place_id, SPELL_LOCK, &now, &bytes, &about, reason) == STATUS_OK;
    Status status = text.status;
    if (status == STATUS_OK &&
        !(is_there && bytes == text.bytes && memcmp(now, text.data, bytes) == 0)) {
        sha256_of(now, bytes, hash);
        const DraftWrite write = {.place_id = taking->place_id,
                                  .path = SPELL_LOCK,
                                  .data = text.data,
                                  .bytes = text.bytes,
                                  .known = is_there ? hash : NULL,
                                  .maker = taking->maker};
        status = draft_write(drafts, &write, &about, reason);
        status = status == STATUS_MISMATCH ? STATUS_OK : status;
    }
    if (status != STATUS_OK) {
        snprintf(taking->reason, WORKER_REASON_BYTES, SPELL_LOCK " cannot be written: %.200s",
                 reason[0] != '\0' ? reason : status_text(status));
    }
    free(now);
    buffer_free(&text);
    return status;
}

static Status use_draft(Taking *taking, const char *folder, SpellRecord *record,
                        char spells[SERVE_PATH_BYTES])
{
    Status status = read_wanted(folder, &record->list, taking->reason);
    if (status != STATUS_OK || record->list.count == 0) {
        return status;
    }
    status = take_spells(taking, folder, STORE_REVISION_ALL, record);
    status = status == STATUS_OK ? write_lock(taking, record) : status;
    return status == STATUS_OK ? make_folder(taking->serve, record, spells, taking->reason)
                               : status;
}

Status spell_use_draft(void *user, const char *job_id, const char *place, uint64_t account,
                       char spells[PATH_MAX], char reason[WORKER_REASON_BYTES])
{
    const char *slash = strrchr(place, '/'); // the last name of a draft's folder is the place's id
    Taking *taking = calloc(1, sizeof *taking);
    SpellRecord *record = calloc(1, sizeof *record);
    Status status = STATUS_LIMIT;
    spells[0] = '\0';
    if (taking != NULL && record != NULL) {
        *taking = (Taking){.serve = user,
                           .job_id = job_id,
                           .place_id = slash != NULL ? slash + 1 : place,
                           .maker = account,
                           .reason = reason};
        status = use_draft(taking, place, record, spells);
    }
    free(taking);
    free(record);
    return status;
}

void spell_use_keep(const SpellRecord *record, StoreBuilt *built)
{
    if (record->bytes == 0) {
        return;
    }
    StoreBlobRef *blob = &built->blobs[built->blob_count++];
    *blob = (StoreBlobRef){.purpose = STORE_BLOB_SPELLS, .bytes = record->bytes};
    memcpy(blob->hash, record->hash, sizeof blob->hash);
    for (uint32_t i = 0; i < record->list.count; i++) {
        blob = &built->blobs[built->blob_count++];
        *blob = (StoreBlobRef){.purpose = STORE_BLOB_SPELL, .bytes = record->module_bytes[i]};
        memcpy(blob->hash, record->list.items[i].module, sizeof blob->hash);
    }
}

// --- updates ------------------------------------------------------------------------------------

static void write_update(JsonWriter *json, const SpellUse *use, uint32_t update)
{
    json_write_object_begin(json);
    serve_write_member(json, "spell_id", use->spell_id);
    place_write_revision_id(json, "revision_id", use->revision);
    place_write_revision_id(json, "update", update);
    json_write_object_end(json);
}

uint64_t spell_write_updates(Serve *serve, const PlaceAsk *ask, const Identity *who,
                             JsonWriter *json)
{
    uint64_t mixed = 0;
    SpellList *list = malloc(sizeof *list);
    json_write_name(json, "spell_updates");
    json_write_array_begin(json);
    if (list != NULL && who != NULL && (ask->rights & RIGHT_READ) != 0 &&
        read_last(serve, ask->package.package_id, STORE_REVISION_ALL, list) == STATUS_OK) {
        for (uint32_t i = 0; i < list->count; i++) {
            const uint32_t update = find_update(serve, &list->items[i], who->account);
            if (update != 0) {
                write_update(json, &list->items[i], update);
                mixed = mixed * 31 + (uint64_t)(i + 1) * 65537 + update;
            }
        }
    }
    json_write_array_end(json);
    free(list);
    return mixed;
}
