// A world whose owner is in the same process: it loads the example place, two real clients play in
// it, it is changed while they play, and an invalid change has no effect.
#include "core/base/check.h"
#include "core/edit/compile.h"
#include "core/edit/text.h"
#include "core/world/world_inside.h"
#include "tests/support/local_game.h"
#include "tests/support/test.h"
#include "tests/unit/island_session.h"

#include <stdio.h>
#include <string.h>

extern const char island_place[], island_scene[], island_coconut[], island_crab[], island_pebble[],
    island_door_mat[], island_sea[];

#define FILES 7

// By path, as the test of the flat interface has them.
static void island_files(PlaceFile out[FILES])
{
    out[0] = place_file("ServerScriptService/Sea.lua", island_sea);
    out[1] = place_file("Workspace/DoorMat.lua", island_door_mat);
    out[2] = place_file("place.json", island_place);
    out[3] = place_file("prefabs/Coconut.json", island_coconut);
    out[4] = place_file("prefabs/Crab.json", island_crab);
    out[5] = place_file("prefabs/Pebble.json", island_pebble);
    out[6] = place_file("scene.json", island_scene);
}

static void open_island(LocalGame *game)
{
    PlaceFile files[FILES];
    island_files(files);
    local_game_open(game, files, FILES);
}

// The session of island_session.h.
static void play_session(LocalGame *game)
{
    GamePlayer *ada = local_game_join(game, "ada");
    GamePlayer *bo = local_game_join(game, "bo");
    local_game_run(game, 2);
    ada->input.move_z = 1;
    bo->input.move_x = 1;
    bo->input.buttons = INPUT_RUN;
    local_game_run(game, 2);
    ada->input.buttons = INPUT_JUMP | INPUT_FIRE;
    local_game_run(game, 2);
    ada->input.move_z = 0;
    bo->input.move_x = 0;
    local_game_run(game, 4);
}

static void text_of(uint64_t hash, char out[17])
{
    snprintf(out, 17, "%016llx", (unsigned long long)hash);
}

static uint32_t count_colour(const GamePlayer *player, uint32_t colour)
{
    const Place *place = client_place(player->client);
    uint32_t count = 0;
    for (uint32_t i = 0; i < scene_part_count(place->scene); i++) {
        count += place->paints.scene[i].colour == colour;
    }
    return count;
}

// --- playing ------------------------------------------------------------------------------------

TEST(a_session_gives_the_hashes_that_every_build_gives)
{
    LocalGame game;
    open_island(&game);
    play_session(&game);
    REQUIRE(local_game_plays(&game.players[0]) && local_game_plays(&game.players[1]));
    char world[17], ada[17], bo[17];
    text_of(world_hash(local_host_world(game.host)), world);
    text_of(client_hash(game.players[0].client), ada);
    text_of(client_hash(game.players[1].client), bo);
    CHECK_TEXT(world, ISLAND_WORLD_HASH);
    CHECK_TEXT(ada, ISLAND_ADA_HASH);
    CHECK_TEXT(bo, ISLAND_BO_HASH);
    CHECK_INT(client_stats(game.players[0].client).predict.corrections_without_cause, 0);
    local_game_close(&game);
}

TEST(clients_walk_and_see_each_other)
{
    LocalGame game;
    open_island(&game);
    GamePlayer *ada = local_game_join(&game, "ada");
    const GamePlayer *bo = local_game_join(&game, "bo");
    local_game_run(&game, 2);
    REQUIRE(local_game_plays(ada) && local_game_plays(bo));
    const PredictView before = client_own(ada->client);
    ada->input.move_z = 1;
    local_game_run(&game, 4);
    ada->input.move_z = 0;
    local_game_run(&game, 1);
    const PredictView now = client_own(ada->client);
    CHECK(vec3_length(vec3_sub(now.position, before.position)) > 10);
    bool seen = false;
    for (uint32_t slot = client_next(bo->client, UINT32_MAX); slot != UINT32_MAX;
         slot = client_next(bo->client, slot)) {
        const ClientEntity entity = client_entity(bo->client, slot);
        if (entity.net_id == now.net_id) {
            seen = true;
            CHECK(vec3_length(vec3_sub(entity.pose.position, now.position)) < 0.05f);
        }
    }
    CHECK(seen);
    local_game_close(&game);
}

