// The server's side of script_world.h: every function with valid and invalid input, removed
// entities, limits, flags of attributes, thawing, motion that carries, and events. No scripts run
// here.
#include "core/script/bridge/authority.h"
#include "core/sim/structure.h"
#include "tests/support/test.h"
#include "tests/unit/walk_world.h"

#include <stdio.h>
#include <string.h>

#define NAN_F __builtin_nanf("")

static bool same(Text a, const char *b)
{
    return a.bytes == strlen(b) && memcmp(a.data, b, a.bytes) == 0;
}

enum { DOOR = 1, ZONE = 2, PAD = 3, TWIN = 4 }; // net ids of the scene

static const PieceDesc PIECES[] = {{1, 1, 1, 0, 10}};

typedef struct World {
    WalkWorld walk;
    Authority *authority;
    ScriptWorld *world;
    const ScriptWorldMethods *methods;
    Sim *sim;
} World;

static const PrefabAttribute coin_attributes[] = {
    {{"value", 5}, {.type = SCRIPT_NUMBER, .number = 5}, 0},
    {{"secret", 6}, {.type = SCRIPT_BOOL, .boolean = true}, ATTRIBUTE_PRIVATE}};
static const Text coin_tags[] = {{"pickup", 6}};

static void fill_prefabs(Prefab *prefabs)
{
    prefabs[0] = (Prefab){.name = {"Crate", 5},
                          .kind = PREFAB_PART,
                          .part = walk_box(vec3(-0.5f, -0.5f, -0.5f), vec3(0.5f, 0.5f, 0.5f)),
                          .script_path = "Workspace/Crate"};
    prefabs[1] = (Prefab){
        .name = {"Coin", 4},
        .kind = PREFAB_PROP,
        .part = {.shape = {SHAPE_SPHERE, {0.25f, 0, 0}}, .pose = {{0, 0, 0}, QUAT_IDENTITY}},
        .attributes = coin_attributes,
        .attribute_count = 2,
        .tags = coin_tags,
        .tag_count = 1};
    prefabs[2] = (Prefab){.name = {"Guard", 5}, .kind = PREFAB_NPC, .npc = npc_desc_default()};
    prefabs[3] =
        (Prefab){.name = {"Bullet", 6},
                 .kind = PREFAB_PROJECTILE,
                 .projectile = {.radius = 0.05f, .damage = 10, .lifetime_ticks = 120, .kind = 7}};
}

static Prefab prefabs[4];
static const Text scene_names[] = {{"Door", 4}, {"Zone", 4}, {"Pad", 3}, {"Door", 4}};

static World open_world_with(const AuthorityConfig *wanted, uint32_t entity_max)
{
    PartDesc zone = walk_box(vec3(4, 0, 4), vec3(6, 2, 6));
    zone.data.flags = PART_GHOST | PART_TRIGGER;
    PartDesc pad = walk_box(vec3(8, 0, -2), vec3(12, 0.5f, 2));
    pad.data.flags = PART_TRIGGER;
    const PartDesc parts[] = {walk_box(vec3(-4, 0, 4), vec3(-2, 3, 4.5f)), zone, pad,
                              walk_box(vec3(-4, 0, 14), vec3(-2, 3, 14.5f))};
    WalkWorldDesc desc = walk_world_default();
    desc.parts = parts;
    desc.part_count = 4;
    desc.pieces = PIECES;
    desc.piece_count = 1;
    desc.config.entity_max = entity_max;
    desc.config.character_max = entity_max < 64 ? entity_max : 64;
    desc.config.npc_max = entity_max < 16 ? entity_max : 16;
    desc.config.structures_max = entity_max < 64 ? entity_max : 64;
    World world = {.walk = walk_world_open(&desc)};
    world.sim = world.walk.sim;
    fill_prefabs(prefabs);
    AuthorityConfig config = *wanted;
    config.sim = world.sim;
    config.prefabs = (PrefabTable){prefabs, 4};
    config.scene_names = scene_names;
    CHECK_OK(authority_create(&world.walk.heap, &config, &world.authority));
    world.world = authority_world(world.authority);
    world.methods = world.world->methods;
    heap_freeze(&world.walk.heap);
    return world;
}

static World open_world(void)
{
    const AuthorityConfig config = authority_config_default();
    return open_world_with(&config, 256);
}

static void close_world(World *world)
{
    heap_thaw(&world->walk.heap);
    authority_destroy(&world->walk.heap, world->authority);
    walk_world_close(&world->walk);
}

static ScriptEntityInfo info(const World *w, uint64_t net_id)
{
    ScriptEntityInfo out = {0};
    CHECK(w->methods->entity(w->world, net_id, &out));
    return out;
}

static bool exists(const World *w, uint64_t net_id)
{
    ScriptEntityInfo out;
    return w->methods->entity(w->world, net_id, &out);
}

static uint64_t spawn(const World *w, const char *prefab, Vec3 at)
{
    uint64_t net_id = 0;
    CHECK_OK(w->methods->spawn(w->world, text_from(prefab), at, false, &net_id));
    return net_id;
}

static void step(World *w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sim_step(w->sim);
        authority_collect(w->authority);
    }
}

static uint32_t count_events(const World *w, ScriptEventType type, uint64_t entity)
{
    uint32_t count = 0;
    uint32_t found = 0;
    const ScriptEvent *events = authority_events(w->authority, &count);
    for (uint32_t i = 0; i < count; i++) {
        found += events[i].type == type && (entity == 0 || events[i].entity == entity);
    }
    return found;
}

static void drop_events(World *w)
{
    uint32_t count = 0;
    (void)authority_events(w->authority, &count);
    authority_events_take(w->authority, count);
}

static uint64_t join(World *w, uint64_t player_id, const char *name, Vec3 at)
{
    CHECK_OK(authority_player_join(w->authority, player_id, text_from(name)));
    CHECK_OK(authority_player_spawn(w->authority, player_id, at));
    ScriptPlayerInfo players[8];
    const uint32_t count = w->methods->players(w->world, players, 8);
    return players[count - 1].entity;
}

static ScriptValue number(double value)
{
    return (ScriptValue){.type = SCRIPT_NUMBER, .number = value};
}

// The error of a script that paints too much says what is full: not the tags.
TEST(too_many_looks_are_named)
{
    AuthorityConfig config = authority_config_default();
    config.attributes.record_max = 4;
    World w = open_world_with(&config, 64);
    const Paint red = {.colour = 0xff0000};
    w.world->caller = 1;
    CHECK_OK(w.methods->set_paint(w.world, DOOR, &red, 1u << PAINT_COLOUR));
    CHECK_OK(w.methods->set_paint(w.world, ZONE, &red, 1u << PAINT_COLOUR));
    CHECK_INT(w.methods->set_paint(w.world, PAD, &red, 1u << PAINT_COLOUR), STATUS_LIMIT);
    REQUIRE(w.world->refusal != NULL);
    CHECK(strstr(w.world->refusal, "4 entities that have looks") != NULL);
    CHECK(strstr(w.world->refusal, "a script has at most half") != NULL);
    close_world(&w);
}

