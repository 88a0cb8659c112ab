// A world whose owner is in the same process: it loads the example place, two real clients play in
// it, it is changed while they play, and an invalid change has no effect.
#include "core/base/check.h"
#include "core/client/client.h"
#include "core/edit/compile.h"
#include "core/edit/text.h"
#include "core/world/local/local_host.h"
#include "core/world/world_inside.h"
#include "tests/support/test.h"
#include "tests/unit/island_session.h"

#include <stdio.h>
#include <string.h>

extern const char island_place[], island_scene[], island_coconut[], island_crab[], island_pebble[],
    island_door_mat[], island_sea[];

#define FILES   7
#define PLAYERS 2
#define TICK_MS (1000.0 / 60)

typedef struct Player {
    Client *client;
    uint64_t connection;
    ClientInput input;
} Player;

typedef struct Stage {
    Heap heap;
    LocalHost *host;
    double now_ms;
    uint64_t connections;
    Player players[PLAYERS];
    uint32_t player_count;
} Stage;

static PlaceFile file_of(const char *path, const char *text)
{
    return (PlaceFile){path, (const uint8_t *)text, strlen(text)};
}

// By path, as the test of the flat interface has them.
static void island_files(PlaceFile out[FILES])
{
    out[0] = file_of("ServerScriptService/Sea.lua", island_sea);
    out[1] = file_of("Workspace/DoorMat.lua", island_door_mat);
    out[2] = file_of("place.json", island_place);
    out[3] = file_of("prefabs/Coconut.json", island_coconut);
    out[4] = file_of("prefabs/Crab.json", island_crab);
    out[5] = file_of("prefabs/Pebble.json", island_pebble);
    out[6] = file_of("scene.json", island_scene);
}

static void stage_open(Stage *stage)
{
    *stage = (Stage){.heap = heap_make(1ull << 30)};
    PlaceFile files[FILES];
    island_files(files);
    const LocalHostConfig config = local_host_config_default();
    PlaceError error;
    const Status status =
        local_host_create(&stage->heap, &config, files, FILES, &stage->host, &error);
    if (status != STATUS_OK) {
        char text[512];
        place_error_text(&error, text, sizeof text);
        printf("%s\n", text);
    }
    ASSERT(status == STATUS_OK);
}

static void stage_close(Stage *stage)
{
    for (uint32_t i = 0; i < stage->player_count; i++) {
        client_destroy(&stage->heap, stage->players[i].client);
    }
    local_host_destroy(stage->host);
    CHECK_INT(stage->heap.bytes_now, 0);
}

static Status stage_enter(Stage *stage, EntryType type, uint64_t connection)
{
    const Entry entry = {.type = type, .connection = connection};
    return local_host_enter(stage->host, &entry);
}

static void stage_connect(Stage *stage, Player *player)
{
    player->connection = ++stage->connections;
    CHECK_OK(stage_enter(stage, ENTRY_CONNECT, player->connection));
    client_connect(player->client, stage->now_ms);
}

static Player *stage_join(Stage *stage, const char *name)
{
    Player *player = &stage->players[stage->player_count++];
    ClientConfig config = client_config_default();
    snprintf(config.name, sizeof config.name, "%s", name);
    snprintf(config.player_id, sizeof config.player_id, "%s", name);
    config.owner_fetches = true;
    config.scripts = true;
    const Status status = client_create(&stage->heap, &config, &player->client);
    ASSERT(status == STATUS_OK);
    stage_connect(stage, player);
    return player;
}

// The scene is at hand, runes are not.
static void stage_fetch(Stage *stage, Player *player)
{
    ClientWant want;
    while (client_want(player->client, 0, &want)) {
        if (want.kind != CLIENT_WANT_SCENE) {
            client_fetch_over_wire(player->client);
            return;
        }
        size_t bytes;
        const uint8_t *scene = local_host_scene(stage->host, &bytes);
        CHECK_OK(client_give(player->client, scene, bytes));
    }
}

static void stage_send(Stage *stage, Player *player)
{
    const uint8_t *bytes;
    size_t count;
    client_set_input(player->client, &player->input);
    client_update(player->client, stage->now_ms);
    while (client_output(player->client, &bytes, &count)) {
        const Entry entry = {.type = ENTRY_MESSAGE,
                             .connection = player->connection,
                             .bytes = bytes,
                             .byte_count = count};
        CHECK_OK(local_host_enter(stage->host, &entry));
        client_output_take(player->client);
    }
}

