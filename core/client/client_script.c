// Scripts on a client: when they start, tick, pause and change. The running set is the current
// manifest's; a staged one replaces it between two ticks, when all its runes are here and the
// server's switch tick has been applied. If that tick has passed and runes are missing, nothing
// runs: events wait in the script system's own bounded queue.
#include "core/client/client_bind.h"
#include "core/client/client_inside.h"
#include "core/script/api/script_api.h"
#include "core/wire/manifest_restart.h"

#include <string.h>

static bool demand(void *user, const char *path)
{
    return rune_cache_demand(user, path);
}

// --- life ---------------------------------------------------------------------------------------

Status client_script_open(Client *client)
{
    ClientScript *script = &client->script;
    *script = (ClientScript){0};
    ViewConfig view = client->config.view;
    attribute_table_config_add(&view.attributes, scene_part_count(client->place->scene));
    view.sim = predict_sim(client->predict);
    view.prefabs = client->place->prefabs;
    view.scene_names = client->place->scene_names;
    view.spawns = (SpawnPoints){client->place->spawns, client->place->spawn_count};
    view.voxel_kind_names = client->place->voxel_kind_names;
    view.paints = client->place->paints;
    view.assets = client->place->assets;
    view.paint_of = client_server_paint;
    view.paint_user = client;
    view.local_player = client->player;
    Status status = view_create(client->heap, &view, &script->view);
    if (status != STATUS_OK) {
        return status;
    }
    ScriptConfig config = client->config.script;
    config.world = view_world(script->view);
    config.api = &script_api;
    config.tick_rate = client->tick_rate;
    config.demand = demand;
    config.demand_user = client;
    status = script_create(client->heap, &config, &script->system);
    if (status == STATUS_OK && client_cost_open(client) != STATUS_OK) {
        script_destroy(client->heap, script->system);
        status = STATUS_LIMIT;
    }
    if (status != STATUS_OK) {
        view_destroy(client->heap, script->view);
        *script = (ClientScript){0};
        return status;
    }
    client_bind_extras(client);
    client_bind_scene_rows(client);
    client_script_listen(client);
    // The next step loads the available runes into the new system.
    Manifest *manifests[2] = {&client->runes.current, &client->runes.staged};
    for (uint32_t m = 0; m < 2; m++) {
        manifests[m]->first_done = false;
        for (uint32_t i = 0; i < manifests[m]->count; i++) {
            manifests[m]->runes[i].loaded = false;
            manifests[m]->runes[i].slot = 0;
        }
    }
    return STATUS_OK;
}

void client_script_close(Client *client)
{
    ClientScript *script = &client->script;
    if (script->system != NULL) {
        client_cost_close(client);
        script_destroy(client->heap, script->system);
        view_destroy(client->heap, script->view);
    }
    *script = (ClientScript){0};
}

void client_script_welcome(Client *client)
{
    ClientScript *script = &client->script;
    if (script->system == NULL) {
        return;
    }
    // A world that was started anew may have no sky of its own; otherwise it says so at once.
    const Sky sky = sky_default();
    view_set_sky(script->view, &sky);
    view_forget_sounds(script->view); // those that still run come again
    // Players who left meanwhile are not announced: those who are not named again soon are removed.
    Roster *roster = view_roster(script->view);
    for (uint32_t i = 0; i < roster_count(roster); i++) {
        roster_at(roster, i)->leaving_tick =
            script->tick + (uint64_t)CLIENT_ROSTER_SECONDS * client->tick_rate;
    }
}

// --- sets of scripts ----------------------------------------------------------------------------

static void say(Client *client, LogLevel level, const char *what, const char *path, Status status)
{
    if (client->config.log != NULL) {
        log_write(client->config.log, client->merge.last.tick, level, "client", "%s %s: %s", what,
                  path, status_text(status));
    }
}

static void rune_load_now(Client *client, const Manifest *manifest, ClientRune *rune, bool reload)
{
    const uint8_t *bytes = manifest->store + rune->offset;
    ScriptSystem *system = client->script.system;
    const Status status = reload ? script_reload_rune(system, rune->path, bytes, rune->bytes)
                                 : script_load_rune(system, rune->path, bytes, rune->bytes);
    if (status != STATUS_OK) {
        say(client, LOG_WARN, "load", rune->path, status);
        return;
    }
    rune->loaded = true;
}