// --- from a document ----------------------------------------------------------------------------

// The island as an editor has it, compiled. `scene` instead of the island's own.
static Status compile_document(Heap *heap, const char *scene, EditBuffer *out, PlaceError *error)
{
    EditText *text = NULL;
    EditDoc *doc = NULL;
    PlaceFile files[FILES];
    island_files(files);
    const EditTexts texts = {text_from(island_place), text_from(scene)};
    Status status = edit_text_open(heap, (EditBlobs){0}, texts, &text, &doc, error);
    if (status == STATUS_OK) {
        // Not scene.json itself.
        status = edit_compile(doc, files, FILES - 1, out, error);
        edit_text_close(text);
        edit_doc_destroy(doc);
    }
    return status;
}

TEST(a_document_compiles_into_the_same_bytes_as_its_texts)
{
    Heap heap = heap_make(1ull << 30);
    EditBuffer out = edit_buffer(&heap, 1u << 20);
    PlaceFile files[FILES];
    PlaceError error;
    island_files(files);
    static uint8_t block[1u << 20];
    ByteWriter whole = byte_writer(block, sizeof block);
    CHECK_OK(place_compile(&heap, files, FILES, &whole, &error));
    CHECK_OK(compile_document(&heap, island_scene, &out, &error));
    REQUIRE(out.bytes == whole.at);
    CHECK(memcmp(out.data, block, out.bytes) == 0);
    edit_buffer_free(&out);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(a_document_that_is_no_place_yet_says_which_entity)
{
    static const struct {
        const char *scene, *text;
    } cases[] = {
        {"{\"format\": 1, \"entities\": [{\"id\": 7, \"type\": \"spawn\"}, {\"id\": 8, \"type\":"
         "\"group\", \"bounce\": 2}]}",
         "scene.json entity 8: bounce means nothing for type group; take it out"},
        {"{\"format\": 1}",
         "scene.json entities must have at least one of type spawn, where players begin"},
        {"{\"format\": 1, \"terrain\": [{\"min\": [0, 0, 0], \"max\": [1, 1, 1], \"kind\": "
         "\"nix\"}]}",
         "scene.json terrain[0]: kind must be \"air\" or a name from voxelKinds in place.json"},
    };
    Heap heap = heap_make(1ull << 30);
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        EditBuffer out = edit_buffer(&heap, 1u << 20);
        PlaceError error;
        char text[512];
        CHECK(compile_document(&heap, cases[i].scene, &out, &error) != STATUS_OK);
        place_error_text(&error, text, sizeof text);
        CHECK_TEXT(text, cases[i].text);
        edit_buffer_free(&out);
    }
    CHECK_INT(heap.bytes_now, 0);
}

// With the scripts and place.json alone, and what a world before kept.
static Status open_compiled_with(LocalGame *game, const PlaceFile *files,
                                 const EditBuffer *compiled, const EditBuffer *kept,
                                 const EditBuffer *runes)
{
    PlaceError error;
    LocalHostConfig config = local_host_config_default();
    config.runes = runes != NULL ? runes->data : NULL;
    config.rune_bytes = runes != NULL ? runes->bytes : 0;
    config.compiled = compiled->data;
    config.compiled_bytes = compiled->bytes;
    config.kept = kept != NULL ? kept->data : NULL;
    config.kept_bytes = kept != NULL ? kept->bytes : 0;
    return local_host_create(&game->heap, &config, files, 3, &game->host, &error);
}

static Status open_compiled(LocalGame *game, const EditBuffer *compiled, const EditBuffer *kept)
{
    PlaceFile files[FILES];
    island_files(files);
    return open_compiled_with(game, files, compiled, kept, NULL);
}

