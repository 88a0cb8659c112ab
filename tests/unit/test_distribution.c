// Scripts on their way from a real world to a real client, message by message: the example of the
// script-distribution document, a place with 2,000 scripts, modules that come on demand, damage.
// There is no delay: what one side sends in a tick the other side has in the next.
#include "core/base/sha256.h"
#include "core/client/client.h"
#include "core/wire/manifest.h"
#include "core/world/world.h"
#include "tests/support/test.h"
#include "tests/support/test_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS     (1000.0 / 60.0)
#define SCRIPTS_MAX 2000
#define STORY_BYTES (16u << 10)

typedef struct Script {
    char path[64]; // with its ending
    uint8_t *rune;
    size_t bytes;
    Text requires[16];
    uint32_t require_count;
    const char *context, *service;
} Script;

typedef struct Play {
    Heap heap;
    TestPlaceBytes whole, stripped;
    Place *place;
    World *world;
    Client *client;
    uint64_t connection;
    uint64_t tick;
    Script *scripts;
    uint32_t script_count;
    char story[STORY_BYTES];         // what was said about scripts, a line for each message
    uint32_t told[256];              // by number
    uint32_t requests_most;          // that were in flight
    const char *damaged;             // chunks of this script arrive damaged …
    uint32_t damage_left;            // … so often
    bool cut;                        // no rune arrives at the client
    bool mute;                       // no word to run a script arrives either
    uint8_t rows_hash[SHA256_BYTES]; // of the last manifest that was sent without its rows
    char warnings[4096];             // of both sides
    LogSink log;
} Play;

static void keep_warning(void *user, const LogEvent *event)
{
    Play *play = user;
    const size_t used = strlen(play->warnings);
    if (event->level >= LOG_WARN && used + 256 < sizeof play->warnings) {
        snprintf(play->warnings + used, 256, "%s\n", event->text);
    }
}

static Play *play_open(void)
{
    Play *play = calloc(1, sizeof *play);
    play->heap = heap_make(2ull << 30);
    play->scripts = calloc(SCRIPTS_MAX, sizeof *play->scripts);
    play->log = (LogSink){.write = keep_warning, .user = play, .level_min = LOG_WARN};
    play->whole = test_place_whole(&play->heap, TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE);
    play->stripped = test_place_strip(&play->heap, play->whole);
    CHECK_OK(place_load(&play->heap, play->whole.data, play->whole.bytes, &play->place));
    WorldConfig config = world_config_default();
    config.place = play->place;
    config.stripped = play->stripped.data;
    config.stripped_bytes = play->stripped.bytes;
    config.development = true;
    config.player_max = 2;
    config.epoch = 1;
    config.scripts = true;
    config.log = &play->log;
    CHECK_OK(world_create(&play->heap, &config, &play->world));
    return play;
}

static void play_close(Play *play)
{
    client_destroy(&play->heap, play->client);
    world_destroy(&play->heap, play->world);
    place_unload(&play->heap, play->place);
    test_place_free(&play->heap, play->stripped);
    test_place_free(&play->heap, play->whole);
    CHECK_INT(play->heap.bytes_now, 0);
    for (uint32_t i = 0; i < play->script_count; i++) {
        free(play->scripts[i].rune);
    }
    free(play->scripts);
    free(play);
}

// --- the place ----------------------------------------------------------------------------------

// In the order of their paths.
static Script *add(Play *play, const char *path, const char *context, const char *source)
{
    static uint8_t rune[RUNE_BYTES_MAX];
    Script *script = &play->scripts[play->script_count++];
    snprintf(script->path, sizeof script->path, "%s", path);
    const Text plain = script_path_plain(text_from(script->path));
    char id[64];
    snprintf(id, sizeof id, "%.*s", (int)plain.bytes, plain.data);
    const CompileRequest request = {.script_id = id, .code = source, .code_bytes = strlen(source)};
    char error[SCRIPT_MESSAGE_BYTES];
    CHECK_OK(script_make_rune(world_scripts(play->world), &request, rune, sizeof rune,
                              &script->bytes, error));
    script->rune = malloc(script->bytes);
    memcpy(script->rune, rune, script->bytes);
    script->context = context;
    script->service = script_service_names[script_path_service(plain.data, plain.bytes)];
    CHECK_OK(world_enter(play->world, &(Entry){.type = ENTRY_SCRIPT,
                                               .name = id,
                                               .name_bytes = (uint32_t)strlen(id),
                                               .bytes = script->rune,
                                               .byte_count = script->bytes}));
    return script;
}