static uint32_t requires_of(const void *user, uint32_t number, const uint32_t **out)
{
    const Manifest *manifest = user;
    *out = manifest->requires + manifest->runes[number].require_first;
    return manifest->runes[number].require_count;
}

static bool is_same_rune(const ClientRune *a, const ClientRune *b)
{
    return memcmp(a->hash, b->hash, SHA256_BYTES) == 0 && a->context == b->context;
}

// Marks the runes that start again, as the server does (manifest_restart.h). A manifest that is not
// signed says nothing about what scripts require: then a changed module starts all of them again.
static void mark_restarts(const Manifest *before, const Manifest *after, bool *restarts)
{
    bool module_differs = false;
    for (uint32_t i = 0; i < after->count; i++) {
        const ClientRune *known = rune_cache_find(before, after->runes[i].path);
        restarts[i] = known == NULL || !is_same_rune(known, &after->runes[i]);
        module_differs = module_differs ||
                         (restarts[i] && after->runes[i].service == SERVICE_REPLICATED_STORAGE);
    }
    if (after->knows_requires) {
        const RequireGraph graph = {.user = after, .count = after->count, .requires = requires_of};
        restart_spread(&graph, restarts);
    } else if (module_differs) {
        memset(restarts, true, after->count);
    }
}

static void drop_missing(Client *client, const Manifest *before, const Manifest *after)
{
    for (uint32_t i = 0; i < before->count; i++) {
        const ClientRune *rune = &before->runes[i];
        if (rune->loaded && rune_cache_find(after, rune->path) == NULL) {
            script_invalidate(client->script.system, rune->path);
        }
    }
}

// Loads and binds everything of the manifest that is here and at least that urgent.
static void set_load(Client *client, Manifest *manifest, ClientPriority last)
{
    const Manifest *before = &client->runes.current;
    const bool is_change = manifest != before && before->version != 0;
    bool restarts[MANIFEST_SCRIPTS_MAX] = {false};
    ASSERT(manifest->count <= MANIFEST_SCRIPTS_MAX);
    if (is_change) {
        mark_restarts(before, manifest, restarts);
    }
    for (uint32_t i = 0; i < manifest->count; i++) {
        ClientRune *rune = &manifest->runes[i];
        if (rune->loaded || rune->priority > last) {
            continue;
        }
        if (!rune->here) {
            if (is_change && (rune->refused || restarts[i])) { // what it was before does not run on
                script_invalidate(client->script.system, rune->path);
            }
            continue;
        }
        const ClientRune *known = is_change ? rune_cache_find(before, rune->path) : NULL;
        if (known != NULL && known->loaded) {
            rune->slot = known->slot;
            if (restarts[i]) {
                rune_load_now(client, manifest, rune, true);
            }
            rune->loaded = true;
            continue;
        }
        rune_load_now(client, manifest, rune, false);
        if (rune->loaded) {
            client_bind_rune(client, rune);
        }
    }
}

static void set_switch(Client *client)
{
    RuneCache *cache = &client->runes;
    drop_missing(client, &cache->current, &cache->staged);
    client_parameters_switch(client, cache->staged.version);
    set_load(client, &cache->staged, CLIENT_LATER);
    rune_cache_switch(client);
}

// Modules that scripts wait for. They are loaded when all of them are here, so that none of them
// has to wait for another while its file runs.
static void load_demanded(Client *client)
{
    RuneCache *cache = &client->runes;
    Manifest *set = rune_cache_fetched(client);
    const bool is_running =
        set == &cache->current || (cache->current.version == 0 && set->first_done);
    if (!cache->late || !is_running) {
        return;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->runes[i].priority == CLIENT_DEMANDED && rune_is_wanted(&set->runes[i])) {
            return;
        }
    }
    cache->late = false;
    for (uint32_t i = 0; i < set->count; i++) {
        ClientRune *rune = &set->runes[i];
        if (rune->priority == CLIENT_DEMANDED && rune->here && !rune->loaded) {
            rune_load_now(client, set, rune, false);
        }
    }
}

