// The scripts that belong to visible entities. An anchored
// part has its script from the scene; an entity that enters later from the scene by its net id, or
// from its prefab by name; the own character has those of StarterPlayer.
// An entity's script is bound after the tick that follows its enter: if the same entity left just
// before, scripts see that first.
//
// What a creator adds to a running world is not in the scene: the server says its script before it
// enters (SCRIPT_BOUND), and repeats that with each manifest.
#include "core/client/client_bind.h"

#include <string.h>

// --- coming and going ---------------------------------------------------------------------------

static bool was_here(const Client *client, uint64_t net_id)
{
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        if (client->before[slot] == net_id) {
            return true;
        }
    }
    return false;
}

void client_script_enter(Client *client, uint32_t slot, uint64_t net_id, const uint8_t *attributes,
                         size_t attributes_bytes)
{
    if (net_id >= VIEW_LOCAL_FIRST) {
        client_fail(client, "a net id that belongs to clients");
        return;
    }
    if (client->script.view == NULL) {
        return;
    }
    if (attributes != NULL) {
        client_script_attributes(client, net_id, attributes, attributes_bytes);
    }
    // In a full frame after a resume: its script never stopped.
    client->script.bind_due[slot] = !was_here(client, net_id);
}

static const Manifest *running_set(const Client *client)
{
    const RuneCache *cache = &client->runes;
    return cache->current.version != 0 ? &cache->current : &cache->staged;
}

// Its instances end with the entity; their slots may be reused then.
static void own_forget(Client *client)
{
    const Manifest *set = running_set(client);
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->runes[i].service == SERVICE_STARTER_PLAYER) {
            set->runes[i].slot = 0;
        }
    }
    client->script.own_bound = 0;
}

void client_script_leave(Client *client, uint64_t net_id)
{
    ClientScript *script = &client->script;
    if (script->system == NULL) {
        return;
    }
    if (net_id <= scene_part_count(client->place->scene)) {
        return; // the part itself stays, and its attributes come with the patch of its cell
    }
    attribute_table_remove(view_attributes(script->view), net_id);
    view_paint_forget(script->view, net_id);
    if (net_id == script->own_bound) {
        own_forget(client);
    }
    const ScriptEvent event = {.type = SCRIPT_EVENT_DESTROYED, .entity = net_id};
    if (script_event(script->system, &event) != STATUS_OK) {
        script_unbind_entity(script->system, net_id);
    }
}

void client_script_part_gone(Client *client, uint64_t net_id)
{
    const ScriptEvent event = {.type = SCRIPT_EVENT_DESTROYED, .entity = net_id};
    ScriptSystem *system = client->script.system;
    if (system != NULL && script_event(system, &event) != STATUS_OK) {
        script_unbind_entity(system, net_id);
    }
}

// --- binding ------------------------------------------------------------------------------------

typedef struct Bound {
    Text path;
    Text parameters;
    bool enabled;
} Bound;

static Bound bound_by(const Client *client, const PlaceBinding *binding, uint64_t net_id)
{
    return (Bound){script_path_plain(binding->script_path),
                   client_parameters_of(client, net_id, binding->parameters), binding->enabled};
}

static const Prefab *prefab_of(const Client *client, uint64_t net_id)
{
    const Text name = attribute_table_name(view_attributes(client->script.view), net_id);
    return name.bytes > 0 ? prefab_find(&client->place->prefabs, name) : NULL;
}

const PlaceBinding *client_binding(const Place *place, uint64_t net_id)
{
    for (uint32_t i = 0; i < place->binding_count; i++) {
        if (place->bindings[i].net_id == net_id) {
            return &place->bindings[i];
        }
    }
    for (uint32_t i = 0; i < place->entity_count; i++) {
        if (place->entities[i].net_id == net_id) {
            return &place->entities[i].binding;
        }
    }
    return NULL;
}

struct ClientBound {
    ClientBound *next;
    uint64_t net_id;
    Text path, parameters;
    bool enabled;
    char bytes[]; // of both texts
};

static const ClientBound *bound_find(const Client *client, uint64_t net_id)
{
    const ClientBound *bound = client->runes.bound;
    while (bound != NULL && bound->net_id != net_id) {
        bound = bound->next;
    }
    return bound;
}

void client_bound_take(Client *client, const MessageScriptBound *message)
{
    const Text path = script_path_plain(message->script_path);
    const size_t bytes = path.bytes + message->parameters.bytes;
    RuneCache *cache = &client->runes;
    if (bound_find(client, message->entity_id) != NULL) {
        return; // repeated
    }
    if (cache->bound_count == SCRIPT_BOUND_MAX) {
        client_fail(client, "more scripts of added entities than a world may have");
        return;
    }
    ClientBound *bound = heap_alloc(client->heap, sizeof *bound + bytes);
    if (bound == NULL) {
        client_close(client, "scripts: %s", status_text(STATUS_LIMIT));
        return;
    }
    bound->net_id = message->entity_id;
    bound->path = text_copy(bound->bytes, path);
    bound->parameters = text_copy(bound->bytes + path.bytes, message->parameters);
    bound->enabled = message->enabled;
    bound->next = cache->bound;
    cache->bound = bound;
    cache->bound_count += 1;
}

void client_bound_clear(Client *client)
{
    RuneCache *cache = &client->runes;
    while (cache->bound != NULL) {
        ClientBound *bound = cache->bound;
        cache->bound = bound->next;
        heap_free(client->heap, bound);
    }
    cache->bound_count = 0;
}