TEST(names_find_the_lowest_that_is_left)
{
    World w = open_world();
    CHECK_INT(w.methods->side, SCRIPT_SERVER);
    CHECK_INT(w.methods->find(w.world, text_from("Door")), DOOR);
    CHECK_INT(w.methods->find(w.world, text_from("Coin")), 0);
    CHECK_INT(w.methods->find(w.world, text_from("")), 0);
    const uint64_t first = spawn(&w, "Coin", vec3(0, 1, 0));
    const uint64_t second = spawn(&w, "Coin", vec3(1, 1, 0));
    CHECK_INT(w.methods->find(w.world, text_from("Coin")), first);
    CHECK(same(w.methods->name(w.world, second), "Coin"));
    CHECK(same(w.methods->name(w.world, ZONE), "Zone"));
    CHECK_INT(w.methods->name(w.world, 999).bytes, 0);
    CHECK_OK(w.methods->destroy(w.world, first));
    CHECK_OK(w.methods->destroy(w.world, DOOR));
    CHECK_INT(w.methods->find(w.world, text_from("Coin")), first); // until the script phase is over
    CHECK_INT(w.methods->find(w.world, text_from("Door")), DOOR);
    step(&w, 1);
    CHECK_INT(w.methods->find(w.world, text_from("Coin")), second);
    CHECK_INT(w.methods->find(w.world, text_from("Door")), TWIN);
    Text name;
    CHECK(w.methods->prefab(w.world, 1, &name) && same(name, "Coin"));
    CHECK(!w.methods->prefab(w.world, 4, &name));
    close_world(&w);
}

TEST(destroy_takes_effect_when_the_script_phase_is_over)
{
    World w = open_world();
    const uint64_t crate = spawn(&w, "Crate", vec3(0, 1, 0));
    step(&w, 1);
    CHECK_OK(w.methods->destroy(w.world, crate));
    CHECK(exists(&w, crate)); // still readable and writable
    CHECK_OK(w.methods->set_position(w.world, crate, vec3(1, 2, 3)));
    CHECK_NEAR(info(&w, crate).position.z, 3, 0);
    CHECK_OK(w.methods->destroy(w.world, crate)); // twice is harmless
    step(&w, 1);
    CHECK(!exists(&w, crate));
    CHECK_INT(count_events(&w, SCRIPT_EVENT_DESTROYED, crate), 1);
    CHECK_INT(w.methods->destroy(w.world, crate), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->destroy(w.world, 0), STATUS_NOT_FOUND);
    // Marked by somebody else than a script: gone at once.
    const uint64_t other = spawn(&w, "Crate", vec3(0, 5, 0));
    sim_remove(w.sim, sim_find(w.sim, other));
    CHECK(!exists(&w, other));
    CHECK_INT(w.methods->set_position(w.world, other, VEC3_ZERO), STATUS_NOT_FOUND);
    close_world(&w);
}

TEST(what_is_gone_is_not_found_by_anything)
{
    World w = open_world();
    const uint64_t gone = spawn(&w, "Coin", vec3(0, 1, 0));
    CHECK_OK(w.methods->set_tag(w.world, gone, text_from("shiny"), true));
    CHECK_OK(w.methods->destroy(w.world, gone));
    step(&w, 1);
    const ScriptValue value = number(1);
    const PartData data = {0};
    PartData read;
    ScriptValue out;
    uint64_t ids[4];
    uint32_t state;
    float suspicion;
    CHECK_INT(w.methods->set_velocity(w.world, gone, VEC3_ZERO), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->set_rotation(w.world, gone, QUAT_IDENTITY), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->set_part_data(w.world, gone, &data), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->part_data(w.world, gone, &read), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->move_to(w.world, gone, (Pose){{0, 0, 0}, QUAT_IDENTITY}, 1),
              STATUS_NOT_FOUND);
    CHECK_INT(w.methods->set_attribute(w.world, gone, text_from("a"), &value, 0), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->set_tag(w.world, gone, text_from("a"), true), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->damage(w.world, gone, 1, 0), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->npc_move_to(w.world, gone, VEC3_ZERO), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->npc_target(w.world, gone, 0), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->npc_patrol(w.world, gone, NULL, 0), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->npc_state(w.world, gone, &state, &suspicion), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->structure_remove(w.world, gone), STATUS_NOT_FOUND);
    CHECK(!w.methods->attribute(w.world, gone, text_from("value"), &out));
    CHECK(!w.methods->has_tag(w.world, gone, text_from("shiny")));
    CHECK_INT(w.methods->tagged(w.world, text_from("shiny"), ids, 4), 0);
    CHECK_INT(w.methods->in_radius(w.world, vec3(0, 1, 0), 1, ENTITY_MASK(ENTITY_PROP), ids, 4), 0);
    CHECK_INT(authority_attributes(w.authority)->records.count, 0);
    CHECK_INT(authority_attributes(w.authority)->attributes.count, 0);
    close_world(&w);
}

TEST(setters_take_effect_at_once_and_read_back)
{
    World w = open_world();
    const uint64_t crate = spawn(&w, "Crate", vec3(0, 1, 0));
    CHECK_OK(w.methods->set_position(w.world, crate, vec3(2, 3, 4)));
    CHECK_NEAR(info(&w, crate).position.x, 2, 0);
    CHECK_OK(w.methods->set_rotation(w.world, crate, quat_from_yaw(1)));
    CHECK_NEAR(info(&w, crate).rotation.y, quat_from_yaw(1).y, 1e-6);
    CHECK_OK(w.methods->set_velocity(w.world, crate, vec3(6, 0, 0)));
    CHECK_NEAR(info(&w, crate).velocity.x, 6, 0);
    step(&w, 30);
    CHECK_NEAR(info(&w, crate).position.x, 5, 1e-3);
    CHECK_NEAR(info(&w, crate).size.y, 1, 0);
    CHECK(!info(&w, crate).is_anchored);
    CHECK_INT(w.methods->set_velocity(w.world, crate, vec3(100, 0, 0)), STATUS_RANGE);
    CHECK_INT(w.methods->set_velocity(w.world, crate, vec3(NAN_F, 0, 0)), STATUS_RANGE);
    CHECK_INT(w.methods->set_position(w.world, crate, vec3(NAN_F, 0, 0)), STATUS_RANGE);
    CHECK_INT(w.methods->set_position(w.world, crate, vec3(1e9f, 0, 0)), STATUS_RANGE);
    CHECK_INT(w.methods->set_rotation(w.world, crate, (Quat){NAN_F, 0, 0, 1}), STATUS_RANGE);
    const uint64_t bullet = spawn(&w, "Bullet", vec3(0, 20, 0));
    CHECK_OK(w.methods->set_velocity(w.world, bullet, vec3(0, 0, 60)));
    step(&w, 30);
    CHECK_NEAR(info(&w, bullet).position.z, 30, 0.01);
    CHECK_INT(info(&w, bullet).type, ENTITY_PROJECTILE);
    CHECK_NEAR(info(&w, bullet).size.x, 0.1, 1e-6);
    step(&w, 91);
    CHECK(!exists(&w, bullet));
    CHECK_INT(count_events(&w, SCRIPT_EVENT_DESTROYED, bullet), 1);
    CHECK_INT(w.methods->tick(w.world), sim_tick(w.sim));
    close_world(&w);
}