static void stage_receive(Stage *stage, Player *player)
{
    const uint8_t *bytes;
    size_t count;
    World *world = local_host_world(stage->host);
    while (world_output(world, player->connection, &bytes, &count)) {
        client_receive(player->client, stage->now_ms, bytes, count);
        world_output_take(world, player->connection);
    }
    stage_fetch(stage, player);
    while (client_event(player->client) != NULL) {
    }
}

static void stage_run(Stage *stage, uint32_t seconds)
{
    for (uint32_t tick = 0; tick < seconds * 60; tick++) {
        stage->now_ms += TICK_MS;
        for (uint32_t i = 0; i < stage->player_count; i++) {
            stage_send(stage, &stage->players[i]);
        }
        const Entry entry = {.type = ENTRY_TICK,
                             .number = 1700000000000ull + (uint64_t)(stage->now_ms + 0.5)};
        CHECK_OK(local_host_enter(stage->host, &entry));
        for (uint32_t i = 0; i < stage->player_count; i++) {
            stage_receive(stage, &stage->players[i]);
        }
    }
}

static void stage_reconnect(Stage *stage)
{
    for (uint32_t i = 0; i < stage->player_count; i++) {
        client_disconnected(stage->players[i].client);
        stage_connect(stage, &stage->players[i]);
    }
}

static bool is_playing(const Player *player)
{
    const bool playing = client_state(player->client) == CLIENT_PLAYING;
    if (!playing) {
        printf("%s\n", client_closed_reason(player->client));
    }
    return playing;
}

// The session of island_session.h.
static void stage_play(Stage *stage)
{
    Player *ada = stage_join(stage, "ada");
    Player *bo = stage_join(stage, "bo");
    stage_run(stage, 2);
    ada->input.move_z = 1;
    bo->input.move_x = 1;
    bo->input.buttons = INPUT_RUN;
    stage_run(stage, 2);
    ada->input.buttons = INPUT_JUMP | INPUT_FIRE;
    stage_run(stage, 2);
    ada->input.move_z = 0;
    bo->input.move_x = 0;
    stage_run(stage, 4);
}

static void text_of(uint64_t hash, char out[17])
{
    snprintf(out, 17, "%016llx", (unsigned long long)hash);
}

static uint32_t count_colour(const Player *player, uint32_t colour)
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
    Stage stage;
    stage_open(&stage);
    stage_play(&stage);
    REQUIRE(is_playing(&stage.players[0]) && is_playing(&stage.players[1]));
    char world[17], ada[17], bo[17];
    text_of(world_hash(local_host_world(stage.host)), world);
    text_of(client_hash(stage.players[0].client), ada);
    text_of(client_hash(stage.players[1].client), bo);
    CHECK_TEXT(world, ISLAND_WORLD_HASH);
    CHECK_TEXT(ada, ISLAND_ADA_HASH);
    CHECK_TEXT(bo, ISLAND_BO_HASH);
    CHECK_INT(client_stats(stage.players[0].client).predict.corrections_without_cause, 0);
    stage_close(&stage);
}

