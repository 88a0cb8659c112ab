// Stored data: everything that was reported as durable is there after a restart, even if the last
// command was lost; invalid rows are rejected.
#include "core/sim/puppet.h"
#include "core/sim/structure.h"
#include "tests/unit/act_world.h"

#include <stdlib.h>
#include <string.h>

static ActStore store;
static ActWorld act;

static const char SCENE[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 0]}},\n"
    "  {\"id\": 2, \"name\": \"Vault\", \"transform\": {\"position\": [9, 0.5, 9]},"
    "   \"shape\": {\"size\": [1, 1, 1]}},\n"
    "  {\"id\": 3, \"transform\": {\"position\": [12, 0.5, 9]},"
    "   \"shape\": {\"size\": [1, 1, 1]}}]}\n";

static void open(void)
{
    act_world_open(&act, &store, TEST_PLACE_FLAT, SCENE, false);
}

static void again(void)
{
    act_world_close(&act);
    act_world_open(&act, &store, TEST_PLACE_FLAT, SCENE, false);
    act_world_rows(&act);
    CHECK_INT(store.refused, 0);
}

static void finish(void)
{
    act_world_close(&act);
    act_store_free(&store);
    memset(&store, 0, sizeof store);
}

static uint64_t build(ActClient *client, int32_t x, int32_t y, int32_t z)
{
    const MessageBuildPlace command = {.piece = 0, .cell = {x, y, z}};
    act_world_tick(&act, 8);
    CHECK(act_world_ask(&act, client, MESSAGE_BUILD_PLACE, &command));
    return ((const MessageAck *)act_client_last(client, MESSAGE_ACK))->entity_id;
}

static ScriptWorld *scripts(void)
{
    return authority_world(act.world->authority);
}

static void set_number(uint64_t net_id, const char *name, double number, uint32_t flags)
{
    const ScriptValue value = {.type = SCRIPT_NUMBER, .number = number};
    CHECK_OK(scripts()->methods->set_attribute(scripts(), net_id, (Text){name, strlen(name)},
                                               &value, flags));
}

static double number_of(uint64_t net_id, const char *name, uint32_t *flags)
{
    ScriptValue value;
    if (!attribute_table_attribute(authority_attributes(act.world->authority), net_id,
                                   (Text){name, strlen(name)}, &value, flags)) {
        return -1;
    }
    return value.number;
}

static uint64_t vault(void)
{
    return scripts()->methods->find(scripts(), (Text){"Vault", 5});
}

