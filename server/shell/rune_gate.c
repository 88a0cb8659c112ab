// See rune_gate.h.
#include "server/shell/rune_gate.h"

#include "core/base/check.h"
#include "core/base/sha256.h"
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

// Only that key is accepted: a world has one host.
static Status read_signed(const uint8_t *key, const uint8_t *text, size_t bytes, Arena *arena,
                          ManifestList *out, char *reason, size_t reason_bytes)
{
    SigningPublicKeys halves = {.count = 1};
    memcpy(halves.items[0], key, SIGNING_PUBLIC_BYTES);
    JsonError error = {0};
    const Status status =
        manifest_verify(arena, (const char *)text, bytes, &halves, out, NULL, &error);
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

// --- the gate -----------------------------------------------------------------------------------

Status rune_gate_open(RuneGate *gate, const uint8_t key[SIGNING_PUBLIC_BYTES], const uint8_t *text,
                      size_t bytes, char *reason, size_t reason_bytes)
{
    *gate = (RuneGate){0};
    memcpy(gate->key, key, sizeof gate->key);
    gate->block = malloc(MANIFEST_ARENA_BYTES); // pages that are not used take no memory
    gate->received = calloc(MANIFEST_ROWS_MAX, sizeof *gate->received);
    if (gate->block == NULL || gate->received == NULL) {
        rune_gate_close(gate);
        return rune_refused(reason, reason_bytes, STATUS_LIMIT, "the manifest", "out of memory");
    }
    Arena arena;
    arena_init(&arena, gate->block, MANIFEST_ARENA_BYTES);
    const Status status = read_signed(key, text, bytes, &arena, &gate->list, reason, reason_bytes);
    if (status != STATUS_OK) {
        rune_gate_close(gate);
    }
    return status;
}

void rune_gate_close(RuneGate *gate)
{
    free(gate->block);
    free(gate->received);
    *gate = (RuneGate){0};
}

// A manifest names sources: the path of a script, and its ending.
static bool is_path_of(Text source, const char *path, size_t bytes)
{
    return source.bytes > bytes && source.data[bytes] == '.' &&
           memcmp(source.data, path, bytes) == 0 &&
           memchr(source.data + bytes, '/', source.bytes - bytes) == NULL &&
           memchr(source.data + bytes + 1, '.', source.bytes - bytes - 1) == NULL;
}

static Status pass_rune(RuneGate *gate, const Entry *entry, char *reason, size_t reason_bytes)
{
    char path[ENTRY_NAME_BYTES + 1];
    snprintf(path, sizeof path, "%.*s", (int)entry->name_bytes, entry->name);
    uint8_t hash[SHA256_BYTES];
    sha256_of(entry->bytes, entry->byte_count, hash);
    for (uint32_t i = 0; i < gate->list.row_count; i++) {
        const ManifestRow *row = &gate->list.rows[i];
        if (!is_path_of(row->path, entry->name, entry->name_bytes)) {
            continue;
        }
        if (memcmp(row->rune_hash, hash, sizeof hash) != 0 ||
            row->size_bytes != entry->byte_count) {
            return rune_refused(reason, reason_bytes, STATUS_DENIED, path,
                                "its rune is not the one that the manifest names");
        }
        gate->received_count += !gate->received[i];
        gate->received[i] = true;
        return STATUS_OK;
    }
    return rune_refused(reason, reason_bytes, STATUS_DENIED, path,
                        "the manifest has no such script");
}

// The manifest for clients. The world checks that it names the runes that clients get.
static Status pass_reload(RuneGate *gate, const Entry *entry, char *reason, size_t reason_bytes)
{
    void *block = malloc(MANIFEST_ARENA_BYTES);
    if (block == NULL) {
        return rune_refused(reason, reason_bytes, STATUS_LIMIT, "the clients' manifest",
                            "out of memory");
    }
    Arena arena;
    arena_init(&arena, block, MANIFEST_ARENA_BYTES);
    ManifestList list;
    char why[256];
    Status status =
        read_signed(gate->key, entry->bytes, entry->byte_count, &arena, &list, why, sizeof why);
    if (status != STATUS_OK) {
        status = rune_refused(reason, reason_bytes, STATUS_DENIED, "for clients", why);
    } else if (list.version != gate->list.version || entry->number != list.version) {
        status = rune_refused(reason, reason_bytes, STATUS_DENIED, "the clients' manifest",
                              "it is of another version than the world's");
    }
    free(block);
    gate->reload_received |= status == STATUS_OK;
    return status;
}

Status rune_gate_check(RuneGate *gate, const Entry *entry, char *reason, size_t reason_bytes)
{
    ASSERT(gate->block != NULL);
    if (entry->type == ENTRY_RELOAD) {
        return pass_reload(gate, entry, reason, reason_bytes);
    }
    if (entry->type != ENTRY_SCRIPT) {
        return STATUS_OK;
    }
    if ((entry->flags & ENTRY_SOURCE) != 0) {
        return rune_refused(reason, reason_bytes, STATUS_DENIED, "a script", "sources are not run");
    }
    if ((entry->flags & ENTRY_PACKED) != 0) {
        return STATUS_OK; // passed on unread; the client that unpacks it compares the hash
    }
    return pass_rune(gate, entry, reason, reason_bytes);
}

Status rune_gate_finish(const RuneGate *gate, char *reason, size_t reason_bytes)
{
    for (uint32_t i = 0; i < gate->list.row_count; i++) {
        if (!gate->received[i]) {
            char path[ENTRY_NAME_BYTES + 1];
            snprintf(path, sizeof path, "%.*s", (int)gate->list.rows[i].path.bytes,
                     gate->list.rows[i].path.data);
            return rune_refused(reason, reason_bytes, STATUS_NOT_FOUND, path,
                                "the manifest names it, and its rune is missing");
        }
    }
    if (!gate->reload_received) {
        return rune_refused(reason, reason_bytes, STATUS_NOT_FOUND, "the clients' manifest",
                            "it is missing");
    }
    return STATUS_OK;
}