TEST(a_world_of_compiled_bytes_is_the_world_of_the_texts)
{
    LocalGame game = {.heap = heap_make(1ull << 30)};
    Heap heap = heap_make(1ull << 30);
    EditBuffer compiled = edit_buffer(&heap, 1u << 20);
    PlaceError error;
    CHECK_OK(compile_document(&heap, island_scene, &compiled, &error));
    ASSERT(open_compiled(&game, &compiled, NULL) == STATUS_OK);
    play_session(&game);
    char world[17], ada[17];
    text_of(world_hash(local_host_world(game.host)), world);
    text_of(client_hash(game.players[0].client), ada);
    CHECK_TEXT(world, ISLAND_WORLD_HASH);
    CHECK_TEXT(ada, ISLAND_ADA_HASH);
    local_game_close(&game);
    edit_buffer_free(&compiled);
}

static void keep(const LocalHost *host, EditBuffer *out)
{
    ByteWriter counter = byte_counter();
    local_host_keep(host, &counter);
    ASSERT(edit_buffer_reserve(out, counter.at));
    ByteWriter writer = byte_writer(out->data, counter.at);
    local_host_keep(host, &writer);
    ASSERT(writer.status == STATUS_OK);
    out->bytes = writer.at;
}

static void play_and_compare(LocalGame *game)
{
    play_session(game);
    char world[17], ada[17];
    text_of(world_hash(local_host_world(game->host)), world);
    text_of(client_hash(game->players[0].client), ada);
    CHECK_TEXT(world, ISLAND_WORLD_HASH);
    CHECK_TEXT(ada, ISLAND_ADA_HASH);
}

static void take_runes(const LocalHost *host, EditBuffer *out)
{
    ByteWriter counter = byte_counter();
    local_host_runes(host, &counter);
    ASSERT(edit_buffer_reserve(out, counter.at));
    ByteWriter writer = byte_writer(out->data, counter.at);
    local_host_runes(host, &writer);
    ASSERT(writer.status == STATUS_OK);
    out->bytes = writer.at;
}

// The runes of the world before are used where nothing changed, and change nothing that is played.
TEST(a_script_that_did_not_change_is_not_checked_again)
{
    LocalGame game = {.heap = heap_make(1ull << 30)};
    Heap heap = heap_make(1ull << 30);
    EditBuffer compiled = edit_buffer(&heap, 1u << 20), runes = edit_buffer(&heap, 8u << 20);
    PlaceError error;
    PlaceFile files[FILES];
    island_files(files);
    CHECK_OK(compile_document(&heap, island_scene, &compiled, &error));
    ASSERT(open_compiled(&game, &compiled, NULL) == STATUS_OK);
    const uint32_t scripts = local_host_checked(game.host);
    CHECK_INT(scripts, 2);
    take_runes(game.host, &runes);
    local_game_close(&game);

    game = (LocalGame){.heap = heap_make(1ull << 30)};
    ASSERT(open_compiled_with(&game, files, &compiled, NULL, &runes) == STATUS_OK);
    CHECK_INT(local_host_checked(game.host), 0);
    play_and_compare(&game);
    // Again from the second: what was carried is carried on.
    EditBuffer again = edit_buffer(&heap, 8u << 20);
    take_runes(game.host, &again);
    CHECK_INT(again.bytes, runes.bytes);
    local_game_close(&game);

    // One byte more in one source, and that one is checked.
    char source[4096];
    for (uint32_t i = 0; i < 3; i++) {
        const size_t length = strlen(files[i].path);
        if (length > 4 && strcmp(files[i].path + length - 4, ".lua") == 0) {
            ASSERT(files[i].bytes + 1 < sizeof source);
            memcpy(source, files[i].data, files[i].bytes);
            source[files[i].bytes] = '\n';
            files[i].data = (const uint8_t *)source;
            files[i].bytes += 1;
            break;
        }
    }
    game = (LocalGame){.heap = heap_make(1ull << 30)};
    ASSERT(open_compiled_with(&game, files, &compiled, NULL, &runes) == STATUS_OK);
    CHECK_INT(local_host_checked(game.host), 1);
    take_runes(game.host, &again);
    local_game_close(&game);

    // Cut anywhere, they are refused, or those that are whole are used.
    island_files(files);
    for (size_t cut = 0; cut < runes.bytes; cut += 1 + runes.bytes / 97) {
        const EditBuffer less = {.data = runes.data, .bytes = cut};
        game = (LocalGame){.heap = heap_make(1ull << 30)};
        if (open_compiled_with(&game, files, &compiled, NULL, &less) == STATUS_OK) {
            CHECK(local_host_checked(game.host) <= scripts);
            local_game_close(&game);
        }
        CHECK_INT(game.heap.bytes_now, 0);
    }
    edit_buffer_free(&again);
    edit_buffer_free(&runes);
    edit_buffer_free(&compiled);
}

