// The whole replicator: what clients know after each frame, and what they must never get. Every
// frame also passes the checks of replicate_world.c.
#include "core/base/rng.h"
#include "core/sim/npc.h"
#include "core/sim/projectile.h"
#include "core/sim/structure.h"
#include "tests/support/test.h"
#include "tests/unit/replicate_world.h"

#include <string.h>

static ReplicateWorld world; // large

static void open_default(void)
{
    const WalkWorldDesc desc = walk_world_default();
    const ReplicatorConfig config = replicate_config();
    replicate_open(&world, &desc, &config);
}

static uint64_t join_at(uint32_t session, Vec3 position)
{
    const uint64_t own = replicate_id(&world, walk_player(world.sim, position));
    replicate_join(&world, session, own);
    return own;
}

static void walk(Handle character, float yaw)
{
    const SimInput input = {.move_z = 1, .yaw = yaw};
    sim_set_input(world.sim, character, &input);
}

TEST(who_is_near_is_seen_and_who_is_far_is_not)
{
    open_default();
    const uint64_t own = join_at(0, vec3(0, 0, 0));
    const uint64_t near = replicate_id(&world, walk_player(world.sim, vec3(10, 0, 0)));
    const uint64_t far = replicate_id(&world, walk_player(world.sim, vec3(20, 0, 0)));
    replicate_run(&world, 1);
    CHECK(replicate_known(&world, 0, own) != NULL);
    CHECK(replicate_known(&world, 0, near) != NULL);
    CHECK(replicate_known(&world, 0, far) == NULL);
    CHECK(!replicator_sees(world.replicator, 0, far));
    CHECK_INT(world.clients[0].enters, 2);
    replicate_close(&world);
}

TEST(who_is_in_leaves_a_tenth_further_out)
{
    open_default();
    join_at(0, vec3(0, 0, 0));
    const Handle walker = walk_player(world.sim, vec3(10, 0, 0));
    const uint64_t id = replicate_id(&world, walker);
    walk(walker, MATH_PI / 2); // along +x
    float left_at = 0;
    for (uint32_t i = 0; i < 60 && left_at == 0; i++) {
        replicate_run(&world, 1);
        left_at =
            replicate_known(&world, 0, id) == NULL ? sim_entity(world.sim, walker)->position.x : 0;
    }
    CHECK(left_at > 1.1f * 16 - 0.5f);
    CHECK(left_at < 1.1f * 16 + 1.5f); // a whole look comes every fourth capture
    walk(walker, -MATH_PI / 2);
    while (sim_entity(world.sim, walker)->position.x > 16.1f) {
        replicate_run(&world, 1);
        CHECK(replicate_known(&world, 0, id) == NULL);
    }
    replicate_run(&world, 8);
    CHECK(replicate_known(&world, 0, id) != NULL);
    replicate_close(&world);
}

TEST(a_straight_walk_needs_few_versions_and_a_rest_none)
{
    open_default();
    join_at(0, vec3(0, 0, -5));
    const Handle walker = walk_player(world.sim, vec3(0, 0, 0));
    replicate_run(&world, 20);
    const uint64_t resting = replicator_stats(world.replicator).versions_made;
    replicate_run(&world, 20);
    CHECK_INT(replicator_stats(world.replicator).versions_made, resting);
    CHECK(world.clients[0].frame_bytes <= 6);
    walk(walker, MATH_PI / 2);
    replicate_run(&world, 40); // two seconds
    const uint64_t walked = replicator_stats(world.replicator).versions_made - resting;
    CHECK(walked >= 2);
    CHECK(walked <= 8);
    replicate_close(&world);
}

TEST(curves_stay_within_the_tolerance)
{
    open_default();
    join_at(0, vec3(0, 0, 0));
    Handle walkers[6];
    Rng rng = rng_make(test_seed(), 2);
    for (uint32_t i = 0; i < 6; i++) {
        walkers[i] = walk_player(world.sim, vec3((float)i, 0, 3));
    }
    for (uint32_t k = 0; k < 100; k++) {
        SimInput input = {.move_z = 1, .yaw = rng_range(&rng, -3, 3)};
        input.buttons = rng_below(&rng, 4) == 0 ? INPUT_JUMP : 0;
        sim_set_input(world.sim, walkers[rng_below(&rng, 6)], &input);
        replicate_run(&world, 1);
        for (uint32_t i = 0; i < 6; i++) {
            const Entity *entity = sim_entity(world.sim, walkers[i]);
            const MergeSlot *known = replicate_known(&world, 0, entity->net_id);
            CHECK(known == NULL || net_motion_holds(&known->state.motion, entity->position,
                                                    sim_tick(world.sim), 60, 3));
        }
    }
    replicate_close(&world);
}

TEST(a_look_that_turns_a_little_arrives_when_it_rests)
{
    open_default();
    join_at(0, vec3(0, 0, 0));
    const Handle other = walk_player(world.sim, vec3(3, 0, 0));
    const uint64_t id = replicate_id(&world, other);
    replicate_run(&world, 10);
    const float unit = MATH_PI / 128;
    SimInput input = {.yaw = unit * 1.2f};
    sim_set_input(world.sim, other, &input);
    replicate_run(&world, 2);
    CHECK_INT(replicate_known(&world, 0, id)->state.yaw, 0);
    replicate_run(&world, 4);
    CHECK_INT(replicate_known(&world, 0, id)->state.yaw, 1);
    input.yaw = unit * 5;
    sim_set_input(world.sim, other, &input);
    replicate_run(&world, 1);
    CHECK_INT(replicate_known(&world, 0, id)->state.yaw, 5);
    replicate_close(&world);
}

// --- shapes -------------------------------------------------------------------------------------

