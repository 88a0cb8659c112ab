// See duet.h.
#include "tests/unit/duet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS (1000.0 / 60.0)

static void keep_log(void *user, const LogEvent *event)
{
    Duet *duet = user;
    const size_t bytes = strlen(event->text);
    if (duet->text_bytes + bytes + 2 <= sizeof duet->text) {
        memcpy(duet->text + duet->text_bytes, event->text, bytes);
        duet->text_bytes += bytes + 1;
        duet->text[duet->text_bytes - 1] = '\n';
    }
}

uint32_t duet_lines(const Duet *duet, const char *text)
{
    uint32_t count = 0;
    for (const char *at = duet->text; (at = strstr(at, text)) != NULL; at += strlen(text)) {
        count += 1;
    }
    return count;
}

static void no_faults(ScriptSystem *system)
{
    static ScriptFault fault;
    while (system != NULL && script_faults(system, &fault, 1) > 0) {
        test_fail(__FILE__, __LINE__, "%s:%u: %s", fault.path, fault.line, fault.message);
    }
}

void duet_no_faults(Duet *duet)
{
    no_faults(world_scripts(duet->world));
    for (uint32_t i = 0; i < duet->client_count; i++) {
        no_faults(client_scripts(duet->clients[i]));
    }
}

void duet_script(Duet *duet, const char *path, const char *source)
{
    const bool secret = strncmp(path, "ServerScriptService", 19) == 0;
    CHECK_OK(
        world_enter(duet->world, &(Entry){.type = ENTRY_SCRIPT,
                                          .flags = ENTRY_SOURCE | (secret ? 0 : ENTRY_REPLICATE),
                                          .name = path,
                                          .name_bytes = (uint32_t)strlen(path),
                                          .bytes = (const uint8_t *)source,
                                          .byte_count = strlen(source)}));
}

Duet *duet_open_files(const PlaceFile *files, uint32_t file_count, uint32_t delay, bool scripts)
{
    Duet *duet = calloc(1, sizeof *duet);
    duet->heap = heap_make(2ull << 30);
    duet->delay = delay;
    duet->whole = test_place_whole_files(&duet->heap, files, file_count);
    duet->stripped = test_place_strip(&duet->heap, duet->whole);
    CHECK_OK(place_load(&duet->heap, duet->whole.data, duet->whole.bytes, &duet->place));
    WorldConfig config = world_config_default();
    config.place = duet->place;
    config.stripped = duet->stripped.data;
    config.stripped_bytes = duet->stripped.bytes;
    config.development = true;
    config.player_max = 4;
    config.epoch = 1;
    config.scripts = scripts;
    duet->log = (LogSink){.write = keep_log, .user = duet, .level_min = LOG_INFO};
    config.script.log = &duet->log;
    CHECK_OK(world_create(&duet->heap, &config, &duet->world));
    return duet;
}

Duet *duet_open(const char *place, const char *scene, uint32_t delay, bool scripts)
{
    const PlaceFile files[] = {
        {"place.json", (const uint8_t *)place, strlen(place)},
        {"scene.json", (const uint8_t *)scene, strlen(scene)},
    };
    return duet_open_files(files, 2, delay, scripts);
}

static void drop_letters(Duet *duet, uint32_t client)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < duet->letter_count; i++) {
        if (duet->letters[i].client == client) {
            free(duet->letters[i].bytes);
        } else {
            duet->letters[kept++] = duet->letters[i];
        }
    }
    duet->letter_count = kept;
}

void duet_close(Duet *duet)
{
    for (uint32_t i = 0; i < duet->client_count; i++) {
        drop_letters(duet, i);
        client_destroy(&duet->heap, duet->clients[i]);
    }
    world_destroy(&duet->heap, duet->world);
    place_unload(&duet->heap, duet->place);
    test_place_free(&duet->heap, duet->stripped);
    test_place_free(&duet->heap, duet->whole);
    CHECK_INT(duet->heap.bytes_now, 0);
    free(duet);
}

static void post(Duet *duet, uint32_t client, bool up, const uint8_t *bytes, size_t count)
{
    CHECK(duet->letter_count < DUET_LETTERS_MAX);
    uint8_t *copy = malloc(count);
    memcpy(copy, bytes, count);
    duet->letters[duet->letter_count++] = (Letter){.tick = duet->tick + duet->delay,
                                                   .up = up,
                                                   .client = client,
                                                   .connection = duet->connections[client],
                                                   .bytes = copy,
                                                   .count = count};
}