TEST(an_anchored_part_thaws_when_written_and_not_when_read)
{
    World w = open_world();
    CHECK(info(&w, DOOR).is_anchored);
    CHECK_NEAR(info(&w, DOOR).size.y, 3, 0);
    PartData data;
    CHECK_OK(w.methods->part_data(w.world, ZONE, &data));
    CHECK_INT(data.flags, PART_GHOST | PART_TRIGGER);
    const ScriptValue value = number(3);
    CHECK_OK(w.methods->set_attribute(w.world, DOOR, text_from("open"), &value, 0));
    CHECK_OK(w.methods->set_tag(w.world, DOOR, text_from("doors"), true));
    CHECK(w.methods->has_tag(w.world, DOOR, text_from("doors")));
    CHECK_INT(sim_count(w.sim, ENTITY_PART), 0);
    CHECK_INT(w.methods->set_position(w.world, DOOR, vec3(0, NAN_F, 0)), STATUS_RANGE);
    CHECK_INT(sim_count(w.sim, ENTITY_PART), 0);
    CHECK_OK(w.methods->set_position(w.world, DOOR, vec3(0, 5, 0)));
    CHECK_INT(sim_count(w.sim, ENTITY_PART), 1);
    CHECK_INT(authority_counters(w.authority).thawed_count, 1);
    CHECK(!info(&w, DOOR).is_anchored);
    CHECK_NEAR(info(&w, DOOR).position.y, 5, 0);
    CHECK_INT(w.methods->find(w.world, text_from("Door")), DOOR);
    ScriptValue out;
    CHECK(w.methods->attribute(w.world, DOOR, text_from("open"), &out) && out.number == 3);
    data.bounce_speed = 8;
    data.flags = PART_BOUNCE;
    CHECK_OK(w.methods->set_part_data(w.world, PAD, &data));
    CHECK_OK(w.methods->part_data(w.world, PAD, &data));
    CHECK_NEAR(data.bounce_speed, 8, 0);
    data.bounce_speed = NAN_F;
    CHECK_INT(w.methods->set_part_data(w.world, TWIN, &data), STATUS_RANGE);
    CHECK_INT(sim_count(w.sim, ENTITY_PART), 2);
    CHECK_OK(w.methods->destroy(w.world, TWIN));
    step(&w, 1);
    CHECK(!exists(&w, TWIN));
    CHECK_INT(count_events(&w, SCRIPT_EVENT_DESTROYED, TWIN), 1);
    sim_remove(w.sim, sim_find(w.sim, PAD)); // not by a script
    CHECK(!exists(&w, PAD));
    step(&w, 1);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_DESTROYED, PAD), 1);
    // An attribute taken away leaves nothing behind at a part that is still anchored.
    const uint32_t before = authority_attributes(w.authority)->records.count;
    CHECK_OK(w.methods->set_attribute(w.world, ZONE, text_from("a"), &value, 0));
    const ScriptValue nil = {.type = SCRIPT_NIL};
    CHECK_OK(w.methods->set_attribute(w.world, ZONE, text_from("a"), &nil, 0));
    CHECK_INT(authority_attributes(w.authority)->records.count, before);
    close_world(&w);
}

TEST(move_to_carries_a_rider)
{
    World w = open_world();
    const uint64_t rider = join(&w, 7, "player1", vec3(10, 0.5f, 0));
    step(&w, 10);
    const Pose up = {{10, 4.25f, 6}, QUAT_IDENTITY};
    CHECK_OK(w.methods->move_to(w.world, PAD, up, 2));
    CHECK_NEAR(info(&w, PAD).velocity.y, 2, 1e-4);
    for (uint32_t i = 0; i < 120; i++) {
        step(&w, 1);
        CHECK(sim_entity(w.sim, sim_find(w.sim, rider))->character.grounded);
    }
    CHECK(vec3_equal(info(&w, PAD).position, up.position));
    CHECK_NEAR(info(&w, rider).position.y, 4.5, 0.01);
    CHECK_NEAR(info(&w, rider).position.z, 6, 0.02);
    // A new order in the middle of the old one.
    CHECK_OK(w.methods->move_to(w.world, PAD, (Pose){{10, 8.25f, 6}, QUAT_IDENTITY}, 2));
    step(&w, 60);
    CHECK_OK(w.methods->move_to(w.world, PAD, up, 1));
    step(&w, 60);
    CHECK(vec3_equal(info(&w, PAD).position, up.position));
    CHECK_INT(w.methods->move_to(w.world, PAD, up, 0), STATUS_RANGE);
    CHECK_INT(w.methods->move_to(w.world, PAD, up, -1), STATUS_RANGE);
    CHECK_INT(w.methods->move_to(w.world, PAD, up, NAN_F), STATUS_RANGE);
    CHECK_INT(w.methods->move_to(w.world, PAD, up, 4000), STATUS_RANGE);
    CHECK_INT(w.methods->move_to(w.world, PAD, (Pose){{0, NAN_F, 0}, QUAT_IDENTITY}, 1),
              STATUS_RANGE);
    CHECK_INT(w.methods->move_to(w.world, PAD, (Pose){{10, 400, 6}, QUAT_IDENTITY}, 0.001f),
              STATUS_RANGE);
    CHECK_INT(w.methods->move_to(w.world, rider, up, 1), STATUS_NOT_FOUND);
    close_world(&w);
}

