// A client's side of script_world.h: reading works, every change of replicated state is denied, and
// the client's own things can be changed.
#include "core/script/bridge/view.h"
#include "core/script/runtime/value.h"
#include "tests/support/test.h"
#include "tests/unit/walk_world.h"

#include <string.h>

#define NAN_F __builtin_nanf("")

static bool same(Text a, const char *b)
{
    return a.bytes == strlen(b) && memcmp(a.data, b, a.bytes) == 0;
}

enum { DOOR = 1, ME = 7 };

typedef struct World {
    WalkWorld walk;
    View *view;
    ScriptWorld *world;
    const ScriptWorldMethods *methods;
    Sim *sim;
    uint64_t body; // somebody's character
} World;

static const Text spark_tags[] = {{"fx", 2}};
static const PrefabAttribute spark_attributes[] = {
    {{"power", 5}, {.type = SCRIPT_NUMBER, .number = 2}, 0},
    {{"secret", 6}, {.type = SCRIPT_NUMBER, .number = 3}, ATTRIBUTE_PRIVATE}};
static Prefab prefabs[4];
static const Text scene_names[] = {{"Door", 4}};

static World open_world_with(const ViewConfig *wanted)
{
    const PartDesc door = walk_box(vec3(-4, 0, 4), vec3(-2, 3, 4.5f));
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &door;
    desc.part_count = 1;
    World world = {.walk = walk_world_open(&desc)};
    world.sim = world.walk.sim;
    prefabs[0] = (Prefab){
        .name = {"Spark", 5},
        .kind = PREFAB_PROP,
        .part = {.shape = {SHAPE_SPHERE, {0.25f, 0, 0}}, .pose = {{0, 0, 0}, QUAT_IDENTITY}},
        .attributes = spark_attributes,
        .attribute_count = 2,
        .tags = spark_tags,
        .tag_count = 1};
    prefabs[1] = (Prefab){.name = {"Board", 5},
                          .kind = PREFAB_PART,
                          .part = walk_box(vec3(-1, -1, -1), vec3(1, 1, 1))};
    prefabs[2] = (Prefab){.name = {"Guard", 5}, .kind = PREFAB_NPC};
    prefabs[3] = (Prefab){.name = {"Bullet", 6},
                          .kind = PREFAB_PROJECTILE,
                          .projectile = {.radius = 0.1f, .gravity = 10, .lifetime_ticks = 60}};
    ViewConfig config = *wanted;
    config.sim = world.sim;
    config.prefabs = (PrefabTable){prefabs, 4};
    config.scene_names = scene_names;
    config.local_player = ME;
    CHECK_OK(view_create(&world.walk.heap, &config, &world.view));
    world.world = view_world(world.view);
    world.methods = world.world->methods;
    const Handle body = walk_player(world.sim, vec3(0, 0, 0));
    world.body = sim_entity(world.sim, body)->net_id;
    heap_freeze(&world.walk.heap);
    return world;
}

static World open_world(void)
{
    const ViewConfig config = view_config_default();
    return open_world_with(&config);
}

static void close_world(World *world)
{
    heap_thaw(&world->walk.heap);
    view_destroy(&world->walk.heap, world->view);
    walk_world_close(&world->walk);
}

static uint64_t spawn(const World *w, const char *prefab, Vec3 at)
{
    uint64_t net_id = 0;
    CHECK_OK(w->methods->spawn(w->world, text_from(prefab), at, true, &net_id));
    return net_id;
}

static ScriptEntityInfo info(const World *w, uint64_t net_id)
{
    ScriptEntityInfo out = {0};
    CHECK(w->methods->entity(w->world, net_id, &out));
    return out;
}

static void step(World *w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sim_step(w->sim);
        view_step(w->view);
    }
}