TEST(shapes_come_whole_and_their_motion_is_told_once)
{
    open_default();
    join_at(0, vec3(0, 0, 0));
    const PartDesc box = walk_box(vec3(3, 0, 3), vec3(5, 1, 5));
    const ShapeDesc desc = {.part = box};
    Handle part;
    CHECK_OK(sim_spawn_part(world.sim, &desc, &part));
    const uint64_t id = replicate_id(&world, part);
    replicate_run(&world, 2);
    REQUIRE(replicate_known(&world, 0, id) != NULL);
    CHECK_BYTES(&world.clients[0].shape.rest, &box.pose, sizeof box.pose);
    Pose target = box.pose;
    target.position.y += 3;
    CHECK_OK(sim_glide_part(world.sim, part, target, 60));
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].updates, 1);
    CHECK(world.clients[0].shape.motion.count > 0);
    const uint32_t version = replicate_known(&world, 0, id)->state.version;
    replicate_run(&world, 40); // past its end: the client has that too
    CHECK_INT(replicate_known(&world, 0, id)->state.version, version);
    CHECK_OK(sim_set_position(world.sim, part, vec3(4, 8, 4)));
    replicate_run(&world, 1);
    CHECK_NEAR(world.clients[0].shape.rest.position.y, 8, 0);
    sim_remove(world.sim, part);
    replicate_run(&world, 1);
    CHECK(replicate_known(&world, 0, id) == NULL);
    CHECK_INT(world.clients[0].leaves, 1);
    replicate_close(&world);
}

TEST(a_large_shape_is_seen_when_its_edge_is_near)
{
    open_default();
    join_at(0, vec3(0, 0, 0));
    const ShapeDesc desc = {.part = walk_box(vec3(10, 0, -1), vec3(70, 1, 1))};
    Handle part;
    CHECK_OK(sim_spawn_part(world.sim, &desc, &part));
    replicate_run(&world, 1);
    CHECK(replicate_known(&world, 0, replicate_id(&world, part)) != NULL);
    replicate_close(&world);
}

// Rows of the cell that one lacks with a version, until the next call.
static uint32_t rows_after(uint64_t version, PatchRow *out, uint32_t max)
{
    const PatchTable *patches = replicator_patches(world.replicator);
    static uint8_t bytes[4096];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    uint32_t next = 0;
    CHECK(patch_table_write(patches, 0, version, &next, &writer));
    ByteReader reader = byte_reader(bytes, writer.at);
    uint32_t count = 0;
    uint64_t before = 0;
    while (byte_reader_left(&reader) > 0 && count < max) {
        CHECK(patch_row_read(&reader, before, &out[count]));
        before = out[count++].net_id;
    }
    return count;
}

TEST(anchored_parts_that_changed_are_rows_and_entities_only_while_they_move)
{
    const PartDesc parts[] = {walk_box(vec3(3, 0, 3), vec3(4, 1, 4)),
                              walk_box(vec3(6, 0, 3), vec3(7, 1, 4))};
    WalkWorldDesc desc = walk_world_default();
    desc.parts = parts;
    desc.part_count = 2;
    const ReplicatorConfig config = replicate_config();
    replicate_open(&world, &desc, &config);
    PatchRow rows[4];
    join_at(0, vec3(0, 0, 0));
    replicate_run(&world, 1);
    const PatchTable *patches = replicator_patches(world.replicator);
    CHECK_INT(patches->cell_count, 1);
    CHECK_INT(rows_after(0, rows, 4), 0);
    CHECK_OK(sim_hide_part(world.sim, 1));
    Handle thawed;
    CHECK_OK(sim_thaw_part(world.sim, 2, &thawed));
    replicate_run(&world, 1);
    CHECK_INT(patches->patched_count, 1); // thawed is not changed
    CHECK_INT(rows_after(0, rows, 4), 1);
    CHECK(rows[0].net_id == 1 && rows[0].groups == PATCH_GONE && rows[0].gone);
    const uint64_t first = patches->cells[0].version;
    CHECK_OK(sim_set_position(world.sim, thawed, vec3(6.5f, 2, 3.5f)));
    replicate_run(&world, 1);
    CHECK_INT(rows_after(first, rows, 4), 1);
    CHECK(rows[0].net_id == 2 && rows[0].groups == PATCH_POSITION);
    CHECK_INT(rows_after(0, rows, 4), 2);
    CHECK(replicate_known(&world, 0, 1) == NULL && replicate_known(&world, 0, 2) == NULL);

    CHECK_OK(sim_glide_part(world.sim, thawed, (Pose){vec3(6.5f, 3, 3.5f), QUAT_IDENTITY}, 12));
    replicate_run(&world, 1);
    REQUIRE(replicate_known(&world, 0, 2) != NULL);
    CHECK_INT(replicate_known(&world, 0, 2)->kind, NET_PART);
    CHECK_INT(rows_after(0, rows, 4), 1); // its pose comes with the entity
    const uint64_t before = patches->cells[0].version;
    replicate_run(&world, 40);
    CHECK(replicate_known(&world, 0, 2) == NULL);
    CHECK_INT(rows_after(before, rows, 4), 1);
    CHECK_NEAR(rows[0].pose.position.y, 3, 1e-6);
    sim_remove(world.sim, thawed);
    replicate_run(&world, 2);
    CHECK_INT(rows_after(before, rows, 4), 1);
    CHECK(rows[0].net_id == 2 && rows[0].groups == PATCH_GONE && rows[0].gone);
    replicate_close(&world);
}

// --- attributes
// --------------------------------------------------------------------------------------

static bool client_mentions(uint32_t session, const char *word)
{
    const ReplicateClient *client = &world.clients[session];
    const size_t bytes = strlen(word);
    for (size_t i = 0; i + bytes <= client->attributes_bytes; i++) {
        if (memcmp(client->attributes + i, word, bytes) == 0) {
            return true;
        }
    }
    return false;
}

static bool attributes_mentions(const char *word)
{
    return client_mentions(0, word);
}

