// See rune_gate.h.
#include "server/shell/rune_gate.h"

#include "core/base/check.h"
#include "core/base/sha256.h"
#include "core/wire/manifest_restart.h"
#include "server/build/sign/manifest_verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Status rune_refused(char *reason, size_t reason_bytes, Status status, const char *what,
                           const char *why)
{
    snprintf(reason, reason_bytes, "%s: %s", what, why);
    return status;
}

static Status row_refused(char *reason, size_t reason_bytes, Status status, const ManifestRow *row,
                          const char *why)
{
    char path[ENTRY_NAME_BYTES + 1];
    snprintf(path, sizeof path, "%.*s", (int)row->path.bytes, row->path.data);
    return rune_refused(reason, reason_bytes, status, path, why);
}

// Only that key is accepted: a world has one host.
static Status read_signed(const uint8_t *key, const uint8_t *text, size_t bytes, void *block,
                          ManifestList *out, char *reason, size_t reason_bytes)
{
    Arena arena;
    arena_init(&arena, block, MANIFEST_ARENA_BYTES);
    SigningPublicKeys halves = {.count = 1};
    memcpy(halves.items[0], key, SIGNING_PUBLIC_BYTES);
    JsonError error = {0};
    const Status status =
        manifest_verify(&arena, (const char *)text, bytes, &halves, out, NULL, &error);
    if (status == STATUS_DENIED) {
        return rune_refused(reason, reason_bytes, status, "the manifest",
                            "it is not signed by this host's key");
    }
    if (status != STATUS_OK) {
        char why[JSON_ERROR_TEXT_BYTES];
        json_error_text(&error, why);
        return rune_refused(reason, reason_bytes, status, "the manifest",
                            error.status != STATUS_OK ? why : status_text(status));
    }
    return STATUS_OK;
}

// --- memory -------------------------------------------------------------------------------------

static bool make_block(RuneSet *set)
{
    set->block = malloc(MANIFEST_ARENA_BYTES); // pages that are not used take no memory
    return set->block != NULL;
}

static bool make_received(RuneSet *set)
{
    set->received = calloc(MANIFEST_ROWS_MAX, sizeof *set->received);
    return set->received != NULL;
}

// All that a second set needs, so that no reload can fail for want of it.
static bool make_memory(RuneGate *gate)
{
    gate->restarts = calloc(MANIFEST_ROWS_MAX, sizeof *gate->restarts);
    gate->removed = calloc(MANIFEST_ROWS_MAX, sizeof *gate->removed);
    gate->scratch = malloc(MANIFEST_ARENA_BYTES);
    gate->text = malloc(MANIFEST_BYTES_MAX);
    return make_received(&gate->now) && make_block(&gate->next) && make_received(&gate->next) &&
           gate->restarts != NULL && gate->removed != NULL && gate->scratch != NULL &&
           gate->text != NULL;
}

Status rune_gate_open(RuneGate *gate, const uint8_t key[SIGNING_PUBLIC_BYTES], const uint8_t *text,
                      size_t bytes, char *reason, size_t reason_bytes)
{
    *gate = (RuneGate){0};
    memcpy(gate->key, key, sizeof gate->key);
    Status status = make_block(&gate->now) ? read_signed(key, text, bytes, gate->now.block,
                                                         &gate->now.list, reason, reason_bytes)
                                           : STATUS_LIMIT;
    if (gate->now.block == NULL || (status == STATUS_OK && !make_memory(gate))) {
        status = rune_refused(reason, reason_bytes, STATUS_LIMIT, "the manifest", "out of memory");
    }
    if (status != STATUS_OK) {
        rune_gate_close(gate);
    }
    return status;
}

void rune_gate_close(RuneGate *gate)
{
    free(gate->now.block);
    free(gate->now.received);
    free(gate->next.block);
    free(gate->next.received);
    free(gate->restarts);
    free(gate->removed);
    free(gate->scratch);
    free(gate->text);
    *gate = (RuneGate){0};
}