TEST(a_view_reads_its_sim_and_what_its_owner_says)
{
    World w = open_world();
    CHECK_INT(w.methods->side, SCRIPT_CLIENT);
    CHECK_INT(w.methods->local_player(w.world), ME);
    CHECK_INT(w.methods->find(w.world, text_from("Door")), DOOR);
    CHECK(same(w.methods->name(w.world, DOOR), "Door"));
    CHECK(info(&w, DOOR).is_anchored);
    CHECK_INT(info(&w, w.body).type, ENTITY_PLAYER);
    CHECK(!info(&w, w.body).is_local);
    AttributeTable *attributes = view_attributes(w.view);
    CHECK_OK(attribute_table_set_name(attributes, w.body, text_from("player1")));
    const ScriptValue value = {.type = SCRIPT_NUMBER, .number = 3};
    CHECK_OK(attribute_table_set_attribute(attributes, w.body, text_from("coins"), &value, 0));
    CHECK_OK(attribute_table_set_tag(attributes, w.body, text_from("hero"), true));
    CHECK_OK(roster_add(view_roster(w.view), ME, text_from("player1")));
    CHECK_OK(roster_set_stat(view_roster(w.view), ME, text_from("Coins"), 4));
    CHECK_INT(w.methods->find(w.world, text_from("player1")), w.body);
    ScriptValue out;
    CHECK(w.methods->attribute(w.world, w.body, text_from("coins"), &out) && out.number == 3);
    CHECK(w.methods->has_tag(w.world, w.body, text_from("hero")));
    uint64_t ids[8];
    CHECK_INT(w.methods->tagged(w.world, text_from("hero"), ids, 8), 1);
    CHECK_INT(w.methods->in_radius(w.world, vec3(0, 1, 0), 2, ENTITY_MASK_ALL, ids, 8), 1);
    ScriptPlayerInfo players[2];
    CHECK_INT(w.methods->players(w.world, players, 2), 1);
    double stat = 0;
    CHECK(w.methods->player_stat_read(w.world, ME, text_from("Coins"), &stat) && stat == 4);
    CHECK_INT(w.methods->voxel(w.world, (VoxelCoord){0, -1, 0}), 1);
    ScriptRayHit hit;
    CHECK(w.methods->ray(w.world, vec3(-3, 1, 0), vec3(0, 0, 1), 10, (ScriptIgnored){0}, &hit));
    CHECK_INT(hit.entity, DOOR);
    PartData data;
    CHECK_OK(w.methods->part_data(w.world, DOOR, &data));
    CHECK_INT(w.methods->part_data(w.world, w.body, &data), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->tick(w.world), sim_tick(w.sim));
    // What left the sim is gone, whatever the table still holds.
    sim_remove(w.sim, sim_find(w.sim, w.body));
    ScriptEntityInfo gone;
    CHECK(!w.methods->entity(w.world, w.body, &gone));
    CHECK_INT(w.methods->find(w.world, text_from("player1")), 0);
    CHECK(!w.methods->has_tag(w.world, w.body, text_from("hero")));
    close_world(&w);
}

