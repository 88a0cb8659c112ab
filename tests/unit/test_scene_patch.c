// Anchored parts of the scene that scripts change, in a real world with real clients: every client
// has them exactly as the world has, whenever it came, whatever its link lost, and wherever it has
// been meanwhile. They take none of the slots in which a client sees entities.
#include "core/client/client_inside.h"
#include "core/world/world_inside.h"
#include "tests/unit/duet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TILES_X    60
#define TILES_Z    50
#define TILES      (TILES_X * TILES_Z)
#define SCENE_TEXT (TILES * 160 + 4096)

static const char PLACE[] = "{\"format\":1,\"name\":\"Floor\",\"limits\":{\"viewRadius\":96}}";

// A floor of tiles of one metre, the first at the origin, and a large slab far below it.
static char *floor_scene(void)
{
    char *text = malloc(SCENE_TEXT);
    size_t at = (size_t)snprintf(
        text, SCENE_TEXT,
        "{\"format\":1,\"entities\":[{\"id\":1,\"name\":\"Start\",\"type\":\"spawn\","
        "\"transform\":{\"position\":[30,1,25]}}");
    for (uint32_t i = 0; i < TILES; i++) {
        at += (size_t)snprintf(text + at, SCENE_TEXT - at,
                               ",{\"id\":%u,\"name\":\"T%u\",\"type\":\"part\",\"transform\":"
                               "{\"position\":[%u.5,-0.5,%u.5]},\"shape\":{\"size\":[1,1,1]}}",
                               i + 2, i, i % TILES_X, i / TILES_X);
    }
    at += (size_t)snprintf(text + at, SCENE_TEXT - at,
                           ",{\"id\":%u,\"name\":\"Far\",\"type\":\"part\",\"transform\":"
                           "{\"position\":[3000,-0.5,3000]},\"shape\":{\"size\":[100,1,100]}}]}",
                           TILES + 2);
    CHECK(at < SCENE_TEXT);
    return text;
}

static Duet *open_floor(uint32_t delay)
{
    char *scene = floor_scene();
    Duet *duet = duet_open(PLACE, scene, delay, true);
    free(scene);
    return duet;
}

// --- how both sides have a part -----------------------------------------------------------------

typedef struct PartView {
    bool is_there;
    Pose pose;
    PartData data;
} PartView;

static PartView part_view(const Sim *sim, uint64_t net_id)
{
    const Entity *entity = sim_entity(sim, sim_find(sim, net_id));
    if (entity != NULL) {
        return (PartView){true, {entity->position, entity->rotation}, entity->part.data};
    }
    if (sim_part_is_hidden(sim, (uint32_t)net_id - 1)) {
        return (PartView){.is_there = false};
    }
    const PartDesc *desc = &scene_part(sim_scene(sim), (uint32_t)net_id - 1)->desc;
    return (PartView){true, desc->pose, desc->data};
}

// How many parts a client has otherwise than the world, bit for bit.
static uint32_t wrong_parts(const Duet *duet, const Client *client)
{
    const Sim *world = world_sim(duet->world);
    const Sim *own = client_sim(client);
    uint32_t wrong = 0;
    for (uint64_t id = 1; id <= scene_part_count(sim_scene(world)); id++) {
        const PartView a = part_view(world, id);
        const PartView b = part_view(own, id);
        wrong += a.is_there != b.is_there ||
                 (a.is_there && (memcmp(&a.pose, &b.pose, sizeof a.pose) != 0 ||
                                 memcmp(&a.data, &b.data, sizeof a.data) != 0));
    }
    return wrong;
}

// Parts that have a slot of their own.
static uint32_t part_slots(Client *client)
{
    uint32_t count = 0;
    for (uint32_t slot = client_next(client, UINT32_MAX); slot != UINT32_MAX;
         slot = client_next(client, slot)) {
        const NetKind kind = client_entity(client, slot).kind;
        count += kind == NET_PART;
    }
    return count;
}

