// See script_fixture.h.
#include "tests/unit/script_fixture.h"

#include "core/base/check.h"
#include "core/script/api/script_api.h"

#include <stdio.h>
#include <string.h>

static void keep_line(void *user, const LogEvent *event)
{
    ScriptFixture *fixture = user;
    const size_t left = sizeof fixture->log - fixture->log_bytes;
    const int bytes = snprintf(fixture->log + fixture->log_bytes, left, "%s\n", event->text);
    if (bytes > 0 && (size_t)bytes < left) {
        fixture->log_bytes += (size_t)bytes;
    } else {
        fixture->log[fixture->log_bytes] = 0; // full: whole lines only
    }
}

static void open_sim(ScriptFixture *fixture)
{
    const ChunkStoreConfig chunks = {
        .chunk_max = 8, .page_max = 32, .kinds = voxel_kinds_default()};
    ASSERT(chunk_store_create(&fixture->heap, &chunks, &fixture->store) == STATUS_OK);
    ASSERT(chunk_store_fill(fixture->store, (VoxelCoord){-30, -1, -30}, (VoxelCoord){30, -1, 30},
                            1) == STATUS_OK);
    const SceneDesc scene = {.chunks = fixture->store};
    ASSERT(scene_create(&fixture->heap, &scene, &fixture->scene, NULL) == STATUS_OK);
    SimConfig config = sim_config_default();
    config.entity_max = 512;
    config.character_max = 64;
    config.npc_max = 16;
    config.structures_max = 64;
    config.terrain = (TerrainConfig){.chunk_max = 16, .page_max = 64};
    ASSERT(sim_create(&fixture->heap, &config, fixture->scene, &fixture->sim) == STATUS_OK);
}

void script_fixture_open(ScriptFixture *fixture, ScriptFixtureTune tune)
{
    memset(fixture, 0, sizeof *fixture);
    fixture->heap = heap_make(256u << 20);
    open_sim(fixture);
    static const Text prefab_name = {"Crate", 5};
    static Prefab crate;
    crate = (Prefab){
        .name = prefab_name,
        .kind = PREFAB_PART,
        .part = {.shape = {SHAPE_BOX, {0.5f, 0.5f, 0.5f}}, .pose = {{0, 0, 0}, QUAT_IDENTITY}}};
    AuthorityConfig authority = authority_config_default();
    authority.sim = fixture->sim;
    authority.prefabs = (PrefabTable){&crate, 1};
    ASSERT(authority_create(&fixture->heap, &authority, &fixture->authority) == STATUS_OK);
    fixture->sink = (LogSink){.write = keep_line, .user = fixture};
    ScriptConfig config = script_config_default();
    config.world = authority_world(fixture->authority);
    config.api = &script_api;
    config.log = &fixture->sink;
    if (tune != NULL) {
        tune(&config);
    }
    ASSERT(script_create(&fixture->heap, &config, &fixture->scripts) == STATUS_OK);
    ASSERT(authority_player_join(fixture->authority, 7, (Text){"bo", 2}) == STATUS_OK);
    ASSERT(authority_player_spawn(fixture->authority, 7, VEC3_ZERO) == STATUS_OK);
}

void script_fixture_close(ScriptFixture *fixture)
{
    script_destroy(&fixture->heap, fixture->scripts);
    authority_destroy(&fixture->heap, fixture->authority);
    sim_destroy(&fixture->heap, fixture->sim);
    scene_destroy(&fixture->heap, fixture->scene);
    chunk_store_destroy(&fixture->heap, fixture->store);
    ASSERT(fixture->heap.bytes_now == 0);
}

CompileResult script_fixture_compile(ScriptFixture *fixture, const char *path, const char *code)
{
    return script_compile(
        fixture->scripts,
        &(CompileRequest){.script_id = path, .code = code, .code_bytes = strlen(code)});
}

uint32_t script_fixture_add(ScriptFixture *fixture, const char *path, const char *code,
                            uint64_t entity)
{
    const CompileResult result = script_fixture_compile(fixture, path, code);
    if (!result.ok) {
        return 0;
    }
    uint32_t instance = 0;
    const InstanceDesc desc = {.script_id = path, .entity = entity, .enabled = true};
    ASSERT(script_bind(fixture->scripts, &desc, &instance) == STATUS_OK);
    return instance;
}

void script_fixture_run(ScriptFixture *fixture, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        authority_feed(fixture->authority, fixture->scripts);
        const double seconds = (double)sim_tick(fixture->sim) / 60;
        script_tick(fixture->scripts, 1.0e9 + seconds, seconds);
        sim_step(fixture->sim);
        authority_feed(fixture->authority, fixture->scripts);
        authority_effects_clear(fixture->authority);
        const uint32_t room = 64 - fixture->fault_count;
        fixture->fault_count +=
            script_faults(fixture->scripts, fixture->faults + fixture->fault_count, room);
    }
}

uint64_t script_fixture_part(ScriptFixture *fixture, Vec3 position, uint32_t flags)
{
    const ShapeDesc desc = {.part = {.shape = {SHAPE_BOX, {1, 1, 1}},
                                     .pose = {position, QUAT_IDENTITY},
                                     .data = {.flags = flags}}};
    Handle handle = HANDLE_NONE;
    ASSERT(sim_spawn_part(fixture->sim, &desc, &handle) == STATUS_OK);
    return sim_entity(fixture->sim, handle)->net_id;
}

uint32_t script_fixture_lines(const ScriptFixture *fixture, const char *text)
{
    uint32_t count = 0;
    for (const char *line = fixture->log; *line != 0;) {
        const char *end = strchr(line, '\n');
        const char *found = strstr(line, text);
        count += found != NULL && found < end;
        line = end + 1;
    }
    return count;
}