TEST(attributes_are_sent_when_they_change_and_never_what_is_private)
{
    open_default();
    join_at(0, vec3(0, 0, 0));
    const uint64_t id = replicate_id(&world, walk_player(world.sim, vec3(3, 0, 0)));
    const ScriptValue value = {.type = SCRIPT_TEXT, .text = text_from("teapot")};
    replicate_run(&world, 2);
    CHECK_OK(attribute_table_set_attribute(&world.attributes, id, text_from("Hidden"), &value,
                                           ATTRIBUTE_PRIVATE));
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].updates, 0);
    CHECK_OK(attribute_table_set_name(&world.attributes, id, text_from("Cook")));
    CHECK_OK(attribute_table_set_attribute(&world.attributes, id, text_from("Likes"), &value, 0));
    CHECK_OK(attribute_table_set_tag(&world.attributes, id, text_from("kitchen"), true));
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].updates, 1);
    CHECK(attributes_mentions("Cook") && attributes_mentions("Likes") &&
          attributes_mentions("teapot"));
    CHECK(attributes_mentions("kitchen"));
    CHECK_OK(attribute_table_set_attribute(&world.attributes, id, text_from("Secret"), &value,
                                           ATTRIBUTE_PRIVATE));
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].updates, 0);
    CHECK_OK(attribute_table_set_attribute(&world.attributes, id, text_from("Other"), &value, 0));
    replicate_run(&world, 1);
    CHECK(attributes_mentions("Other"));
    CHECK(!attributes_mentions("Secret") && !attributes_mentions("Hidden"));
    attribute_table_remove(&world.attributes, id);
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].attributes_bytes, 3); // no name, no attributes, no tags
    replicate_close(&world);
}

// Session 0 sees through the body that owns, session 1 through another.
TEST(attributes_for_the_owner_reach_the_owner_alone)
{
    open_default();
    const CharacterDesc ann = {.owner_id = 71, .position = {0, 0, 0}};
    const CharacterDesc bob = {.owner_id = 72, .position = {2, 0, 0}};
    Handle bodies[2];
    CHECK_OK(sim_spawn_player(world.sim, &ann, &bodies[0]));
    CHECK_OK(sim_spawn_player(world.sim, &bob, &bodies[1]));
    const uint64_t id = replicate_id(&world, bodies[0]);
    replicate_join(&world, 0, id);
    replicate_join(&world, 1, replicate_id(&world, bodies[1]));
    replicate_run(&world, 8);
    const ScriptValue value = {.type = SCRIPT_TEXT, .text = text_from("teapot")};
    ScriptValue number = {.type = SCRIPT_NUMBER};
    CHECK_OK(attribute_table_set_attribute(&world.attributes, id, text_from("Hoard"), &value,
                                           ATTRIBUTE_OWNER));
    // More changes than versions are kept: the other session gets none of them, and then again what
    // it may see.
    for (uint32_t i = 0; i < 2 * NET_RING; i++) {
        number.number = i;
        CHECK_OK(attribute_table_set_attribute(&world.attributes, id, text_from("Ammo"), &number,
                                               ATTRIBUTE_OWNER));
        replicate_run(&world, 1);
        CHECK_INT(world.clients[0].updates, 1);
        CHECK_INT(world.clients[1].updates, 0);
    }
    CHECK(client_mentions(0, "Hoard") && client_mentions(0, "teapot"));
    CHECK_INT(world.clients[1].attributes_bytes, 0);
    CHECK_OK(attribute_table_set_attribute(&world.attributes, id, text_from("Word"), &value, 0));
    replicate_run(&world, 1);
    CHECK(client_mentions(0, "Hoard") && client_mentions(0, "Word"));
    CHECK(!client_mentions(1, "Hoard") && !client_mentions(1, "Ammo") &&
          client_mentions(1, "Word"));
    // It changes hands.
    ((Entity *)sim_entity(world.sim, bodies[0]))->owner_id = 72;
    world.clients[0].attributes_bytes = 0;
    replicate_run(&world, 3);
    CHECK(!client_mentions(0, "Hoard") && client_mentions(0, "Word"));
    CHECK(client_mentions(1, "Hoard") && client_mentions(1, "Word"));
    // Nothing is left for the owner, then nothing at all.
    const ScriptValue nil = {.type = SCRIPT_NIL};
    CHECK_OK(attribute_table_set_attribute(&world.attributes, id, text_from("Hoard"), &nil, 0));
    CHECK_OK(attribute_table_set_attribute(&world.attributes, id, text_from("Ammo"), &nil, 0));
    replicate_run(&world, 1);
    CHECK(!client_mentions(1, "Hoard") && client_mentions(1, "Word"));
    CHECK_INT(world.clients[0].updates, 0);
    attribute_table_remove(&world.attributes, id);
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].attributes_bytes, 3);
    CHECK_INT(world.clients[1].attributes_bytes, 3);
    replicate_close(&world);
}

static bool row_mentions(const PatchRow *row, const char *word)
{
    const size_t bytes = strlen(word);
    for (size_t i = 0; i + bytes <= row->attributes_bytes; i++) {
        if (memcmp(row->attributes + i, word, bytes) == 0) {
            return true;
        }
    }
    return false;
}

