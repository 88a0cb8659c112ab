// Parameters of entities' scripts that a reload has changed. The scene never changes, so the server
// sends what differs from it: all of it, before each manifest. What came waits until that manifest
// is switched to; then running scripts get their new `self.params` in place, and what is bound
// later begins with them.
#include "core/client/client_bind.h"

#include <string.h>

struct ClientParameter {
    struct ClientParameter *next;
    uint64_t net_id; // 0: of a prefab
    Text prefab;
    Text json;
    char bytes[]; // of both texts
};

// --- coming in ----------------------------------------------------------------------------------

static void set_clear(Client *client, ParameterSet *set)
{
    while (set->first != NULL) {
        ClientParameter *row = set->first;
        set->first = row->next;
        heap_free(client->heap, row);
    }
    *set = (ParameterSet){0};
}

void client_parameters_free(Client *client)
{
    set_clear(client, &client->runes.parameters);
    set_clear(client, &client->runes.parameters_next);
}

void client_parameters_restart(Client *client)
{
    ParameterSet *next = &client->runes.parameters_next;
    if (next->version > rune_cache_newest(&client->runes)) {
        set_clear(client, next);
    }
}

static const ClientParameter *set_find(const ParameterSet *set, uint64_t net_id, Text prefab)
{
    for (const ClientParameter *row = set->first; row != NULL; row = row->next) {
        if (row->net_id == net_id && text_equal(row->prefab, prefab)) {
            return row;
        }
    }
    return NULL;
}

static void set_add(Client *client, ParameterSet *set, const MessageScriptParameters *message)
{
    const size_t bytes = message->prefab.bytes + message->parameters.bytes;
    ClientParameter *row = heap_alloc(client->heap, sizeof *row + bytes);
    if (row == NULL) {
        client_close(client, "scripts: %s", status_text(STATUS_LIMIT));
        return;
    }
    row->net_id = message->entity_id;
    row->prefab = text_copy(row->bytes, message->prefab);
    row->json = text_copy(row->bytes + message->prefab.bytes, message->parameters);
    row->next = set->first;
    set->first = row;
    set->bytes += SCRIPT_PARAMETERS_ROW_BYTES + bytes;
}

void client_parameters_take(Client *client, const MessageScriptParameters *message)
{
    ParameterSet *next = &client->runes.parameters_next;
    const uint32_t version = (uint32_t)message->version;
    if (version <= rune_cache_newest(&client->runes)) {
        return; // repeated after a resume
    }
    if (version < next->version) {
        client_fail(client, "parameters of manifest %u after those of %u", version, next->version);
        return;
    }
    if (version > next->version) {
        set_clear(client, next);
        next->version = version;
    }
    const size_t bytes =
        SCRIPT_PARAMETERS_ROW_BYTES + (size_t)message->prefab.bytes + message->parameters.bytes;
    if (bytes > SCRIPT_PARAMETERS_BYTES_MAX - next->bytes) {
        client_fail(client, "more parameters than a world may change");
    } else if (set_find(next, message->entity_id, message->prefab) != NULL) {
        client_fail(client, "parameters of one entity come twice");
    } else {
        set_add(client, next, message);
    }
}

bool client_parameters_are_newer(const Client *client, uint32_t version)
{
    return client->runes.parameters_next.version > version;
}

// --- looking ------------------------------------------------------------------------------------

Text client_parameters_of(const Client *client, uint64_t net_id, Text otherwise)
{
    const ClientParameter *row = set_find(&client->runes.parameters, net_id, (Text){"", 0});
    return row != NULL ? row->json : otherwise;
}

Text client_parameters_of_prefab(const Client *client, Text prefab, Text otherwise)
{
    const ClientParameter *row = set_find(&client->runes.parameters, 0, prefab);
    return row != NULL ? row->json : otherwise;
}

// --- taking over --------------------------------------------------------------------------------

typedef struct Apply {
    const Client *client;
    const ClientParameter *row;
} Apply;

static bool is_meant(void *user, uint64_t entity)
{
    const Apply *apply = user;
    const ClientParameter *row = apply->row;
    if (row->net_id != 0) {
        return entity == row->net_id;
    }
    const AttributeTable *table = view_attributes(apply->client->script.view);
    return entity != 0 && client_binding(apply->client->place, entity) == NULL &&
           text_equal(attribute_table_name(table, entity), row->prefab);
}

// The script of a row and the parameters it has in the scene. False: there is none here.
static bool find_own(const Client *client, const ClientParameter *row, Text *script, Text *json)
{
    if (row->net_id != 0) {
        const PlaceBinding *binding = client_binding(client->place, row->net_id);
        *script = binding != NULL ? script_path_plain(binding->script_path) : (Text){"", 0};
        *json = binding != NULL ? binding->parameters : (Text){"", 0};
        return script->bytes > 0;
    }
    const Prefab *prefab = prefab_find(&client->place->prefabs, row->prefab);
    if (prefab == NULL || prefab->script_path == NULL) {
        return false;
    }
    *script = script_path_plain(text_from(prefab->script_path));
    *json = (Text){prefab->parameters, prefab->parameters_bytes};
    return true;
}

// `json` NULL: what the scene has.
static void apply_row(Client *client, const ClientParameter *row, const Text *json)
{
    Text script, own;
    char path[SCRIPT_PATH_BYTES];
    if (!find_own(client, row, &script, &own) || script.bytes >= sizeof path) {
        return;
    }
    memcpy(path, script.data, script.bytes);
    path[script.bytes] = 0;
    Apply apply = {client, row};
    const Text value = json != NULL ? *json : own;
    script_replace_parameters(client->script.system, path, is_meant, &apply, value.data,
                              value.bytes);
}

void client_parameters_switch(Client *client, uint32_t version)
{
    RuneCache *cache = &client->runes;
    ParameterSet before = cache->parameters;
    ASSERT(cache->parameters_next.version <= version);
    cache->parameters = (ParameterSet){0};
    if (cache->parameters_next.version == version) {
        cache->parameters = cache->parameters_next;
        cache->parameters_next = (ParameterSet){0};
    }
    for (const ClientParameter *row = cache->parameters.first; row != NULL; row = row->next) {
        const ClientParameter *old = set_find(&before, row->net_id, row->prefab);
        if (old == NULL || !text_equal(old->json, row->json)) {
            apply_row(client, row, &row->json);
        }
    }
    for (const ClientParameter *row = before.first; row != NULL; row = row->next) {
        if (set_find(&cache->parameters, row->net_id, row->prefab) == NULL) {
            apply_row(client, row, NULL);
        }
    }
    set_clear(client, &before);
}