// The client does not verify here (test_manifest_proof.c does), but it knows what requires what.
static Status publish(Play *play, uint32_t version)
{
    ManifestRow *rows = calloc(play->script_count, sizeof *rows);
    for (uint32_t i = 0; i < play->script_count; i++) {
        const Script *script = &play->scripts[i];
        rows[i] = (ManifestRow){.path = text_from(script->path),
                                .size_bytes = (uint32_t)script->bytes,
                                .run_context = text_from(script->context),
                                .service = text_from(script->service),
                                .replicate = true,
                                .requires = script->requires,
                                .require_count = script->require_count};
        sha256_of(script->rune, script->bytes, rows[i].rune_hash);
    }
    const ManifestList list = {
        .version = version, .server_tick = 5, .rows = rows, .row_count = play->script_count};
    const uint8_t signature[MANIFEST_SIGNATURE_BYTES] = {7};
    uint8_t *text = malloc(ENTRY_BYTES_MAX);
    ByteWriter writer = byte_writer(text, ENTRY_BYTES_MAX);
    CHECK_OK(manifest_write(&list, signature, &writer));
    const Status status = world_enter(
        play->world,
        &(Entry){.type = ENTRY_RELOAD, .number = version, .bytes = text, .byte_count = writer.at});
    free(text);
    free(rows);
    return status;
}

// --- the wire -----------------------------------------------------------------------------------

static void tell(Play *play, const char *line)
{
    const size_t used = strlen(play->story);
    if (used + strlen(line) + 2 < sizeof play->story) {
        snprintf(play->story + used, sizeof play->story - used, "%s\n", line);
    }
}

static void tell_message(Play *play, const Message *message)
{
    char line[256] = "";
    play->told[message->number] += 1;
    if (message->number == MESSAGE_SCRIPT_MANIFEST) {
        const MessageScriptManifest *body = message->body;
        memcpy(play->rows_hash, body->text_hash.bytes, sizeof play->rows_hash);
        snprintf(line, sizeof line, "Server: ScriptManifest (%u scripts)", body->scripts_count);
    } else if (message->number == MESSAGE_SCRIPT_REQUEST) {
        const MessageScriptRequest *body = message->body;
        size_t used = (size_t)snprintf(line, sizeof line, "Client: ScriptRequest");
        for (uint32_t i = 0; i < body->script_paths_count && used < 200; i++) {
            used += (size_t)snprintf(line + used, sizeof line - used, " %.*s",
                                     (int)body->script_paths[i].path.bytes,
                                     body->script_paths[i].path.data);
        }
    } else if (message->number == MESSAGE_SCRIPT_CHUNK) {
        const MessageScriptChunk *body = message->body;
        snprintf(line, sizeof line, "Server: ScriptChunk (%.*s, chunk %u/%u)",
                 (int)body->script_path.bytes, body->script_path.data, (uint32_t)body->chunk_index,
                 (uint32_t)body->total_chunks);
    } else if (message->number == MESSAGE_SCRIPT_VERIFY_LIST) {
        const MessageScriptVerifyList *body = message->body;
        snprintf(line, sizeof line, "Client: ScriptVerifyList (%u)", body->scripts_count);
    } else if (message->number == MESSAGE_SCRIPT_VERIFY) {
        const MessageScriptVerify *body = message->body;
        snprintf(line, sizeof line, "Client: ScriptVerify (%.*s, %s)", (int)body->script_path.bytes,
                 body->script_path.data, body->success ? "success" : "failure");
    } else if (message->number == MESSAGE_SCRIPT_EXECUTE) {
        const MessageScriptExecute *body = message->body;
        snprintf(line, sizeof line, "Server: ExecuteScript (%.*s, %.*s)",
                 (int)body->script_path.bytes, body->script_path.data, (int)body->run_context.bytes,
                 body->run_context.data);
    } else if (message->number == MESSAGE_CHAT_SAID) {
        snprintf(line, sizeof line, "said");
    }
    if (line[0] != 0) {
        tell(play, line);
    }
}

static void hear(Play *play, const uint8_t *bytes, size_t count, MessageDirection direction)
{
    static _Alignas(16) uint8_t block[1u << 20];
    Arena arena;
    arena_init(&arena, block, sizeof block);
    Message message;
    if (bytes[0] != MESSAGE_SNAPSHOT &&
        message_decode(bytes, count, direction, &arena, &message) == STATUS_OK) {
        tell_message(play, &message);
    }
}