TEST(attributes_of_anchored_parts_are_rows_and_take_no_slot)
{
    const PartDesc part = walk_box(vec3(3, 0, 3), vec3(4, 1, 4));
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &part;
    desc.part_count = 1;
    const ReplicatorConfig config = replicate_config();
    replicate_open(&world, &desc, &config);
    join_at(0, vec3(0, 0, 0));
    PatchTable *patches = replicator_patches(world.replicator);
    const ScriptValue value = {.type = SCRIPT_NUMBER, .number = 4};
    const ScriptValue nil = {.type = SCRIPT_NIL};
    CHECK_OK(attribute_table_set_attribute(&world.attributes, 1, text_from("Own"), &value, 0));
    patch_table_attributes_known(patches); // the scene has it
    CHECK_OK(attribute_table_set_attribute(&world.attributes, 1, text_from("Secret"), &value,
                                           ATTRIBUTE_PRIVATE));
    replicate_run(&world, 4);
    PatchRow rows[2];
    CHECK_INT(rows_after(0, rows, 2), 0);
    CHECK_OK(attribute_table_set_attribute(&world.attributes, 1, text_from("Price"), &value, 0));
    CHECK_OK(attribute_table_set_tag(&world.attributes, 1, text_from("shop"), true));
    replicate_run(&world, 4);
    CHECK_INT(rows_after(0, rows, 2), 1);
    CHECK(rows[0].net_id == 1 && rows[0].groups == PATCH_ATTRIBUTES);
    CHECK(row_mentions(&rows[0], "Price") && row_mentions(&rows[0], "Own"));
    CHECK(row_mentions(&rows[0], "shop") && !row_mentions(&rows[0], "Secret"));
    CHECK(replicate_known(&world, 0, 1) == NULL);
    const uint64_t first = patches->cells[0].version;
    // Setting it to the same, or changing what nobody may see, is no news.
    CHECK_OK(attribute_table_set_attribute(&world.attributes, 1, text_from("Price"), &value, 0));
    CHECK_OK(attribute_table_set_attribute(&world.attributes, 1, text_from("Secret"), &nil, 0));
    replicate_run(&world, 4);
    CHECK_INT(rows_after(first, rows, 2), 0);
    // A record without anything ends; then the row says that there is nothing.
    CHECK_OK(attribute_table_set_attribute(&world.attributes, 1, text_from("Price"), &nil, 0));
    CHECK_OK(attribute_table_set_attribute(&world.attributes, 1, text_from("Own"), &nil, 0));
    CHECK_OK(attribute_table_set_tag(&world.attributes, 1, text_from("shop"), false));
    CHECK(attribute_table_find(&world.attributes, 1) == NULL);
    replicate_run(&world, 4);
    CHECK_INT(rows_after(first, rows, 2), 1);
    CHECK(rows[0].groups == PATCH_ATTRIBUTES && rows[0].attributes_bytes == 3);
    CHECK(replicate_known(&world, 0, 1) == NULL);
    replicate_close(&world);
}

TEST(attributes_too_large_are_cut_and_counted)
{
    open_default();
    join_at(0, vec3(0, 0, 0));
    const uint64_t id = replicate_id(&world, walk_player(world.sim, vec3(3, 0, 0)));
    char long_text[1000];
    memset(long_text, 'x', sizeof long_text);
    const ScriptValue value = {.type = SCRIPT_TEXT, .text = {long_text, sizeof long_text}};
    static const char *const names[] = {"A", "B", "C", "D", "E", "F"};
    for (uint32_t i = 0; i < 6; i++) {
        CHECK_OK(
            attribute_table_set_attribute(&world.attributes, id, text_from(names[i]), &value, 0));
    }
    replicate_run(&world, 8);
    REQUIRE(replicate_known(&world, 0, id) != NULL);
    CHECK_INT(replicator_stats(world.replicator).attributes_cut, 1);
    CHECK(world.clients[0].attributes_bytes > 3000);
    CHECK(attributes_mentions("xxxx"));
    replicate_close(&world);
}

// --- paint --------------------------------------------------------------------------------------

static Paint painted_so(void *user, uint64_t net_id)
{
    const ReplicateWorld *painted = user;
    const Record *record = attribute_table_find(&painted->attributes, net_id);
    return record == NULL ? paint_default
                          : paint_merge(&paint_default, &record->paint, record->painted);
}

static void open_painted(void)
{
    const WalkWorldDesc desc = walk_world_default();
    ReplicatorConfig config = replicate_config();
    config.paint_of = painted_so;
    config.paint_user = &world;
    replicate_open(&world, &desc, &config);
}

static void paint(uint64_t net_id, Paint now)
{
    CHECK_OK(attribute_table_set_paint(&world.attributes, net_id, &now,
                                       paint_difference(&paint_default, &now)));
}

static uint64_t box_at(Vec3 centre)
{
    const ShapeDesc desc = {.part = walk_box(vec3_sub(centre, vec3(0.5f, 0, 0.5f)),
                                             vec3_add(centre, vec3(0.5f, 1, 0.5f)))};
    Handle handle = HANDLE_NONE;
    CHECK_OK(sim_spawn_part(world.sim, &desc, &handle));
    return replicate_id(&world, handle);
}

static Paint known_paint(uint32_t session, uint64_t net_id)
{
    const MergeSlot *known = replicate_known(&world, session, net_id);
    CHECK(known != NULL);
    return known != NULL ? known->state.paint : (Paint){0};
}

// A part whose paint changed costs a few bytes; nothing that is as it was costs any.
TEST(a_paint_is_sent_when_it_changes_and_alone)
{
    open_painted();
    join_at(0, vec3(0, 0, 0));
    const uint64_t box = box_at(vec3(3, 0, 3));
    const Paint red = {.colour = 0xff0000, .visible = 1, .material = PAINT_MATERIAL_neon};
    paint(box, red);
    replicate_run(&world, 8);
    Paint known = known_paint(0, box);
    CHECK(paint_equal(&known, &red)); // with the enter
    const uint64_t versions = replicator_stats(world.replicator).versions_made;
    replicate_run(&world, 20);
    CHECK_INT(replicator_stats(world.replicator).versions_made, versions);
    const size_t quiet = world.clients[0].frame_bytes;
    paint(box, red); // the same again
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].updates, 0);
    Paint faint = red;
    faint.transparency = 50;
    paint(box, faint);
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].updates, 1);
    CHECK(world.clients[0].frame_bytes <= quiet + 9);
    known = known_paint(0, box);
    CHECK(paint_equal(&known, &faint));
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].updates, 0);
    // Whoever comes later sees it so.
    join_at(1, vec3(1, 0, 0));
    replicate_run(&world, 8);
    known = known_paint(1, box);
    CHECK(paint_equal(&known, &faint));
    attribute_table_remove(&world.attributes, box);
    replicate_run(&world, 2);
    known = known_paint(0, box);
    CHECK(paint_equal(&known, &paint_default));
    replicate_close(&world);
}