TEST(every_change_of_replicated_state_is_denied)
{
    World w = open_world();
    const uint64_t hash = sim_hash(w.sim);
    const PartData data = {0};
    const ScriptValue value = {.type = SCRIPT_BOOL, .boolean = true};
    const Pose pose = {{0, 5, 0}, QUAT_IDENTITY};
    const VoxelCoord at = {0, 0, 0};
    const StoreRequest store = {.request_id = 1, .store = text_from("s"), .key = text_from("k")};
    uint64_t out = 5;
    uint32_t state = 5;
    float suspicion = 5;
    const Status denied[] = {
        w.methods->spawn(w.world, text_from("Spark"), VEC3_ZERO, false, &out),
        w.methods->destroy(w.world, DOOR),
        w.methods->destroy(w.world, w.body),
        w.methods->set_position(w.world, w.body, VEC3_ZERO),
        w.methods->set_velocity(w.world, w.body, VEC3_ZERO),
        w.methods->set_rotation(w.world, DOOR, QUAT_IDENTITY),
        w.methods->set_part_data(w.world, DOOR, &data),
        w.methods->move_to(w.world, DOOR, pose, 1),
        w.methods->set_attribute(w.world, DOOR, text_from("a"), &value, 0),
        w.methods->set_tag(w.world, DOOR, text_from("a"), true),
        w.methods->set_voxel(w.world, at, 1),
        w.methods->fill_box(w.world, at, at, 1),
        w.methods->fill_sphere(w.world, VEC3_ZERO, 1, 1),
        w.methods->damage(w.world, w.body, 5, 0),
        w.methods->player_spawn(w.world, ME, &(Vec3){1, 0, 0}),
        w.methods->player_spawn(w.world, ME, NULL),
        w.methods->player_team(w.world, ME, text_from("red")),
        w.methods->player_stat(w.world, ME, text_from("Coins"), 1),
        w.methods->fire(w.world, &(ScriptShot){.velocity = VEC3_ZERO}, &out),
        w.methods->npc_move_to(w.world, w.body, VEC3_ZERO),
        w.methods->npc_target(w.world, w.body, 0),
        w.methods->npc_patrol(w.world, w.body, NULL, 0),
        w.methods->npc_spawn(w.world, VEC3_ZERO, &out),
        w.methods->npc_state(w.world, w.body, &state, &suspicion),
        w.methods->structure_place(w.world, 0, at, 0, ME, &out),
        w.methods->structure_remove(w.world, w.body),
        w.methods->store(w.world, &store),
        w.methods->chat(w.world, text_from("hi"), 9),
        w.methods->sound(w.world, &(ScriptSound){.name = text_from("bell"), .player_id = 9}),
    };
    const uint32_t count = sizeof denied / sizeof denied[0];
    for (uint32_t i = 0; i < count; i++) {
        if (denied[i] != STATUS_DENIED) {
            test_fail(__FILE__, __LINE__, "write %u: %s", i, status_name(denied[i]));
        }
    }
    CHECK_INT(view_counters(w.view).denied_count, count);
    CHECK_INT(out, 5);
    CHECK_INT(state, 5);
    CHECK_INT(sim_hash(w.sim), hash);
    CHECK_INT(view_attributes(w.view)->records.count, 0);
    close_world(&w);
}

TEST(local_entities_are_the_clients_own)
{
    World w = open_world();
    const uint64_t hash = sim_hash(w.sim);
    const uint64_t spark = spawn(&w, "Spark", vec3(1, 2, 3));
    CHECK(spark >= VIEW_LOCAL_FIRST && spark < 1ull << 53);
    const uint64_t board = spawn(&w, "Board", vec3(0, 5, 0));
    CHECK_INT(board, spark + 1);
    CHECK(info(&w, spark).is_local);
    CHECK_INT(info(&w, spark).type, ENTITY_PROP);
    CHECK_NEAR(info(&w, spark).size.y, 0.5, 0);
    CHECK_INT(w.methods->find(w.world, text_from("Spark")), spark);
    ScriptValue out;
    CHECK(w.methods->attribute(w.world, spark, text_from("power"), &out) && out.number == 2);
    CHECK(!w.methods->attribute(w.world, spark, text_from("secret"), &out)); // the server's alone
    CHECK(w.methods->has_tag(w.world, spark, text_from("fx")));
    const ScriptValue value = {.type = SCRIPT_TEXT, .text = text_from("hot")};
    CHECK_OK(w.methods->set_attribute(w.world, spark, text_from("mood"), &value, 0));
    CHECK(w.methods->attribute(w.world, spark, text_from("mood"), &out) && same(out.text, "hot"));
    CHECK_OK(w.methods->set_tag(w.world, spark, text_from("fx"), false));
    CHECK(!w.methods->has_tag(w.world, spark, text_from("fx")));
    uint64_t ids[4];
    const uint32_t props = ENTITY_MASK(ENTITY_PROP);
    CHECK_INT(w.methods->in_radius(w.world, vec3(1, 2, 3), 1, props, ids, 4), 1);
    CHECK_INT(ids[0], spark);

    CHECK_OK(w.methods->set_position(w.world, spark, vec3(4, 4, 4)));
    CHECK_NEAR(info(&w, spark).position.x, 4, 0);
    CHECK_OK(w.methods->set_rotation(w.world, board, quat_from_yaw(1)));
    CHECK_NEAR(info(&w, board).rotation.y, quat_from_yaw(1).y, 1e-6);
    CHECK_OK(w.methods->set_velocity(w.world, spark, vec3(0, 90, 0)));
    step(&w, 30);
    CHECK_NEAR(info(&w, spark).position.y, 49, 0.01);
    PartData data = {.flags = PART_BOUNCE, .bounce_speed = 3};
    CHECK_OK(w.methods->set_part_data(w.world, board, &data));
    CHECK_OK(w.methods->part_data(w.world, board, &data));
    CHECK_INT(data.flags, PART_BOUNCE);
    const Pose there = {{6, 5, 1}, quat_from_yaw(2)};
    CHECK_OK(w.methods->move_to(w.world, board, there, 1));
    CHECK_NEAR(info(&w, board).velocity.x, 6, 1e-4);
    step(&w, 30);
    CHECK_NEAR(info(&w, board).position.x, 3, 1e-3);
    step(&w, 32);
    CHECK(vec3_equal(info(&w, board).position, there.position));
    CHECK_NEAR(vec3_length(info(&w, board).velocity), 0, 0);

    CHECK_OK(w.methods->destroy(w.world, spark));
    CHECK(info(&w, spark).is_local); // until the step
    step(&w, 1);
    ScriptEntityInfo gone;
    CHECK(!w.methods->entity(w.world, spark, &gone));
    CHECK_INT(w.methods->destroy(w.world, spark), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->set_position(w.world, spark, VEC3_ZERO), STATUS_NOT_FOUND);
    CHECK_INT(view_local_gone(w.view, ids, 4), 1);
    CHECK_INT(ids[0], spark);
    CHECK_INT(view_local_gone(w.view, ids, 4), 0);
    CHECK_INT(sim_count(w.sim, ENTITY_PROP), 0);
    CHECK(sim_hash(w.sim) != hash); // its own steps
    uint32_t slot = view_local_next(w.view, 0);
    CHECK_INT(view_local_at(w.view, slot)->net_id, board);
    CHECK_INT(view_local_next(w.view, slot), 0);
    close_world(&w);
}