TEST(a_restarted_world_has_everything)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_place(&act, a, vec3(0, 0, 0));
    const uint64_t low = build(a, 2, 0, 2);
    const uint64_t high = build(a, 2, 1, 2);
    const uint64_t hurt = build(a, 4, 0, 2);
    const uint64_t gone = build(a, 5, 0, 2);
    (void)sim_damage(act.world->sim, sim_find(act.world->sim, hurt), 20, 0);
    const MessageBuildRemove remove = {.entity_id = gone};
    CHECK(act_world_ask(&act, a, MESSAGE_BUILD_REMOVE, &remove));
    const MessageTerraform dig = {.shape = 0, .min = {-3, -1, -3}, .voxel_kind = 0};
    CHECK(act_world_ask(&act, a, MESSAGE_TERRAFORM, &dig));
    set_number(vault(), "gold", 12, ATTRIBUTE_PERSISTENT);
    set_number(vault(), "code", 1234, ATTRIBUTE_PERSISTENT | ATTRIBUTE_PRIVATE);
    set_number(vault(), "shine", 3, 0);
    set_number(2, "open", 1, ATTRIBUTE_PERSISTENT);
    const WireProfile profile = {.character_id = act_text("knight"), .name = act_text("Sir Ann")};
    const MessageProfileSave save = {.profiles = &profile, .profiles_count = 1};
    CHECK(act_world_ask(&act, a, MESSAGE_PROFILE_SAVE, &save));
    act_world_place(&act, a, vec3(7, 0, -5));
    act_world_tick(&act, 80);
    const uint64_t player = act_world_session(&act, a)->player;
    const uint64_t next_id = sim_next_net_id(act.world->sim);

    again();
    act_world_tick(&act, 1);
    const Entity *entity = sim_entity(act.world->sim, sim_find(act.world->sim, low));
    REQUIRE(entity != NULL);
    CHECK_INT(entity->owner_id, player);
    CHECK(!handle_is_none(sim_find(act.world->sim, high)));
    CHECK(handle_is_none(sim_find(act.world->sim, gone)));
    entity = sim_entity(act.world->sim, sim_find(act.world->sim, hurt));
    REQUIRE(entity != NULL);
    CHECK_NEAR(entity->part.health, 30, 0.01);
    CHECK_INT(terrain_voxel(sim_terrain_view(act.world->sim), (VoxelCoord){-3, -1, -3}), 0);
    CHECK_INT(terrain_chunk_version(sim_terrain_view(act.world->sim), (ChunkCoord){-1, -1, -1}), 1);
    uint32_t flags = 0;
    CHECK_NEAR(number_of(vault(), "gold", &flags), 12, 0);
    CHECK_INT(flags, ATTRIBUTE_PERSISTENT);
    CHECK_NEAR(number_of(vault(), "code", &flags), 1234, 0);
    CHECK_INT(flags, ATTRIBUTE_PERSISTENT | ATTRIBUTE_PRIVATE);
    CHECK_NEAR(number_of(vault(), "shine", NULL), -1, 0);
    CHECK_NEAR(number_of(2, "open", NULL), 1, 0);
    CHECK(sim_next_net_id(act.world->sim) >= next_id);
    a = act_world_join(&act, 7, "ann");
    const Session *session = act_world_session(&act, a);
    CHECK_INT(session->player, player);
    CHECK_INT(profile_of(act.world->acts, session)->count, 2);
    const Entity *body = session_body(act.world->sim, session);
    CHECK_NEAR(body->position.x, 7, 0.5);
    CHECK_NEAR(body->position.z, -5, 0.5);
    // Nothing is stored again that did not change.
    act_world_tick(&act, 40);
    ActClient *b = act_world_join(&act, 9, "new");
    CHECK(act_world_session(&act, b)->player > player);
    finish();
}

TEST(what_was_durable_survives_the_loss_of_the_rest)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_place(&act, a, vec3(0, 0, 0));
    const uint64_t kept = build(a, 2, 0, 2);
    act_world_tick(&act, 3);
    const MessageDurable *durable = act_client_last(a, MESSAGE_DURABLE);
    REQUIRE(durable != NULL);
    const uint32_t durables = a->counts[MESSAGE_DURABLE];
    act.hold = true;
    const uint64_t lost = build(a, 4, 0, 2);
    act_world_tick(&act, 60);
    CHECK(act.held > 0);
    CHECK_INT(a->counts[MESSAGE_DURABLE], durables); // nothing is promised
    const uint64_t highest = sim_next_net_id(act.world->sim) - 1;
    again();
    act_world_tick(&act, 1);
    CHECK(!handle_is_none(sim_find(act.world->sim, kept)));
    CHECK(handle_is_none(sim_find(act.world->sim, lost)));
    CHECK(sim_next_net_id(act.world->sim) > highest); // no id is given twice
    finish();
}

TEST(saves_wait_for_answers_and_are_merged)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_tick(&act, 10);
    act.hold = true;
    act.held = 0;
    for (int32_t i = 0; i < 300; i++) {
        CHECK_OK(
            terrain_set(sim_terrain(act.world->sim), (VoxelCoord){i % 30, 5, i / 30}, 2, NULL));
        act_world_tick(&act, 1);
    }
    CHECK_INT(act.held, 8); // no more than that are without an answer
    act.hold = false;
    CHECK_INT(a->counts[MESSAGE_ERROR], 0);
    finish();
}