TEST(a_world_in_another_memory_goes_on_where_the_last_one_was)
{
    LocalGame game;
    open_island(&game);
    play_session(&game);
    const PredictView before = client_own(game.players[0].client);
    const char *token = client_resume_token(game.players[0].client);
    CHECK(token[0] != '\0');
    local_host_save(game.host);
    Heap heap = heap_make(1ull << 30);
    EditBuffer compiled = edit_buffer(&heap, 1u << 20), kept = edit_buffer(&heap, 8u << 20);
    PlaceError error;
    CHECK_OK(compile_document(&heap, island_scene, &compiled, &error));
    keep(game.host, &kept);

    LocalGame next = {.heap = heap_make(1ull << 30), .now_ms = game.now_ms};
    ASSERT(open_compiled(&next, &compiled, &kept) == STATUS_OK);
    GamePlayer *ada = local_game_join(&next, "ada");
    client_destroy(&next.heap, ada->client);
    ClientConfig config = client_config_default();
    snprintf(config.name, sizeof config.name, "ada");
    snprintf(config.player_id, sizeof config.player_id, "ada");
    snprintf(config.resume_token, sizeof config.resume_token, "%s", token);
    config.owner_fetches = true;
    ASSERT(client_create(&next.heap, &config, &ada->client) == STATUS_OK);
    local_game_connect(&next, ada);
    local_game_run(&next, 2);
    REQUIRE(local_game_plays(ada));
    CHECK(vec3_length(vec3_sub(client_own(ada->client).position, before.position)) < 0.5f);

    // Cut anywhere, it is refused, or a world.
    for (size_t cut = 0; cut < kept.bytes; cut += 1 + kept.bytes / 97) {
        LocalGame short_one = {.heap = heap_make(1ull << 30)};
        const EditBuffer less = {.data = kept.data, .bytes = cut};
        CHECK(open_compiled(&short_one, &compiled, &less) != STATUS_OK);
        CHECK_INT(short_one.heap.bytes_now, 0);
    }
    local_game_close(&next);
    local_game_close(&game);
    edit_buffer_free(&compiled);
    edit_buffer_free(&kept);
}

// --- differences --------------------------------------------------------------------------------

static Status apply(LocalGame *game, const char *json, bool *remade, char text[512])
{
    PlaceError error;
    const Status status = local_host_apply_diff(game->host, json, strlen(json), remade, &error);
    CHECK_INT(error.status, status);
    place_error_text(&error, text, 512);
    return status;
}

TEST(a_new_part_makes_a_new_world_and_players_resume)
{
    LocalGame game;
    open_island(&game);
    play_session(&game);
    const GamePlayer *ada = &game.players[0];
    const PredictView before = client_own(ada->client);
    bool remade = false;
    char text[512];
    CHECK_OK(apply(&game,
                   "{\"entities\": [{\"id\": 900, \"transform\": {\"position\": [3, 4, 5]},"
                   "\"shape\": {\"size\": [2, 1, 6]}, \"colour\": \"#123456\"}]}",
                   &remade, text));
    CHECK(remade);
    local_game_reconnect(&game);
    local_game_run(&game, 2);
    REQUIRE(local_game_plays(ada));
    CHECK_INT(count_colour(ada, 0x123456), 1);
    CHECK(vec3_length(vec3_sub(client_own(ada->client).position, before.position)) < 0.5f);
    CHECK_OK(apply(&game, "{\"removed\": [900]}", &remade, text));
    CHECK(remade);
    local_game_reconnect(&game);
    local_game_run(&game, 2);
    REQUIRE(local_game_plays(ada));
    CHECK_INT(count_colour(ada, 0x123456), 0);
    local_game_close(&game);
}

