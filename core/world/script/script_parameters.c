// Parameters of scripts that a reload has changed. The place itself never changes, so what differs
// from it is kept here: staged by the owner one entry at a time, and taken over with the scripts,
// between two ticks. Instances that run get their new `self.params` at once; what is bound later
// begins with them.
#include "core/world/script/script_host_inside.h"

#include "core/base/utf8.h"
#include "core/wire/place_table.h"

#include <string.h>

_Static_assert(PLACE_PARAMETERS_BYTES == 8192, "schema.def says so to clients");

#define ROWS_MAX  4096
#define ALL_BYTES (512u << 10) // of what differs from the place

Status script_parameters_create(ScriptHost *host)
{
    ScriptParameters *all = &host->parameters;
    Heap *heap = host->config.heap;
    all->rows = heap_alloc(heap, heap_array_bytes(ROWS_MAX, sizeof(ParameterRow)));
    all->bytes = heap_alloc(heap, ALL_BYTES);
    all->spare = heap_alloc(heap, ALL_BYTES);
    return all->rows != NULL && all->bytes != NULL && all->spare != NULL ? STATUS_OK : STATUS_LIMIT;
}

void script_parameters_destroy(ScriptHost *host)
{
    Heap *heap = host->config.heap;
    heap_free(heap, host->parameters.spare);
    heap_free(heap, host->parameters.bytes);
    heap_free(heap, host->parameters.rows);
}

// --- what the place has -------------------------------------------------------------------------

// The binding of an entity of the place; NULL: it has none.
static const PlaceBinding *binding_of(const ScriptHost *host, uint64_t net_id)
{
    const Place *place = host->config.place;
    const uint64_t first = (uint64_t)scene_part_count(place->scene) + 1;
    if (net_id >= first) {
        return net_id - first < place->entity_count ? &place->entities[net_id - first].binding
                                                    : NULL;
    }
    for (uint32_t i = 0; i < place->binding_count; i++) {
        if (place->bindings[i].net_id == net_id) {
            return &place->bindings[i];
        }
    }
    return NULL;
}

static bool find_script(const ScriptHost *host, const ParameterRow *row, Text *out)
{
    if (row->net_id == 0) {
        const char *path = host->config.place->prefabs.prefabs[row->prefab].script_path;
        *out = path != NULL ? text_from(path) : (Text){"", 0};
        return out->bytes > 0;
    }
    const PlaceBinding *binding = binding_of(host, row->net_id);
    *out = binding != NULL ? binding->script_path : (Text){"", 0};
    return out->bytes > 0;
}

// Whether clients may know of the row: they have its script, once what is staged has taken over,
// and may see what it is bound to.
static bool is_for_clients(const ScriptHost *host, const ParameterRow *row)
{
    const Place *place = host->config.place;
    const uint64_t first = (uint64_t)scene_part_count(place->scene) + 1;
    const bool is_entity = row->net_id >= first && row->net_id - first < place->entity_count;
    const bool is_hidden = row->net_id == 0
                               ? place->prefabs.prefabs[row->prefab].server_only
                               : is_entity && place->entities[row->net_id - first].server_only;
    Text path;
    if (is_hidden || !find_script(host, row, &path)) {
        return false;
    }
    const HostScript *script = script_host_after(host, script_path_plain(path));
    return script != NULL && script_host_is_sent(script);
}

static Text prefab_name(const ScriptHost *host, const ParameterRow *row)
{
    return row->net_id != 0 ? (Text){"", 0} : host->config.place->prefabs.prefabs[row->prefab].name;
}

static size_t sent_bytes(const ScriptHost *host, const ParameterRow *row)
{
    return row->is_sent
               ? SCRIPT_PARAMETERS_ROW_BYTES + prefab_name(host, row).bytes + row->byte_count
               : 0;
}

// --- staging ------------------------------------------------------------------------------------