// Commands are answered in any order; what one promises rests on all before it.
TEST(durable_means_everything_before_too)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_place(&act, a, vec3(0, 0, 0));
    act_world_tick(&act, 40);
    act.hold = true;
    act.held = 0;
    const uint32_t before = a->counts[MESSAGE_DURABLE];
    const uint64_t seq = act.world->stats.saves;
    (void)build(a, 2, 0, 2);
    act_world_tick(&act, 2);
    const uint64_t first = act.world->stats.saves;
    (void)build(a, 4, 0, 2);
    act_world_tick(&act, 2);
    const uint64_t last = act.world->stats.saves;
    REQUIRE(first > seq && last > first);
    for (uint64_t s = last; s > seq + 1; s--) {
        CHECK_OK(world_enter(act.world,
                             &(Entry){.type = ENTRY_STORED, .flags = ENTRY_OK, .number = s * 2}));
    }
    act_world_tick(&act, 1);
    CHECK_INT(a->counts[MESSAGE_DURABLE], before);
    const Entry again_last = {.type = ENTRY_STORED, .flags = ENTRY_OK, .number = last * 2};
    CHECK_INT(world_enter(act.world, &again_last), STATUS_NOT_FOUND); // answered twice
    CHECK_OK(world_enter(
        act.world, &(Entry){.type = ENTRY_STORED, .flags = ENTRY_OK, .number = (seq + 1) * 2}));
    act_world_tick(&act, 1);
    CHECK_INT(a->counts[MESSAGE_DURABLE], before + 2);
    finish();
}

// The first is stored, the second is not: only the first is promised.
TEST(durable_is_said_of_what_was_stored_alone)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_place(&act, a, vec3(0, 0, 0));
    act_world_tick(&act, 40);
    act.hold = true;
    const uint32_t before = a->counts[MESSAGE_DURABLE];
    const uint64_t seq = act.world->stats.saves;
    (void)build(a, 2, 0, 2);
    const uint32_t asked = a->seq;
    act_world_tick(&act, 2);
    const uint64_t first = act.world->stats.saves;
    (void)build(a, 4, 0, 2);
    act_world_tick(&act, 2);
    for (uint64_t s = seq + 1; s <= first; s++) {
        CHECK_OK(world_enter(act.world,
                             &(Entry){.type = ENTRY_STORED, .flags = ENTRY_OK, .number = s * 2}));
    }
    act_world_tick(&act, 1);
    CHECK_INT(a->counts[MESSAGE_DURABLE], before + 1);
    const MessageDurable *durable = act_client_last(a, MESSAGE_DURABLE);
    REQUIRE(durable != NULL);
    CHECK_INT(durable->command_seq, asked);
    finish();
}

TEST(a_refused_save_stops_the_world)
{
    open();
    (void)act_world_join(&act, 7, "ann");
    act.hold = true;
    CHECK_OK(terrain_set(sim_terrain(act.world->sim), (VoxelCoord){1, 5, 1}, 2, NULL));
    act_world_tick(&act, 1);
    const uint64_t request = (store.seq + 1) * 2;
    CHECK_OK(world_enter(act.world, &(Entry){.type = ENTRY_STORED, .number = request}));
    act_world_tick(&act, 1);
    CHECK_INT(act.stops, 1);
    CHECK(act.world->run.stopping);
    const Entry twice = {.type = ENTRY_STORED, .flags = ENTRY_OK, .number = 1000000};
    CHECK_INT(world_enter(act.world, &twice), STATUS_NOT_FOUND);
    finish();
}

TEST(support_is_found_whatever_the_order)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_place(&act, a, vec3(0, 0, 0));
    // A bridge: its first pillar goes when the second one holds it.
    const uint64_t first = build(a, 2, 0, 2);
    const uint64_t deck = build(a, 2, 1, 2);
    const uint64_t deck2 = build(a, 3, 1, 2);
    const uint64_t second = build(a, 3, 0, 2);
    const MessageBuildRemove remove = {.entity_id = first};
    CHECK(act_world_ask(&act, a, MESSAGE_BUILD_REMOVE, &remove));
    act_world_tick(&act, 30);
    CHECK(!handle_is_none(sim_find(act.world->sim, deck)));
    again();
    act_world_tick(&act, 30);
    CHECK(!handle_is_none(sim_find(act.world->sim, deck)));
    CHECK(!handle_is_none(sim_find(act.world->sim, deck2)));
    CHECK(!handle_is_none(sim_find(act.world->sim, second)));
    finish();
}