TEST(attributes_keep_values_flags_and_their_caps)
{
    AuthorityConfig config = authority_config_default();
    config.attributes.attributes_per_entity_max = 4;
    config.attributes.attribute_max = 6;
    config.attributes.text_small_max = 1;
    config.attributes.text_large_max = 1;
    World w = open_world_with(&config, 64);
    const uint64_t crate = spawn(&w, "Crate", vec3(0, 1, 0));
    const uint64_t other = spawn(&w, "Crate", vec3(3, 1, 0));
    ScriptValue value = {.type = SCRIPT_VECTOR, .vector = {1, 2, 3}};
    CHECK_OK(w.methods->set_attribute(w.world, crate, text_from("b"), &value, ATTRIBUTE_PRIVATE));
    value = (ScriptValue){.type = SCRIPT_TEXT, .text = text_from("hällo")};
    CHECK_OK(
        w.methods->set_attribute(w.world, crate, text_from("a"), &value, ATTRIBUTE_PERSISTENT));
    value = (ScriptValue){.type = SCRIPT_ENTITY, .entity = other};
    CHECK_OK(w.methods->set_attribute(w.world, crate, text_from("c"), &value, 0));
    ScriptValue out;
    CHECK(w.methods->attribute(w.world, crate, text_from("a"), &out) && same(out.text, "hällo"));
    CHECK(w.methods->attribute(w.world, crate, text_from("b"), &out) && out.vector.y == 2);
    CHECK(w.methods->attribute(w.world, crate, text_from("c"), &out) && out.entity == other);
    CHECK(!w.methods->attribute(w.world, crate, text_from("d"), &out));

    // In the order of names; flags stick until nil.
    const AttributeTable *attributes = authority_attributes(w.authority);
    AttributeEntry entry = {0};
    CHECK(attribute_table_attribute_next(attributes, attribute_table_find(attributes, crate),
                                         &entry) &&
          same(entry.name, "a"));
    CHECK_INT(entry.flags, ATTRIBUTE_PERSISTENT);
    CHECK(attribute_table_attribute_next(attributes, attribute_table_find(attributes, crate),
                                         &entry) &&
          same(entry.name, "b"));
    value = number(4);
    CHECK_OK(w.methods->set_attribute(w.world, crate, text_from("b"), &value, 0));
    uint32_t flags = 0;
    CHECK(attribute_table_attribute(attributes, crate, text_from("b"), &out, &flags) &&
          out.number == 4);
    CHECK_INT(flags, ATTRIBUTE_PRIVATE);
    const ScriptValue nil = {.type = SCRIPT_NIL};
    CHECK_OK(w.methods->set_attribute(w.world, crate, text_from("b"), &nil, 0));
    CHECK_OK(w.methods->set_attribute(w.world, crate, text_from("b"), &value, 0));
    CHECK(attribute_table_attribute(attributes, crate, text_from("b"), &out, &flags));
    CHECK_INT(flags, 0);

    // Texts: one small place, one large one.
    value = (ScriptValue){.type = SCRIPT_TEXT, .text = text_from("more")};
    CHECK_OK(
        w.methods->set_attribute(w.world, crate, text_from("d"), &value, 0)); // in the large place
    CHECK_INT(w.methods->set_attribute(w.world, crate, text_from("b"), &value, 0), STATUS_LIMIT);
    CHECK(w.methods->attribute(w.world, crate, text_from("b"), &out) &&
          out.number == 4); // as before
    CHECK(w.methods->attribute(w.world, crate, text_from("d"), &out) && same(out.text, "more"));
    value = number(1);
    CHECK_INT(w.methods->set_attribute(w.world, crate, text_from("e"), &value, 0), STATUS_LIMIT);
    CHECK_OK(w.methods->set_attribute(w.world, other, text_from("x"), &value, 0));
    CHECK_OK(w.methods->set_attribute(w.world, other, text_from("y"), &value, 0));
    CHECK_INT(w.methods->set_attribute(w.world, other, text_from("z"), &value, 0), STATUS_LIMIT);
    CHECK_INT(authority_counters(w.authority).records_refused, 3);

    // What no attribute may be.
    char long_name[80];
    memset(long_name, 'n', sizeof long_name);
    static char long_text[2000];
    memset(long_text, 't', sizeof long_text);
    CHECK_INT(w.methods->set_attribute(w.world, crate, text_from(""), &value, 0), STATUS_RANGE);
    CHECK_INT(w.methods->set_attribute(w.world, crate, (Text){long_name, 65}, &value, 0),
              STATUS_RANGE);
    CHECK_INT(w.methods->set_attribute(w.world, crate, text_from("\xff"), &value, 0),
              STATUS_MALFORMED);
    CHECK_INT(w.methods->set_attribute(w.world, crate, text_from("a"), &value, 16), STATUS_RANGE);
    value.number = __builtin_nan("");
    CHECK_INT(w.methods->set_attribute(w.world, crate, text_from("a"), &value, 0), STATUS_RANGE);
    value = (ScriptValue){.type = SCRIPT_VECTOR, .vector = {0, NAN_F, 0}};
    CHECK_INT(w.methods->set_attribute(w.world, crate, text_from("a"), &value, 0), STATUS_RANGE);
    value = (ScriptValue){.type = SCRIPT_TEXT, .text = {long_text, 1025}};
    CHECK_INT(w.methods->set_attribute(w.world, crate, text_from("a"), &value, 0), STATUS_RANGE);
    value = (ScriptValue){.type = SCRIPT_TEXT, .text = text_from("\xc3")};
    CHECK_INT(w.methods->set_attribute(w.world, crate, text_from("a"), &value, 0),
              STATUS_MALFORMED);
    value = (ScriptValue){.type = (ScriptValueType)99};
    CHECK_INT(w.methods->set_attribute(w.world, crate, text_from("a"), &value, 0),
              STATUS_UNSUPPORTED);
    CHECK_OK(w.methods->destroy(w.world, crate));
    CHECK_OK(w.methods->destroy(w.world, other));
    step(&w, 1);
    CHECK_INT(
        attributes->attributes.count + attributes->texts[0].count + attributes->texts[1].count, 0);
    close_world(&w);
}

TEST(tags_are_sets_with_a_cap)
{
    AuthorityConfig config = authority_config_default();
    config.attributes.tag_max = 2;
    World w = open_world_with(&config, 64);
    const uint64_t a = spawn(&w, "Crate", vec3(0, 1, 0));
    const uint64_t b = spawn(&w, "Crate", vec3(3, 1, 0));
    CHECK_OK(w.methods->set_tag(w.world, b, text_from("red"), true));
    CHECK_OK(w.methods->set_tag(w.world, a, text_from("red"), true));
    CHECK_OK(w.methods->set_tag(w.world, a, text_from("red"), true));
    CHECK_OK(w.methods->set_tag(w.world, a, text_from("blue"), true));
    CHECK_INT(w.methods->set_tag(w.world, a, text_from("green"), true), STATUS_LIMIT);
    uint64_t ids[4];
    CHECK_INT(w.methods->tagged(w.world, text_from("red"), ids, 4), 2);
    CHECK_INT(ids[0], a);
    CHECK_INT(ids[1], b);
    CHECK_INT(w.methods->tagged(w.world, text_from("red"), ids, 1), 1);
    CHECK_INT(w.methods->tagged(w.world, text_from("green"), ids, 4), 0);
    CHECK_OK(w.methods->set_tag(w.world, a, text_from("blue"), false));
    CHECK_OK(w.methods->set_tag(w.world, a, text_from("blue"), false));
    CHECK(!w.methods->has_tag(w.world, a, text_from("blue")));
    CHECK_OK(w.methods->set_tag(w.world, a, text_from("green"), true)); // the place of blue
    CHECK_INT(w.methods->tagged(w.world, text_from("blue"), ids, 4), 0);
    CHECK_INT(w.methods->set_tag(w.world, a, text_from(""), true), STATUS_RANGE);
    CHECK_INT(w.methods->set_tag(w.world, a, text_from("\x80"), true), STATUS_MALFORMED);
    close_world(&w);
}

TEST(prefabs_come_with_what_they_have)
{
    World w = open_world();
    const uint64_t coin = spawn(&w, "Coin", vec3(0, 1, 0));
    ScriptValue out;
    CHECK(w.methods->attribute(w.world, coin, text_from("value"), &out) && out.number == 5);
    CHECK(w.methods->has_tag(w.world, coin, text_from("pickup")));
    CHECK_INT(info(&w, coin).type, ENTITY_PROP);
    const uint64_t crate = spawn(&w, "Crate", vec3(0, 4, 0));
    uint32_t count = 0;
    const AuthorityBind *binds = authority_binds(w.authority, &count);
    CHECK_INT(count, 1);
    CHECK_INT(binds[0].net_id, crate);
    CHECK_TEXT(binds[0].prefab->script_path, "Workspace/Crate");
    authority_binds_clear(w.authority);
    uint64_t out_id = 77;
    CHECK_INT(w.methods->spawn(w.world, text_from("Dragon"), VEC3_ZERO, false, &out_id),
              STATUS_NOT_FOUND);
    CHECK_INT(w.methods->spawn(w.world, text_from("Coin"), VEC3_ZERO, true, &out_id),
              STATUS_DENIED);
    CHECK_INT(w.methods->spawn(w.world, text_from("Coin"), vec3(NAN_F, 0, 0), false, &out_id),
              STATUS_RANGE);
    CHECK_INT(w.methods->spawn(w.world, text_from("Guard"), vec3(1e8f, 0, 0), false, &out_id),
              STATUS_RANGE);
    CHECK_INT(out_id, 77);
    close_world(&w);
}