TEST(local_projectiles_fall_and_end)
{
    World w = open_world();
    const uint64_t bullet = spawn(&w, "Bullet", vec3(0, 50, 0));
    CHECK_INT(info(&w, bullet).type, ENTITY_PROJECTILE);
    PartData data;
    CHECK_INT(w.methods->part_data(w.world, bullet, &data), STATUS_NOT_FOUND);
    CHECK_OK(w.methods->set_velocity(w.world, bullet, vec3(60, 0, 0)));
    step(&w, 59);
    CHECK_NEAR(info(&w, bullet).position.x, 59, 0.01);
    CHECK(info(&w, bullet).position.y < 46);
    step(&w, 1);
    ScriptEntityInfo gone;
    CHECK(!w.methods->entity(w.world, bullet, &gone));
    // One that leaves the world ends as well.
    const uint64_t far = spawn(&w, "Spark", vec3(16380, 0, 0));
    CHECK_OK(w.methods->set_velocity(w.world, far, vec3(1000, 0, 0)));
    step(&w, 2);
    CHECK(!w.methods->entity(w.world, far, &gone));
    close_world(&w);
}

TEST(local_entities_have_caps_and_bounds)
{
    ViewConfig config = view_config_default();
    config.local_max = 2;
    config.attributes.record_max = 2;
    World w = open_world_with(&config);
    uint64_t out = 0;
    CHECK_INT(w.methods->spawn(w.world, text_from("Dragon"), VEC3_ZERO, true, &out),
              STATUS_NOT_FOUND);
    CHECK_INT(w.methods->spawn(w.world, text_from("Guard"), VEC3_ZERO, true, &out),
              STATUS_UNSUPPORTED);
    CHECK_INT(w.methods->spawn(w.world, text_from("Spark"), vec3(NAN_F, 0, 0), true, &out),
              STATUS_RANGE);
    const uint64_t a = spawn(&w, "Spark", VEC3_ZERO);
    CHECK_INT(w.methods->set_position(w.world, a, vec3(1e9f, 0, 0)), STATUS_RANGE);
    CHECK_INT(w.methods->set_velocity(w.world, a, vec3(NAN_F, 0, 0)), STATUS_RANGE);
    CHECK_INT(w.methods->set_velocity(w.world, a, vec3(2000, 0, 0)), STATUS_RANGE);
    CHECK_INT(w.methods->set_rotation(w.world, a, (Quat){NAN_F, 0, 0, 1}), STATUS_RANGE);
    const Pose pose = {{1, 1, 1}, QUAT_IDENTITY};
    CHECK_INT(w.methods->move_to(w.world, a, pose, 0), STATUS_RANGE);
    CHECK_INT(w.methods->move_to(w.world, a, pose, NAN_F), STATUS_RANGE);
    CHECK_INT(w.methods->move_to(w.world, a, (Pose){{0, NAN_F, 0}, QUAT_IDENTITY}, 1),
              STATUS_RANGE);
    const PartData data = {.flags = 1u << 20};
    CHECK_INT(w.methods->set_part_data(w.world, a, &data), STATUS_RANGE);
    (void)spawn(&w, "Spark", VEC3_ZERO);
    CHECK_INT(w.methods->spawn(w.world, text_from("Spark"), VEC3_ZERO, true, &out), STATUS_LIMIT);
    CHECK_INT(view_counters(w.view).locals_refused, 1);
    CHECK_OK(w.methods->destroy(w.world, a));
    step(&w, 1);
    CHECK_OK(attribute_table_set_name(view_attributes(w.view), w.body, text_from("player1")));
    CHECK_INT(w.methods->spawn(w.world, text_from("Spark"), VEC3_ZERO, true, &out),
              STATUS_LIMIT); // records
    CHECK_INT(w.view != NULL && view_counters(w.view).records_refused, 1);
    attribute_table_remove(view_attributes(w.view), w.body);
    (void)spawn(&w, "Spark", VEC3_ZERO);
    close_world(&w);
}