static void put_body(Duet *duet, uint32_t client, Vec3 at)
{
    Sim *sim = world_sim(duet->world);
    const uint64_t own = client_own(duet->clients[client]).net_id;
    CHECK_OK(sim_set_position(sim, sim_find(sim, own), at));
}

#define MOVE_500                                                                            \
    "local function raise(from, to, by) for i = from, to do local t = World.Find('T'..i)\n" \
    "  t.Position = t.Position + Vector3.new(0, by, 0) end end\n"                           \
    "function onStart() for i = 0, 499, 50 do raise(i, i + 49, 0.25) task.wait(0.1) end end\n"

TEST(moved_parts_are_exact_on_every_client)
{
    Duet *duet = open_floor(3);
    duet_script(duet, "ServerScriptService/Main", MOVE_500);
    Client *ann = duet_join(duet, "ann", false);
    duet_run(duet, 120);
    Client *bo = duet_join(duet, "bo", false); // comes when all is done
    duet_run(duet, 60);
    duet_no_faults(duet);
    const Sim *sim = world_sim(duet->world);
    uint32_t moved = 0;
    for (uint64_t id = 1; id <= TILES; id++) {
        moved += part_view(sim, id).pose.position.y != -0.5f;
    }
    CHECK_INT(moved, 500);
    CHECK_INT(wrong_parts(duet, ann), 0);
    CHECK_INT(wrong_parts(duet, bo), 0);
    CHECK_INT(part_slots(ann), 0);
    CHECK_INT(part_slots(bo), 0);
    CHECK_INT(client_stats(ann).patches_refused, 0);
    CHECK_INT(client_stats(bo).patches_refused, 0);
    duet_close(duet);
}

TEST(walking_over_moved_parts_is_predicted_exactly)
{
    Duet *duet = open_floor(3);
    duet_script(duet, "ServerScriptService/Main",
                "function onStart() for i = 0, 2999, 3 do\n"
                "  local t = World.Find('T'..i)\n"
                "  t.Position = t.Position + Vector3.new(0, (i % 7) * 0.04, 0)\n"
                "  if i % 15 == 0 then t.Rotation = Vector3.new(0, i % 90, 0) end\n"
                "  if i % 300 == 0 then task.wait() end end end\n");
    Client *ann = duet_join(duet, "ann", false);
    duet_run(duet, 180);
    CHECK_INT(wrong_parts(duet, ann), 0);
    const uint64_t before = client_stats(ann).predict.corrections;
    for (uint32_t i = 0; i < 16; i++) {
        client_set_input(ann, &(ClientInput){.move_z = 1,
                                             .yaw = (float)i * 0.9f,
                                             .buttons = i % 3 == 0 ? INPUT_JUMP : 0});
        duet_run(duet, 45);
    }
    duet_no_faults(duet);
    const ClientStats stats = client_stats(ann);
    CHECK_INT(stats.predict.corrections_without_cause, 0);
    CHECK_INT(stats.predict.corrections - before, 0);
    CHECK(client_own(ann).position.y > -1);
    duet_close(duet);
}

TEST(parts_that_are_destroyed_or_become_ghosts)
{
    Duet *duet = open_floor(2);
    duet_script(
        duet, "ServerScriptService/Main",
        "function onStart() task.wait(1) for i = 0, 99 do World.Find('T'..i):Destroy() end\n"
        "  for i = 100, 199 do World.Find('T'..i):SetBounce(5) end end\n");
    Client *ann = duet_join(duet, "ann", false);
    duet_run(duet, 150);
    Client *bo = duet_join(duet, "bo", false);
    duet_run(duet, 60);
    duet_no_faults(duet);
    const Sim *sim = world_sim(duet->world);
    CHECK(!part_view(sim, 100).is_there);
    CHECK(part_view(sim, 101).data.flags == PART_BOUNCE);
    CHECK_INT(wrong_parts(duet, ann), 0);
    CHECK_INT(wrong_parts(duet, bo), 0);
    CHECK_INT(part_slots(ann) + part_slots(bo), 0);
    duet_close(duet);
}