// Loads what is due. False while the scripts have to wait.
static bool set_update(Client *client)
{
    RuneCache *cache = &client->runes;
    load_demanded(client);
    if (cache->current.version != 0 && (cache->current.count > 0 && !cache->current.first_done)) {
        // A new script system for a set whose runes are here.
        set_load(client, &cache->current, CLIENT_LATER);
        cache->current.first_done = true;
    }
    const uint64_t now = client->merge.last.tick;
    if (cache->staged.version == 0) {
        // A reload whose manifest has not come yet.
        return cache->reload_version <= cache->current.version || cache->reload_tick > now;
    }
    if (!client_parameters_are_newer(client, cache->staged.version) &&
        rune_cache_is_ready(client, &cache->staged, CLIENT_NEEDED)) {
        set_switch(client);
        cache->current.first_done = true;
        return true;
    }
    if (cache->current.version != 0) {
        return cache->staged.at_tick > now;
    }
    if (!cache->staged.first_done && rune_cache_is_ready(client, &cache->staged, CLIENT_FIRST)) {
        set_load(client, &cache->staged, CLIENT_FIRST);
        cache->staged.first_done = true;
    }
    return true;
}

// --- the tick -----------------------------------------------------------------------------------

static void roster_tidy(Client *client)
{
    ClientScript *script = &client->script;
    Roster *roster = view_roster(script->view);
    for (uint32_t i = roster_count(roster); i > 0; i--) {
        RosterPlayer *player = roster_at(roster, i - 1);
        if (player->leaving) {
            roster_remove(roster, player->player_id);
        } else if (player->leaving_tick != 0 && player->leaving_tick <= script->tick) {
            const ScriptEvent event = {.type = SCRIPT_EVENT_PLAYER_REMOVING,
                                       .player_id = player->player_id};
            player->leaving = script_event(script->system, &event) == STATUS_OK;
        }
    }
}

static void tell_local_ends(ClientScript *script)
{
    uint64_t gone[16];
    uint32_t count = 0;
    while ((count = view_local_gone(script->view, gone, 16)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            const ScriptEvent event = {.type = SCRIPT_EVENT_DESTROYED, .entity = gone[i]};
            if (script_event(script->system, &event) != STATUS_OK) {
                script_unbind_entity(script->system, gone[i]);
            }
        }
    }
}

static void invokes_end_late(ClientScript *script)
{
    static const char late[] = "the server did not answer";
    uint32_t kept = 0;
    for (uint32_t i = 0; i < script->invoke_count; i++) {
        if (script->invokes[i].due_tick > script->tick) {
            script->invokes[kept++] = script->invokes[i];
        } else {
            // It is no error if nobody waits: its script may have ended.
            (void)!script_complete(script->system, script->invokes[i].id, false,
                                   (const uint8_t *)late, sizeof late - 1);
        }
    }
    script->invoke_count = kept;
}

// Scripts begin when their own player is on the roster: the server names it right after its
// welcome. One that was never named, because the message was lost, has no name.
static bool roster_is_here(Client *client)
{
    const ClientScript *script = &client->script;
    Roster *roster = view_roster(script->view);
    if (roster_find(roster, client->player) != NULL) {
        return true;
    }
    if (script->tick < (uint64_t)CLIENT_ROSTER_SECONDS * client->tick_rate) {
        return false;
    }
    (void)!roster_add(roster, client->player, (Text){"?", 1}); // no room: the roster counts it
    return true;
}

void client_script_step(Client *client)
{
    ClientScript *script = &client->script;
    if (script->system == NULL || script_is_dead(script->system)) {
        return;
    }
    script->tick += 1;
    invokes_end_late(script);
    if (!roster_is_here(client) || !set_update(client)) {
        return;
    }
    const double unix_seconds = (client->now_ms + client->config.unix_offset_ms) / 1000.0;
    const double world_seconds = (double)predict_tick(client->predict) / (double)client->tick_rate;
    script_tick(script->system, unix_seconds, world_seconds);
    client_bind_own(client);
    client_bind_entered(client);
    roster_tidy(client);
    view_step(script->view);
    tell_local_ends(script);
    client_cost_step(client);
}