static void damage(Play *play, uint8_t *bytes, size_t count)
{
    static _Alignas(16) uint8_t block[4096];
    Arena arena;
    arena_init(&arena, block, sizeof block);
    Message message;
    if (play->damage_left == 0 || bytes[0] != MESSAGE_SCRIPT_CHUNK ||
        message_decode(bytes, count, MESSAGE_DOWN, &arena, &message) != STATUS_OK) {
        return;
    }
    if (text_is(((const MessageScriptChunk *)message.body)->script_path, play->damaged)) {
        bytes[count - 1] ^= 1;
        play->damage_left -= 1;
    }
}

static void run(Play *play, uint32_t ticks)
{
    static uint8_t copy[MESSAGE_BYTES_MAX];
    const uint8_t *bytes = NULL;
    size_t count = 0;
    for (uint32_t t = 0; t < ticks; t++) {
        play->tick += 1;
        CHECK_OK(world_enter(play->world,
                             &(Entry){.type = ENTRY_TICK, .number = 1000 + play->tick * 17}));
        world_commands_clear(play->world);
        const double now_ms = 1000 + (double)play->tick * TICK_MS;
        while (world_output(play->world, play->connection, &bytes, &count)) {
            memcpy(copy, bytes, count);
            damage(play, copy, count);
            hear(play, copy, count, MESSAGE_DOWN);
            if ((!play->cut || bytes[0] != MESSAGE_SCRIPT_CHUNK) &&
                (!play->mute || bytes[0] != MESSAGE_SCRIPT_EXECUTE)) {
                client_receive(play->client, now_ms, copy, count);
            }
            world_output_take(play->world, play->connection);
        }
        client_update(play->client, now_ms);
        const uint32_t in_flight = client_fetch_progress(play->client).in_flight;
        play->requests_most = in_flight > play->requests_most ? in_flight : play->requests_most;
        while (client_output(play->client, &bytes, &count)) {
            hear(play, bytes, count, MESSAGE_UP);
            CHECK_OK(world_enter(play->world, &(Entry){.type = ENTRY_MESSAGE,
                                                       .connection = play->connection,
                                                       .bytes = bytes,
                                                       .byte_count = count}));
            client_output_take(play->client);
        }
    }
}

static void join(Play *play, bool owner_fetches)
{
    ClientConfig config = client_config_default();
    config.scripts = true;
    config.owner_fetches = owner_fetches;
    config.place = NULL;
    config.log = &play->log;
    snprintf(config.player_id, sizeof config.player_id, "ann");
    CHECK_OK(client_create(&play->heap, &config, &play->client));
    play->connection = 1;
    CHECK_OK(world_enter(play->world, &(Entry){.type = ENTRY_CONNECT, .connection = 1}));
    client_connect(play->client, 1000 + (double)play->tick * TICK_MS);
    for (uint32_t t = 0; t < 200 && client_state(play->client) != CLIENT_PLAYING; t++) {
        run(play, 1);
    }
    CHECK_TEXT(client_closed_reason(play->client), "");
}

static void check_no_faults(Play *play)
{
    ScriptFault fault;
    while (script_faults(client_scripts(play->client), &fault, 1) > 0) {
        test_fail(__FILE__, __LINE__, "%s: %s", fault.path, fault.message);
    }
}

static void give_scene(Play *play)
{
    for (uint32_t t = 0; t < 200 && client_state(play->client) != CLIENT_PLAYING; t++) {
        ClientWant want;
        if (client_want(play->client, 0, &want) && want.kind == CLIENT_WANT_SCENE) {
            CHECK_OK(client_give_for(play->client, want.hash, play->stripped.data,
                                     play->stripped.bytes));
        }
        run(play, 1);
    }
    CHECK_INT(client_state(play->client), CLIENT_PLAYING);
}

static void give(Play *play, uint32_t from, uint32_t to, bool with_hash)
{
    for (uint32_t i = from; i < to; i++) {
        const Script *script = &play->scripts[i];
        uint8_t hash[SHA256_BYTES];
        sha256_of(script->rune, script->bytes, hash);
        CHECK_OK(with_hash ? client_give_for(play->client, hash, script->rune, script->bytes)
                           : client_give(play->client, script->rune, script->bytes));
    }
}