TEST(keys_camera_and_ui)
{
    World w = open_world();
    ViewKey changed;
    CHECK(!w.methods->key_is_down(w.world, text_from("W")));
    CHECK_OK(view_set_key(w.view, text_from("w"), true, &changed));
    CHECK_OK(view_set_key(w.view, text_from("Space"), true, &changed));
    CHECK_OK(view_set_key(w.view, text_from("W"), true, &changed));
    CHECK(w.methods->key_is_down(w.world, text_from("W")));
    CHECK(w.methods->key_is_down(w.world, text_from("SPACE")));
    CHECK_OK(view_set_key(w.view, text_from("W"), false, &changed));
    CHECK_OK(view_set_key(w.view, text_from("Q"), false, &changed));
    CHECK(!w.methods->key_is_down(w.world, text_from("w")));
    CHECK(w.methods->key_is_down(w.world, text_from("Space")));
    CHECK_INT(view_set_key(w.view, text_from(""), true, &changed), STATUS_RANGE);
    // The names that browsers have; whoever is told gets the one name for scripts, once.
    static const char *const same[][3] = {{"KeyQ", "q", "Q"},
                                          {"Digit7", "7", "7"},
                                          {"ShiftLeft", "shift", "Shift"},
                                          {"ArrowUp", "UP", "Up"},
                                          {"Fire", "fire", "Fire"}};
    CHECK(!view_asks_fire(w.view) && !view_asks_use(w.view));
    for (uint32_t i = 0; i < sizeof same / sizeof *same; i++) {
        CHECK_OK(view_set_key(w.view, text_from(same[i][0]), true, &changed));
        CHECK(w.methods->key_is_down(w.world, text_from(same[i][1])));
        CHECK_TEXT(changed.shown, same[i][2]);
        CHECK_OK(view_set_key(w.view, text_from(same[i][1]), true, &changed));
        CHECK_INT(changed.bytes, 0);
        CHECK_OK(view_set_key(w.view, text_from(same[i][1]), false, &changed));
        CHECK_TEXT(changed.shown, same[i][2]);
        CHECK(!w.methods->key_is_down(w.world, text_from(same[i][0])));
    }
    CHECK(view_asks_fire(w.view) && !view_asks_use(w.view));
    CHECK(!w.methods->key_is_down(w.world, text_from("Use")));
    CHECK(view_asks_use(w.view));
    CHECK(!w.methods->key_is_down(w.world, text_from("")));
    char name[3] = "a0";
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < VIEW_KEYS_MAX; i++) {
        name[0] = (char)('a' + i / 10);
        name[1] = (char)('0' + i % 10);
        status = view_set_key(w.view, text_from(name), true, &changed);
    }
    CHECK_INT(status, STATUS_LIMIT); // one more than fits

    Vec3 position;
    Vec3 forward;
    CHECK(!w.methods->camera(w.world, &position, &forward));
    view_set_camera(w.view, vec3(1, 2, 3), vec3(0, 0, 5));
    view_set_camera(w.view, vec3(NAN_F, 2, 3), vec3(0, 0, 5));
    view_set_camera(w.view, vec3(1, 2, 4), VEC3_ZERO);
    CHECK(w.methods->camera(w.world, &position, &forward));
    CHECK_NEAR(forward.z, 1, 1e-6);
    CHECK_NEAR(position.z, 3, 0);
    close_world(&w);
}