static Status edit(Duet *duet, const PatchRow *rows, uint32_t count)
{
    uint8_t bytes[8 * PATCH_ROW_BYTES_MAX];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    for (uint32_t i = 0; i < count; i++) {
        patch_row_write(&writer, i > 0 ? rows[i - 1].net_id : 0, &rows[i]);
    }
    CHECK_OK(writer.status);
    return world_enter(duet->world,
                       &(Entry){.type = ENTRY_EDIT, .bytes = bytes, .byte_count = writer.at});
}

TEST(a_creator_edits_parts_while_they_are_played)
{
    Duet *duet = open_floor(2);
    Client *ann = duet_join(duet, "ann", false);
    duet_run(duet, 60);
    const Sim *sim = world_sim(duet->world);
    PatchRow rows[3];
    for (uint32_t i = 0; i < 3; i++) {
        const PartView now = part_view(sim, i + 1);
        rows[i] =
            (PatchRow){.net_id = i + 1,
                       .groups = PATCH_POSITION | PATCH_ROTATION | PATCH_PART_DATA | PATCH_PAINT,
                       .pose = now.pose,
                       .data = now.data,
                       .paint = paint_default};
    }
    rows[0].pose.position.y += 2;
    rows[1].data = (PartData){.flags = PART_BOUNCE, .bounce_speed = 5};
    CHECK_OK(edit(duet, rows, 3));
    CHECK_INT(world_counters(duet->world).authority.thawed_count, 2); // the third is as it was
    // Nothing of it is applied if one of them cannot be.
    rows[2].groups = PATCH_GONE;
    rows[2].gone = true;
    CHECK_OK(edit(duet, &rows[2], 1));
    duet_run(duet, 2);
    rows[0].pose.position.y += 2;
    CHECK_INT(edit(duet, rows, 3), STATUS_NOT_FOUND);
    rows[2].gone = false;
    CHECK_INT(edit(duet, &rows[2], 1), STATUS_NOT_FOUND);
    rows[2].net_id = TILES + 2;
    CHECK_INT(edit(duet, &rows[2], 1), STATUS_NOT_FOUND);
    CHECK_INT(world_enter(duet->world, &(Entry){.type = ENTRY_EDIT,
                                                .bytes = (const uint8_t *)"\1\377",
                                                .byte_count = 2}),
              STATUS_MALFORMED);
    duet_run(duet, 60);
    CHECK_NEAR(part_view(sim, 1).pose.position.y, 1.5, 1e-6);
    CHECK(part_view(sim, 2).data.flags == PART_BOUNCE);
    CHECK(!part_view(sim, 3).is_there);
    CHECK_INT(wrong_parts(duet, ann), 0);
    CHECK_INT(client_stats(ann).predict.corrections_without_cause, 0);
    duet_close(duet);
}

// While it glides it is an entity; where it stops it is a patch, and nobody sees it jump.
TEST(a_part_that_moves_is_an_entity_until_it_rests)
{
    Duet *duet = open_floor(2);
    duet_script(
        duet, "ServerScriptService/Main",
        "function onStart() task.wait(1)\n"
        "  local t = World.Find('T1525') t:MoveTo(t.Position + Vector3.new(0, 3, 0), 1) end\n");
    Client *ann = duet_join(duet, "ann", false);
    duet_run(duet, 50);
    CHECK_INT(part_slots(ann), 1);
    float lowest = 10;
    for (uint32_t i = 0; i < 240; i++) {
        duet_run(duet, 1);
        const float y = part_view(client_sim(ann), 1526).pose.position.y;
        lowest = i > 60 ? math_min(lowest, y) : lowest;
    }
    duet_no_faults(duet);
    CHECK_NEAR(lowest, 2.5, 1e-4);
    CHECK_INT(part_slots(ann), 0);
    CHECK_INT(wrong_parts(duet, ann), 0);
    Client *bo = duet_join(duet, "bo", false);
    duet_run(duet, 30);
    CHECK_INT(wrong_parts(duet, bo), 0);
    CHECK_INT(part_slots(bo), 0);
    duet_close(duet);
}