// --- tests --------------------------------------------------------------------------------------

// "Client Connect" of the document: ten scripts, the cache has eight, two are requested. What is
// given between the manifest and the next update is never asked for.
TEST(the_example_of_the_document_message_by_message)
{
    Play *play = play_open();
    for (uint32_t i = 0; i < 7; i++) {
        char path[64];
        snprintf(path, sizeof path, "ReplicatedStorage/%c.lua", (char)('A' + i));
        add(play, path, "Both", "return {}");
    }
    Script *cached = add(play, "StarterGui/Cached.lua", "Client", "function onStart() end");
    for (uint32_t i = 0; i < 7; i++) {
        cached->requires[cached->require_count++] =
            script_path_plain(text_from(play->scripts[i].path));
    }
    add(play, "StarterGui/HUDScript.lua", "Client", "function onStart() end");
    add(play, "Workspace/DoorScript.lua", "Both", "function onStart() end");
    CHECK_OK(publish(play, 3));
    join(play, true);
    give_scene(play);
    ClientWant wants[16];
    CHECK_INT(client_wants(play->client, wants, 16), 10);
    give(play, 0, 8, true);
    CHECK_INT(client_wants(play->client, wants, 16), 2);
    CHECK_TEXT(wants[0].path, "Workspace/DoorScript");
    CHECK_TEXT(wants[1].path, "StarterGui/HUDScript");
    // The page cannot fetch these two: the world is asked.
    CHECK(client_fetch_one_over_wire(play->client, wants[0].hash));
    CHECK(client_fetch_one_over_wire(play->client, wants[1].hash));
    run(play, 30);
    CHECK_TEXT(play->story, "Server: ScriptManifest (10 scripts)\n"
                            "Client: ScriptRequest Workspace/DoorScript StarterGui/HUDScript\n"
                            "Client: ScriptVerifyList (8)\n"
                            "Server: ExecuteScript (StarterGui/Cached, Client)\n"
                            "Server: ScriptChunk (Workspace/DoorScript, chunk 0/1)\n"
                            "Server: ScriptChunk (StarterGui/HUDScript, chunk 0/1)\n"
                            "Client: ScriptVerifyList (2)\n"
                            "Server: ExecuteScript (Workspace/DoorScript, Both)\n"
                            "Server: ExecuteScript (StarterGui/HUDScript, Client)\n");
    CHECK_INT(client_stats(play->client).manifest_version, 3);
    CHECK(client_fetch_progress(play->client).first_is_running);
    check_no_faults(play);
    play_close(play);
}

static void add_many(Play *play)
{
    char path[64], source[256];
    for (uint32_t i = 0; i < 1800; i++) {
        snprintf(path, sizeof path, "ReplicatedStorage/Module%04u.lua", i);
        snprintf(source, sizeof source, "return {number = %u}", i);
        add(play, path, "Both", source);
    }
    for (uint32_t i = 0; i < 200; i++) {
        snprintf(path, sizeof path, "StarterGui/Window%03u.lua", i);
        snprintf(source, sizeof source,
                 "for i = 0, 8 do assert(require(string.format('ReplicatedStorage/Module%%04d', "
                 "%u + i)).number == %u + i) end function onStart() end",
                 9 * i, 9 * i);
        Script *script = add(play, path, "Client", source);
        for (uint32_t k = 0; k < 9; k++) {
            script->requires[script->require_count++] =
                script_path_plain(text_from(play->scripts[9 * i + k].path));
        }
    }
}

// As many as a place may have, from nothing, over the socket alone: the manifest is a text that is
// fetched, and all runes come, a few requests at the same time.
TEST(two_thousand_scripts)
{
    Play *play = play_open();
    add_many(play);
    CHECK_INT(play->script_count, MANIFEST_SCRIPTS_MAX);
    CHECK_OK(publish(play, 3));
    join(play, false);
    uint32_t ticks = 0;
    double before = 0;
    for (; ticks < 3000 && client_stats(play->client).manifest_version == 0; ticks += 10) {
        run(play, 10);
        const double now = (double)client_fetch_progress(play->client).bytes_here;
        CHECK(now >= before);
        before = now;
    }
    const ClientProgress progress = client_fetch_progress(play->client);
    CHECK_INT(progress.scripts_wanted, 2000);
    CHECK_INT(progress.scripts_here, 2000);
    CHECK_INT(progress.bytes_here, progress.bytes_wanted);
    CHECK_TEXT(progress.fetching, "");
    CHECK_INT(play->requests_most, 4);
    CHECK_INT(client_stats(play->client).manifest_version, 3);
    CHECK(play->told[MESSAGE_SCRIPT_REQUEST] >= 2000 / 14);
    CHECK(play->told[MESSAGE_SCRIPT_VERIFY_LIST] < 2000 / 10);
    CHECK_INT(play->told[MESSAGE_SCRIPT_EXECUTE], 200);
    run(play, 120);
    check_no_faults(play);
    CHECK_TEXT(play->warnings, "");
    printf("2,000 scripts from nothing: %u ticks, %llu bytes down\n", ticks,
           (unsigned long long)client_stats(play->client).bytes_down);
    play_close(play);
}