// --- edited while it is played: tests/scenario/edit/test_played.c, and what scripts have to do
// with it

static Status edit_text(LocalGame *game, const char *text)
{
    PlaceError error;
    return local_host_edit(game->host, text, strlen(text), &error);
}

static bool page_has(const LocalGame *game, uint64_t net_id, const char *name)
{
    ScriptValue value = {0};
    return attribute_table_attribute(view_attributes(client_script_view(game->players[0].client)),
                                     net_id, text_from(name), &value, NULL);
}

// An attribute gets and loses what makes it stored, or seen by some alone.
static void check_flags(LocalGame *game)
{
    World *world = local_host_world(game->host);
    const AttributeTable *table = authority_attributes(world->authority);
    ScriptValue value = {0};
    uint32_t flags = 0;
    CHECK(!page_has(game, 1, "secret"));
    CHECK_OK(edit_text(game, "{\"given\": [{\"id\": 2, \"attributes\": {\"secret\": 2}}]}"));
    local_game_run(game, 1);
    CHECK(page_has(game, 1, "secret"));
    CHECK_OK(edit_text(game, "{\"given\": [{\"id\": 2, \"attributes\": {\"secret\": {\"value\": 2, "
                             "\"persistent\": true, \"visibility\": \"owner\"}}}]}"));
    local_game_run(game, 1);
    CHECK(!page_has(game, 1, "secret")); // the same value, and it has no owner
    CHECK(attribute_table_attribute(table, 1, text_from("secret"), &value, &flags));
    CHECK_INT(flags, ATTRIBUTE_PERSISTENT | ATTRIBUTE_OWNER);
    CHECK(save_has_attributes(world->saves, text_from("Box")));
    CHECK_OK(edit_text(game, "{\"given\": [{\"id\": 2, \"attributes\": {\"secret\": 2}}]}"));
    CHECK(attribute_table_attribute(table, 1, text_from("secret"), &value, &flags));
    CHECK_INT(flags, 0);
    CHECK_OK(edit_text(game, "{\"lost\": [{\"id\": 2, \"attributes\": {\"secret\": 0}}]}"));
    CHECK(!attribute_table_attribute(table, 1, text_from("secret"), &value, &flags));
    CHECK_OK(
        edit_text(game, "{\"given\": [{\"id\": 2, \"attributes\": {\"to\": {\"entity\": 3}}}]}"));
    CHECK(attribute_table_attribute(table, 1, text_from("to"), &value, &flags));
    CHECK(value.type == SCRIPT_ENTITY && value.entity == world_scene_entity(world, 3));
}