// Two clients, one of which gets a frame only now and then: after each frame what it has is exactly
// what the server has (check_merged), for bodies, parts and NPCs.
TEST(paints_are_exact_for_clients_that_lag)
{
    open_painted();
    Rng rng = rng_make(test_seed(), 9);
    uint64_t ids[12];
    ids[0] = join_at(0, vec3(0, 0, 0));
    ids[1] = join_at(1, vec3(1, 0, 0));
    for (uint32_t i = 2; i < 12; i++) {
        ids[i] = i % 3 == 0 ? replicate_id(&world, walk_player(world.sim, vec3((float)i, 0, 4)))
                            : box_at(vec3((float)i - 6, 0, 6));
    }
    for (uint32_t round = 0; round < 400 && test_is_passing(); round++) {
        for (uint32_t i = rng_below(&rng, 4); i > 0; i--) {
            Paint now = painted_so(&world, ids[rng_below(&rng, 12)]);
            const PaintMember member = (PaintMember)rng_below(&rng, PAINT_MEMBER_COUNT);
            paint_set(&now, member, rng_below(&rng, paint_row(member)->most + 1));
            paint(ids[rng_below(&rng, 12)], now);
        }
        replicate_step(&world);
        replicate_frame(&world, 0);
        if (rng_below(&rng, 8) == 0) {
            replicate_frame(&world, 1);
        }
    }
    replicate_run(&world, 8);
    for (uint32_t session = 0; session < 2; session++) {
        for (uint32_t i = 0; i < 12; i++) {
            const Paint known = known_paint(session, ids[i]);
            const Paint want = painted_so(&world, ids[i]);
            CHECK(paint_equal(&known, &want));
        }
    }
    replicate_close(&world);
}

// --- events -------------------------------------------------------------------------------------

TEST(an_event_brings_its_entity_in_before_it)
{
    WalkWorldDesc desc = walk_world_default();
    ReplicatorConfig config = replicate_config();
    config.budget_bytes = 256; // three or four enters a frame
    replicate_open(&world, &desc, &config);
    join_at(0, vec3(0, 0, 0));
    uint64_t last = 0;
    for (uint32_t i = 0; i < 40; i++) {
        last = replicate_id(&world, walk_player(world.sim, vec3(10, 0, -8 + 0.4f * (float)i)));
    }
    const ReplicatorEvent event = replicate_event(&world, last);
    replicator_broadcast(world.replicator, &event);
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].events, 1);
    CHECK(replicate_known(&world, 0, last) != NULL);
    CHECK(world.clients[0].enters < 10);
    CHECK(replicator_stats(world.replicator).records_postponed > 0);
    replicate_run(&world, 30);
    CHECK_INT(world.clients[0].merge.slots[40].net_id != 0, 1); // in the end everybody is there
    replicate_close(&world);
}

static bool owner_is_seven(void *user, const Entity *entity)
{
    (void)user;
    return entity->owner_id == 7;
}

TEST(what_is_secret_is_never_told_nor_spoken_of)
{
    const WalkWorldDesc desc = walk_world_default();
    ReplicatorConfig config = replicate_config();
    config.is_secret = owner_is_seven;
    replicate_open(&world, &desc, &config);
    join_at(0, vec3(0, 0, 0));
    const CharacterDesc body = {.owner_id = 7, .position = {3, 0, 0}};
    Handle hidden;
    REQUIRE(sim_spawn_player(world.sim, &body, &hidden) == STATUS_OK);
    const uint64_t id = replicate_id(&world, hidden);
    const uint64_t seen = replicate_id(&world, walk_player(world.sim, vec3(-3, 0, 0)));
    for (uint32_t i = 0; i < 12; i++) {
        ReplicatorEvent event = replicate_event(&world, id);
        event.has_position = true;
        event.position = body.position;
        replicator_broadcast(world.replicator, &event);
        CHECK_INT(replicator_send(world.replicator, 0, &event), STATUS_OK);
        replicate_run(&world, 1);
        CHECK(replicate_known(&world, 0, id) == NULL);
    }
    CHECK(replicate_known(&world, 0, seen) != NULL);
    CHECK_INT(world.clients[0].events, 0);
    CHECK(!replicator_sees(world.replicator, 0, id));
    replicate_close(&world);
}

TEST(events_go_to_those_they_concern)
{
    open_default();
    const uint64_t near = join_at(0, vec3(0, 0, 0));
    join_at(1, vec3(30, 0, 0));
    replicate_run(&world, 2);
    ReplicatorEvent event = replicate_event(&world, near);
    replicator_broadcast(world.replicator, &event);
    event = replicate_event(&world, 0);
    replicator_broadcast(world.replicator, &event); // for all
    event.has_position = true;
    event.position = vec3(31, 0, 0);
    replicator_broadcast(world.replicator, &event);
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].events, 2);
    CHECK_INT(world.clients[1].events, 2);
    CHECK_OK(replicator_send(world.replicator, 1, &event));
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].events, 0);
    CHECK_INT(world.clients[1].events, 1);
    replicate_close(&world);
}

TEST(an_event_about_somebody_outside_holds_nothing_up)
{
    open_default();
    join_at(0, vec3(0, 0, 0));
    const uint64_t outside = replicate_id(&world, walk_player(world.sim, vec3(18, 0, 0)));
    replicate_run(&world, 4);
    ReplicatorEvent event = replicate_event(&world, outside);
    replicator_broadcast(world.replicator, &event);
    event = replicate_event(&world, 0);
    replicator_broadcast(world.replicator, &event);
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].events, 1);
    CHECK_INT(world.clients[0].event_last, 0);
    replicate_close(&world);
}