TEST(clients_walk_and_see_each_other)
{
    Stage stage;
    stage_open(&stage);
    Player *ada = stage_join(&stage, "ada");
    const Player *bo = stage_join(&stage, "bo");
    stage_run(&stage, 2);
    REQUIRE(is_playing(ada) && is_playing(bo));
    const PredictView before = client_own(ada->client);
    ada->input.move_z = 1;
    stage_run(&stage, 4);
    ada->input.move_z = 0;
    stage_run(&stage, 1);
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
    stage_close(&stage);
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
static Status open_compiled_with(Stage *stage, const PlaceFile *files, const EditBuffer *compiled,
                                 const EditBuffer *kept, const EditBuffer *runes)
{
    PlaceError error;
    LocalHostConfig config = local_host_config_default();
    config.runes = runes != NULL ? runes->data : NULL;
    config.rune_bytes = runes != NULL ? runes->bytes : 0;
    config.compiled = compiled->data;
    config.compiled_bytes = compiled->bytes;
    config.kept = kept != NULL ? kept->data : NULL;
    config.kept_bytes = kept != NULL ? kept->bytes : 0;
    return local_host_create(&stage->heap, &config, files, 3, &stage->host, &error);
}

static Status open_compiled(Stage *stage, const EditBuffer *compiled, const EditBuffer *kept)
{
    PlaceFile files[FILES];
    island_files(files);
    return open_compiled_with(stage, files, compiled, kept, NULL);
}

TEST(a_world_of_compiled_bytes_is_the_world_of_the_texts)
{
    Stage stage = {.heap = heap_make(1ull << 30)};
    Heap heap = heap_make(1ull << 30);
    EditBuffer compiled = edit_buffer(&heap, 1u << 20);
    PlaceError error;
    CHECK_OK(compile_document(&heap, island_scene, &compiled, &error));
    ASSERT(open_compiled(&stage, &compiled, NULL) == STATUS_OK);
    stage_play(&stage);
    char world[17], ada[17];
    text_of(world_hash(local_host_world(stage.host)), world);
    text_of(client_hash(stage.players[0].client), ada);
    CHECK_TEXT(world, ISLAND_WORLD_HASH);
    CHECK_TEXT(ada, ISLAND_ADA_HASH);
    stage_close(&stage);
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

static void play_and_compare(Stage *stage)
{
    stage_play(stage);
    char world[17], ada[17];
    text_of(world_hash(local_host_world(stage->host)), world);
    text_of(client_hash(stage->players[0].client), ada);
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
    Stage stage = {.heap = heap_make(1ull << 30)};
    Heap heap = heap_make(1ull << 30);
    EditBuffer compiled = edit_buffer(&heap, 1u << 20), runes = edit_buffer(&heap, 8u << 20);
    PlaceError error;
    PlaceFile files[FILES];
    island_files(files);
    CHECK_OK(compile_document(&heap, island_scene, &compiled, &error));
    ASSERT(open_compiled(&stage, &compiled, NULL) == STATUS_OK);
    const uint32_t scripts = local_host_checked(stage.host);
    CHECK_INT(scripts, 2);
    take_runes(stage.host, &runes);
    stage_close(&stage);

    stage = (Stage){.heap = heap_make(1ull << 30)};
    ASSERT(open_compiled_with(&stage, files, &compiled, NULL, &runes) == STATUS_OK);
    CHECK_INT(local_host_checked(stage.host), 0);
    play_and_compare(&stage);
    // Again from the second: what was carried is carried on.
    EditBuffer again = edit_buffer(&heap, 8u << 20);
    take_runes(stage.host, &again);
    CHECK_INT(again.bytes, runes.bytes);
    stage_close(&stage);

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
    stage = (Stage){.heap = heap_make(1ull << 30)};
    ASSERT(open_compiled_with(&stage, files, &compiled, NULL, &runes) == STATUS_OK);
    CHECK_INT(local_host_checked(stage.host), 1);
    take_runes(stage.host, &again);
    stage_close(&stage);

    // Cut anywhere, they are refused, or those that are whole are used.
    island_files(files);
    for (size_t cut = 0; cut < runes.bytes; cut += 1 + runes.bytes / 97) {
        const EditBuffer less = {.data = runes.data, .bytes = cut};
        stage = (Stage){.heap = heap_make(1ull << 30)};
        if (open_compiled_with(&stage, files, &compiled, NULL, &less) == STATUS_OK) {
            CHECK(local_host_checked(stage.host) <= scripts);
            stage_close(&stage);
        }
        CHECK_INT(stage.heap.bytes_now, 0);
    }
    edit_buffer_free(&again);
    edit_buffer_free(&runes);
    edit_buffer_free(&compiled);
}

TEST(a_world_in_another_memory_goes_on_where_the_last_one_was)
{
    Stage stage;
    stage_open(&stage);
    stage_play(&stage);
    const PredictView before = client_own(stage.players[0].client);
    const char *token = client_resume_token(stage.players[0].client);
    CHECK(token[0] != '\0');
    local_host_save(stage.host);
    Heap heap = heap_make(1ull << 30);
    EditBuffer compiled = edit_buffer(&heap, 1u << 20), kept = edit_buffer(&heap, 8u << 20);
    PlaceError error;
    CHECK_OK(compile_document(&heap, island_scene, &compiled, &error));
    keep(stage.host, &kept);

    Stage next = {.heap = heap_make(1ull << 30), .now_ms = stage.now_ms};
    ASSERT(open_compiled(&next, &compiled, &kept) == STATUS_OK);
    Player *ada = stage_join(&next, "ada");
    client_destroy(&next.heap, ada->client);
    ClientConfig config = client_config_default();
    snprintf(config.name, sizeof config.name, "ada");
    snprintf(config.player_id, sizeof config.player_id, "ada");
    snprintf(config.resume_token, sizeof config.resume_token, "%s", token);
    config.owner_fetches = true;
    ASSERT(client_create(&next.heap, &config, &ada->client) == STATUS_OK);
    stage_connect(&next, ada);
    stage_run(&next, 2);
    REQUIRE(is_playing(ada));
    CHECK(vec3_length(vec3_sub(client_own(ada->client).position, before.position)) < 0.5f);

    // Cut anywhere, it is refused, or a world.
    for (size_t cut = 0; cut < kept.bytes; cut += 1 + kept.bytes / 97) {
        Stage short_one = {.heap = heap_make(1ull << 30)};
        const EditBuffer less = {.data = kept.data, .bytes = cut};
        CHECK(open_compiled(&short_one, &compiled, &less) != STATUS_OK);
        CHECK_INT(short_one.heap.bytes_now, 0);
    }
    stage_close(&next);
    stage_close(&stage);
    edit_buffer_free(&compiled);
    edit_buffer_free(&kept);
}

// --- differences --------------------------------------------------------------------------------

static Status apply(Stage *stage, const char *json, bool *remade, char text[512])
{
    PlaceError error;
    const Status status = local_host_apply_diff(stage->host, json, strlen(json), remade, &error);
    CHECK_INT(error.status, status);
    place_error_text(&error, text, 512);
    return status;
}

TEST(a_new_part_makes_a_new_world_and_players_resume)
{
    Stage stage;
    stage_open(&stage);
    stage_play(&stage);
    const Player *ada = &stage.players[0];
    const PredictView before = client_own(ada->client);
    bool remade = false;
    char text[512];
    CHECK_OK(apply(&stage,
                   "{\"entities\": [{\"id\": 900, \"transform\": {\"position\": [3, 4, 5]},"
                   "\"shape\": {\"size\": [2, 1, 6]}, \"colour\": \"#123456\"}]}",
                   &remade, text));
    CHECK(remade);
    stage_reconnect(&stage);
    stage_run(&stage, 2);
    REQUIRE(is_playing(ada));
    CHECK_INT(count_colour(ada, 0x123456), 1);
    CHECK(vec3_length(vec3_sub(client_own(ada->client).position, before.position)) < 0.5f);
    CHECK_OK(apply(&stage, "{\"removed\": [900]}", &remade, text));
    CHECK(remade);
    stage_reconnect(&stage);
    stage_run(&stage, 2);
    REQUIRE(is_playing(ada));
    CHECK_INT(count_colour(ada, 0x123456), 0);
    stage_close(&stage);
}

// --- edited while it is played ------------------------------------------------------------------

#define EDIT_PARTS 24

typedef struct EditPart {
    bool is_gone;
    uint32_t x, yaw, colour, bounce, damage, flags;
    uint32_t price, tag; // 0: it has none
} EditPart;

static void part_random(EditPart *part, Rng *rng)
{
    switch (rng_below(rng, 8)) {
    case 0:
        part->x = rng_below(rng, 40); // near enough to be seen
        break;
    case 1:
        part->yaw = rng_below(rng, 360);
        break;
    case 2:
        part->colour = rng_below(rng, 0x1000000);
        break;
    case 3:
        part->bounce = rng_below(rng, 9);
        break;
    case 4:
        part->damage = rng_below(rng, 9);
        break;
    case 5:
        part->price = rng_below(rng, 4);
        break;
    case 6:
        part->tag = rng_below(rng, 3);
        break;
    default:
        part->flags = rng_below(rng, 4); // ghost, ladder
    }
}

// Attributes and tags, each only if it is not 0.
static size_t details_print(uint32_t price, uint32_t tag, char *out, size_t bytes)
{
    char value[32] = "", text[16] = "";
    if (price != 0) {
        (void)snprintf(value, sizeof value, "\"price\": %u", (unsigned)price);
    }
    if (tag != 0) {
        (void)snprintf(text, sizeof text, "\"t%u\"", (unsigned)tag);
    }
    return (size_t)snprintf(out, bytes, "\"attributes\": {%s}, \"tags\": [%s]}", value, text);
}

static size_t part_print(const EditPart *part, uint32_t id, char *out, size_t bytes)
{
    const size_t at = (size_t)snprintf(
        out, bytes,
        "{\"id\": %u, \"transform\": {\"position\": [%u.5, %u, 8], \"rotation\": [0, %u, 0]}, "
        "\"name\": \"Part%u\", \"shape\": {\"size\": [1, 2, 1]}, \"colour\": \"#%06x\", "
        "\"bounce\": %u, \"damage\": %u, \"ghost\": %s, \"ladder\": %s, ",
        (unsigned)id, (unsigned)part->x, (unsigned)(2 + id % 12), (unsigned)part->yaw,
        (unsigned)id % 3, (unsigned)part->colour, (unsigned)part->bounce, (unsigned)part->damage,
        (part->flags & 1) != 0 ? "true" : "false", (part->flags & 2) != 0 ? "true" : "false");
    return at + details_print(part->price, part->tag, out + at, bytes - at);
}

static const char *scene_print(const EditPart *parts)
{
    static char text[EDIT_PARTS * 512 + 256];
    size_t at = (size_t)snprintf(
        text, sizeof text,
        "{\"format\": 1, \"entities\": [{\"id\": 1, \"type\": \"spawn\"}, {\"id\": 2, "
        "\"transform\": {\"position\": [0, -0.5, 0]}, \"shape\": {\"size\": [90, 1, 90]}}");
    for (uint32_t i = 0; i < EDIT_PARTS; i++) {
        if (!parts[i].is_gone) {
            at += (size_t)snprintf(text + at, sizeof text - at, ",\n");
            at += part_print(&parts[i], 100 + i, text + at, sizeof text - at);
        }
    }
    (void)snprintf(text + at, sizeof text - at, "]}");
    return text;
}

static void open_parts(Stage *stage, const EditPart *parts)
{
    const PlaceFile files[] = {file_of("place.json", "{\"format\": 1, \"name\": \"Edited\"}"),
                               file_of("scene.json", scene_print(parts))};
    const LocalHostConfig config = local_host_config_default();
    PlaceError error;
    *stage = (Stage){.heap = heap_make(1ull << 30)};
    REQUIRE(local_host_create(&stage->heap, &config, files, 2, &stage->host, &error) == STATUS_OK);
    (void)stage_join(stage, "ada");
    stage_run(stage, 1);
    REQUIRE(is_playing(&stage->players[0]));
}

typedef struct EditText {
    char text[EDIT_PARTS * 512];
    size_t at;
} EditText;

static void add_part(EditText *list, const EditPart *part, uint32_t id)
{
    list->at += (size_t)snprintf(list->text + list->at, sizeof list->text - list->at, "%s",
                                 list->at > 0 ? "," : "");
    list->at += part_print(part, id, list->text + list->at, sizeof list->text - list->at);
}

static void add_details(EditText *list, uint32_t id, uint32_t price, uint32_t tag)
{
    if (price + tag != 0) {
        list->at += (size_t)snprintf(list->text + list->at, sizeof list->text - list->at,
                                     "%s{\"id\": %u, ", list->at > 0 ? "," : "", (unsigned)id);
        list->at += details_print(price, tag, list->text + list->at, sizeof list->text - list->at);
    }
}

// Some of them change, one goes now and then, and what is not there may come: first here, then in
// the running world.
static void edit_parts(Stage *stage, EditPart *parts, Rng *rng)
{
    static EditText changed, given, lost, created;
    static char text[5 * EDIT_PARTS * 512];
    char removed[16] = "";
    PlaceError error;
    const uint32_t gone = rng_below(rng, 3) == 0 ? rng_below(rng, EDIT_PARTS) : EDIT_PARTS;
    changed = given = lost = created = (EditText){0};
    for (uint32_t i = 0; i < EDIT_PARTS; i++) {
        const EditPart old = parts[i];
        EditPart *part = &parts[i];
        if (i == gone && !part->is_gone) {
            part->is_gone = true;
            (void)snprintf(removed, sizeof removed, "%u", 100 + (unsigned)i);
        } else if (part->is_gone && i != gone && rng_below(rng, 4) == 0) {
            part->is_gone = false;
            part_random(part, rng);
            add_part(&created, part, 100 + i);
        } else if (!part->is_gone && rng_below(rng, 4) == 0) {
            part_random(part, rng);
            add_part(&changed, part, 100 + i);
            add_details(&given, 100 + i, part->price != old.price ? part->price : 0,
                        part->tag != old.tag ? part->tag : 0);
            add_details(&lost, 100 + i, part->price == 0 ? old.price : 0,
                        part->tag != old.tag ? old.tag : 0);
        }
    }
    const int bytes = snprintf(text, sizeof text,
                               "{\"entities\": [%s], \"removed\": [%s], \"given\": [%s], \"lost\": "
                               "[%s], \"created\": [%s]}",
                               changed.text, removed, given.text, lost.text, created.text);
    CHECK_OK(local_host_edit(stage->host, text, (size_t)bytes, &error));
}

// A part as a world or a client has it. False: it is not there.
static bool part_now(const Sim *sim, uint64_t net_id, Pose *pose, PartData *data)
{
    const Entity *entity = sim_entity(sim, sim_find(sim, net_id));
    const uint32_t index = (uint32_t)(net_id - 1);
    if (entity != NULL) {
        *pose = (Pose){entity->position, entity->rotation};
        *data = entity->part.data;
        return true;
    }
    if (net_id == 0 || net_id > scene_part_count(sim_scene(sim))) {
        return false;
    }
    *pose = scene_part(sim_scene(sim), index)->desc.pose;
    *data = scene_part(sim_scene(sim), index)->desc.data;
    return !sim_part_is_hidden(sim, index);
}

// Its net id; 0: none. One that was added while it ran is no part of the scene.
static uint64_t find_part(const Stage *stage, uint32_t scene_id)
{
    const Place *place = local_host_place(stage->host);
    const uint64_t made = world_made_part(local_host_world(stage->host), scene_id);
    for (uint32_t i = 0; made == 0 && i < scene_part_count(place->scene); i++) {
        if (place->scene_ids[i] == scene_id) {
            return i + 1u;
        }
    }
    return made;
}

static void check_details(const AttributeTable *table, uint64_t net_id, const EditPart *part)
{
    ScriptValue value = {0};
    (void)attribute_table_attribute(table, net_id, text_from("price"), &value, NULL);
    CHECK_INT((uint32_t)value.number, part->price);
    CHECK_INT(value.type, part->price != 0 ? SCRIPT_NUMBER : SCRIPT_NIL);
    CHECK(attribute_table_has_tag(table, net_id, text_from("t1")) == (part->tag == 1));
    CHECK(attribute_table_has_tag(table, net_id, text_from("t2")) == (part->tag == 2));
}

static void compare_part(Stage *live, Stage *made, uint32_t id, const EditPart *part)
{
    const uint64_t a = find_part(live, id), b = find_part(made, id);
    World *worlds[2] = {local_host_world(live->host), local_host_world(made->host)};
    Client *pages[2] = {live->players[0].client, made->players[0].client};
    const Sim *sims[3] = {world_sim(worlds[0]), client_sim(pages[0]), client_sim(pages[1])};
    Pose poses[4];
    PartData datas[4];
    REQUIRE((b == 0) == part->is_gone && (a != 0 || part->is_gone));
    const bool is_there = !part->is_gone;
    CHECK(part_now(sims[0], a, &poses[0], &datas[0]) == is_there);
    CHECK(part_now(sims[1], a, &poses[1], &datas[1]) == is_there);
    if (!is_there) {
        return;
    }
    CHECK(part_now(sims[2], b, &poses[2], &datas[2]));
    CHECK(part_now(world_sim(worlds[1]), b, &poses[3], &datas[3]));
    for (uint32_t i = 1; i < 4; i++) {
        const Quat p = poses[0].rotation, q = poses[i].rotation;
        CHECK(vec3_equal(poses[0].position, poses[i].position));
        CHECK_NEAR(math_abs(p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w), 1, 1e-6);
        CHECK(part_data_equal(&datas[0], &datas[i]));
    }
    CHECK_INT(client_paint(pages[0], a).colour, client_paint(pages[1], b).colour);
    CHECK_INT(world_paint(worlds[0], a).colour, world_paint(worlds[1], b).colour);
    check_details(authority_attributes(worlds[0]->authority), a, part);
    check_details(authority_attributes(worlds[1]->authority), b, part);
    check_details(view_attributes(client_script_view(pages[0])), a, part);
    check_details(view_attributes(client_script_view(pages[1])), b, part);
}

TEST(a_world_that_is_edited_while_it_runs_is_the_world_made_anew)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Stage live, made;
        Rng rng = rng_make(seed, 1);
        EditPart parts[EDIT_PARTS] = {0};
        for (uint32_t i = 0; i < EDIT_PARTS; i++) {
            part_random(&parts[i], &rng);
            part_random(&parts[i], &rng);
            parts[i].is_gone = i % 4 == 3; // it may come later
        }
        open_parts(&live, parts);
        for (uint32_t i = 0; i < 8; i++) {
            edit_parts(&live, parts, &rng);
            stage_run(&live, 1);
        }
        CHECK(local_host_world(live.host)->made_count > 0);
        open_parts(&made, parts);
        for (uint32_t i = 0; i < EDIT_PARTS; i++) {
            compare_part(&live, &made, 100 + i, &parts[i]);
        }
        stage_close(&live);
        stage_close(&made);
    }
}