// A piece that the catalogue no longer has.
TEST(what_no_longer_exists_is_left_out)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_place(&act, a, vec3(0, 0, 0));
    const uint64_t stays = build(a, 2, 0, 2);
    const MessageBuildPlace wall = {.piece = 1, .cell = {4, 0, 4}};
    CHECK(act_world_ask(&act, a, MESSAGE_BUILD_PLACE, &wall));
    const uint64_t lost = ((const MessageAck *)act_client_last(a, MESSAGE_ACK))->entity_id;
    act_world_tick(&act, 6);
    act_world_close(&act);
    static const char smaller[] =
        "{\"format\": 1, \"name\": \"Flat\", \"limits\": {\"viewRadius\": 64},"
        " \"catalogue\": [{\"name\": \"block\", \"health\": 50}],"
        " \"voxelKinds\": [{\"name\": \"grass\"}]}";
    act_world_open(&act, &store, smaller, SCENE, false);
    act_world_rows(&act);
    act_world_tick(&act, 20);
    CHECK(!handle_is_none(sim_find(act.world->sim, stays)));
    CHECK(handle_is_none(sim_find(act.world->sim, lost)));
    uint32_t rows = 0;
    for (uint32_t i = 0; i < store.count; i++) {
        rows += store.rows[i].row.type == ROW_STRUCTURE;
    }
    CHECK_INT(rows, 2); // the place may change back
    finish();
}

// An id that the place has given to something else since.
TEST(a_structure_whose_id_is_taken_gets_another)
{
    open();
    uint8_t bytes[256];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    const RowStructure row = {.desc = {.net_id = 2, .owner_id = 5, .piece = 0, .cell = {3, 0, 3}},
                              .health = 50};
    row_put_structure(&row, &writer);
    // Net id 2 is the second anchored part; it is no entity, so the sim would take it twice.
    const Entry entry = {.type = ENTRY_ROW, .bytes = bytes, .byte_count = writer.at};
    CHECK_OK(world_enter(act.world, &entry));
    act_world_tick(&act, 10);
    CHECK_INT(sim_count(act.world->sim, ENTITY_STRUCTURE), 1);
    const Handle h = sim_next(act.world->sim, HANDLE_NONE, ENTITY_MASK(ENTITY_STRUCTURE));
    CHECK(sim_entity(act.world->sim, h)->net_id > 2);
    finish();
}

// What scripts spawn is not there at the start; what was stored of it comes with its name.
TEST(attributes_wait_for_their_entity)
{
    open();
    uint8_t attributes[128], bytes[256];
    ByteWriter inner = byte_writer(attributes, sizeof attributes);
    const NetValue value = {.type = NET_VALUE_NUMBER, .number = 4};
    net_attributes_write_name(&inner, act_text(""));
    net_attributes_write_one(&inner, act_text("gold"), &value);
    net_attributes_write_end(&inner);
    net_attributes_write_end(&inner);
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    row_put_attributes(act_text("Late"), 0, attributes, inner.at, &writer);
    CHECK_OK(world_enter(act.world,
                         &(Entry){.type = ENTRY_ROW, .bytes = bytes, .byte_count = writer.at}));
    act_world_tick(&act, 40);
    const ShapeDesc desc = {.part = {.shape = scene_part(act.place->scene, 0)->desc.shape,
                                     .pose = {{0, 10, 0}, QUAT_IDENTITY}}};
    Handle handle;
    CHECK_OK(sim_spawn_prop(act.world->sim, &desc, &handle));
    const uint64_t net_id = sim_entity(act.world->sim, handle)->net_id;
    CHECK_OK(authority_set_name(act.world->authority, net_id, (Text){"Late", 4}));
    act_world_tick(&act, 1);
    uint32_t flags = 0;
    CHECK_NEAR(number_of(net_id, "gold", &flags), 4, 0);
    CHECK_INT(flags, ATTRIBUTE_PERSISTENT);
    finish();
}

// --- entities without a name --------------------------------------------------------------------

// The same scene, with a part put before all others.
static const char LONGER[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 9, \"transform\": {\"position\": [15, 0.5, 9]}, \"shape\": {\"size\": [1, 1, "
    "1]}},\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 0]}},\n"
    "  {\"id\": 2, \"name\": \"Vault\", \"transform\": {\"position\": [9, 0.5, 9]},"
    "   \"shape\": {\"size\": [1, 1, 1]}},\n"
    "  {\"id\": 3, \"transform\": {\"position\": [12, 0.5, 9]},"
    "   \"shape\": {\"size\": [1, 1, 1]}}]}\n";

static void again_with(const char *scene, bool same_place)
{
    act_world_close(&act);
    act_world_open(&act, &store, TEST_PLACE_FLAT, scene, false);
    act.same_place = same_place;
    act_world_rows(&act);
    CHECK_INT(store.refused, 0);
    act_world_tick(&act, 1);
}

// By where it is, which no number of ours can change.
static double number_at(float x, const char *name)
{
    const Scene *scene = act.place->scene;
    for (uint32_t i = 0; i < scene_part_count(scene); i++) {
        if (scene_part(scene, i)->desc.pose.position.x == x) {
            return number_of(i + 1, name, NULL);
        }
    }
    return -2;
}

// How many rows of attributes have a key that begins with this letter.
static uint32_t rows_by(char letter)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < store.count; i++) {
        const Row *row = &store.rows[i].row;
        count += row->type == ROW_ATTRIBUTE && row->key[0] == (uint8_t)letter;
    }
    return count;
}

