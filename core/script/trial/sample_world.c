// A small world to try scripts in; see sample_world.h.
#include "core/script/trial/sample_world.h"

#include "core/base/check.h"
#include "core/script/api/script_api.h"

#define GROUND_HALF 32 // metres, along x and z
#define PREFAB_MAX  7
#define PART_MAX    5

struct SampleWorld {
    SampleWorldConfig config;
    Prefab prefabs[PREFAB_MAX];
    ChunkStore *chunks;
    Scene *scene;
    Sim *sim;
    Authority *authority;
    View *view;
    ScriptSystem *server;
    ScriptSystem *client;
    Loopback *loopback;
    SimInput input;
};

static const Text part_names[PART_MAX] = {
    {"Door", 4}, {"Platform", 8}, {"Zone", 4}, {"Button", 6}, {"Wall", 4}};
static const Text assets[] = {{"assets/tree.glb", 15}, {"assets/wall.png", 15}};
static const PlaceSpawn spawns[] = {
    {.name = {"Start", 5}},
    {.name = {"RedBase", 7}, .position = {-12, 0, -12}, .yaw = MATH_PI / 2, .team = {"red", 3}}};
static const PieceDesc pieces[] = {{1, 1, 1, 0, 50}, {3, 3, 1, 0, 100}};
static const Text coin_tags[] = {{"coin", 4}};
static const PrefabAttribute coin_attributes[] = {
    {{"value", 5}, {.type = SCRIPT_NUMBER, .number = 1}, 0}};

SampleWorldConfig sample_world_config_default(void)
{
    return (SampleWorldConfig){.server = true,
                               .client = true,
                               .script = script_config_default(),
                               .unix_seconds = 1700000000,
                               .store_ticks = 3};
}

// --- what is in it ------------------------------------------------------------------------------

static PartDesc box(Vec3 centre, Vec3 size, uint32_t flags)
{
    return (PartDesc){.shape = {SHAPE_BOX, vec3_scale(size, 0.5f)},
                      .pose = {centre, QUAT_IDENTITY},
                      .data = {.flags = flags}};
}

static PartDesc ball(float radius, uint32_t flags)
{
    return (PartDesc){.shape = {SHAPE_SPHERE, {radius, radius, radius}},
                      .pose = {VEC3_ZERO, QUAT_IDENTITY},
                      .data = {.flags = flags}};
}

static void fill_prefabs(Prefab *prefabs, uint32_t tick_rate)
{
    const ProjectileDesc bullet = {.radius = 0.1f, .damage = 20, .lifetime_ticks = 10 * tick_rate};
    ProjectileDesc arrow = bullet;
    arrow.gravity = 10;
    arrow.damage = 40;
    arrow.kind = 1;
    prefabs[0] = (Prefab){
        .name = {"Crate", 5}, .kind = PREFAB_PART, .part = box(VEC3_ZERO, vec3(1, 1, 1), 0)};
    prefabs[1] = (Prefab){
        .name = {"Lift", 4}, .kind = PREFAB_PART, .part = box(VEC3_ZERO, vec3(4, 0.5f, 4), 0)};
    prefabs[2] = (Prefab){.name = {"Coin", 4},
                          .kind = PREFAB_PROP,
                          .part = ball(0.3f, PART_GHOST | PART_TRIGGER),
                          .attributes = coin_attributes,
                          .attribute_count = 1,
                          .tags = coin_tags,
                          .tag_count = 1};
    prefabs[3] =
        (Prefab){.name = {"Spark", 5}, .kind = PREFAB_PROP, .part = ball(0.1f, PART_GHOST)};
    prefabs[4] = (Prefab){.name = {"Bullet", 6}, .kind = PREFAB_PROJECTILE, .projectile = bullet};
    prefabs[5] = (Prefab){.name = {"Arrow", 5}, .kind = PREFAB_PROJECTILE, .projectile = arrow};
    prefabs[6] = (Prefab){.name = {"Guard", 5}, .kind = PREFAB_NPC, .npc = npc_desc_default()};
}

static SimConfig sim_config_sample(uint64_t seed)
{
    SimConfig config = sim_config_default();
    config.entity_max = 2048;
    config.character_max = 128;
    config.npc_max = 64;
    config.structures_max = 512;
    config.terrain = (TerrainConfig){.chunk_max = 128, .page_max = 1024};
    config.seed = seed;
    return config;
}