TEST(a_full_world_refuses_and_leaves_no_trace)
{
    AuthorityConfig config = authority_config_default();
    config.bind_max = 2;
    World w = open_world_with(&config, 8);
    uint64_t out = 0;
    (void)spawn(&w, "Crate", vec3(0, 1, 0));
    (void)spawn(&w, "Crate", vec3(0, 3, 0));
    CHECK_INT(w.methods->spawn(w.world, text_from("Crate"), VEC3_ZERO, false, &out), STATUS_LIMIT);
    CHECK_INT(authority_counters(w.authority).binds_dropped, 1);
    step(&w, 1);
    CHECK_INT(sim_count(w.sim, ENTITY_PART), 2);
    for (uint32_t i = 0; i < 6; i++) {
        (void)spawn(&w, "Coin", vec3(0, 1, 0));
    }
    CHECK_INT(w.methods->spawn(w.world, text_from("Coin"), VEC3_ZERO, false, &out), STATUS_LIMIT);
    CHECK_INT(w.methods->set_position(w.world, DOOR, vec3(0, 9, 0)), STATUS_LIMIT); // cannot thaw
    CHECK(info(&w, DOOR).is_anchored);
    CHECK_INT(authority_attributes(w.authority)->records.count, 8);
    close_world(&w);

    config = authority_config_default();
    config.attributes.record_max = 1;
    w = open_world_with(&config, 64);
    (void)spawn(&w, "Coin", vec3(0, 1, 0));
    CHECK_INT(w.methods->spawn(w.world, text_from("Coin"), VEC3_ZERO, false, &out), STATUS_LIMIT);
    CHECK_INT(w.methods->npc_spawn(w.world, vec3(0, 0, 8), &out), STATUS_LIMIT);
    CHECK_INT(w.methods->set_position(w.world, DOOR, vec3(0, 9, 0)), STATUS_LIMIT);
    step(&w, 1);
    CHECK_INT(sim_count(w.sim, ENTITY_PROP), 1);
    CHECK_INT(sim_count(w.sim, ENTITY_NPC), 0);
    close_world(&w);
}

TEST(queries_see_entities_scene_and_terrain)
{
    World w = open_world();
    const uint64_t crate = spawn(&w, "Crate", vec3(-3, 1.5f, 2)), door = DOOR;
    uint64_t ids[8];
    CHECK_INT(w.methods->in_radius(w.world, vec3(-3, 1.5f, 3), 2, ENTITY_MASK_ALL, ids, 8), 2);
    CHECK_INT(ids[0], crate);
    CHECK_INT(ids[1], DOOR);
    CHECK_INT(w.methods->in_radius(w.world, vec3(-3, 1.5f, 3), 2, ENTITY_MASK_ALL, ids, 1), 1);
    CHECK_INT(w.methods->in_radius(w.world, vec3(NAN_F, 0, 0), 2, ENTITY_MASK_ALL, ids, 8), 0);
    CHECK_INT(w.methods->in_radius(w.world, VEC3_ZERO, -1, ENTITY_MASK_ALL, ids, 8), 0);
    CHECK_INT(w.methods->in_radius(w.world, VEC3_ZERO, NAN_F, ENTITY_MASK_ALL, ids, 8), 0);
    ScriptRayHit hit;
    const Vec3 from = {-3, 1.5f, 0};
    CHECK(w.methods->ray(w.world, from, vec3(0, 0, 1), 50, (ScriptIgnored){0}, &hit));
    CHECK_INT(hit.entity, crate);
    CHECK_NEAR(hit.distance, 1.5, 1e-4);
    CHECK(w.methods->ray(w.world, from, vec3(0, 0, 1), 50, (ScriptIgnored){&crate, 1}, &hit));
    CHECK_INT(hit.entity, DOOR);
    CHECK_OK(w.methods->destroy(w.world, crate));
    step(&w, 1);
    CHECK(w.methods->ray(w.world, from, vec3(0, 0, 1), 50, (ScriptIgnored){&door, 1}, &hit));
    CHECK_INT(hit.entity, TWIN);
    CHECK(w.methods->ray(w.world, from, vec3(0, -1, 0), 50, (ScriptIgnored){0}, &hit));
    CHECK_INT(hit.entity, 0);
    CHECK_INT(hit.kind, 1);
    CHECK_INT(hit.voxel.y, -1);
    CHECK(!w.methods->ray(w.world, from, vec3(0, 1, 0), 50, (ScriptIgnored){0}, &hit));
    CHECK(!w.methods->ray(w.world, from, VEC3_ZERO, 50, (ScriptIgnored){0}, &hit));
    CHECK(
        !w.methods->ray(w.world, vec3(NAN_F, 0, 0), vec3(0, -1, 0), 50, (ScriptIgnored){0}, &hit));
    CHECK(!w.methods->ray(w.world, from, vec3(0, -1, 0), NAN_F, (ScriptIgnored){0}, &hit));
    close_world(&w);
}

TEST(voxels_change_within_limits)
{
    World w = open_world();
    CHECK_OK(w.methods->set_voxel(w.world, (VoxelCoord){1, 2, 3}, 5));
    CHECK_INT(w.methods->voxel(w.world, (VoxelCoord){1, 2, 3}), 5);
    CHECK_INT(w.methods->voxel(w.world, (VoxelCoord){1 << 30, 0, 0}), 0);
    CHECK_OK(w.methods->fill_box(w.world, (VoxelCoord){0, 0, 0}, (VoxelCoord){2, 2, 2}, 3));
    CHECK_INT(w.methods->voxel(w.world, (VoxelCoord){1, 1, 1}), 3);
    CHECK_OK(w.methods->fill_sphere(w.world, vec3(0, 5, 0), 2, 4));
    CHECK_INT(w.methods->voxel(w.world, (VoxelCoord){0, 5, 0}), 4);
    CHECK_INT(w.methods->set_voxel(w.world, (VoxelCoord){1 << 20, 0, 0}, 5), STATUS_RANGE);
    CHECK_INT(w.methods->set_voxel(w.world, (VoxelCoord){0, 0, 0}, 1024), STATUS_RANGE);
    CHECK_INT(w.methods->fill_box(w.world, (VoxelCoord){0, 0, 0}, (VoxelCoord){64, 0, 0}, 1),
              STATUS_RANGE);
    CHECK_INT(w.methods->fill_sphere(w.world, vec3(0, 0, 0), NAN_F, 1), STATUS_RANGE);
    CHECK_INT(w.methods->fill_sphere(w.world, vec3(0, 0, 0), 25, 1), STATUS_RANGE);
    close_world(&w);
}