// --- bad links, and players who go away ---------------------------------------------------------

TEST(a_client_that_was_away_has_all_of_it_when_it_returns)
{
    Duet *duet = open_floor(3);
    duet_script(duet, "ServerScriptService/Main",
                "function onStart() local n = 0 while true do task.wait(0.1) n = n + 1\n"
                "  for i = 0, 2999, 100 do local t = World.Find('T'..(i + n % 100))\n"
                "    t.Position = t.Position + Vector3.new(0, 0.01 * (n % 5), 0) end end end\n");
    Client *ann = duet_join(duet, "ann", false);
    Client *bo = duet_join(duet, "bo", false);
    duet_run(duet, 60);
    put_body(duet, 0, vec3(3000, 1, 3000)); // ann is far from all of it
    duet_run(duet, 240);
    CHECK(wrong_parts(duet, ann) > 0);
    const uint64_t rows = client_stats(ann).patch_rows;
    duet_run(duet, 60);
    CHECK_INT(client_stats(ann).patch_rows - rows, 0); // and is not sent any
    put_body(duet, 0, vec3(30, 3, 25));
    duet_cut(duet, 1); // bo is gone
    duet_run(duet, 120);
    duet_connect(duet, 1);
    duet_script(duet, "ServerScriptService/Main", "function onReload() end\n");
    CHECK_OK(world_enter(duet->world, &(Entry){.type = ENTRY_RELOAD}));
    duet_run(duet, 120);
    duet_no_faults(duet);
    CHECK_INT(client_state(bo), CLIENT_PLAYING);
    CHECK_INT(wrong_parts(duet, ann), 0);
    CHECK_INT(wrong_parts(duet, bo), 0);
    duet_close(duet);
}

// A link that stops for a while and then brings everything at once.
TEST(a_link_that_stops_and_goes_on)
{
    Duet *duet = open_floor(3);
    duet_script(duet, "ServerScriptService/Main",
                "function onStart() for n = 1, 60 do task.wait(0.05)\n"
                "  for i = n * 10, n * 10 + 200 do local t = World.Find('T'..i)\n"
                "    t.Position = t.Position + Vector3.new(0, 0.01, 0) end end end\n");
    Client *ann = duet_join(duet, "ann", false);
    for (uint32_t i = 0; i < 12; i++) {
        duet->held[0] = i % 3 != 2;
        duet_run(duet, 20);
    }
    duet->held[0] = false;
    duet_run(duet, 180);
    duet_no_faults(duet);
    CHECK_INT(client_state(ann), CLIENT_PLAYING);
    CHECK_INT(wrong_parts(duet, ann), 0);
    duet_close(duet);
}

// A part whose place in the scene is far away is seen where it is now.
TEST(a_part_that_was_moved_here_from_far_away)
{
    Duet *duet = open_floor(2);
    duet_script(duet, "ServerScriptService/Main",
                "function onStart() task.wait(1)\n"
                "  World.Find('Far').Position = Vector3.new(30, 10, 25) end\n");
    Client *ann = duet_join(duet, "ann", false);
    duet_run(duet, 120);
    duet_no_faults(duet);
    CHECK_INT(wrong_parts(duet, ann), 0);
    CHECK_NEAR(part_view(client_sim(ann), TILES + 1).pose.position.y, 10, 0);
    Client *bo = duet_join(duet, "bo", false);
    duet_run(duet, 30);
    CHECK_INT(wrong_parts(duet, bo), 0);
    duet_close(duet);
}

// --- very much of it ----------------------------------------------------------------------------