// A script that listens hears of attributes and tags. What scripts looked for is not added behind
// their backs: in a world that is made anew they would find it.
TEST(scripts_and_what_is_edited_while_they_run)
{
    static const char script[] =
        "local heard = {}\n"
        "function onStart()\n"
        "  local box = World.Find('Box')\n"
        "  World.FindAll('Looked') World.GetTagged('looked') World.GetTagged('heard')\n"
        "  World.GetTagAddedSignal('heard'):Connect(function(e)\n"
        "    box:SetAttribute('tagged', (box:GetAttribute('tagged') or 0) + 1) end)\n"
        "  box.AttributeChanged:Connect(function(name, now, before)\n"
        "    if name == 'price' then box:SetAttribute('sum', (now or 0) * 100 + (before or 0)) "
        "end\n"
        "  end)\n"
        "end\n";
    const PlaceFile files[] = {
        place_file("ServerScriptService/Main.lua", script),
        place_file("place.json", "{\"format\": 1, \"name\": \"Edited\"}"),
        place_file("scene.json",
                   "{\"format\": 1, \"entities\": [{\"id\": 1, \"type\": \"spawn\"}, {\"id\": 2, "
                   "\"name\": \"Box\", \"attributes\": {\"price\": 3, \"secret\": {\"value\": 1, "
                   "\"visibility\": \"server\"}}}, {\"id\": 5, \"name\": \"Other\"}]}")};
    LocalGame game;
    local_game_open(&game, files, 3);
    (void)local_game_join(&game, "ada");
    local_game_run(&game, 1);
    World *world = local_host_world(game.host);
    const AttributeTable *table = authority_attributes(world->authority);
    ScriptValue value = {0};
    CHECK_OK(edit_text(&game, "{\"given\": [{\"id\": 2, \"attributes\": {\"price\": 5}}]}"));
    local_game_run(&game, 1);
    CHECK(attribute_table_attribute(table, 1, text_from("sum"), &value, NULL));
    CHECK_INT((uint32_t)value.number, 503);
    // The second one listens for its tag, the first one does not.
    CHECK_INT(edit_text(&game, "{\"given\": [{\"id\": 2, \"tags\": [\"looked\"]}]}"),
              STATUS_UNSUPPORTED);
    CHECK_OK(edit_text(&game, "{\"given\": [{\"id\": 2, \"tags\": [\"heard\"]}]}"));
    CHECK_OK(edit_text(&game, "{\"created\": [{\"id\": 3, \"tags\": [\"heard\", \"other\"]}]}"));
    local_game_run(&game, 1);
    CHECK(attribute_table_attribute(table, 1, text_from("tagged"), &value, NULL));
    CHECK_INT((uint32_t)value.number, 2);
    static const char *const refused[] = {
        "{\"created\": [{\"id\": 4, \"name\": \"Looked\"}]}",
        "{\"created\": [{\"id\": 4, \"tags\": [\"looked\"]}]}",
        "{\"created\": [{\"id\": 4, \"type\": \"spawn\"}]}",
        "{\"created\": [{\"id\": 4, \"parent\": 2}]}", // without what it stands on
        "{\"created\": [{\"id\": 4, \"serverOnly\": true}]}",
        "{\"created\": [{\"id\": 4, \"attributes\": {\"to\": {\"entity\": 99}}}]}",
        // Nobody would know it again: it has no name, or another one was stored by it.
        "{\"created\": [{\"id\": 4, \"attributes\": {\"a\": {\"value\": 1, \"persistent\": "
        "true}}}]}",
        ("{\"created\": [{\"id\": 4, \"name\": \"Other\", \"attributes\": {\"a\": {\"value\": 1, "
         "\"persistent\": true}}}]}"),
        ("{\"given\": [{\"id\": 3, \"attributes\": {\"a\": {\"value\": 1, \"persistent\": "
         "true}}}]}"),
        ("{\"created\": [{\"id\": 4, \"motion\": {\"loop\": true, \"waypoints\": [{\"position\": "
         "[5, 0, 0], \"seconds\": 1}]}}]}")}; // it does not come back
    for (uint32_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        CHECK_INT(edit_text(&game, refused[i]), STATUS_UNSUPPORTED);
    }
    CHECK_INT(
        edit_text(&game, "{\"created\": [{\"id\": 4, \"scriptPath\": \"Workspace/No.lua\"}]}"),
        STATUS_NOT_FOUND);
    CHECK_INT(world->made_count, 1);
    check_flags(&game);
    CHECK_INT(edit_text(&game, "{\"created\": [{\"id\": 2}]}"), STATUS_EXISTS);
    CHECK_INT(edit_text(&game, "{\"created\": [{\"id\": 3}]}"), STATUS_EXISTS);
    CHECK_INT(edit_text(&game, "{\"given\": [{\"id\": 9, \"tags\": [\"a\"]}]}"), STATUS_NOT_FOUND);
    // There is room for so many; one that goes makes room for another.
    Status status = STATUS_OK;
    for (uint32_t id = 10; status == STATUS_OK && id < 200; id++) {
        char text[64];
        (void)snprintf(text, sizeof text, "{\"created\": [{\"id\": %u}]}", (unsigned)id);
        status = edit_text(&game, text);
    }
    CHECK_INT(status, STATUS_LIMIT);
    CHECK_INT(world->made_count, EDIT_MADE_MAX);
    CHECK_OK(edit_text(&game, "{\"removed\": [3], \"created\": [{\"id\": 300}]}"));
    local_game_run(&game, 1);
    local_game_close(&game);
}