static void check_shown(View *view, uint64_t owner, uint64_t entity, size_t bytes)
{
    const ViewShown *shown = view_shown(view);
    CHECK(shown != NULL);
    CHECK_INT(shown->owner, owner);
    CHECK_INT(shown->entity, entity);
    CHECK_INT(shown->bytes, bytes);
    if (bytes > 0) {
        CHECK_INT(shown->tree[bytes - 1], owner); // as the test wrote it
    }
    view_shown_take(view);
}

TEST(shown_trees_wait_for_whoever_draws)
{
    ViewConfig config = view_config_default();
    config.ui_bytes_max = UI_WAITING_BYTES;
    World w = open_world_with(&config);
    static uint8_t tree[VALUE_BYTES_MAX + 1];
    CHECK(view_shown(w.view) == NULL);
    view_shown_take(w.view);
    for (uint8_t owner = 1; owner <= 3; owner++) {
        tree[owner + 9] = owner;
        CHECK_OK(w.methods->show(w.world, owner, 0, tree, owner + 10u));
    }
    // A newer one of the same owner and entity replaces it; above an entity is another place.
    tree[4] = 2;
    CHECK_OK(w.methods->show(w.world, 2, 0, tree, 5));
    CHECK_OK(w.methods->show(w.world, 2, 77, tree, 5));
    CHECK_OK(w.methods->show(w.world, 3, 0, NULL, 0));
    check_shown(w.view, 1, 0, 11);
    check_shown(w.view, 2, 0, 5);
    check_shown(w.view, 2, 77, 5);
    check_shown(w.view, 3, 0, 0);
    CHECK(view_shown(w.view) == NULL);

    CHECK_INT(w.methods->show(w.world, 1, 0, tree, sizeof tree), STATUS_RANGE);
    uint64_t count = 0;
    while (w.methods->show(w.world, 1, count + 1, tree, VALUE_BYTES_MAX) == STATUS_OK) {
        count += 1;
    }
    CHECK_INT(count, UI_WAITING_BYTES / VALUE_BYTES_MAX);
    CHECK_OK(w.methods->show(w.world, 1, count, tree, VALUE_BYTES_MAX)); // in place of the last
    while (view_shown(w.view) != NULL) {
        view_shown_take(w.view);
    }
    count = 0;
    while (w.methods->show(w.world, 1, count, NULL, 0) == STATUS_OK) {
        count += 1;
    }
    CHECK_INT(count, UI_WAITING_MAX);
    close_world(&w);
}

TEST(effects_carry_the_own_player)
{
    World w = open_world();
    const uint8_t payload[] = {6, 1, 2};
    const ScriptMessage message = {.player_id = 99,
                                   .name = text_from("open"),
                                   .payload = payload,
                                   .payload_bytes = 3,
                                   .invoke_id = 12};
    CHECK_OK(w.methods->send(w.world, &message));
    CHECK_OK(w.methods->chat(w.world, text_from("hi"), 0));
    CHECK_OK(w.methods->sound(
        w.world,
        &(ScriptSound){.name = text_from("bell"), .player_id = ME, .volume = 1, .pitch = 1}));
    const ScriptSound sound = {.name = text_from("boom"),
                               .has_position = true,
                               .position = {1, 2, 3},
                               .volume = 1,
                               .pitch = 1};
    CHECK_OK(view_play(w.view, &sound));
    uint32_t count = 0;
    const Effect *effects = view_effects(w.view, &count);
    REQUIRE(count == 4);
    CHECK_INT(effects[0].message.player_id, ME); // not the id in the message
    CHECK_INT(effects[0].message.invoke_id, 12);
    CHECK_INT(effects[1].player_id, ME);
    CHECK(same(effects[3].sound.name, "boom") && effects[3].sound.position.z == 3);
    view_effects_clear(w.view);
    (void)view_effects(w.view, &count);
    CHECK_INT(count, 0);
    CHECK_INT(w.methods->chat(w.world, text_from(""), 0), STATUS_RANGE);
    close_world(&w);
}