static bool is_same_key(const ParameterRow *a, const ParameterRow *b)
{
    return a->net_id == b->net_id && (a->net_id != 0 || a->prefab == b->prefab);
}

static const ParameterRow *find_row(const ParameterRow *rows, uint32_t count,
                                    const ParameterRow *key)
{
    for (uint32_t i = 0; i < count; i++) {
        if (is_same_key(&rows[i], key)) {
            return &rows[i];
        }
    }
    return NULL;
}

static Status read_key(const ScriptHost *host, const Entry *entry, ParameterRow *out)
{
    const PrefabTable *prefabs = &host->config.place->prefabs;
    Text script;
    if (entry->name_bytes == 0) {
        out->net_id = entry->number;
    } else {
        const Prefab *prefab = prefab_find(prefabs, (Text){entry->name, entry->name_bytes});
        if (prefab == NULL) {
            return STATUS_NOT_FOUND;
        }
        out->prefab = (uint32_t)(prefab - prefabs->prefabs);
    }
    return (entry->name_bytes > 0 || entry->number > 0) && find_script(host, out, &script)
               ? STATUS_OK
               : STATUS_NOT_FOUND;
}

// Clients get it as a text.
static bool is_text(const Entry *entry)
{
    return entry->byte_count == 0 || (utf8_is_valid(entry->bytes, entry->byte_count) &&
                                      memchr(entry->bytes, 0, entry->byte_count) == NULL);
}

Status script_parameters_add(ScriptHost *host, const Entry *entry)
{
    ScriptParameters *all = &host->parameters;
    ParameterRow row = {.offset = all->bytes_used, .byte_count = entry->byte_count};
    if (host->system == NULL) {
        return STATUS_OK;
    }
    if (host->reload_waits) {
        return STATUS_BLOCKED;
    }
    const Status status = read_key(host, entry, &row);
    if (status != STATUS_OK) {
        return status;
    }
    if (entry->byte_count > PLACE_PARAMETERS_BYTES ||
        entry->byte_count > ALL_BYTES - all->bytes_used ||
        all->count + all->staged_count == ROWS_MAX) {
        return STATUS_LIMIT;
    }
    if (find_row(all->rows + all->count, all->staged_count, &row) != NULL) {
        return STATUS_EXISTS;
    }
    if (!is_text(entry)) {
        return STATUS_MALFORMED;
    }
    // What it replaces is no longer sent.
    const ParameterRow *old = find_row(all->rows, all->count, &row);
    row.is_sent = is_for_clients(host, &row);
    const size_t sent = all->sent_bytes - (old != NULL ? sent_bytes(host, old) : 0);
    if (sent_bytes(host, &row) > SCRIPT_PARAMETERS_BYTES_MAX - sent) {
        return STATUS_LIMIT;
    }
    all->sent_bytes = sent + sent_bytes(host, &row);
    if (entry->byte_count > 0) {
        memcpy(all->bytes + all->bytes_used, entry->bytes, entry->byte_count);
    }
    all->bytes_used += entry->byte_count;
    all->rows[all->count + all->staged_count++] = row;
    return STATUS_OK;
}

void script_parameters_unstage(ScriptHost *host)
{
    ScriptParameters *all = &host->parameters;
    all->staged_count = 0;
    all->bytes_used = 0;
    all->sent_bytes = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        all->bytes_used += all->rows[i].byte_count;
        all->sent_bytes += sent_bytes(host, &all->rows[i]);
    }
}

// --- taking over --------------------------------------------------------------------------------

typedef struct Apply {
    const ScriptHost *host;
    const ParameterRow *row;
} Apply;

// What a prefab made is known by its name, on both sides.
static bool is_meant(void *user, uint64_t entity)
{
    const Apply *apply = user;
    if (apply->row->net_id != 0) {
        return entity == apply->row->net_id;
    }
    const AttributeTable *table = authority_attributes(apply->host->config.authority);
    const Prefab *prefab = &apply->host->config.place->prefabs.prefabs[apply->row->prefab];
    return entity != 0 && binding_of(apply->host, entity) == NULL &&
           text_equal(attribute_table_name(table, entity), prefab->name);
}