// --- what scripts have to do with it ------------------------------------------------------------

static Status edit_text(Stage *stage, const char *text)
{
    PlaceError error;
    return local_host_edit(stage->host, text, strlen(text), &error);
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
        file_of("ServerScriptService/Main.lua", script),
        file_of("place.json", "{\"format\": 1, \"name\": \"Edited\"}"),
        file_of("scene.json",
                "{\"format\": 1, \"entities\": [{\"id\": 1, \"type\": \"spawn\"}, {\"id\": 2, "
                "\"name\": \"Box\", \"attributes\": {\"price\": 3, \"secret\": {\"value\": 1, "
                "\"visibility\": \"server\"}}}]}")};
    const LocalHostConfig config = local_host_config_default();
    PlaceError error;
    Stage stage = {.heap = heap_make(1ull << 30)};
    REQUIRE(local_host_create(&stage.heap, &config, files, 3, &stage.host, &error) == STATUS_OK);
    (void)stage_join(&stage, "ada");
    stage_run(&stage, 1);
    World *world = local_host_world(stage.host);
    const AttributeTable *table = authority_attributes(world->authority);
    ScriptValue value = {0};
    CHECK_OK(edit_text(&stage, "{\"given\": [{\"id\": 2, \"attributes\": {\"price\": 5}}]}"));
    stage_run(&stage, 1);
    CHECK(attribute_table_attribute(table, 1, text_from("sum"), &value, NULL));
    CHECK_INT((uint32_t)value.number, 503);
    // The second one listens for its tag, the first one does not.
    CHECK_INT(edit_text(&stage, "{\"given\": [{\"id\": 2, \"tags\": [\"looked\"]}]}"),
              STATUS_UNSUPPORTED);
    CHECK_OK(edit_text(&stage, "{\"given\": [{\"id\": 2, \"tags\": [\"heard\"]}]}"));
    CHECK_OK(edit_text(&stage, "{\"created\": [{\"id\": 3, \"tags\": [\"heard\", \"other\"]}]}"));
    stage_run(&stage, 1);
    CHECK(attribute_table_attribute(table, 1, text_from("tagged"), &value, NULL));
    CHECK_INT((uint32_t)value.number, 2);
    static const char *const refused[] = {
        "{\"created\": [{\"id\": 4, \"name\": \"Looked\"}]}",
        "{\"created\": [{\"id\": 4, \"tags\": [\"looked\"]}]}",
        "{\"created\": [{\"id\": 4, \"type\": \"prop\"}]}",
        "{\"created\": [{\"id\": 4, \"parent\": 2}]}",
        "{\"created\": [{\"id\": 4, \"anchored\": false}]}",
        "{\"created\": [{\"id\": 4, \"scriptPath\": \"Workspace/Door.lua\"}]}",
        "{\"created\": [{\"id\": 4, \"attributes\": {\"to\": {\"entity\": 2}}}]}",
        "{\"given\": [{\"id\": 2, \"attributes\": {\"secret\": 2}}]}",
        "{\"lost\": [{\"id\": 2, \"attributes\": {\"secret\": 1}}]}",
        ("{\"given\": [{\"id\": 2, \"attributes\": {\"a\": {\"value\": 1, \"persistent\": "
         "true}}}]}")};
    for (uint32_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        CHECK_INT(edit_text(&stage, refused[i]), STATUS_UNSUPPORTED);
    }
    CHECK_INT(edit_text(&stage, "{\"created\": [{\"id\": 2}]}"), STATUS_EXISTS);
    CHECK_INT(edit_text(&stage, "{\"created\": [{\"id\": 3}]}"), STATUS_EXISTS);
    CHECK_INT(edit_text(&stage, "{\"given\": [{\"id\": 9, \"tags\": [\"a\"]}]}"), STATUS_NOT_FOUND);
    // There is room for so many; one that goes makes room for another.
    Status status = STATUS_OK;
    for (uint32_t id = 10; status == STATUS_OK && id < 200; id++) {
        char text[64];
        (void)snprintf(text, sizeof text, "{\"created\": [{\"id\": %u}]}", (unsigned)id);
        status = edit_text(&stage, text);
    }
    CHECK_INT(status, STATUS_LIMIT);
    CHECK_INT(world->made_count, EDIT_MADE_MAX);
    CHECK_OK(edit_text(&stage, "{\"removed\": [3], \"created\": [{\"id\": 300}]}"));
    stage_run(&stage, 1);
    stage_close(&stage);
}