TEST(moments_wait_in_order_and_the_oldest_goes)
{
    ViewConfig config = view_config_default();
    config.ui_bytes_max = UI_WAITING_BYTES;
    World w = open_world_with(&config);
    Moment moment = {.kind = MOMENT_BURST, .size = 1};
    Moment taken;
    CHECK(!view_moment_take(w.view, &taken));
    for (uint32_t i = 0; i < VIEW_MOMENTS_MAX + 5; i++) {
        moment.position.x = (float)i;
        CHECK_OK(w.methods->moment(w.world, &moment, 0));
    }
    CHECK_INT(view_counters(w.view).moments_dropped, 5);
    for (uint32_t i = 0; i < VIEW_MOMENTS_MAX; i++) {
        REQUIRE(view_moment_take(w.view, &taken));
        CHECK(taken.position.x == (float)(i + 5));
    }
    CHECK(!view_moment_take(w.view, &taken));
    // Not for another player, and nothing without measure.
    CHECK_INT(w.methods->moment(w.world, &moment, 9), STATUS_DENIED);
    moment.size = 1000;
    CHECK_INT(w.methods->moment(w.world, &moment, 0), STATUS_RANGE);
    moment.size = 1;
    moment.position.y = 0.0f / 0.0f;
    CHECK_INT(w.methods->moment(w.world, &moment, 0), STATUS_RANGE);
    close_world(&w);
}

TEST(a_client_sets_a_bounded_number_of_lights)
{
    World w = open_world();
    const Visual visual = {.first = 1, .second = 8};
    uint64_t local[VIEW_VISUALS_MAX + 1];
    for (uint32_t i = 0; i <= VIEW_VISUALS_MAX; i++) {
        REQUIRE(w.methods->spawn(w.world, text_from("Spark"), VEC3_ZERO, true, &local[i]) ==
                STATUS_OK);
        const Status status = w.methods->set_visual(w.world, 1, local[i], VISUAL_LIGHT, &visual);
        CHECK_INT(status, i < VIEW_VISUALS_MAX ? STATUS_OK : STATUS_LIMIT);
    }
    ViewVisual rows[VIEW_VISUALS_MAX + 8];
    CHECK_INT(view_visuals(w.view, rows, VIEW_VISUALS_MAX + 8), VIEW_VISUALS_MAX);
    CHECK_INT(view_visuals(w.view, rows, 3), 3);
    // One that is gone makes room, and so does one that is taken away.
    CHECK_OK(w.methods->destroy(w.world, local[0]));
    view_step(w.view);
    CHECK_OK(w.methods->set_visual(w.world, 2, local[VIEW_VISUALS_MAX], VISUAL_LIGHT, &visual));
    CHECK_INT(w.methods->set_visual(w.world, 1, local[0], VISUAL_LIGHT, &visual), STATUS_NOT_FOUND);
    CHECK_OK(w.methods->set_visual(w.world, 1, local[1], VISUAL_LIGHT, NULL));
    CHECK_INT(view_visuals(w.view, rows, VIEW_VISUALS_MAX + 8), VIEW_VISUALS_MAX - 1);
    w.methods->forget(w.world, 1);
    CHECK_INT(view_visuals(w.view, rows, VIEW_VISUALS_MAX + 8), 1);
    close_world(&w);
}

TEST(creation_fails_clean)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld walk = walk_world_open(&desc);
    ViewConfig config = view_config_default();
    config.sim = walk.sim;
    View *view = NULL;
    walk.heap.bytes_max = walk.heap.bytes_now + 1000;
    CHECK_INT(view_create(&walk.heap, &config, &view), STATUS_LIMIT);
    CHECK(view == NULL);
    walk_world_close(&walk);
}