static void apply_row(ScriptHost *host, const ParameterRow *row)
{
    Text script;
    char path[SCRIPT_PATH_BYTES];
    if (!find_script(host, row, &script)) {
        return;
    }
    const Text plain = script_path_plain(script);
    if (plain.bytes >= sizeof path) {
        return;
    }
    memcpy(path, plain.data, plain.bytes);
    path[plain.bytes] = 0;
    Apply apply = {host, row};
    script_replace_parameters(host->system, path, is_meant, &apply,
                              (const char *)host->parameters.bytes + row->offset, row->byte_count);
}

// Moves what still holds and what is staged into the spare memory, in that order.
static void merge_staged(ScriptParameters *all)
{
    const ParameterRow *staged = all->rows + all->count;
    uint32_t kept = 0;
    size_t used = 0;
    for (uint32_t i = 0; i < all->count + all->staged_count; i++) {
        ParameterRow row = all->rows[i];
        if (i < all->count && find_row(staged, all->staged_count, &row) != NULL) {
            continue;
        }
        memcpy(all->spare + used, all->bytes + row.offset, row.byte_count);
        row.offset = used;
        used += row.byte_count;
        all->rows[kept++] = row; // kept is at most i
    }
    uint8_t *before = all->bytes;
    all->bytes = all->spare;
    all->spare = before;
    all->bytes_used = used;
    all->count = kept;
    all->staged_count = 0;
}

void script_parameters_switch(ScriptHost *host)
{
    ScriptParameters *all = &host->parameters;
    const uint32_t changed = all->staged_count;
    if (changed == 0) {
        return;
    }
    merge_staged(all);
    for (uint32_t i = all->count - changed; i < all->count; i++) {
        apply_row(host, &all->rows[i]);
    }
}

// --- looking ------------------------------------------------------------------------------------

static Text find_text(const ScriptHost *host, const ParameterRow *key, Text otherwise)
{
    const ScriptParameters *all = &host->parameters;
    const ParameterRow *row = find_row(all->rows, all->count, key);
    return row != NULL ? (Text){(const char *)all->bytes + row->offset, row->byte_count}
                       : otherwise;
}

Text script_parameters_of(const ScriptHost *host, uint64_t net_id, Text otherwise)
{
    return find_text(host, &(ParameterRow){.net_id = net_id}, otherwise);
}

Text script_parameters_of_prefab(const ScriptHost *host, uint32_t prefab, Text otherwise)
{
    return find_text(host, &(ParameterRow){.prefab = prefab}, otherwise);
}

void script_parameters_send(const ScriptHost *host, Session *session)
{
    const ScriptParameters *all = &host->parameters;
    for (uint32_t i = 0; i < all->count; i++) {
        const ParameterRow *row = &all->rows[i];
        // Its script may be kept from clients since.
        if (row->is_sent && is_for_clients(host, row)) {
            const MessageScriptParameters message = {
                .version = host->config.run->manifest_version,
                .entity_id = row->net_id,
                .prefab = prefab_name(host, row),
                .parameters = {(const char *)all->bytes + row->offset, row->byte_count}};
            session_send(host->config.sessions, session, MESSAGE_SCRIPT_PARAMETERS, &message);
        }
    }
}

void script_parameters_hash(const ScriptHost *host, Hash64 *hash)
{
    const ScriptParameters *all = &host->parameters;
    for (uint32_t i = 0; i < all->count + all->staged_count; i++) {
        const ParameterRow *row = &all->rows[i];
        hash_u64(hash, row->net_id << 32 | row->prefab);
        hash_bytes(hash, all->bytes + row->offset, row->byte_count);
    }
}