// --- the manifest of a second set ---------------------------------------------------------------

void rune_gate_drop(RuneGate *gate)
{
    gate->has_next = false;
    gate->text_bytes = gate->text_at = 0;
}

static Status read_next(RuneGate *gate, uint32_t version, char *reason, size_t reason_bytes)
{
    ManifestList *next = &gate->next.list;
    Status status = read_signed(gate->key, gate->text, gate->text_bytes, gate->next.block, next,
                                reason, reason_bytes);
    if (status != STATUS_OK) {
        return status;
    }
    if (next->version != version || next->version <= gate->now.list.version) {
        return rune_refused(reason, reason_bytes, STATUS_DENIED, "the manifest",
                            "its version is not above the one that runs");
    }
    Arena scratch;
    arena_init(&scratch, gate->scratch, MANIFEST_ARENA_BYTES);
    status = manifest_restarts(&gate->now.list, next, &scratch, gate->restarts);
    if (status != STATUS_OK) {
        return rune_refused(reason, reason_bytes, status, "the manifest", status_text(status));
    }
    memset(gate->next.received, 0, MANIFEST_ROWS_MAX * sizeof *gate->next.received);
    memset(gate->removed, 0, MANIFEST_ROWS_MAX * sizeof *gate->removed);
    gate->reload_received = false;
    gate->has_next = true;
    return STATUS_OK;
}

Status rune_gate_piece(RuneGate *gate, const RunePiece *piece, char *reason, size_t reason_bytes)
{
    ASSERT(gate->is_running);
    if (piece->at == 0) {
        rune_gate_drop(gate);
        gate->text_bytes = piece->whole_bytes;
    }
    if (gate->has_next || piece->whole_bytes != gate->text_bytes || piece->at != gate->text_at ||
        piece->count == 0 || piece->whole_bytes > MANIFEST_BYTES_MAX ||
        piece->count > piece->whole_bytes - piece->at) {
        return rune_refused(reason, reason_bytes, STATUS_MALFORMED, "the manifest",
                            "a piece of it does not fit the others");
    }
    memcpy(gate->text + piece->at, piece->bytes, piece->count);
    gate->text_at += piece->count;
    return gate->text_at == gate->text_bytes ? read_next(gate, piece->version, reason, reason_bytes)
                                             : STATUS_OK;
}

// --- entries ------------------------------------------------------------------------------------

static RuneSet *set_of(RuneGate *gate)
{
    return gate->is_running ? &gate->next : &gate->now;
}

static Status pass_rune(RuneGate *gate, const Entry *entry, const char *path, uint32_t number,
                        char *reason, size_t reason_bytes)
{
    RuneSet *set = set_of(gate);
    const ManifestRow *row = &set->list.rows[number];
    uint8_t hash[SHA256_BYTES];
    sha256_of(entry->bytes, entry->byte_count, hash);
    if (memcmp(row->rune_hash, hash, sizeof hash) != 0 || row->size_bytes != entry->byte_count) {
        return rune_refused(reason, reason_bytes, STATUS_DENIED, path,
                            "its rune is not the one that the manifest names");
    }
    if (gate->is_running && !gate->restarts[number]) {
        return rune_refused(reason, reason_bytes, STATUS_DENIED, path,
                            "nothing that it requires has changed, so it does not start again");
    }
    set->received[number] = true;
    return STATUS_OK;
}

// A script that is in the manifest that runs and not in the next one.
static Status pass_removed(RuneGate *gate, const Entry *entry, const char *path, char *reason,
                           size_t reason_bytes)
{
    const uint32_t old =
        gate->is_running ? manifest_find(&gate->now.list, text_from(path)) : UINT32_MAX;
    if (old == UINT32_MAX || entry->byte_count > 0) {
        return rune_refused(reason, reason_bytes, STATUS_DENIED, path,
                            "the manifest has no such script");
    }
    gate->removed[old] = true;
    return STATUS_OK;
}