// The script that an entity has, if any.
static bool bound_of(const Client *client, uint64_t net_id, Bound *out)
{
    const PlaceBinding *binding = client_binding(client->place, net_id);
    if (binding != NULL) {
        *out = bound_by(client, binding, net_id);
        return out->path.bytes > 0;
    }
    const ClientBound *added = bound_find(client, net_id);
    if (added != NULL) {
        *out = (Bound){added->path, added->parameters, added->enabled};
        return true;
    }
    const Prefab *prefab = prefab_of(client, net_id);
    if (prefab == NULL || prefab->script_path == NULL) {
        return false;
    }
    const Text own = {prefab->parameters, prefab->parameters_bytes};
    *out = (Bound){script_path_plain(text_from(prefab->script_path)),
                   client_parameters_of_prefab(client, prefab->name, own), true};
    return true;
}

static uint32_t bind(Client *client, const char *path, uint64_t entity, const Bound *bound)
{
    const bool has_parameters = bound != NULL && bound->parameters.bytes > 0;
    const InstanceDesc desc = {.script_id = path,
                               .entity = entity,
                               .enabled = bound == NULL || bound->enabled,
                               .parameters = has_parameters ? bound->parameters.data : NULL,
                               .parameters_bytes = has_parameters ? bound->parameters.bytes : 0};
    uint32_t slot = 0;
    const Status status = script_bind(client->script.system, &desc, &slot);
    if (status != STATUS_OK && client->config.log != NULL) {
        log_write(client->config.log, client->merge.last.tick, LOG_WARN, "client",
                  "%s cannot be bound: %s", path, status_text(status));
    }
    return status == STATUS_OK ? slot : 0;
}

static bool path_is(Text path, const char *other)
{
    return path.bytes == strlen(other) && memcmp(path.data, other, path.bytes) == 0;
}

bool client_part_is_there(const Client *client, uint64_t net_id)
{
    const Sim *sim = predict_sim(client->predict);
    return !sim_part_is_hidden(sim, (uint32_t)net_id - 1) || !handle_is_none(sim_find(sim, net_id));
}

// `shown`: what has it already keeps it.
static bool may_bind(const Client *client, uint64_t net_id, bool shown)
{
    return !shown || script_instance_of(client->script.system, net_id, 0) == 0;
}

static void bind_workspace(Client *client, const ClientRune *rune, bool shown)
{
    const Place *place = client->place;
    const uint32_t part_count = scene_part_count(place->scene);
    for (uint32_t i = 0; i < place->binding_count; i++) {
        const PlaceBinding *binding = &place->bindings[i];
        const Bound bound = bound_by(client, binding, binding->net_id);
        if (binding->net_id != 0 && binding->net_id <= part_count &&
            path_is(bound.path, rune->path) && client_part_is_there(client, binding->net_id) &&
            may_bind(client, binding->net_id, shown)) {
            (void)bind(client, rune->path, binding->net_id, &bound);
        }
    }
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        const uint64_t net_id = client->ids[slot];
        Bound bound;
        if (net_id > part_count && !client->script.bind_due[slot] &&
            bound_of(client, net_id, &bound) && path_is(bound.path, rune->path) &&
            may_bind(client, net_id, shown)) {
            (void)bind(client, rune->path, net_id, &bound);
        }
    }
}

void client_bind_shown(Client *client)
{
    const Manifest *set = running_set(client);
    for (uint32_t i = 0; i < set->count && client->script.system != NULL; i++) {
        if (set->runes[i].loaded && set->runes[i].service == SERVICE_WORKSPACE) {
            bind_workspace(client, &set->runes[i], true);
        }
    }
}

void client_bind_rune(Client *client, ClientRune *rune)
{
    switch (rune->service) {
    case SERVICE_WORKSPACE:
        bind_workspace(client, rune, false);
        break;
    case SERVICE_REPLICATED_FIRST:
    case SERVICE_STARTER_GUI:
        rune->slot = bind(client, rune->path, 0, NULL);
        break;
    case SERVICE_STARTER_PLAYER:
        if (client->script.own_bound != 0) {
            rune->slot = bind(client, rune->path, client->script.own_bound, NULL);
        }
        break;
    default:
        break; // modules run by require
    }
}

void client_bind_own(Client *client)
{
    ClientScript *script = &client->script;
    const Sim *sim = predict_sim(client->predict);
    const uint64_t own = client->own_entity;
    const bool present = own != 0 && !handle_is_none(sim_find(sim, own));
    const uint64_t wanted = present ? own : 0;
    if (wanted == script->own_bound && !script->own_respawned) {
        return;
    }
    const Manifest *set = running_set(client);
    for (uint32_t i = 0; i < set->count; i++) {
        ClientRune *rune = &set->runes[i];
        if (rune->service != SERVICE_STARTER_PLAYER || !rune->loaded) {
            continue;
        }
        if (rune->slot != 0) {
            script_unbind(script->system, rune->slot);
        }
        rune->slot = wanted != 0 ? bind(client, rune->path, wanted, NULL) : 0;
    }
    script->own_bound = wanted;
    script->own_respawned = false;
}

void client_bind_entered(Client *client)
{
    const Manifest *set = running_set(client);
    const uint32_t part_count = scene_part_count(client->place->scene);
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        if (!client->script.bind_due[slot]) {
            continue;
        }
        client->script.bind_due[slot] = false;
        const uint64_t net_id = client->ids[slot];
        Bound bound;
        char path[SCRIPT_PATH_BYTES];
        if (net_id <= part_count || !bound_of(client, net_id, &bound) ||
            bound.path.bytes >= sizeof path) {
            continue;
        }
        memcpy(path, bound.path.data, bound.path.bytes);
        path[bound.path.bytes] = 0;
        const ClientRune *rune = rune_cache_find(set, path);
        if (rune != NULL && rune->loaded && rune->service == SERVICE_WORKSPACE) {
            (void)bind(client, path, net_id, &bound);
        }
    }
}