TEST(who_missed_a_snapshot_learns_at_the_next_what_was_new_in_it)
{
    for (uint32_t i = 0; i < 4; i++) { // wherever the whole look of the session falls
        open_default();
        join_at(0, vec3(0, 0, 0));
        replicate_run(&world, 5 + i);
        const uint64_t id = replicate_id(&world, walk_player(world.sim, vec3(5, 0, 0)));
        replicate_step(&world);
        replicate_run(&world, 1);
        CHECK(replicate_known(&world, 0, id) != NULL);
        replicate_close(&world);
    }
}

TEST(an_event_about_what_is_gone_goes_to_those_who_had_it_or_are_near)
{
    open_default();
    join_at(0, vec3(0, 0, 0));
    join_at(1, vec3(30, 0, 0));
    const Handle victim = walk_player(world.sim, vec3(3, 0, 0));
    const uint64_t id = replicate_id(&world, victim);
    replicate_run(&world, 4);
    sim_remove(world.sim, victim);
    sim_step(world.sim);
    ReplicatorEvent event = replicate_event(&world, id);
    replicator_broadcast(world.replicator, &event);
    event.subject = 12345; // came and went between two captures
    replicator_broadcast(world.replicator, &event);
    event.has_position = true;
    event.position = vec3(3, 0, 0);
    replicator_broadcast(world.replicator, &event);
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].events, 2);
    CHECK_INT(world.clients[1].events, 0);
    replicate_close(&world);
}

TEST(events_that_do_not_fit_wait_and_those_beyond_the_queue_are_counted)
{
    open_default();
    join_at(0, vec3(0, 0, 0));
    replicate_run(&world, 1);
    static uint8_t message[1500] = {96};
    ReplicatorEvent event = {.message = message, .bytes = sizeof message};
    CHECK_OK(replicator_send(world.replicator, 0, &event));
    CHECK_OK(replicator_send(world.replicator, 0, &event));
    CHECK_INT(replicator_send(world.replicator, 0, &event), STATUS_LIMIT);
    CHECK_INT(replicator_stats(world.replicator).events_dropped, 1);
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].events, 2);
    CHECK_OK(replicator_send(world.replicator, 0, &event));
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].events, 1);
    replicate_close(&world);
}

TEST(an_event_of_a_later_tick_waits_for_its_snapshot)
{
    open_default();
    join_at(0, vec3(0, 0, 0));
    replicate_run(&world, 1);
    sim_step(world.sim);
    ReplicatorEvent event = replicate_event(&world, 0);
    CHECK_OK(replicator_send(world.replicator, 0, &event));
    const FrameRequest request = {0};
    uint32_t seq;
    size_t bytes;
    CHECK_OK(replicator_build(world.replicator, 0, &request, world.buffer, world.buffer_bytes,
                              &bytes, &seq));
    CHECK_INT(replicator_stats(world.replicator).events_sent, 0);
    replicate_close(&world);
}

// --- limits -------------------------------------------------------------------------------------

TEST(only_the_nearest_are_seen_and_the_border_is_steady)
{
    WalkWorldDesc desc = walk_world_default();
    ReplicatorConfig config = replicate_config();
    config.visible_max = 5;
    replicate_open(&world, &desc, &config);
    join_at(0, vec3(0, 0, 0));
    Handle ring[10];
    for (uint32_t i = 0; i < 10; i++) {
        ring[i] = walk_player(world.sim, vec3(2 + (float)i, 0, 0));
    }
    replicate_run(&world, 6);
    for (uint32_t i = 0; i < 10; i++) {
        const bool known = replicate_known(&world, 0, replicate_id(&world, ring[i])) != NULL;
        CHECK_INT(known, i < 4);
    }
    // The fifth comes a little nearer than the fourth: not by a tenth.
    CHECK_OK(sim_set_position(world.sim, ring[4], vec3(0, 0, 4.8f)));
    replicate_run(&world, 6);
    CHECK(replicate_known(&world, 0, replicate_id(&world, ring[4])) == NULL);
    CHECK_OK(sim_set_position(world.sim, ring[4], vec3(0, 0, 4.2f)));
    replicate_run(&world, 6);
    CHECK(replicate_known(&world, 0, replicate_id(&world, ring[4])) != NULL);
    CHECK(replicate_known(&world, 0, replicate_id(&world, ring[3])) == NULL);
    CHECK(replicator_stats(world.replicator).candidates_dropped > 0);
    replicate_close(&world);
}

TEST(a_frame_keeps_to_its_budget_and_everything_comes_in_the_end)
{
    WalkWorldDesc desc = walk_world_default();
    ReplicatorConfig config = replicate_config();
    config.budget_bytes = 300;
    replicate_open(&world, &desc, &config);
    join_at(0, vec3(0, 0, 0));
    Handle crowd[60];
    for (uint32_t i = 0; i < 60; i++) {
        crowd[i] = walk_player(world.sim, vec3((float)(i % 10), 0, (float)(i / 10)));
    }
    Rng rng = rng_make(test_seed(), 9);
    for (uint32_t k = 0; k < 40; k++) {
        for (uint32_t i = 0; i < 60; i++) {
            walk(crowd[i], rng_range(&rng, -3, 3));
        }
        replicate_run(&world, 1);
        CHECK(world.clients[0].frame_bytes <= 300);
    }
    CHECK(replicator_stats(world.replicator).records_postponed > 0);
    for (uint32_t i = 0; i < 60; i++) {
        sim_set_input(world.sim, crowd[i], &(SimInput){0});
    }
    replicate_run(&world, 120);
    for (uint32_t i = 0; i < 60; i++) {
        const uint64_t id = replicate_id(&world, crowd[i]);
        const NetState *now = replicator_state(world.replicator, id);
        CHECK_INT(replicator_base(world.replicator, 0, id), now->version);
    }
    replicate_close(&world);
}