TEST(players_come_play_and_go)
{
    World w = open_world();
    const uint64_t body = join(&w, 7, "player1", vec3(0, 0, 0));
    CHECK_INT(count_events(&w, SCRIPT_EVENT_PLAYER_ADDED, 0), 1);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_RESPAWNED, body), 1);
    CHECK_INT(authority_player_join(w.authority, 7, text_from("again")), STATUS_EXISTS);
    CHECK_INT(authority_player_join(w.authority, 0, text_from("nobody")), STATUS_RANGE);
    CHECK_INT(authority_player_join(w.authority, 8, text_from("")), STATUS_RANGE);
    CHECK_INT(authority_player_join(w.authority, 8, text_from("\xfe")), STATUS_MALFORMED);
    CHECK_INT(w.methods->find(w.world, text_from("player1")), body);
    CHECK_INT(info(&w, body).owner_id, 7);
    CHECK_NEAR(info(&w, body).health, 100, 0);

    CHECK_OK(w.methods->player_team(w.world, 7, text_from("red")));
    CHECK_OK(w.methods->player_stat(w.world, 7, text_from("Coins"), 5));
    CHECK_OK(w.methods->player_stat(w.world, 7, text_from("Coins"), 6));
    double value = 0;
    CHECK(w.methods->player_stat_read(w.world, 7, text_from("Coins"), &value) && value == 6);
    CHECK(!w.methods->player_stat_read(w.world, 7, text_from("Gems"), &value));
    CHECK(!w.methods->player_stat_read(w.world, 8, text_from("Coins"), &value));
    CHECK_INT(w.methods->player_stat(w.world, 8, text_from("Coins"), 1), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->player_stat(w.world, 7, text_from("Coins"), __builtin_nan("")),
              STATUS_RANGE);
    CHECK_INT(w.methods->player_stat(w.world, 7, text_from(""), 1), STATUS_RANGE);
    CHECK_INT(w.methods->player_team(w.world, 8, text_from("red")), STATUS_NOT_FOUND);
    for (uint32_t i = 1; i < ROSTER_STATS_MAX; i++) {
        char name[8];
        snprintf(name, sizeof name, "s%u", i);
        CHECK_OK(w.methods->player_stat(w.world, 7, text_from(name), i));
    }
    CHECK_INT(w.methods->player_stat(w.world, 7, text_from("full"), 1), STATUS_LIMIT);
    ScriptPlayerInfo players[2];
    CHECK_INT(w.methods->players(w.world, players, 2), 1);
    CHECK(same(players[0].name, "player1") && same(players[0].team, "red"));
    CHECK_OK(w.methods->player_team(w.world, 7, text_from("")));

    // Killed by a script between two steps, and alive again.
    drop_events(&w);
    CHECK_OK(w.methods->damage(w.world, body, 1000, DOOR));
    CHECK_OK(w.methods->damage(w.world, body, 1000, DOOR)); // dies once
    CHECK_NEAR(info(&w, body).health, 0, 0);
    step(&w, 1);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_DIED, body), 1); // after its damage
    uint32_t count = 0;
    CHECK_INT(authority_events(w.authority, &count)[1].player_id, 7);
    CHECK_OK(w.methods->player_spawn(w.world, 7, &(Vec3){0, 0, 8}));
    CHECK_NEAR(info(&w, body).health, 100, 0);
    CHECK_NEAR(info(&w, body).position.z, 8, 0);
    CHECK_INT(w.methods->player_spawn(w.world, 9, NULL), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->player_spawn(w.world, 7, &(Vec3){NAN_F, 0, 0}), STATUS_RANGE);
    CHECK_INT(w.methods->damage(w.world, body, NAN_F, 0), STATUS_RANGE);
    CHECK_INT(w.methods->damage(w.world, DOOR, 5, 0), STATUS_NOT_FOUND); // has no health

    CHECK_OK(w.methods->player_spawn(w.world, 7, NULL)); // without spawns: the origin
    CHECK_NEAR(info(&w, body).position.z, 0, 0);
    // A destroyed body can be replaced.
    CHECK_OK(w.methods->destroy(w.world, body));
    step(&w, 1);
    CHECK_INT(w.methods->players(w.world, players, 2), 1);
    CHECK_INT(players[0].entity, 0);
    CHECK_OK(w.methods->player_spawn(w.world, 7, NULL));
    CHECK_INT(w.methods->players(w.world, players, 2), 1);
    CHECK(players[0].entity != body);
    const uint64_t second = players[0].entity;

    // Leaving: still there for the scripts that get the event.
    drop_events(&w);
    CHECK_OK(authority_player_leave(w.authority, 7));
    CHECK_INT(authority_player_leave(w.authority, 7), STATUS_NOT_FOUND);
    CHECK_INT(authority_player_leave(w.authority, 9), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->player_spawn(w.world, 7, NULL), STATUS_NOT_FOUND);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_PLAYER_REMOVING, 0), 1);
    authority_collect(w.authority);
    CHECK_INT(w.methods->players(w.world, players, 2), 1);
    CHECK(exists(&w, second));
    step(&w, 1);
    CHECK_INT(w.methods->players(w.world, players, 2), 0);
    CHECK(!exists(&w, second));
    step(&w, 1);
    CHECK_INT(sim_count(w.sim, ENTITY_PLAYER), 0);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_DESTROYED, second), 1);
    close_world(&w);
}

TEST(players_are_spread_over_the_spawns)
{
    static const PlaceSpawn spawns[] = {{.position = {1, 0, 2}}, {.position = {-3, 0, 0}}};
    AuthorityConfig config = authority_config_default();
    config.spawns = spawns;
    config.spawn_count = 2;
    World w = open_world_with(&config, 256);
    for (uint64_t player = 7; player < 10; player++) {
        ScriptPlayerInfo players[4];
        CHECK_OK(authority_player_join(w.authority, player, text_from("somebody")));
        CHECK_OK(w.methods->player_spawn(w.world, player, NULL));
        const uint32_t count = w.methods->players(w.world, players, 4);
        REQUIRE(count == player - 6);
        CHECK_NEAR(info(&w, players[count - 1].entity).position.x, player % 2 ? -3 : 1, 0);
        CHECK_NEAR(authority_spawn_point(w.authority, player).x, player % 2 ? -3 : 1, 0);
    }
    close_world(&w);
}

// Those of the team come first, then those for everybody, then any.
TEST(spawns_are_of_teams)
{
    static const PlaceSpawn spawns[] = {{.position = {1, 0, 0}},
                                        {.position = {2, 0, 0}, .team = {"red", 3}},
                                        {.position = {3, 0, 0}, .team = {"blue", 4}},
                                        {.position = {4, 0, 0}, .team = {"red", 3}}};
    AuthorityConfig config = authority_config_default();
    config.spawns = spawns;
    config.spawn_count = 4;
    World w = open_world_with(&config, 256);
    CHECK_OK(authority_player_join(w.authority, 7, text_from("ann")));
    CHECK_NEAR(authority_spawn_point(w.authority, 7).x, 1, 0);
    static const struct {
        const char *team;
        float x;
    } rows[] = {{"red", 4}, {"blue", 3}, {"green", 1}, {"Red", 1}, {"", 1}};
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_OK(w.methods->player_team(w.world, 7, text_from(rows[i].team)));
        CHECK_OK(w.methods->player_spawn(w.world, 7, NULL));
        ScriptPlayerInfo player;
        CHECK_INT(w.methods->players(w.world, &player, 1), 1);
        CHECK_NEAR(info(&w, player.entity).position.x, rows[i].x, 0);
    }
    CHECK_OK(authority_player_join(w.authority, 8, text_from("bo")));
    CHECK_OK(w.methods->player_team(w.world, 8, text_from("red")));
    CHECK_NEAR(authority_spawn_point(w.authority, 8).x, 2, 0);
    close_world(&w);
    // A place that has spawns of teams alone, and somebody without a team.
    config.spawns = spawns + 1;
    config.spawn_count = 3;
    w = open_world_with(&config, 256);
    CHECK_OK(authority_player_join(w.authority, 7, text_from("ann")));
    CHECK_NEAR(authority_spawn_point(w.authority, 7).x, 3, 0);
    close_world(&w);
}