#define MOVE_1500                                                                       \
    "function onStart() task.wait(2) for i = 0, 1499 do local t = World.Find('T'..i)\n" \
    "  t.Position = t.Position + Vector3.new(0, (i % 7) * 0.04, 0)\n"                   \
    "  if i % 10 == 9 then t:Destroy() elseif i % 10 == 8 then t:SetBounce(3) end\n"    \
    "  if i % 100 == 99 then task.wait() end end end\n"

TEST(above_a_thousand_changes_who_comes_in_gets_a_new_scene)
{
    Duet *duet = open_floor(3);
    duet_script(duet, "ServerScriptService/Main", MOVE_1500);
    Client *ann = duet_join(duet, "ann", false);
    duet_run(duet, 240);
    CHECK_INT(world_stats(duet->world).scenes_folded, 1);
    CHECK_INT(client_place(ann)->patch_tick, 0);
    CHECK_INT(wrong_parts(duet, ann), 0);
    Client *bo = duet_join(duet, "bo", false);
    duet_run(duet, 60);
    duet_no_faults(duet);
    CHECK(client_place(bo)->patch_tick > 0);
    CHECK_INT(wrong_parts(duet, bo), 0);
    CHECK(client_stats(ann).patch_rows > 1000);
    CHECK(client_stats(bo).patch_rows < 600); // what changed after the fold
    CHECK_INT(part_slots(bo), 0);
    // Both walk over it, apart, one with patches and one with another scene.
    put_body(duet, 0, vec3(12, 1, 10));
    put_body(duet, 1, vec3(40, 1, 10));
    duet_run(duet, 60);
    const uint64_t before[2] = {client_stats(ann).predict.corrections,
                                client_stats(bo).predict.corrections};
    for (uint32_t i = 0; i < 16; i++) {
        const ClientInput input = {
            .move_z = 0.5f, .yaw = (float)i * 0.9f, .buttons = i % 3 == 0 ? INPUT_JUMP : 0};
        client_set_input(ann, &input);
        client_set_input(bo, &input);
        duet_run(duet, 45);
    }
    CHECK_INT(client_stats(ann).predict.corrections_without_cause, 0);
    CHECK_INT(client_stats(bo).predict.corrections_without_cause, 0);
    printf("corrections: %llu with patches, %llu with the new scene\n",
           (unsigned long long)(client_stats(ann).predict.corrections - before[0]),
           (unsigned long long)(client_stats(bo).predict.corrections - before[1]));
    // A cut in between: the old scene is kept, and is as good.
    duet_cut(duet, 0);
    duet_run(duet, 60);
    duet_connect(duet, 0);
    duet_run(duet, 60);
    CHECK_INT(client_state(ann), CLIENT_PLAYING);
    CHECK_INT(client_place(ann)->patch_tick, 0);
    CHECK_INT(wrong_parts(duet, ann), 0);
    duet_close(duet);
}

// --- colours ------------------------------------------------------------------------------------

static uint32_t colour_of(uint32_t tile, uint32_t turn)
{
    return (tile * 7919 + turn * 104729) % 0xffffff;
}

#define COLOUR_OF                                             \
    "local function paint(i, n) World.Find('T'..i).Color =\n" \
    "  string.format('#%06x', (i * 7919 + n * 104729) % 0xffffff) end\n"

// Tiles that do not have the colour of that turn.
static uint32_t wrong_colours(const Client *client, uint32_t from, uint32_t to, uint32_t turn)
{
    uint32_t wrong = 0;
    for (uint32_t tile = from; tile < to; tile++) {
        wrong += client_paint(client, tile + 1).colour != colour_of(tile, turn);
    }
    return wrong;
}