TEST(who_is_far_and_slow_is_postponed_but_not_forever)
{
    WalkWorldDesc desc = walk_world_default();
    ReplicatorConfig config = replicate_config();
    config.budget_bytes = 256;
    replicate_open(&world, &desc, &config);
    join_at(0, vec3(0, 0, 0));
    Handle crowd[60];
    for (uint32_t i = 0; i < 60; i++) {
        crowd[i] = walk_player(world.sim, vec3((float)(i % 8) - 4, 0, (float)(i / 8) - 4));
    }
    const Handle far = walk_player(world.sim, vec3(15, 0, 0));
    const uint64_t id = replicate_id(&world, far);
    replicate_run(&world, 60);
    uint32_t updates = 0;
    uint32_t version = replicate_known(&world, 0, id)->state.version;
    for (uint32_t k = 0; k < 80; k++) {
        for (uint32_t i = 0; i < 60; i++) {
            walk(crowd[i], (k + i) % 2 == 0 ? 0.5f : -2.5f);
        }
        sim_set_input(world.sim, far, &(SimInput){.yaw = 0.1f * (float)(k % 60) - 3});
        replicate_run(&world, 1);
        REQUIRE(replicate_known(&world, 0, id) != NULL);
        updates += replicate_known(&world, 0, id)->state.version != version ? 1 : 0;
        version = replicate_known(&world, 0, id)->state.version;
    }
    CHECK(updates >= 4);
    CHECK(updates <= 60);
    replicate_close(&world);
}

TEST(a_new_session_in_the_same_place_starts_from_nothing)
{
    open_default();
    const uint64_t own = join_at(0, vec3(0, 0, 0));
    replicate_run(&world, 5);
    replicate_join(&world, 0, own);
    replicate_run(&world, 1);
    CHECK_INT(world.clients[0].merge.last.seq, 1);
    CHECK_INT(world.clients[0].enters, 1);
    replicate_leave(&world, 0);
    const ReplicatorEvent event = replicate_event(&world, own);
    CHECK_OK(replicator_send(world.replicator, 0, &event)); // nobody there
    replicate_run(&world, 2);
    replicate_close(&world);
}

TEST(configs_that_make_no_sense_are_refused)
{
    open_default();
    Replicator *out = NULL;
    Heap heap = heap_make(1u << 20);
    ReplicatorConfig config = world.config;
    CHECK_INT(replicator_create(&heap, &config, &out), STATUS_LIMIT);
    CHECK_INT(heap.bytes_now, 0);
    config.visible_max = 257;
    CHECK_INT(replicator_create(&heap, &config, &out), STATUS_RANGE);
    config = world.config;
    config.radius = 0;
    CHECK_INT(replicator_create(&heap, &config, &out), STATUS_RANGE);
    config = world.config;
    config.budget_bytes = 96 << 10;
    CHECK_INT(replicator_create(&heap, &config, &out), STATUS_RANGE);
    heap = heap_make(256u << 20);
    config = world.config;
    config.tolerance_m = 0;
    CHECK_INT(replicator_create(&heap, &config, &out), STATUS_RANGE);
    CHECK_INT(heap.bytes_now, 0);
    replicate_close(&world);
}

// --- random worlds ------------------------------------------------------------------------------

static void fire(Rng *rng)
{
    const float x = rng_range(rng, -40, 40);
    const float z = rng_range(rng, -40, 40);
    const float vx = rng_range(rng, -200, 200);
    const float vy = rng_range(rng, 0, 20);
    const ProjectileDesc desc = {.position = {x, 2, z},
                                 .velocity = {vx, vy, 10},
                                 .gravity = rng_below(rng, 2) == 0 ? 9.8f : 0,
                                 .lifetime_ticks = 1 + rng_below(rng, 90)};
    Handle fired;
    (void)!projectile_fire(world.sim, &desc, &fired);
}

static Handle any_entity(Rng *rng)
{
    Handle found = HANDLE_NONE;
    const uint32_t skip = rng_below(rng, 60);
    Handle at = sim_next(world.sim, HANDLE_NONE, ENTITY_MASK_ALL);
    for (uint32_t i = 0; i < skip && !handle_is_none(at); i++) {
        found = at;
        at = sim_next(world.sim, at, ENTITY_MASK_ALL);
    }
    return handle_is_none(at) ? found : at;
}

static Vec3 any_place(Rng *rng)
{
    const float x = rng_range(rng, -40, 40);
    const float z = rng_range(rng, -40, 40);
    return vec3(x, 0, z);
}

static void disturb_part(Rng *rng, Handle part)
{
    const Vec3 by = any_place(rng);
    switch (rng_below(rng, 3)) {
    case 0:
        (void)!sim_set_position(world.sim, part, vec3_add(by, vec3(0, 3, 0)));
        break;
    case 1:
        (void)!sim_drift_part(world.sim, part, vec3_scale(by, 0.1f));
        break;
    default:
        (void)!sim_stop_part(world.sim, part);
        break;
    }
}

static void disturb(Rng *rng)
{
    const Handle entity = any_entity(rng);
    const Entity *at = sim_entity(world.sim, entity);
    switch (rng_below(rng, 9)) {
    case 0:
        fire(rng);
        break;
    case 1: {
        const ShapeDesc desc = {.part = walk_box(vec3(-1, 3, -1), vec3(1, 4, 1))};
        Handle part;
        (void)!sim_spawn_part(world.sim, &desc, &part);
        break;
    }
    case 2:
        if (at != NULL && at->owner_id == 0 && sim_count(world.sim, ENTITY_PLAYER) > 20) {
            bool is_own = false;
            for (uint32_t i = 0; i < REPLICATE_CLIENTS; i++) {
                is_own = is_own || world.clients[i].own == at->net_id;
            }
            if (!is_own) {
                sim_remove(world.sim, entity);
            }
        }
        break;
    case 3:
        (void)walk_player(world.sim, any_place(rng));
        break;
    case 4:
        if (at != NULL && entity_has_shape(at)) {
            disturb_part(rng, entity);
        }
        break;
    case 5:
        if (at != NULL) {
            const ScriptValue value = {.type = SCRIPT_NUMBER, .number = rng_range(rng, 0, 9)};
            (void)!attribute_table_set_attribute(&world.attributes, at->net_id, text_from("Number"),
                                                 &value,
                                                 rng_below(rng, 3) == 0 ? ATTRIBUTE_PRIVATE : 0);
        }
        break;
    case 6:
        if (at != NULL && entity_is_character(at)) {
            (void)!sim_set_position(world.sim, entity, any_place(rng));
        }
        break;
    case 7:
        if (at != NULL) {
            ReplicatorEvent event = replicate_event(&world, at->net_id);
            event.other = replicate_id(&world, sim_next(world.sim, HANDLE_NONE, ENTITY_MASK_ALL));
            event.has_position = rng_below(rng, 2) == 0;
            event.position = at->position;
            replicator_broadcast(world.replicator, &event);
        }
        break;
    default:
        break;
    }
}