static Status make_sim(Heap *heap, SampleWorld *world)
{
    const ChunkStoreConfig store = {
        .chunk_max = 64, .page_max = 256, .kinds = voxel_kinds_default()};
    const PartDesc parts[PART_MAX] = {
        box(vec3(0, 1.5f, 6), vec3(2, 3, 0.5f), 0),
        box(vec3(8, 0.25f, 0), vec3(4, 0.5f, 4), 0),
        box(vec3(-8, 1.5f, 0), vec3(4, 3, 4), PART_GHOST | PART_TRIGGER),
        box(vec3(4, 0.5f, 6), vec3(1, 1, 1), PART_TRIGGER),
        box(vec3(0, 2, -16), vec3(24, 4, 1), 0),
    };
    Status status = chunk_store_create(heap, &store, &world->chunks);
    if (status == STATUS_OK) {
        status = chunk_store_fill(world->chunks, (VoxelCoord){-GROUND_HALF, -4, -GROUND_HALF},
                                  (VoxelCoord){GROUND_HALF - 1, -1, GROUND_HALF - 1}, 1);
    }
    const SceneDesc desc = {.chunks = world->chunks,
                            .parts = parts,
                            .part_count = PART_MAX,
                            .pieces = pieces,
                            .piece_count = sizeof pieces / sizeof pieces[0]};
    if (status == STATUS_OK) {
        uint32_t bad_index = 0;
        status = scene_create(heap, &desc, &world->scene, &bad_index);
    }
    if (status == STATUS_OK) {
        const SimConfig config = sim_config_sample(world->config.script.seed);
        status = sim_create(heap, &config, world->scene, &world->sim);
    }
    return status;
}

static Status make_worlds(Heap *heap, SampleWorld *world)
{
    AuthorityConfig authority = authority_config_default();
    authority.sim = world->sim;
    authority.prefabs = (PrefabTable){world->prefabs, PREFAB_MAX};
    authority.scene_names = part_names;
    authority.assets = (AssetNames){assets, sizeof assets / sizeof assets[0]};
    authority.spawns = spawns;
    authority.spawn_count = sizeof spawns / sizeof spawns[0];
    authority.attributes.record_max = 2048;
    authority.attributes.attribute_max = 4096;
    authority.attributes.text_small_max = 1024;
    authority.attributes.text_large_max = 256;
    const Status status = authority_create(heap, &authority, &world->authority);
    if (status != STATUS_OK) {
        return status;
    }
    ViewConfig view = view_config_default();
    view.sim = world->sim;
    view.prefabs = authority.prefabs;
    view.scene_names = part_names;
    view.spawns = (SpawnPoints){authority.spawns, authority.spawn_count};
    view.assets = authority.assets;
    view.local_player = SAMPLE_WORLD_PLAYER;
    return view_create(heap, &view, &world->view);
}

// --- sides and the loop between them ------------------------------------------------------------

static Status make_scripts(Heap *heap, SampleWorld *world, ScriptSide side)
{
    ScriptConfig config = world->config.script;
    config.api = &script_api;
    config.world =
        side == SCRIPT_SERVER ? authority_world(world->authority) : view_world(world->view);
    config.tick_rate = sim_config(world->sim)->tick_rate;
    return script_create(heap, &config, side == SCRIPT_SERVER ? &world->server : &world->client);
}

// A side without scripts accepts everything and does nothing.
static Status no_event(void *user, const ScriptEvent *event)
{
    (void)user;
    (void)event;
    return STATUS_OK;
}

static Status no_answer(void *user, uint64_t request_id, bool ok, const uint8_t *bytes,
                        size_t count)
{
    (void)user;
    (void)request_id;
    (void)ok;
    (void)bytes;
    (void)count;
    return STATUS_OK;
}

static ScriptPort port_of(ScriptSystem *system)
{
    return system != NULL ? loopback_port(system)
                          : (ScriptPort){.event = no_event, .complete = no_answer};
}

static Status make_loopback(Heap *heap, SampleWorld *world)
{
    LoopbackConfig config = loopback_config_default();
    config.authority = world->authority;
    config.server = port_of(world->server);
    config.client_max = 1;
    config.seed = world->config.script.seed;
    config.drop_chance = world->config.drop_chance;
    config.store_ticks = world->config.store_ticks;
    Status status = loopback_create(heap, &config, &world->loopback);
    if (status == STATUS_OK) {
        status = loopback_join(world->loopback, SAMPLE_WORLD_PLAYER, world->view,
                               port_of(world->client));
    }
    return status;
}

static Status make_player(SampleWorld *world)
{
    const Status status =
        authority_player_join(world->authority, SAMPLE_WORLD_PLAYER, (Text){"player1", 7});
    return status != STATUS_OK
               ? status
               : authority_player_spawn(world->authority, SAMPLE_WORLD_PLAYER, VEC3_ZERO);
}

static double seconds_now(const SampleWorld *world)
{
    return (double)sim_tick(world->sim) / (double)sim_config(world->sim)->tick_rate;
}