TEST(a_part_put_before_takes_nothing_from_those_behind_it)
{
    open();
    act_world_tick(&act, 1);
    set_number(2, "open", 1, ATTRIBUTE_PERSISTENT); // the part at 12
    CHECK_NEAR(number_at(12, "open"), 1, 0);
    act_world_tick(&act, 80);
    again_with(LONGER, false);
    CHECK_NEAR(number_at(12, "open"), 1, 0);
    CHECK_NEAR(number_at(15, "open"), -1, 0);
    CHECK_NEAR(number_at(9, "open"), -1, 0);
    // And it is still that one's when the part is gone again.
    again_with(SCENE, false);
    CHECK_NEAR(number_at(12, "open"), 1, 0);
    finish();
}

// As a program stored it that numbered the players of each world: account 4711 was number 7.
static void keep_old_player(uint64_t structure)
{
    uint8_t bytes[256];
    const RowPlayer player = {.account = 4711,
                              .player = 7,
                              .entity = 90,
                              .position = vec3(0, 0, 0),
                              .health = 50,
                              .name = act_text("ann"),
                              .team = act_text("")};
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    row_put_player(&player, &writer);
    act_store_keep(&store, bytes, writer.at);
    const RowStructure built = {.desc = {.net_id = structure, .owner_id = 7, .cell = {2, 0, 2}},
                                .health = 10};
    writer = byte_writer(bytes, sizeof bytes);
    row_put_structure(&built, &writer);
    act_store_keep(&store, bytes, writer.at);
}

static uint64_t stored_owner(uint64_t structure)
{
    for (uint32_t i = 0; i < store.count; i++) {
        RowStructure row;
        if (row_structure(&store.rows[i].row, &row) == STATUS_OK && row.desc.net_id == structure) {
            return row.desc.owner_id;
        }
    }
    return 0;
}

TEST(a_player_of_before_gets_its_accounts_number_and_keeps_what_it_built)
{
    open();
    keep_old_player(500);
    again();
    act_world_tick(&act, 80);
    const Entity *entity = sim_entity(act.world->sim, sim_find(act.world->sim, 500));
    REQUIRE(entity != NULL);
    CHECK_INT(entity->owner_id, 4711);
    CHECK_INT(stored_owner(500), 4711);
    again(); // the player's row says nothing of number 7 any more
    ActClient *ann = act_world_join(&act, 4711, "ann");
    CHECK_INT(act_world_session(&act, ann)->player, 4711);
    const MessageBuildRemove remove = {.entity_id = 500};
    CHECK(act_world_ask(&act, ann, MESSAGE_BUILD_REMOVE, &remove));
    CHECK(act.world->run.next_player > 7); // nobody gets that number
    finish();
}

// As a program stored it that knew net ids alone: the part at 12 is open, a number that is
// nobody's.
static void keep_old_rows(void)
{
    for (uint64_t net_id = 2; net_id <= 200; net_id += 198) {
        uint8_t book[128], bytes[256];
        ByteWriter inner = byte_writer(book, sizeof book);
        const NetValue value = {.type = NET_VALUE_NUMBER, .number = 7};
        net_attributes_write_name(&inner, act_text(""));
        net_attributes_write_one(&inner, act_text("open"), &value);
        net_attributes_write_end(&inner);
        net_attributes_write_end(&inner);
        ByteWriter writer = byte_writer(bytes, sizeof bytes);
        row_put_attributes(act_text(""), net_id, book, inner.at, &writer);
        act_store_keep(&store, bytes, writer.at);
    }
    CHECK_INT(rows_by('i'), 2);
}