static Status pass_script(RuneGate *gate, const Entry *entry, char *reason, size_t reason_bytes)
{
    if ((entry->flags & ENTRY_SOURCE) != 0) {
        return rune_refused(reason, reason_bytes, STATUS_DENIED, "a script", "sources are not run");
    }
    if ((entry->flags & ENTRY_PACKED) != 0) {
        return STATUS_OK; // passed on unread; the client that unpacks it compares the hash
    }
    char path[ENTRY_NAME_BYTES + 1];
    snprintf(path, sizeof path, "%.*s", (int)entry->name_bytes, entry->name);
    const uint32_t number = manifest_find(&set_of(gate)->list, text_from(path));
    return number == UINT32_MAX ? pass_removed(gate, entry, path, reason, reason_bytes)
                                : pass_rune(gate, entry, path, number, reason, reason_bytes);
}

// The manifest for clients. The world checks that it names the runes that clients get.
static Status pass_reload(RuneGate *gate, const Entry *entry, char *reason, size_t reason_bytes)
{
    ManifestList list;
    char why[256];
    Status status = read_signed(gate->key, entry->bytes, entry->byte_count, gate->scratch, &list,
                                why, sizeof why);
    if (status != STATUS_OK) {
        status = rune_refused(reason, reason_bytes, STATUS_DENIED, "for clients", why);
    } else if (list.version != set_of(gate)->list.version || entry->number != list.version) {
        status = rune_refused(reason, reason_bytes, STATUS_DENIED, "the clients' manifest",
                              "it is of another version than the world's");
    }
    gate->reload_received |= status == STATUS_OK;
    return status;
}

Status rune_gate_check(RuneGate *gate, const Entry *entry, char *reason, size_t reason_bytes)
{
    ASSERT(gate->now.block != NULL);
    if (entry->type != ENTRY_SCRIPT && entry->type != ENTRY_RELOAD) {
        return STATUS_OK;
    }
    if (gate->is_running && !gate->has_next) {
        return rune_refused(reason, reason_bytes, STATUS_DENIED, "scripts", "there is no manifest");
    }
    return entry->type == ENTRY_SCRIPT ? pass_script(gate, entry, reason, reason_bytes)
                                       : pass_reload(gate, entry, reason, reason_bytes);
}

// --- the end of a set ---------------------------------------------------------------------------

static Status finish_removed(const RuneGate *gate, char *reason, size_t reason_bytes)
{
    for (uint32_t i = 0; gate->is_running && i < gate->now.list.row_count; i++) {
        const ManifestRow *row = &gate->now.list.rows[i];
        if (!gate->removed[i] &&
            manifest_find(&gate->next.list, manifest_row_path(row)) == UINT32_MAX) {
            return row_refused(reason, reason_bytes, STATUS_NOT_FOUND, row,
                               "the manifest does not name it any more, and it was not removed");
        }
    }
    return STATUS_OK;
}

Status rune_gate_finish(const RuneGate *gate, char *reason, size_t reason_bytes)
{
    const RuneSet *set = gate->is_running ? &gate->next : &gate->now;
    if (gate->is_running && !gate->has_next) {
        return rune_refused(reason, reason_bytes, STATUS_NOT_FOUND, "the manifest",
                            "it is missing");
    }
    for (uint32_t i = 0; i < set->list.row_count; i++) {
        if (!set->received[i] && (!gate->is_running || gate->restarts[i])) {
            return row_refused(reason, reason_bytes, STATUS_NOT_FOUND, &set->list.rows[i],
                               "the manifest names it, and its rune is missing");
        }
    }
    if (!gate->reload_received) {
        return rune_refused(reason, reason_bytes, STATUS_NOT_FOUND, "the clients' manifest",
                            "it is missing");
    }
    return finish_removed(gate, reason, reason_bytes);
}

void rune_gate_take(RuneGate *gate)
{
    if (gate->is_running) {
        const RuneSet before = gate->now;
        gate->now = gate->next;
        gate->next = before;
    }
    gate->is_running = true;
    rune_gate_drop(gate);
}