static Status fire(World *w, uint64_t shooter, Vec3 velocity, float damage, uint64_t *out)
{
    const Vec3 position = vec3(0, 1, -5);
    const ScriptShot shot = {
        .shooter = shooter, .velocity = velocity, .position = &position, .damage = &damage};
    return w->methods->fire(w->world, &shot, out);
}

TEST(zones_touch_and_hits_become_events)
{
    World w = open_world();
    const uint64_t body = join(&w, 7, "player1", vec3(10, 0.5f, 0));
    drop_events(&w);
    step(&w, 2);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_TOUCH, PAD), 1); // stands on a part that blocks
    CHECK_INT(count_events(&w, SCRIPT_EVENT_TRIGGER_ENTER, 0), 0);
    CHECK_OK(w.methods->set_position(w.world, body, vec3(5, 0, 5)));
    drop_events(&w);
    step(&w, 1);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_TRIGGER_ENTER, ZONE), 1);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_TRIGGER_LEAVE, 0), 0); // no leave of a touch
    CHECK_INT(count_events(&w, SCRIPT_EVENT_TOUCH, 0), 0);
    CHECK_OK(w.methods->set_position(w.world, body, vec3(0, 0, 0)));
    step(&w, 1);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_TRIGGER_LEAVE, ZONE), 1);
    authority_collect(w.authority); // the same step is not translated twice
    CHECK_INT(count_events(&w, SCRIPT_EVENT_TRIGGER_LEAVE, ZONE), 1);

    uint64_t shot = 0;
    drop_events(&w);
    CHECK_OK(fire(&w, 0, vec3(0, 0, 30), 200, &shot));
    step(&w, 20);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_TOUCH, shot), 1);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_DESTROYED, shot), 1);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_DIED, body), 1);
    CHECK_INT(fire(&w, 999, VEC3_ZERO, 1, &shot), STATUS_NOT_FOUND);
    CHECK_INT(fire(&w, 0, vec3(NAN_F, 0, 0), 1, &shot), STATUS_RANGE);
    CHECK_INT(fire(&w, 0, VEC3_ZERO, NAN_F, &shot), STATUS_RANGE);
    close_world(&w);
}

TEST(npcs_are_told_and_tell)
{
    World w = open_world();
    const uint64_t body = join(&w, 7, "player1", vec3(20, 0, 20));
    uint64_t npc = 0;
    CHECK_OK(w.methods->npc_spawn(w.world, vec3(20, 0, 0), &npc));
    uint32_t state = 99;
    float suspicion = 9;
    CHECK_OK(w.methods->npc_state(w.world, npc, &state, &suspicion));
    CHECK_INT(state, NPC_IDLE);
    CHECK_NEAR(suspicion, 0, 0);
    CHECK_OK(w.methods->npc_target(w.world, npc, body));
    step(&w, 2);
    CHECK_OK(w.methods->npc_state(w.world, npc, &state, &suspicion));
    CHECK_INT(state, NPC_ALERT);
    CHECK_OK(w.methods->npc_target(w.world, npc, 0));
    step(&w, 30);
    CHECK(count_events(&w, SCRIPT_EVENT_NPC, npc) >= 1);
    CHECK_OK(w.methods->npc_move_to(w.world, npc, vec3(22, 0, 2)));
    const Vec3 points[2] = {{20, 0, 0}, {24, 0, 0}};
    CHECK_OK(w.methods->npc_patrol(w.world, npc, points, 2));
    CHECK_INT(w.methods->npc_patrol(w.world, npc, points, 1000), STATUS_RANGE);
    CHECK_INT(w.methods->npc_move_to(w.world, npc, vec3(NAN_F, 0, 0)), STATUS_RANGE);
    CHECK_INT(w.methods->npc_target(w.world, npc, DOOR), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->npc_target(w.world, npc, 999), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->npc_target(w.world, DOOR, body), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->npc_state(w.world, body, &state, &suspicion), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->npc_spawn(w.world, vec3(NAN_F, 0, 0), &npc), STATUS_RANGE);
    CHECK_OK(w.methods->damage(w.world, npc, 1e6f, body));
    step(&w, 1);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_DIED, npc), 1);
    close_world(&w);
}

TEST(structures_stand_fall_and_are_reported)
{
    World w = open_world();
    uint64_t piece = 0;
    CHECK_OK(w.methods->structure_place(w.world, 0, (VoxelCoord){20, 0, 20}, 0, 7, &piece));
    CHECK_INT(info(&w, piece).owner_id, 7);
    CHECK_NEAR(info(&w, piece).health, 10, 0);
    uint64_t other = 0;
    CHECK_INT(w.methods->structure_place(w.world, 0, (VoxelCoord){20, 0, 20}, 0, 7, &other),
              STATUS_BLOCKED);
    CHECK_INT(w.methods->structure_place(w.world, 9, (VoxelCoord){25, 0, 20}, 0, 7, &other),
              STATUS_NOT_FOUND);
    CHECK_INT(w.methods->structure_place(w.world, 0, (VoxelCoord){25, 9, 20}, 0, 7, &other),
              STATUS_DENIED);
    CHECK_INT(w.methods->set_position(w.world, piece, VEC3_ZERO), STATUS_NOT_FOUND);
    CHECK_OK(w.methods->damage(w.world, piece, 4, 0));
    CHECK_NEAR(info(&w, piece).health, 6, 0);
    CHECK_OK(w.methods->damage(w.world, piece, 10, 0));
    CHECK(exists(&w, piece)); // to the end of the phase
    step(&w, 1);
    CHECK(!exists(&w, piece));
    CHECK_INT(count_events(&w, SCRIPT_EVENT_DESTROYED, piece), 1);
    CHECK_OK(w.methods->structure_place(w.world, 0, (VoxelCoord){20, 0, 20}, 0, 0, &piece));
    CHECK_OK(w.methods->structure_remove(w.world, piece));
    CHECK(exists(&w, piece));
    step(&w, 1);
    CHECK(!exists(&w, piece));
    CHECK_INT(w.methods->structure_remove(w.world, DOOR), STATUS_NOT_FOUND);
    // One that the owner placed, without a record here, is reported too.
    Handle handle = HANDLE_NONE;
    const StructureDesc desc = {.owner_id = 7, .cell = {30, 0, 20}};
    CHECK_OK(structure_place(w.sim, &desc, &handle));
    const uint64_t unknown = sim_entity(w.sim, handle)->net_id;
    CHECK_OK(structure_remove(w.sim, handle, 7));
    step(&w, 1);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_DESTROYED, unknown), 1);
    close_world(&w);
}

static Status play(World *w, const char *name, uint64_t player_id, const Vec3 *at, float volume)
{
    ScriptSound sound = {.name = text_from(name),
                         .player_id = player_id,
                         .has_position = at != NULL,
                         .position = at != NULL ? *at : VEC3_ZERO,
                         .volume = volume,
                         .pitch = 1};
    return w->methods->sound(w->world, &sound);
}