TEST(rows_by_net_id_move_to_the_scenes_ids_if_the_place_is_the_same)
{
    open();
    keep_old_rows();
    again_with(SCENE, true);
    CHECK_NEAR(number_at(12, "open"), 7, 0);
    act_world_tick(&act, 2);
    CHECK_INT(rows_by('i'), 0);
    CHECK_INT(rows_by('s'), 1);
    again_with(LONGER, false);
    CHECK_NEAR(number_at(12, "open"), 7, 0);
    finish();
}

static uint32_t drop_lines;
static void count_drop_lines(void *user, const LogEvent *event)
{
    (void)user;
    drop_lines += strstr(event->text, "2 stored rows of entities without a name") != NULL;
}

TEST(rows_by_net_id_of_another_place_are_dropped_and_logged)
{
    static LogSink log = {.write = count_drop_lines, .level_min = LOG_WARN};
    open();
    keep_old_rows();
    act_world_close(&act);
    act_world_open_options(&act, &store, TEST_PLACE_FLAT, LONGER, &(ActOptions){.log = &log});
    act_world_rows(&act);
    CHECK_INT(store.refused, 0);
    act_world_tick(&act, 2);
    CHECK_NEAR(number_at(9, "open"), -1, 0); // which has that net id now
    CHECK_NEAR(number_at(12, "open"), -1, 0);
    CHECK_INT(rows_by('i') + rows_by('s'), 0);
    CHECK_INT(drop_lines, 1);
    finish();
}

// A crash between the two: what was stored by the scene's id is newer, in whichever order they
// come.
TEST(a_row_by_the_scenes_id_goes_before_an_old_one)
{
    for (uint32_t swap = 0; swap < 2; swap++) {
        open();
        act_world_tick(&act, 1);
        set_number(2, "open", 1, ATTRIBUTE_PERSISTENT);
        act_world_tick(&act, 80);
        keep_old_rows();
        for (uint32_t i = 0; i < store.count / 2 && swap == 1; i++) {
            const ActRow row = store.rows[i];
            store.rows[i] = store.rows[store.count - 1 - i];
            store.rows[store.count - 1 - i] = row;
        }
        again_with(SCENE, true);
        CHECK_NEAR(number_at(12, "open"), 1, 0);
        act_world_tick(&act, 2);
        CHECK_INT(rows_by('i'), 0);
        finish();
    }
}

TEST(an_entity_that_gets_a_name_has_one_row)
{
    open();
    act_world_tick(&act, 1);
    set_number(2, "open", 1, ATTRIBUTE_PERSISTENT);
    act_world_tick(&act, 80);
    CHECK_INT(rows_by('s'), 1);
    CHECK_OK(authority_set_name(act.world->authority, 2, (Text){"Gate", 4}));
    set_number(2, "open", 2, ATTRIBUTE_PERSISTENT);
    act_world_tick(&act, 80);
    CHECK_INT(rows_by('s'), 0);
    CHECK_INT(rows_by('n'), 1);
    finish();
}