TEST(terrain_and_structures_outlive_a_new_world)
{
    LocalGame game;
    open_island(&game);
    GamePlayer *ada = local_game_join(&game, "ada");
    local_game_run(&game, 2);
    const Vec3 at = client_own(ada->client).position;
    const VoxelCoord voxel = voxel_at(vec3_add(at, vec3(3, 0.5f, 0)));
    const MessageTerraform edit = {.min = {voxel.x, voxel.y, voxel.z}, .voxel_kind = 3};
    CHECK(client_send(ada->client, MESSAGE_TERRAFORM, &edit) != 0);
    local_game_run(&game, 2);
    CHECK_INT(terrain_voxel(sim_terrain_view(client_sim(ada->client)), voxel), 3);
    bool remade = false;
    char text[512];
    CHECK_OK(apply(&game, "{\"files\": {\"prefabs/Crab.json\": null}}", &remade, text));
    CHECK(remade);
    const Terrain *terrain = sim_terrain_view(world_sim(local_host_world(game.host)));
    local_game_reconnect(&game);
    local_game_run(&game, 2);
    CHECK_INT(terrain_voxel(terrain, voxel), 3);
    CHECK_INT(terrain_voxel(sim_terrain_view(client_sim(ada->client)), voxel), 3);
    local_game_close(&game);
}

TEST(changed_scripts_are_taken_while_the_world_runs)
{
    LocalGame game;
    open_island(&game);
    play_session(&game);
    World *world = local_host_world(game.host);
    bool remade = true;
    char text[512];
    // Twice before a tick: the second waits for the first.
    CHECK_OK(apply(&game,
                   "{\"files\": {\"ServerScriptService/Sea.lua\": \"function onUpdate() "
                   "error('one') end\"}}",
                   &remade, text));
    CHECK(!remade);
    CHECK_OK(apply(&game,
                   "{\"files\": {\"ServerScriptService/Sea.lua\": \"\\n\\nfunction onUpdate() "
                   "error('two') end\"}}",
                   &remade, text));
    CHECK(!remade && local_host_world(game.host) == world);
    local_game_run(&game, 1);
    ScriptFault faults[8];
    const uint32_t count = script_faults(world_scripts(world), faults, 8);
    REQUIRE(count > 0);
    CHECK(strstr(faults[count - 1].message, "two") != NULL);
    CHECK_INT(faults[count - 1].line, 3);
    CHECK(local_game_plays(&game.players[0]));
    local_game_close(&game);
}

TEST(what_is_broken_is_refused_and_changes_nothing)
{
    static const struct {
        const char *diff, *begin;
    } cases[] = {
        {"{\"entities\": [{\"id\": 9000, \"shape\": {\"size\": [0, 1, 1]}}]}", "scene.json line "},
        {"{\"entities\": [{\"id\": 9000, \"shape\": 3}]}", "scene.json line "},
        {"{\"entities\": [{\"shape\": {\"size\": [1, 1, 1]}}]}", "scene.json line "},
        {"{\"entities\": [7]}", "scene.json line "},
        {"{\"entities\": 7}", " line 1, column 14: $.entities must be a list"},
        {"{\"removed\": {}}", " line 1, column 13: $.removed must be a list"},
        {"{\"files\": 7}", " line 1, column 11: $.files must be"},
        {"{\"files\": {\"a\": 7}}", " line 1, column 17: $.files.a must be a string or null"},
        {"{\"files\": {\"scene.json\": \"{\\n\\n]\"}}", "scene.json line 3"},
        {"{\"files\": {\"scene.json\": null}}", "scene.json "},
        {"{\"files\": {\"place.json\": null}}", "place.json "},
        {"{\"files\": {\"ServerScriptService/Sea.lua\": \"\\nend\"}}",
         "ServerScriptService/Sea.lua line 2"},
        {"{\"files\": {\"Workspace/New.lua\": \"x x\"}}", "Workspace/New.lua line 1"},
        {"{\"files\": {\"Elsewhere/New.lua\": \"x = 1\"}}",
         "Elsewhere/New.lua this script is in no service"},
        // What a build refuses although it compiles.
        {"{\"files\": {\"StarterGui/New.lua\": \"\\nNetwork.FireClient(nil, 'x')\"}}",
         "StarterGui/New.lua line 2"},
        {"{\"files\": {\"Workspace/DoorMat.lua\": \"require('ReplicatedStorage/None')\"}}",
         "Workspace/DoorMat.lua line 1"},
        {"{\"other\": 7}", " line 1"},
        {"[]", " line 1"},
        {"{", " line 1"},
        {"", " line 1"},
    };
    LocalGame game;
    open_island(&game);
    play_session(&game);
    const uint64_t hash = world_hash(local_host_world(game.host));
    const uint64_t bytes = game.heap.bytes_now;
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool remade = true;
        char text[512];
        CHECK(apply(&game, cases[i].diff, &remade, text) != STATUS_OK);
        CHECK(remade);
        if (strncmp(text, cases[i].begin, strlen(cases[i].begin)) != 0) {
            CHECK_TEXT(text, cases[i].begin);
        }
        CHECK(world_hash(local_host_world(game.host)) == hash);
    }
    local_game_run(&game, 1);
    CHECK(local_game_plays(&game.players[0]));
    CHECK_INT(game.heap.bytes_now, bytes);
    // The files are the old ones: what is right is still taken.
    bool remade = false;
    char text[512];
    CHECK_OK(apply(&game, "{\"removed\": [35]}", &remade, text));
    CHECK(remade);
    local_game_close(&game);
}