TEST(two_thousand_recoloured_and_five_hundred_moved_parts)
{
    Duet *duet = open_floor(3);
    duet_script(duet, "ServerScriptService/Main",
                COLOUR_OF
                "function onStart() task.wait(2)\n"
                "  for i = 500, 2499 do paint(i, 1) if i % 200 == 0 then task.wait() end end\n"
                "  for i = 0, 499 do local t = World.Find('T'..i)\n"
                "    t.Position = t.Position + Vector3.new(0, 0.25, 0) end end\n");
    Client *ann = duet_join(duet, "ann", false);
    Client *bo = duet_join(duet, "bo", false);
    duet_run(duet, 60);
    duet->held[1] = true; // bo's link stops while it happens
    duet_run(duet, 90);
    duet->held[1] = false;
    duet_run(duet, 90);
    Client *cy = duet_join(duet, "cy", false); // comes when all is done
    duet_run(duet, 30);
    put_body(duet, 0, vec3(3000, 1, 3000));
    duet_run(duet, 120);
    put_body(duet, 0, vec3(30, 3, 25));
    duet_run(duet, 120);
    duet_no_faults(duet);
    Client *const all[] = {ann, bo, cy};
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_INT(client_state(all[i]), CLIENT_PLAYING);
        CHECK_INT(wrong_parts(duet, all[i]), 0);
        CHECK_INT(wrong_colours(all[i], 500, 2500, 1), 0);
        CHECK_INT(part_slots(all[i]), 0);
        CHECK_INT(client_stats(all[i]).patches_refused, 0);
    }
    CHECK_INT(client_paint(ann, 2600).colour, client_paint(cy, 2600).colour);
    CHECK(client_place(cy)->patch_tick > 0); // the new scene
    CHECK_INT(world_stats(duet->world).scenes_folded, 1);
    duet_close(duet);
}

// --- attributes and tags ------------------------------------------------------------------------

// How many attributes and tags of parts one table has and the other does not.
static uint32_t attributes_apart(const AttributeTable *from, const AttributeTable *to)
{
    uint32_t apart = 0;
    for (uint64_t id = 1; id <= TILES; id++) {
        const Record *record = attribute_table_find(from, id);
        AttributeEntry entry = {0};
        while (record != NULL && attribute_table_attribute_next(from, record, &entry)) {
            ScriptValue value = {0};
            const bool is_there = attribute_table_attribute(to, id, entry.name, &value, NULL);
            apart +=
                attribute_is_public(entry.flags) &&
                !(is_there && value.type == entry.value.type &&
                  value.number == entry.value.number && text_equal(value.text, entry.value.text));
        }
        Text tag;
        for (uint32_t index = 0;
             record != NULL && attribute_table_tag_of(from, record, &index, &tag); index++) {
            apart += !attribute_table_has_tag(to, id, tag);
        }
    }
    return apart;
}

static uint32_t wrong_attributes(Duet *duet, Client *client)
{
    const AttributeTable *truth = authority_attributes(duet->world->authority);
    const AttributeTable *own = view_attributes(client_script_view(client));
    return attributes_apart(truth, own) + attributes_apart(own, truth);
}

static double number_of(Client *client, uint64_t net_id, const char *name)
{
    ScriptValue value = {0};
    const AttributeTable *own = view_attributes(client_script_view(client));
    return attribute_table_attribute(own, net_id, text_from(name), &value, NULL) ? value.number
                                                                                 : -1;
}