// The rows of a large manifest have one hash in every version, in every life of every world: who
// has kept them asks for nothing.
TEST(the_rows_of_a_manifest_are_kept)
{
    Play *play = play_open();
    uint8_t before[SHA256_BYTES];
    ClientWant want;
    add_many(play);
    CHECK_OK(publish(play, 3));
    join(play, true);
    give_scene(play);
    CHECK_INT(client_wants(play->client, &want, 1), 1);
    CHECK_INT(want.kind, CLIENT_WANT_MANIFEST);
    memcpy(before, play->rows_hash, sizeof before);
    CHECK(memcmp(before, want.hash, sizeof before) == 0);
    CHECK(client_fetch_one_over_wire(play->client, want.hash));
    run(play, 200);
    CHECK_INT(client_fetch_progress(play->client).scripts_wanted, 2000);
    CHECK_INT(play->told[MESSAGE_BLOB_REQUEST], 1);
    CHECK_OK(publish(play, 4));
    run(play, 2);
    CHECK(memcmp(before, play->rows_hash, sizeof before) == 0);
    play_close(play);
}

// Only what the server may tell: a manifest that names one script more than clients get is refused.
TEST(a_text_for_others_is_not_given)
{
    Play *play = play_open();
    add_many(play);
    play->script_count -= 1;
    CHECK_INT(publish(play, 3), STATUS_MISMATCH);
    play->script_count += 1;
    CHECK_OK(publish(play, 3));
    join(play, false);
    const MessageBlobRequest request = {.hash = {{1, 2, 3}}};
    CHECK(client_send(play->client, MESSAGE_BLOB_REQUEST, &request) != 0);
    run(play, 2);
    bool is_refused = false;
    for (const ClientEvent *event; (event = client_event(play->client)) != NULL;) {
        const MessageError *error = event->message.body;
        is_refused |= event->message.number == MESSAGE_ERROR && text_is(error->code, "not_found");
    }
    CHECK(is_refused);
    play_close(play);
}

// --- what may not be ----------------------------------------------------------------------------

static void say(Play *play, uint8_t number, const void *body)
{
    static uint8_t bytes[MESSAGE_BYTES_MAX];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    message_encode(&(Message){.number = number, .seq = 1, .body = body}, &writer);
    CHECK_OK(writer.status);
    client_receive(play->client, 1000 + (double)play->tick * TICK_MS, bytes, writer.at);
}

TEST(a_server_context_is_refused_and_reported)
{
    Play *play = play_open();
    add(play, "StarterGui/Hud.lua", "Client", "function onStart() end");
    CHECK_OK(publish(play, 3));
    play->cut = true;
    join(play, false);
    run(play, 10);
    const MessageScriptExecute execute = {.script_path = text_from("StarterGui/Hud"),
                                          .run_context = text_from("Server")};
    say(play, MESSAGE_SCRIPT_EXECUTE, &execute);
    run(play, 2);
    CHECK_INT(play->told[MESSAGE_SCRIPT_VERIFY], 1);
    CHECK_INT(client_fetch_progress(play->client).scripts_refused, 1);
    CHECK_INT(client_state(play->client), CLIENT_PLAYING);
    CHECK(strstr(play->warnings, "could not verify StarterGui/Hud: its run_context") != NULL);
    play_close(play);
}