double duet_now_ms(const Duet *duet)
{
    return 1000 + (double)duet->tick * TICK_MS;
}

static void deliver(Duet *duet)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < duet->letter_count; i++) {
        const Letter letter = duet->letters[i];
        if (letter.tick > duet->tick || (duet->held[letter.client] && !letter.up)) {
            duet->letters[kept++] = letter;
            continue;
        }
        if (letter.up) {
            CHECK_OK(world_enter(duet->world, &(Entry){.type = ENTRY_MESSAGE,
                                                       .connection = letter.connection,
                                                       .bytes = letter.bytes,
                                                       .byte_count = letter.count}));
        } else {
            client_receive(duet->clients[letter.client], duet_now_ms(duet), letter.bytes,
                           letter.count);
        }
        free(letter.bytes);
    }
    duet->letter_count = kept;
}

static void answer_saves(Duet *duet)
{
    uint64_t requests[64];
    uint32_t count = 0;
    uint32_t answered = 0;
    const Command *commands = world_commands(duet->world, &count);
    for (uint32_t i = 0; i < count && answered < 64; i++) {
        if (commands[i].type == COMMAND_SAVE) {
            requests[answered++] = commands[i].request;
        }
    }
    world_commands_clear(duet->world);
    for (uint32_t i = 0; i < answered; i++) {
        CHECK_OK(world_enter(
            duet->world, &(Entry){.type = ENTRY_STORED, .flags = ENTRY_OK, .number = requests[i]}));
    }
}

void duet_run(Duet *duet, uint32_t ticks)
{
    for (uint32_t t = 0; t < ticks; t++) {
        duet->tick += 1;
        deliver(duet);
        CHECK_OK(world_enter(duet->world,
                             &(Entry){.type = ENTRY_TICK, .number = 1000 + duet->tick * 17}));
        answer_saves(duet);
        for (uint32_t i = 0; i < duet->client_count; i++) {
            const uint8_t *bytes = NULL;
            size_t count = 0;
            while (duet->connections[i] != 0 &&
                   world_output(duet->world, duet->connections[i], &bytes, &count)) {
                post(duet, i, false, bytes, count);
                world_output_take(duet->world, duet->connections[i]);
            }
            client_update(duet->clients[i], duet_now_ms(duet));
            while (client_output(duet->clients[i], &bytes, &count)) {
                post(duet, i, true, bytes, count);
                client_output_take(duet->clients[i]);
            }
        }
    }
}

void duet_connect(Duet *duet, uint32_t i)
{
    duet->connections[i] = ++duet->next_connection;
    CHECK_OK(world_enter(duet->world,
                         &(Entry){.type = ENTRY_CONNECT, .connection = duet->connections[i]}));
    client_connect(duet->clients[i], duet_now_ms(duet));
}

void duet_cut(Duet *duet, uint32_t i)
{
    drop_letters(duet, i);
    client_disconnected(duet->clients[i]);
    CHECK_OK(world_enter(duet->world,
                         &(Entry){.type = ENTRY_DISCONNECT, .connection = duet->connections[i]}));
    duet->connections[i] = 0;
}

Client *duet_join(Duet *duet, const char *id, bool scripts)
{
    const uint32_t i = duet->client_count++;
    ClientConfig config = client_config_default();
    config.scripts = scripts;
    config.script.log = &duet->log;
    snprintf(config.player_id, sizeof config.player_id, "%s", id);
    snprintf(config.name, sizeof config.name, "%s", id);
    CHECK_OK(client_create(&duet->heap, &config, &duet->clients[i]));
    duet_connect(duet, i);
    duet_run(duet, 30);
    for (uint32_t t = 0; t < 300 && client_state(duet->clients[i]) == CLIENT_FETCHING; t++) {
        duet_run(duet, 1);
    }
    CHECK_INT(client_state(duet->clients[i]), CLIENT_PLAYING);
    CHECK_TEXT(client_closed_reason(duet->clients[i]), "");
    return duet->clients[i];
}