TEST(terrain_and_structures_outlive_a_new_world)
{
    Stage stage;
    stage_open(&stage);
    Player *ada = stage_join(&stage, "ada");
    stage_run(&stage, 2);
    const Vec3 at = client_own(ada->client).position;
    const VoxelCoord voxel = voxel_at(vec3_add(at, vec3(3, 0.5f, 0)));
    const MessageTerraform edit = {.min = {voxel.x, voxel.y, voxel.z}, .voxel_kind = 3};
    CHECK(client_send(ada->client, MESSAGE_TERRAFORM, &edit) != 0);
    stage_run(&stage, 2);
    CHECK_INT(terrain_voxel(sim_terrain_view(client_sim(ada->client)), voxel), 3);
    bool remade = false;
    char text[512];
    CHECK_OK(apply(&stage, "{\"files\": {\"prefabs/Crab.json\": null}}", &remade, text));
    CHECK(remade);
    const Terrain *terrain = sim_terrain_view(world_sim(local_host_world(stage.host)));
    stage_reconnect(&stage);
    stage_run(&stage, 2);
    CHECK_INT(terrain_voxel(terrain, voxel), 3);
    CHECK_INT(terrain_voxel(sim_terrain_view(client_sim(ada->client)), voxel), 3);
    stage_close(&stage);
}