// On joining everything is here, and nothing runs until the server says so; a reload waits for
// nobody.
TEST(the_word_to_run_is_waited_for_on_joining_alone)
{
    Play *play = play_open();
    add(play, "StarterGui/Hud.lua", "Client", "function onStart() end");
    CHECK_OK(publish(play, 3));
    play->mute = true;
    join(play, false);
    run(play, 60);
    CHECK_INT(client_fetch_progress(play->client).scripts_here, 1);
    CHECK_INT(client_stats(play->client).manifest_version, 0);
    play->mute = false;
    const MessageScriptExecute execute = {.script_path = text_from("StarterGui/Hud"),
                                          .run_context = text_from("Client")};
    say(play, MESSAGE_SCRIPT_EXECUTE, &execute);
    run(play, 3);
    CHECK_INT(client_stats(play->client).manifest_version, 3);
    play->mute = true;
    CHECK_OK(publish(play, 4));
    run(play, 10);
    CHECK_INT(client_stats(play->client).manifest_version, 4);
    play_close(play);
}

TEST(versions_only_rise)
{
    Play *play = play_open();
    add(play, "StarterGui/Hud.lua", "Client", "function onStart() end");
    CHECK_OK(publish(play, 3));
    join(play, false);
    run(play, 30);
    CHECK_INT(client_stats(play->client).manifest_version, 3);
    say(play, MESSAGE_SCRIPT_MANIFEST, &(MessageScriptManifest){.version = 2});
    CHECK_INT(client_state(play->client), CLIENT_CLOSED);
    CHECK_TEXT(client_closed_reason(play->client), "protocol: manifest 2 after 3");
    play_close(play);
}

// Numbers, hashes and texts of a manifest that is fetched: each is looked at.
TEST(hostile_texts_end_the_session)
{
    static const char *const texts[] = {
        "", "{", "[]", "{\"scripts\":[],\"server_tick\":0,\"version\":4}",
        "{\"scripts\":[{\"path\":\"ServerScriptService/S.lua\",\"replicate\":true,\"requires\":[],"
        "\"run_context\":\"Server\",\"rune_hash\":\"sha256:"
        "0000000000000000000000000000000000000000000000000000000000000000\",\"service\":"
        "\"ServerScriptService\",\"size_bytes\":100}],\"server_tick\":0,\"version\":0}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        Play *play = play_open();
        add(play, "StarterGui/Hud.lua", "Client", "function onStart() end");
        CHECK_OK(publish(play, 3));
        join(play, false);
        run(play, 30);
        const size_t bytes = strlen(texts[i]);
        MessageScriptManifest message = {.version = 9, .text_bytes = bytes > 0 ? bytes : 1};
        sha256_of(texts[i], bytes, message.text_hash.bytes);
        say(play, MESSAGE_SCRIPT_MANIFEST, &message);
        CHECK(client_give_for(play->client, message.text_hash.bytes, (const uint8_t *)texts[i],
                              bytes) != STATUS_OK);
        CHECK_INT(client_state(play->client), i == 0 ? CLIENT_PLAYING : CLIENT_CLOSED);
        CHECK_INT(client_stats(play->client).manifest_version, 3);
        play_close(play);
    }
}

// --- damage -------------------------------------------------------------------------------------

static Play *damaged(uint32_t times)
{
    Play *play = play_open();
    add(play, "StarterGui/Good.lua", "Client", "Network.FireServer('x') function onStart() end");
    add(play, "StarterGui/Weak.lua", "Client", "function onStart() error('it ran') end");
    CHECK_OK(publish(play, 3));
    play->damaged = "StarterGui/Weak";
    play->damage_left = times;
    join(play, false);
    run(play, 60);
    return play;
}

TEST(damage_is_mended_by_the_host)
{
    Play *play = damaged(1);
    const ClientProgress progress = client_fetch_progress(play->client);
    CHECK_INT(progress.scripts_here, 2);
    CHECK_INT(progress.scripts_refused, 0);
    CHECK(strstr(play->story, "Client: ScriptVerify (StarterGui/Weak, failure)\n"
                              "Client: ScriptRequest StarterGui/Weak") != NULL ||
          strstr(play->story, "Client: ScriptRequest StarterGui/Weak\n") != NULL);
    CHECK_INT(play->told[MESSAGE_SCRIPT_VERIFY], 1);
    ScriptFault fault;
    REQUIRE(script_faults(client_scripts(play->client), &fault, 1) == 1); // it ran
    play_close(play);
}