static void aim_camera(SampleWorld *world)
{
    ScriptEntityInfo body;
    ScriptWorld *view = view_world(world->view);
    if (!view->methods->entity(view, sample_world_character(world), &body)) {
        return;
    }
    const float eye = body.size.y * NPC_EYE_FRACTION;
    const float level = math_cos(world->input.pitch);
    const Vec3 forward = {math_sin(world->input.yaw) * level, math_sin(world->input.pitch),
                          math_cos(world->input.yaw) * level};
    view_set_camera(world->view, vec3_add(body.position, vec3(0, eye, 0)), forward);
}

// Passes events to the scripts of the next tick.
static void pass_on(SampleWorld *world)
{
    loopback_step(world->loopback, world->config.unix_seconds + seconds_now(world));
    if (world->server != NULL) {
        authority_feed(world->authority, world->server);
    }
    aim_camera(world);
}

Status sample_world_create(Heap *heap, const SampleWorldConfig *config, SampleWorld **out)
{
    SampleWorld *world = heap_alloc(heap, sizeof *world);
    if (world == NULL) {
        return STATUS_LIMIT;
    }
    world->config = *config;
    fill_prefabs(world->prefabs, TICK_RATE_DEFAULT);
    Status status = make_sim(heap, world);
    if (status == STATUS_OK) {
        status = make_worlds(heap, world);
    }
    if (status == STATUS_OK && config->server) {
        status = make_scripts(heap, world, SCRIPT_SERVER);
    }
    if (status == STATUS_OK && config->client) {
        status = make_scripts(heap, world, SCRIPT_CLIENT);
    }
    if (status == STATUS_OK) {
        status = make_loopback(heap, world);
    }
    if (status == STATUS_OK) {
        status = make_player(world);
    }
    if (status != STATUS_OK) {
        sample_world_destroy(heap, world);
        return status;
    }
    pass_on(world);
    *out = world;
    return STATUS_OK;
}

void sample_world_destroy(Heap *heap, SampleWorld *world)
{
    if (world == NULL) {
        return;
    }
    loopback_destroy(heap, world->loopback);
    if (world->client != NULL) {
        script_destroy(heap, world->client);
    }
    if (world->server != NULL) {
        script_destroy(heap, world->server);
    }
    view_destroy(heap, world->view);
    authority_destroy(heap, world->authority);
    sim_destroy(heap, world->sim);
    if (world->scene != NULL) {
        scene_destroy(heap, world->scene);
    }
    if (world->chunks != NULL) {
        chunk_store_destroy(heap, world->chunks);
    }
    heap_free(heap, world);
}

// --- use ----------------------------------------------------------------------------------------

ScriptSystem *sample_world_scripts(SampleWorld *world, ScriptSide side)
{
    return side == SCRIPT_SERVER ? world->server : world->client;
}

Sim *sample_world_sim(SampleWorld *world)
{
    return world->sim;
}

Authority *sample_world_authority(SampleWorld *world)
{
    return world->authority;
}

View *sample_world_view(SampleWorld *world)
{
    return world->view;
}

Loopback *sample_world_loopback(SampleWorld *world)
{
    return world->loopback;
}

uint64_t sample_world_character(SampleWorld *world)
{
    const RosterPlayer *player =
        roster_find(authority_roster(world->authority), SAMPLE_WORLD_PLAYER);
    return player == NULL ? 0 : player->entity;
}

void sample_world_input(SampleWorld *world, const SimInput *input)
{
    world->input = *input;
}

Status sample_world_key(SampleWorld *world, Text key, bool down)
{
    ViewKey changed;
    const Status status = view_set_key(world->view, key, down, &changed);
    if (status != STATUS_OK || changed.bytes == 0 || world->client == NULL) {
        return status;
    }
    const ScriptEvent event = {
        .type = SCRIPT_EVENT_INPUT, .name = {changed.shown, changed.bytes}, .value = down ? 1 : 0};
    return script_event(world->client, &event);
}

// A script may have turned the player, whose next inputs look there.
static void keep_look(SampleWorld *world)
{
    const Entity *body =
        sim_entity(world->sim, sim_find(world->sim, sample_world_character(world)));
    if (body != NULL) {
        world->input.yaw = body->character.input.yaw;
    }
}

static void step_once(SampleWorld *world)
{
    sim_set_input(world->sim, sim_find(world->sim, sample_world_character(world)), &world->input);
    const double world_seconds = seconds_now(world);
    const double unix_seconds = world->config.unix_seconds + world_seconds;
    if (world->server != NULL) {
        script_tick(world->server, unix_seconds, world_seconds);
        keep_look(world);
    }
    if (world->client != NULL) {
        script_tick(world->client, unix_seconds, world_seconds);
    }
    sim_step(world->sim);
    view_step(world->view);
    pass_on(world);
}

void sample_world_step(SampleWorld *world, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        step_once(world);
    }
}