TEST(hostile_rows_are_refused)
{
    open();
    const uint8_t junk[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    for (size_t bytes = 0; bytes <= sizeof junk; bytes++) {
        CHECK(world_enter(act.world,
                          &(Entry){.type = ENTRY_ROW, .bytes = junk, .byte_count = bytes}) !=
              STATUS_OK);
    }
    uint8_t bytes[512];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    row_put_meta(&(RowMeta){.next_net_id = SIM_NET_ID_MAX, .next_player = SIM_NET_ID_MAX}, &writer);
    CHECK_OK(world_enter(act.world,
                         &(Entry){.type = ENTRY_ROW, .bytes = bytes, .byte_count = writer.at}));
    writer = byte_writer(bytes, sizeof bytes);
    row_put_structure(&(RowStructure){.desc = {.net_id = SIM_NET_ID_MAX}, .health = 1}, &writer);
    CHECK_INT(world_enter(act.world,
                          &(Entry){.type = ENTRY_ROW, .bytes = bytes, .byte_count = writer.at}),
              STATUS_RANGE);
    // What cannot be right has not used up the numbers.
    act_world_tick(&act, 1);
    CHECK(sim_next_net_id(act.world->sim) < 100);
    writer = byte_writer(bytes, sizeof bytes);
    row_put_meta(&(RowMeta){.next_net_id = 5}, &writer);
    CHECK_INT(world_enter(act.world,
                          &(Entry){.type = ENTRY_ROW, .bytes = bytes, .byte_count = writer.at}),
              STATUS_DENIED); // too late
    finish();
}

TEST(resumes_end)
{
    open();
    RowResume resume = {.account = 7, .player = 3, .expires_unix_ms = act.unix_ms + 500};
    memset(resume.token_hash, 5, sizeof resume.token_hash);
    uint8_t bytes[256];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    row_put_resume(&resume, &writer);
    CHECK_OK(world_enter(act.world,
                         &(Entry){.type = ENTRY_ROW, .bytes = bytes, .byte_count = writer.at}));
    act_world_tick(&act, 1);
    RowResume found;
    CHECK(save_find_resume(act.world->saves, resume.token_hash, &found));
    CHECK_INT(found.player, 3);
    act_world_tick(&act, 80);
    CHECK(!save_find_resume(act.world->saves, resume.token_hash, &found));
    for (uint32_t i = 0; i < store.count; i++) {
        CHECK(store.rows[i].row.type != ROW_RESUME);
    }
    finish();
}

// Taking commands and output is no entry: a replay that takes nothing comes to the same state.
TEST(a_replay_that_takes_nothing_is_the_same)
{
    static ActStore other_store;
    static ActWorld other;
    open();
    act.journal = malloc(ACT_JOURNAL_BYTES);
    act.entries = byte_writer(act.journal, ACT_JOURNAL_BYTES);
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_place(&act, a, vec3(0, 0, 0)); // no entry: done below again
    const size_t placed_at = act.entries.at;
    (void)build(a, 2, 0, 2);
    const MessageTerraform dig = {.shape = 0, .min = {-3, -1, -3}, .voxel_kind = 0};
    CHECK(act_world_ask(&act, a, MESSAGE_TERRAFORM, &dig));
    const WireChunkVersion want = {.at = {-1, -1, -1}};
    const MessageChunkRequest request = {.chunks = &want, .chunks_count = 1};
    CHECK(act_world_ask(&act, a, MESSAGE_CHUNK_REQUEST, &request));
    const WireProfile profile = {.character_id = act_text("knight"), .name = act_text("Sir Ann")};
    const MessageProfileSave save = {.profiles = &profile, .profiles_count = 1};
    CHECK(act_world_ask(&act, a, MESSAGE_PROFILE_SAVE, &save));
    for (int32_t i = 0; i < 12; i++) {
        const MessageTerraform more = {
            .shape = 0, .min = {-3, i % 3, -3}, .voxel_kind = 1 + (uint64_t)(i % 2)};
        CHECK(act_world_ask(&act, a, MESSAGE_TERRAFORM, &more));
        act_world_tick(&act, 6);
    }
    act_world_tick(&act, 100);
    CHECK(act.world->stats.saves > 12); // more than may be without an answer
    CHECK_OK(act.entries.status);

    memset(&other_store, 0, sizeof other_store);
    act_world_open(&other, &other_store, TEST_PLACE_FLAT, SCENE, false);
    ByteReader reader = byte_reader(act.journal, act.entries.at);
    bool placed = false;
    while (byte_reader_left(&reader) > 0) {
        if (!placed && reader.at >= placed_at) {
            placed = true;
            const Handle body = sim_find(other.world->sim, act_world_session(&act, a)->entity);
            CHECK_OK(sim_set_position(other.world->sim, body, vec3(0, 0, 0)));
        }
        Entry entry;
        REQUIRE(entry_read(&reader, &entry) == STATUS_OK);
        CHECK_OK(world_enter(other.world, &entry));
    }
    CHECK(world_hash(act.world) == world_hash(other.world));
    act_world_close(&other);
    finish();
}

// No DURABLE is sent for waiting rows; nothing grows without bound while the owner is away.
TEST(an_owner_that_never_answers)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_place(&act, a, vec3(0, 0, 0));
    act.hold = true;
    for (uint32_t i = 0; i < 400; i++) {
        const uint64_t id = build(a, 2, 0, 2);
        const MessageBuildRemove remove = {.entity_id = id};
        act_world_tick(&act, 8);
        CHECK(act_world_ask(&act, a, MESSAGE_BUILD_REMOVE, &remove));
        if (!test_is_passing()) {
            break;
        }
    }
    CHECK_INT(act.held, 8);
    finish();
}