TEST(effects_wait_for_the_owner_and_have_caps)
{
    AuthorityConfig config = authority_config_default();
    config.effect_max = 5;
    config.effect_bytes_max = 100;
    World w = open_world_with(&config, 64);
    (void)join(&w, 7, "player1", VEC3_ZERO);
    const uint8_t payload[] = {6, 1, 2};
    ScriptMessage message = {.player_id = 7,
                             .name = text_from("hit"),
                             .payload = payload,
                             .payload_bytes = 3,
                             .reliable = true};
    CHECK_OK(w.methods->send(w.world, &message));
    CHECK_OK(w.methods->chat(w.world, text_from("hello"), 0));
    const Vec3 at = {1, 2, 3};
    CHECK_OK(play(&w, "bell", 7, &at, 0.5f));
    const StoreRequest store = {.request_id = 9,
                                .operation = STORE_SET,
                                .store = text_from("scores"),
                                .key = text_from("k"),
                                .value = payload,
                                .value_bytes = 3};
    CHECK_OK(w.methods->store(w.world, &store));
    uint32_t count = 0;
    const Effect *effects = authority_effects(w.authority, &count);
    REQUIRE(count == 4);
    CHECK_INT(effects[0].type, EFFECT_MESSAGE);
    CHECK(same(effects[0].message.name, "hit") && effects[0].message.payload != payload);
    CHECK_BYTES(effects[0].message.payload, payload, 3);
    CHECK(effects[1].type == EFFECT_CHAT && same(effects[1].text, "hello"));
    CHECK(effects[2].type == EFFECT_SOUND && effects[2].sound.has_position &&
          effects[2].sound.position.y == 2);
    CHECK(effects[3].type == EFFECT_STORE && same(effects[3].store.key, "k"));
    CHECK_INT(effects[3].store.request_id, 9);

    // Missing player, invalid value, no room.
    message.player_id = 8;
    CHECK_INT(w.methods->send(w.world, &message), STATUS_NOT_FOUND);
    CHECK_INT(w.methods->chat(w.world, text_from("x"), 8), STATUS_NOT_FOUND);
    CHECK_INT(play(&w, "x", 8, NULL, 1), STATUS_NOT_FOUND);
    message.player_id = 0;
    message.name = text_from("");
    CHECK_INT(w.methods->send(w.world, &message), STATUS_RANGE);
    message.name = text_from("big");
    message.payload_bytes = (64u << 10) + 1;
    CHECK_INT(w.methods->send(w.world, &message), STATUS_RANGE);
    CHECK_INT(w.methods->chat(w.world, text_from(""), 0), STATUS_RANGE);
    CHECK_INT(w.methods->chat(w.world, text_from("\xff"), 0), STATUS_MALFORMED);
    CHECK_INT(play(&w, "bell", 0, NULL, 2), STATUS_RANGE);
    CHECK_INT(play(&w, "bell", 0, NULL, NAN_F), STATUS_RANGE);
    CHECK_INT(play(&w, "", 0, NULL, 1), STATUS_RANGE);
    const Vec3 nowhere = {NAN_F, 0, 0};
    CHECK_INT(play(&w, "bell", 0, &nowhere, 1), STATUS_RANGE);
    StoreRequest bad = store;
    bad.key = text_from("");
    CHECK_INT(w.methods->store(w.world, &bad), STATUS_RANGE);
    bad = store;
    bad.number = __builtin_nan("");
    CHECK_INT(w.methods->store(w.world, &bad), STATUS_RANGE);
    message.payload_bytes = 90;
    static const uint8_t zeros[90];
    message.payload = zeros;
    CHECK_INT(w.methods->send(w.world, &message), STATUS_LIMIT); // bytes
    CHECK_OK(w.methods->chat(w.world, text_from("a"), 0));
    CHECK_INT(w.methods->chat(w.world, text_from("b"), 0), STATUS_LIMIT); // count
    CHECK_INT(authority_counters(w.authority).effects_dropped, 2);
    authority_effects_clear(w.authority);
    CHECK_OK(w.methods->send(w.world, &message));

    // A client's alone.
    Vec3 position;
    CHECK(!w.methods->key_is_down(w.world, text_from("W")));
    CHECK(!w.methods->camera(w.world, &position, &position));
    CHECK_INT(w.methods->local_player(w.world), 0);
    CHECK_INT(w.methods->show(w.world, 1, 0, payload, 3), STATUS_DENIED);
    close_world(&w);
}

TEST(a_clear_gives_every_script_its_part_again)
{
    AuthorityConfig config = authority_config_default();
    config.effect_max = 8;
    World w = open_world_with(&config, 64);
    w.world->caller = 3;
    for (int tick = 0; tick < 2; tick++) {
        for (int i = 0; i < 4; i++) {
            CHECK_OK(w.methods->chat(w.world, text_from("a"), 0));
        }
        CHECK_INT(w.methods->chat(w.world, text_from("a"), 0), STATUS_LIMIT); // half of all
        authority_effects_clear(w.authority);
    }
    close_world(&w);
}

TEST(events_wait_and_have_caps)
{
    AuthorityConfig config = authority_config_default();
    config.event_max = 3;
    config.event_bytes_max = 8;
    World w = open_world_with(&config, 64);
    const uint64_t a = spawn(&w, "Coin", vec3(0, 1, 0));
    const uint64_t b = spawn(&w, "Coin", vec3(0, 2, 0));
    CHECK_OK(authority_player_join(w.authority, 7, text_from("player1")));
    CHECK_OK(authority_player_chat(w.authority, 7, text_from("hello")));
    CHECK_INT(authority_player_chat(w.authority, 7, text_from("world")), STATUS_LIMIT); // bytes
    CHECK_INT(authority_player_chat(w.authority, 8, text_from("x")), STATUS_NOT_FOUND);
    CHECK_INT(authority_player_chat(w.authority, 7, text_from("")), STATUS_RANGE);
    CHECK_OK(w.methods->destroy(w.world, a));
    CHECK_OK(w.methods->destroy(w.world, b));
    step(&w, 1);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_DESTROYED, 0), 1); // the second has no room yet
    uint32_t count = 0;
    const ScriptEvent *events = authority_events(w.authority, &count);
    CHECK_INT(count, 3);
    CHECK(same(events[1].name, "hello"));
    authority_events_take(w.authority, 2);
    CHECK_INT(authority_events(w.authority, &count)[0].entity, a);
    step(&w, 1);
    CHECK_INT(count_events(&w, SCRIPT_EVENT_DESTROYED, b), 1); // late, but reported
    CHECK(authority_counters(w.authority).events_dropped >= 2);
    close_world(&w);
}

TEST(creation_fails_clean)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld walk = walk_world_open(&desc);
    AuthorityConfig config = authority_config_default();
    config.sim = walk.sim;
    Authority *authority = NULL;
    const uint64_t before = walk.heap.bytes_now;
    walk.heap.bytes_max = before + 1000;
    CHECK_INT(authority_create(&walk.heap, &config, &authority), STATUS_LIMIT);
    CHECK(authority == NULL);
    CHECK_INT(walk.heap.bytes_now, before);
    walk.heap.bytes_max = 1u << 30;
    CHECK_OK(authority_create(&walk.heap, &config, &authority)); // no names, no prefabs
    ScriptWorld *world = authority_world(authority);
    CHECK_INT(world->methods->find(world, text_from("Door")), 0);
    authority_destroy(&walk.heap, authority);
    walk_world_close(&walk);
}