// Clients with scripts: those of others keep no attributes.
TEST(parts_with_new_colours_places_and_attributes_all_at_once)
{
    Duet *duet = open_floor(3);
    duet_script(duet, "ServerScriptService/Main",
                COLOUR_OF
                "function onStart() task.wait(2)\n"
                "  for i = 0, 1999 do paint(i, 1) if i % 200 == 0 then task.wait() end end\n"
                "  for i = 2000, 2499 do local t = World.Find('T'..i)\n"
                "    t.Position = t.Position + Vector3.new(0, 0.25, 0) end\n"
                "  for i = 2500, 2999 do local t = World.Find('T'..i)\n"
                "    t:SetAttribute('Price', i) t:SetAttribute('Name', 'tile '..i)\n"
                "    t:SetAttribute('Secret', i, {visibility = 'server'})\n"
                "    if i % 3 == 0 then t:AddTag('third') end\n"
                "    if i % 100 == 0 then task.wait() end end end\n");
    Client *ann = duet_join(duet, "ann", true);
    Client *bo = duet_join(duet, "bo", true);
    duet_run(duet, 60);
    duet->held[1] = true; // bo's link stops while it happens
    duet_run(duet, 120);
    duet->held[1] = false;
    duet_run(duet, 90);
    Client *cy = duet_join(duet, "cy", true); // comes when all is done
    duet_run(duet, 30);
    put_body(duet, 0, vec3(3000, 1, 3000));
    duet_run(duet, 120);
    put_body(duet, 0, vec3(30, 3, 25));
    duet_cut(duet, 1);
    duet_run(duet, 30);
    duet_connect(duet, 1);
    duet_run(duet, 120);
    duet_no_faults(duet);
    Client *const all[] = {ann, bo, cy};
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_INT(client_state(all[i]), CLIENT_PLAYING);
        CHECK_INT(wrong_parts(duet, all[i]), 0);
        CHECK_INT(wrong_colours(all[i], 0, 2000, 1), 0);
        CHECK_INT(wrong_attributes(duet, all[i]), 0);
        CHECK_NEAR(number_of(all[i], 2901, "Price"), 2900, 0);
        CHECK_NEAR(number_of(all[i], 2901, "Secret"), -1, 0);
        CHECK_INT(part_slots(all[i]), 0);
        CHECK_INT(client_stats(all[i]).patches_refused, 0);
    }
    CHECK(client_place(cy)->patch_tick > 0); // the new scene
    duet_close(duet);
}

// A part that moves is an entity; its attributes come as before and stay when it rests. What a
// script takes away is gone on clients too.
TEST(attributes_of_a_part_that_moves_rests_and_loses_them)
{
    Duet *duet = open_floor(2);
    duet_script(duet, "ServerScriptService/Main",
                "function onStart() local t = World.Find('T1525') t:SetAttribute('A', 1)\n"
                "  t:AddTag('lift') task.wait(1)\n"
                "  t:MoveTo(t.Position + Vector3.new(0, 3, 0), 1) task.wait(0.5)\n"
                "  t:SetAttribute('A', 2) task.wait(6)\n"
                "  t:SetAttribute('A', nil) t:RemoveTag('lift') end\n");
    duet_script(duet, "StarterGui/Watch",
                "local t = World.Find('T1525')\n"
                "t:GetAttributeChangedSignal('A'):Connect(function()\n"
                "  print('A is '..tostring(t:GetAttribute('A'))) end)\n");
    Client *ann = duet_join(duet, "ann", true);
    duet_run(duet, 90);
    CHECK_INT(part_slots(ann), 1);
    CHECK_NEAR(number_of(ann, 1526, "A"), 2, 0);
    duet_run(duet, 180);
    CHECK_INT(part_slots(ann), 0);
    CHECK_NEAR(number_of(ann, 1526, "A"), 2, 0);
    CHECK_INT(wrong_attributes(duet, ann), 0);
    Client *bo = duet_join(duet, "bo", true);
    duet_run(duet, 30);
    CHECK_NEAR(number_of(bo, 1526, "A"), 2, 0);
    duet_run(duet, 240);
    CHECK_NEAR(number_of(ann, 1526, "A"), -1, 0);
    CHECK_NEAR(number_of(bo, 1526, "A"), -1, 0);
    CHECK_INT(wrong_attributes(duet, ann) + wrong_attributes(duet, bo), 0);
    CHECK_INT(duet_lines(duet, "A is 2"), 1);
    CHECK(duet_lines(duet, "A is nil") >= 1);
    duet_no_faults(duet);
    duet_close(duet);
}