// The island whose place.json begins with these contexts.
static Status open_narrowed(Heap *heap, const char *contexts, LocalHost **host, PlaceError *error)
{
    static char settings[16384];
    const LocalHostConfig config = local_host_config_default();
    PlaceFile files[FILES];
    island_files(files);
    const int bytes = snprintf(settings, sizeof settings, "{\"contexts\": %s, %s", contexts,
                               strchr(island_place, '{') + 1);
    ASSERT(bytes > 0 && (size_t)bytes < sizeof settings);
    files[2] = place_file("place.json", settings);
    return local_host_create(heap, &config, files, FILES, host, error);
}

TEST(a_script_that_place_json_keeps_on_the_server_is_not_sent)
{
    static const char *const contexts[] = {"{}", "{\"Workspace/DoorMat\": \"Server\"}"};
    for (uint32_t i = 0; i < 2; i++) {
        LocalGame game = {.heap = heap_make(1ull << 30)};
        PlaceError error;
        const Status status = open_narrowed(&game.heap, contexts[i], &game.host, &error);
        ASSERT(status == STATUS_OK);
        const GamePlayer *ada = local_game_join(&game, "ada");
        local_game_run(&game, 2);
        CHECK(local_game_plays(ada));
        CHECK_INT(client_stats(ada->client).script_count, 1 - i);
        local_game_close(&game);
    }
    Heap heap = heap_make(1ull << 30);
    LocalHost *host = NULL;
    PlaceError error;
    CHECK(open_narrowed(&heap, "{\"ServerScriptService/Sea\": \"Both\"}", &host, &error) !=
          STATUS_OK);
    CHECK_TEXT(error.path, "place.json");
    CHECK_INT(error.where.line, 1);
    CHECK(host == NULL);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(files_that_are_no_place_are_refused)
{
    Heap heap = heap_make(1ull << 30);
    PlaceFile files[FILES];
    const LocalHostConfig config = local_host_config_default();
    LocalHost *host = NULL;
    PlaceError error;
    CHECK(local_host_create(&heap, &config, files, 0, &host, &error) != STATUS_OK);
    island_files(files);
    files[1] = place_file("Workspace/DoorMat.lua", "local x =\n  function");
    CHECK(local_host_create(&heap, &config, files, FILES, &host, &error) != STATUS_OK);
    CHECK_TEXT(error.path, "Workspace/DoorMat.lua");
    CHECK_INT(error.where.line, 2);
    CHECK(host == NULL);
    CHECK_INT(heap.bytes_now, 0);
    // Without enough memory it fails and frees what it took.
    island_files(files);
    Heap small = heap_make(1 << 20);
    CHECK(local_host_create(&small, &config, files, FILES, &host, &error) != STATUS_OK);
    CHECK_INT(small.bytes_now, 0);
}
