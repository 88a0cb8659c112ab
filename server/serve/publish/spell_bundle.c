// See spell_bundle.h.
#include "server/serve/publish/spell_bundle.h"

#include "core/base/json_read.h"
#include "core/base/json_write.h"
#include "core/wire/script_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUNDLE_BEGIN "{\"modules\":"

bool spell_part_is_valid(const char *text)
{
    const size_t bytes = text != NULL ? strlen(text) : 0;
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    return bytes > 0 && bytes < SPELL_PART_BYTES && strspn(text, letters) == bytes;
}

void spell_module_path(const char *spell_id, const char *part, const char *ending,
                       char out[SPELL_PATH_BYTES])
{
    snprintf(out, SPELL_PATH_BYTES, SCRIPT_SPELL_FOLDER "%.64s%s%.32s.%s", spell_id,
             part[0] != '\0' ? "/" : "", part, ending);
}

void spell_bundle_write(const SpellBundle *bundle, Buffer *out)
{
    if (bundle->count == 1) {
        buffer_put(out, bundle->modules[0].text, bundle->modules[0].bytes);
        return;
    }
    uint8_t *text = malloc(SPELL_BUNDLE_BYTES_MAX);
    ByteWriter writer = byte_writer(text, text != NULL ? SPELL_BUNDLE_BYTES_MAX : 0);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "modules");
    json_write_object_begin(&json);
    for (uint32_t i = 0; i < bundle->count; i++) {
        json_write_name(&json, bundle->modules[i].name);
        json_write_text_bytes(&json, bundle->modules[i].text, bundle->modules[i].bytes);
    }
    json_write_object_end(&json);
    json_write_object_end(&json);
    const Status status = json_writer_finish(&json);
    buffer_put(out, text, status == STATUS_OK ? writer.at : 0);
    out->status = status != STATUS_OK ? STATUS_LIMIT : out->status;
    free(text);
}

static Status read_modules(const JsonNode *modules, SpellBundle *out)
{
    const JsonNode *one = modules != NULL && modules->kind == JSON_OBJECT ? modules->first : NULL;
    for (; one != NULL; one = one->next) {
        const bool is_first = out->count == 0;
        if (out->count == SPELL_MODULES_MAX || one->kind != JSON_STRING ||
            (is_first ? one->name[0] != '\0' : !spell_part_is_valid(one->name))) {
            return STATUS_MALFORMED;
        }
        SpellModule *module = &out->modules[out->count++];
        *module = (SpellModule){.text = one->text, .bytes = one->count};
        memcpy(module->name, one->name, strlen(one->name) + 1);
    }
    return out->count > 0 ? STATUS_OK : STATUS_MALFORMED;
}

Status spell_bundle_parse(const void *data, size_t bytes, SpellBundle *out)
{
    const size_t begin = sizeof BUNDLE_BEGIN - 1, room = 2 * bytes + (64u << 10);
    *out = (SpellBundle){.memory = malloc(room)};
    if (out->memory == NULL) {
        return STATUS_LIMIT;
    }
    if (bytes < begin || memcmp(data, BUNDLE_BEGIN, begin) != 0) {
        memcpy(out->memory, data, bytes);
        out->modules[0] = (SpellModule){.text = out->memory, .bytes = bytes};
        out->count = 1;
        return STATUS_OK;
    }
    Arena arena;
    const JsonNode *root = NULL;
    arena_init(&arena, out->memory, room);
    const JsonConfig config = {
        .arena = &arena, .bytes_max = SPELL_BUNDLE_BYTES_MAX, .node_count_max = 64, .depth_max = 4};
    Status status = json_parse(&config, data, bytes, &root, NULL);
    status = status == STATUS_OK ? read_modules(json_find(root, "modules"), out) : status;
    if (status != STATUS_OK) {
        free(out->memory);
        *out = (SpellBundle){.memory = NULL};
    }
    return status;
}
