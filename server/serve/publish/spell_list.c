// See spell_list.h. The texts come from strangers.
#define _GNU_SOURCE
#include "server/serve/publish/spell_list.h"

#include "core/base/json_read.h"
#include "core/base/json_write.h"
#include "server/serve/place/place_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_JSON_BYTES (1u << 20)
#define BYTES_PER_NODE   128 // of the shortest text, "0,", with room to spare

bool spell_id_is_valid(const char *text)
{
    const size_t bytes = text != NULL ? strlen(text) : 0;
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    return bytes > 0 && bytes < SPELL_ID_BYTES && strspn(text, letters) == bytes &&
           strncmp(text, "place_", 6) != 0;
}

const SpellUse *spell_list_find(const SpellList *list, const char *spell_id)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].spell_id, spell_id) == 0) {
            return &list->items[i];
        }
    }
    return NULL;
}

bool spell_use_equal(const SpellUse *a, const SpellUse *b)
{
    return a->revision == b->revision && memcmp(a->package, b->package, SHA256_BYTES) == 0 &&
           memcmp(a->module, b->module, SHA256_BYTES) == 0;
}

// --- reading ------------------------------------------------------------------------------------

static Status spells_refused(char reason[WORKER_REASON_BYTES], const char *file, const char *why)
{
    snprintf(reason, WORKER_REASON_BYTES, "%s: %s", file, why);
    return STATUS_MALFORMED;
}

static bool is_text(const JsonNode *node, size_t capacity)
{
    return node != NULL && node->kind == JSON_STRING && node->count < capacity &&
           strlen(node->text) == node->count;
}

static bool read_wanted(const JsonNode *node, char out[SPELL_WANTED_BYTES])
{
    uint32_t number;
    if (!is_text(node, SPELL_WANTED_BYTES) ||
        (strcmp(node->text, "live") != 0 && strcmp(node->text, "beta") != 0 &&
         !revision_id_read(node->text, &number))) {
        return false;
    }
    memcpy(out, node->text, node->count + 1);
    return true;
}

static bool read_hex_hash(const JsonNode *node, uint8_t out[SHA256_BYTES])
{
    return is_text(node, 2 * SHA256_BYTES + 1) &&
           blob_parse(node->text, node->count, out) == STATUS_OK;
}

static bool read_taken(const JsonNode *node, SpellUse *out)
{
    return node->kind == JSON_OBJECT && read_wanted(json_find(node, "wanted"), out->wanted) &&
           is_text(json_find(node, "revision"), REVISION_ID_BYTES) &&
           revision_id_read(json_find(node, "revision")->text, &out->revision) &&
           read_hex_hash(json_find(node, "sha256"), out->package) &&
           read_hex_hash(json_find(node, "module"), out->module);
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const SpellUse *)a)->spell_id, ((const SpellUse *)b)->spell_id);
}

static Status read_spells(const JsonNode *spells, bool is_lock, const char *file, SpellList *out,
                          char reason[WORKER_REASON_BYTES])
{
    if (spells == NULL || spells->kind == JSON_NULL) {
        return STATUS_OK;
    }
    if (spells->kind != JSON_OBJECT) {
        return spells_refused(reason, file, "spells is an object, such as {\"fire\": \"live\"}");
    }
    for (const JsonNode *one = spells->first; one != NULL; one = one->next) {
        if (out->count == SPELLS_PER_PLACE_MAX) {
            return spells_refused(reason, file, "a place uses at most 16 spells");
        }
        SpellUse *use = &out->items[out->count];
        *use = (SpellUse){.revision = 0};
        if (!spell_id_is_valid(one->name)) {
            return spells_refused(reason, file, "a spell's id is 1 to 64 of A-Z a-z 0-9 _ -");
        }
        memcpy(use->spell_id, one->name, strlen(one->name) + 1);
        if (is_lock ? !read_taken(one, use) : !read_wanted(one, use->wanted)) {
            return spells_refused(
                reason, file,
                is_lock ? "a spell has wanted, revision, sha256 and module; remove the "
                          "entry to take what place.json names"
                        : "a spell is \"live\", \"beta\", or a revision such as \"r3\"");
        }
        out->count += 1;
    }
    qsort(out->items, out->count, sizeof out->items[0], by_id);
    return STATUS_OK;
}

static Status read_text(const void *text, size_t bytes, bool is_lock, SpellList *out,
                        char reason[WORKER_REASON_BYTES])
{
    const char *file = is_lock ? SPELL_LOCK : "place.json";
    const size_t room = bytes * BYTES_PER_NODE + 4096;
    void *memory = malloc(room);
    if (memory == NULL) {
        snprintf(reason, WORKER_REASON_BYTES, "out of memory");
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init(&arena, memory, room);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    Status status = json_parse(&config, text, bytes, &root, NULL);
    if (status == STATUS_OK) {
        status = read_spells(json_find(root, "spells"), is_lock, file, out, reason);
    } else {
        status = is_lock
                     ? spells_refused(reason, file, "is no JSON; {} takes what place.json names")
                     : STATUS_OK;
    }
    free(memory);
    return status;
}

Status spell_list_read_place(const void *text, size_t bytes, SpellList *out,
                             char reason[WORKER_REASON_BYTES])
{
    *out = (SpellList){.count = 0};
    if (memmem(text, bytes, "\"spells\"", 8) == NULL) {
        return STATUS_OK; // nearly all of them; the build reads it with care
    }
    return bytes <= PLACE_JSON_BYTES
               ? read_text(text, bytes, false, out, reason)
               : spells_refused(reason, "place.json", "above 1 MiB it cannot name spells");
}

Status spell_list_read_lock(const void *text, size_t bytes, SpellList *out,
                            char reason[WORKER_REASON_BYTES])
{
    *out = (SpellList){.count = 0};
    return bytes <= SPELL_LOCK_BYTES ? read_text(text, bytes, true, out, reason)
                                     : spells_refused(reason, SPELL_LOCK, "has more than 16 KiB");
}

// --- writing ------------------------------------------------------------------------------------

static void write_hash(JsonWriter *json, const char *name, const uint8_t hash[SHA256_BYTES])
{
    char hex[2 * SHA256_BYTES + 1];
    sha256_hex(hash, hex);
    json_write_name(json, name);
    json_write_text(json, hex);
}

void spell_list_write(const SpellList *list, Buffer *out)
{
    uint8_t text[SPELL_LOCK_BYTES];
    ByteWriter writer = byte_writer(text, sizeof text);
    JsonWriter json = json_writer(&writer, 2);
    json_write_object_begin(&json);
    json_write_name(&json, "spells");
    json_write_object_begin(&json);
    for (uint32_t i = 0; i < list->count; i++) {
        const SpellUse *use = &list->items[i];
        char id[REVISION_ID_BYTES];
        revision_id_write(use->revision, id);
        json_write_name(&json, use->spell_id);
        json_write_object_begin(&json);
        json_write_name(&json, "wanted");
        json_write_text(&json, use->wanted);
        json_write_name(&json, "revision");
        json_write_text(&json, id);
        write_hash(&json, "sha256", use->package);
        write_hash(&json, "module", use->module);
        json_write_object_end(&json);
    }
    json_write_object_end(&json);
    json_write_object_end(&json);
    const Status status = json_writer_finish(&json);
    buffer_put(out, text, writer.at);
    buffer_put(out, "\n", 1);
    out->status = status != STATUS_OK ? status : out->status;
}