TEST(changed_scripts_are_taken_while_the_world_runs)
{
    Stage stage;
    stage_open(&stage);
    stage_play(&stage);
    World *world = local_host_world(stage.host);
    bool remade = true;
    char text[512];
    // Twice before a tick: the second waits for the first.
    CHECK_OK(apply(&stage,
                   "{\"files\": {\"ServerScriptService/Sea.lua\": \"function onUpdate() "
                   "error('one') end\"}}",
                   &remade, text));
    CHECK(!remade);
    CHECK_OK(apply(&stage,
                   "{\"files\": {\"ServerScriptService/Sea.lua\": \"\\n\\nfunction onUpdate() "
                   "error('two') end\"}}",
                   &remade, text));
    CHECK(!remade && local_host_world(stage.host) == world);
    stage_run(&stage, 1);
    ScriptFault faults[8];
    const uint32_t count = script_faults(world_scripts(world), faults, 8);
    REQUIRE(count > 0);
    CHECK(strstr(faults[count - 1].message, "two") != NULL);
    CHECK_INT(faults[count - 1].line, 3);
    CHECK(is_playing(&stage.players[0]));
    stage_close(&stage);
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
    Stage stage;
    stage_open(&stage);
    stage_play(&stage);
    const uint64_t hash = world_hash(local_host_world(stage.host));
    const uint64_t bytes = stage.heap.bytes_now;
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool remade = true;
        char text[512];
        CHECK(apply(&stage, cases[i].diff, &remade, text) != STATUS_OK);
        CHECK(remade);
        if (strncmp(text, cases[i].begin, strlen(cases[i].begin)) != 0) {
            CHECK_TEXT(text, cases[i].begin);
        }
        CHECK(world_hash(local_host_world(stage.host)) == hash);
    }
    stage_run(&stage, 1);
    CHECK(is_playing(&stage.players[0]));
    CHECK_INT(stage.heap.bytes_now, bytes);
    // The files are the old ones: what is right is still taken.
    bool remade = false;
    char text[512];
    CHECK_OK(apply(&stage, "{\"removed\": [35]}", &remade, text));
    CHECK(remade);
    stage_close(&stage);
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
    files[2] = file_of("place.json", settings);
    return local_host_create(heap, &config, files, FILES, host, error);
}

TEST(a_script_that_place_json_keeps_on_the_server_is_not_sent)
{
    static const char *const contexts[] = {"{}", "{\"Workspace/DoorMat\": \"Server\"}"};
    for (uint32_t i = 0; i < 2; i++) {
        Stage stage = {.heap = heap_make(1ull << 30)};
        PlaceError error;
        const Status status = open_narrowed(&stage.heap, contexts[i], &stage.host, &error);
        ASSERT(status == STATUS_OK);
        const Player *ada = stage_join(&stage, "ada");
        stage_run(&stage, 2);
        CHECK(is_playing(ada));
        CHECK_INT(client_stats(ada->client).script_count, 1 - i);
        stage_close(&stage);
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
    files[1] = file_of("Workspace/DoorMat.lua", "local x =\n  function");
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