TEST(what_is_damaged_twice_is_refused_on_both_sides)
{
    Play *play = damaged(2);
    const ClientProgress progress = client_fetch_progress(play->client);
    CHECK_INT(client_state(play->client), CLIENT_PLAYING);
    CHECK_INT(progress.scripts_here, 1);
    CHECK_INT(progress.scripts_refused, 1);
    CHECK_INT(play->told[MESSAGE_SCRIPT_VERIFY], 2);
    CHECK_INT(play->told[MESSAGE_SCRIPT_EXECUTE], 1);
    CHECK_INT(client_stats(play->client).manifest_version, 3); // the others run
    check_no_faults(play);
    CHECK(strstr(play->warnings, "could not verify StarterGui/Weak") != NULL);      // the server's
    CHECK(strstr(play->warnings, "the script StarterGui/Weak: it is not") != NULL); // the client's
    play_close(play);
}

// --- on demand ----------------------------------------------------------------------------------

static Play *lazy(const char *gui)
{
    Play *play = play_open();
    add(play, "ReplicatedFirst/Load.lua", "Client", "require('ReplicatedStorage/Screen')");
    play->scripts[0].requires[0] = text_from("ReplicatedStorage/Screen");
    play->scripts[0].require_count = 1;
    Script *deep = add(play, "ReplicatedStorage/Deep.lua", "Both",
                       "return {word = require('ReplicatedStorage/Deeper').word}");
    deep->requires[deep->require_count++] = text_from("ReplicatedStorage/Deeper");
    // A circle: nothing may go round it for ever.
    Script *deeper = add(play, "ReplicatedStorage/Deeper.lua", "Both",
                         "local function never() return require('ReplicatedStorage/Deep') end\n"
                         "return {word = 'deep'}");
    deeper->requires[deeper->require_count++] = text_from("ReplicatedStorage/Deep");
    add(play, "ReplicatedStorage/Screen.lua", "Both", "return {}");
    add(play, "ReplicatedStorage/Unused.lua", "Both", "return {}");
    add(play, "StarterGui/Main.lua", "Client", gui);
    CHECK_OK(publish(play, 3));
    join(play, false);
    return play;
}

TEST(what_nothing_requires_is_fetched_on_demand)
{
    Play *play = lazy("function onStart() task.wait(1)\n"
                      "  local name = 'De' .. 'ep'\n"
                      "  local m = require('ReplicatedStorage/' .. name)\n"
                      "  Chat.Send(m.word) end");
    run(play, 40);
    ClientProgress progress = client_fetch_progress(play->client);
    CHECK_INT(progress.scripts_wanted, 3);
    CHECK_INT(progress.scripts_here, 3);
    CHECK_INT(progress.scripts_later, 3);
    CHECK_INT(client_stats(play->client).manifest_version, 3);
    CHECK(strstr(play->story, "ReplicatedStorage/Deep") == NULL);
    // First what runs first and what it requires, then the rest.
    CHECK(strstr(play->story, "Client: ScriptRequest ReplicatedFirst/Load ReplicatedStorage/Screen "
                              "StarterGui/Main\n") != NULL);
    run(play, 120);
    progress = client_fetch_progress(play->client);
    CHECK_INT(progress.scripts_later, 1); // Unused
    CHECK(strstr(play->story,
                 "Client: ScriptRequest ReplicatedStorage/Deep ReplicatedStorage/Deeper\n") !=
          NULL);
    check_no_faults(play);
    CHECK(strstr(play->story, "Unused") == NULL);
    play_close(play);
}

TEST(waiting_for_a_module_ends)
{
    Play *play = lazy("function onStart() task.wait(1)\n"
                      "  require('ReplicatedStorage/' .. 'Deep') end");
    run(play, 40);
    play->cut = true;
    run(play, 60 + REQUIRE_WAIT_SECONDS * 60 + 60);
    ScriptFault fault;
    REQUIRE(script_faults(client_scripts(play->client), &fault, 1) == 1);
    CHECK(strstr(fault.message, "\"ReplicatedStorage/Deep\" did not arrive within 10 seconds") !=
          NULL);
    play_close(play);
}

TEST(a_module_that_no_manifest_names_is_an_error_at_once)
{
    Play *play = lazy("function onStart() require('ReplicatedStorage/' .. 'None') end");
    run(play, 60);
    ScriptFault fault;
    REQUIRE(script_faults(client_scripts(play->client), &fault, 1) == 1);
    CHECK(strstr(fault.message, "there is no module \"ReplicatedStorage/None\"") != NULL);
    play_close(play);
}