// Every part of a large list is as long as it may be.
TEST(attributes_as_large_as_they_may_be)
{
    Duet *duet = open_floor(2);
    duet_script(duet, "ServerScriptService/Main",
                "function onStart() for i = 0, 59 do local t = World.Find('T'..i)\n"
                "  for k = 1, 3 do t:SetAttribute('K'..k, string.rep('x', 1000)) end\n"
                "  t:SetAttribute('Last', i) end end\n");
    Client *ann = duet_join(duet, "ann", true);
    duet_run(duet, 240);
    duet_no_faults(duet);
    CHECK_INT(wrong_attributes(duet, ann), 0);
    CHECK_NEAR(number_of(ann, 60, "Last"), 59, 0);
    CHECK_INT(part_slots(ann), 0);
    duet_close(duet);
}

// 400 tiles that change colour twice a second.
TEST(a_disco_floor)
{
    Duet *duet = open_floor(3);
    duet_script(duet, "ServerScriptService/Main",
                COLOUR_OF "function onStart() for n = 1, 10 do task.wait(0.5)\n"
                          "  for i = 0, 399 do paint(i, n) end end end\n");
    Client *ann = duet_join(duet, "ann", false);
    const ClientStats before = client_stats(ann);
    const uint64_t tick = duet->tick;
    duet_run(duet, 240);
    const ClientStats after = client_stats(ann);
    const uint64_t bytes = after.patch_bytes - before.patch_bytes;
    const uint64_t ticks = duet->tick - tick;
    printf(
        "disco floor of 400 tiles, twice a second: %llu bytes of patches a tick, %llu a second\n",
        (unsigned long long)(bytes / ticks), (unsigned long long)(bytes * 60 / ticks));
    CHECK(bytes * 60 / ticks < 8000);
    CHECK_INT(after.patches_asked - before.patches_asked, 0); // sent at once, without a request
    CHECK(after.patch_rows - before.patch_rows >= 400 * 7);
    duet_run(duet, 180);
    duet_no_faults(duet);
    CHECK_INT(wrong_colours(ann, 0, 400, 10), 0);
    CHECK_INT(part_slots(ann), 0);
    duet_close(duet);
}

// A script that recolours 3,000 parts in every tick: its client gets no more than the limit, the
// others are served as before, and what is there in the end is right.
TEST(a_script_that_never_stops_painting)
{
    Duet *duet = open_floor(3);
    duet_script(duet, "ServerScriptService/Main",
                COLOUR_OF "local n = 0\n"
                          "function onUpdate() if n < 200 then n = n + 1\n"
                          "  for i = 0, 2999 do paint(i, n) end end end\n");
    duet_script(duet, "ServerScriptService/Other",
                "count = 0 function onUpdate() count = count + 1\n"
                "  if count % 60 == 0 then print('second '..count) end end\n");
    Client *ann = duet_join(duet, "ann", false);
    duet_run(duet, 60);
    const ClientStats before = client_stats(ann);
    duet_run(duet, 300);
    const ClientStats after = client_stats(ann);
    const uint64_t down = (after.bytes_down - before.bytes_down) / 5;
    printf("3000 parts in every tick: %llu bytes a second for a client, %llu of them patches\n",
           (unsigned long long)down,
           (unsigned long long)(after.patch_bytes - before.patch_bytes) / 5);
    CHECK(down < 200000);
    CHECK(duet_lines(duet, "second ") >= 5);
    CHECK_INT(client_state(ann), CLIENT_PLAYING);
    CHECK_INT(after.predict.corrections_without_cause, 0);
    duet_run(duet, 600);
    CHECK_INT(part_slots(ann), 0);
    // Whatever the last turn was that the script had the time for, the client has it.
    for (uint64_t id = 1; id <= TILES; id++) {
        const Paint want = world_paint(duet->world, id);
        const Paint got = client_paint(ann, id);
        CHECK(paint_equal(&want, &got));
        if (!test_is_passing()) {
            break;
        }
    }
    duet_close(duet);
}