static void drive(Rng *rng)
{
    for (Handle at = sim_next(world.sim, HANDLE_NONE, ENTITY_MASK(ENTITY_PLAYER));
         !handle_is_none(at); at = sim_next(world.sim, at, ENTITY_MASK(ENTITY_PLAYER))) {
        if (rng_below(rng, 30) == 0) {
            SimInput input = {.move_z = 1, .yaw = rng_range(rng, -3, 3)};
            input.buttons = rng_below(rng, 4) == 0 ? INPUT_JUMP | INPUT_RUN : 0;
            sim_set_input(world.sim, at, &input);
        }
    }
}

// Everything inside the radius is known, nothing beyond the leaving radius is.
static void check_complete(void)
{
    for (uint32_t s = 0; s < REPLICATE_CLIENTS; s++) {
        if (!world.clients[s].open) {
            continue;
        }
        const Vec3 eye = sim_entity(world.sim, sim_find(world.sim, world.clients[s].own))->position;
        for (Handle at = sim_next(world.sim, HANDLE_NONE, ENTITY_MASK_ALL); !handle_is_none(at);
             at = sim_next(world.sim, at, ENTITY_MASK_ALL)) {
            const Entity *entity = sim_entity(world.sim, at);
            const float reach =
                entity_has_shape(entity) ? vec3_length(entity->part.placed.half) : 0;
            const float distance = vec3_length(vec3_sub(entity->position, eye)) - reach;
            const bool known = replicate_known(&world, s, entity->net_id) != NULL;
            CHECK(known || distance > 15.99f);
            CHECK(!known || distance < 17.61f);
        }
    }
}

// The whole run as one number: what was sent, and what the replicator thinks.
static uint64_t random_run(uint64_t seed, uint32_t captures, uint32_t budget, bool shuffled)
{
    const PartDesc parts[] = {walk_box(vec3(3, 0, 3), vec3(4, 1, 4)),
                              walk_box(vec3(-7, 0, 3), vec3(-6, 1, 4))};
    WalkWorldDesc desc = walk_world_default();
    desc.parts = parts;
    desc.part_count = 2;
    ReplicatorConfig config = replicate_config();
    config.budget_bytes = budget;
    replicate_open(&world, &desc, &config);
    Rng rng = rng_make(seed, 1);
    Hash64 hash = HASH64_INIT;
    for (uint32_t i = 0; i < 40; i++) {
        const Vec3 place = any_place(&rng);
        (void)walk_player(world.sim, place);
    }
    for (uint32_t i = 0; i < REPLICATE_CLIENTS; i++) {
        const Vec3 place = any_place(&rng);
        join_at(i, place);
    }
    heap_freeze(&world.walk.heap);
    for (uint32_t k = 0; k < captures && test_is_passing(); k++) {
        for (uint32_t i = 0; i < 3; i++) {
            disturb(&rng);
        }
        drive(&rng);
        replicate_step(&world);
        const uint32_t skipped = rng_below(&rng, 3 * REPLICATE_CLIENTS);
        for (uint32_t i = 0; i < REPLICATE_CLIENTS; i++) {
            const uint32_t s = shuffled ? REPLICATE_CLIENTS - 1 - i : i;
            if (s != skipped) {
                replicate_frame(&world, s);
            }
        }
        for (uint32_t s = 0; s < REPLICATE_CLIENTS; s++) {
            hash_u64(&hash, world.clients[s].frame_bytes);
            hash_u64(&hash, world.clients[s].event_total);
        }
    }
    // Quiet: everything stands, and after a few frames everything is as it should be.
    for (Handle at = sim_next(world.sim, HANDLE_NONE, ENTITY_MASK_ALL); !handle_is_none(at);
         at = sim_next(world.sim, at, ENTITY_MASK_ALL)) {
        sim_set_input(world.sim, at, &(SimInput){0});
        (void)!sim_stop_part(world.sim, at);
    }
    for (uint32_t k = 0; k < 60; k++) {
        replicate_run(&world, 1);
    }
    if (test_is_passing()) {
        check_complete();
    }
    replicator_hash(world.replicator, &hash);
    const ReplicatorStats stats = replicator_stats(world.replicator);
    CHECK(stats.events_sent > 0 && stats.leaves > 0 && stats.enters > stats.leaves);
    CHECK(stats.records_appended >= stats.records_encoded);
    replicate_close(&world);
    return hash.state;
}

TEST(random_worlds_arrive_as_they_are)
{
    for (uint64_t i = 0; i < 4 && test_is_passing(); i++) {
        (void)random_run(test_seed() + i, 150, 4096, false);
    }
}

TEST(random_worlds_arrive_through_a_narrow_budget)
{
    for (uint64_t i = 0; i < 3 && test_is_passing(); i++) {
        (void)random_run(test_seed() + 100 + i, 150, 256, false);
    }
}

TEST(equal_runs_give_equal_frames_in_any_order_of_sessions)
{
    const uint64_t first = random_run(test_seed(), 60, 512, false);
    CHECK(random_run(test_seed(), 60, 512, false) == first);
    CHECK(random_run(test_seed(), 60, 512, true) == first);
    CHECK(random_run(test_seed() + 1, 60, 512, false) != first);
}
