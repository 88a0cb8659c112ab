// Real clients in a real world, with a few ticks of delay between them, in simulated time.
#pragma once

#include "core/client/client.h"
#include "core/world/world.h"
#include "tests/support/test.h"
#include "tests/support/test_place.h"

#define DUET_CLIENTS_MAX 4
#define DUET_LETTERS_MAX 4096

typedef struct Letter {
    uint64_t tick;
    bool up;
    uint32_t client;
    uint64_t connection;
    uint8_t *bytes;
    size_t count;
} Letter;

typedef struct Duet {
    Heap heap;
    TestPlaceBytes whole, stripped;
    Place *place;
    World *world;
    Client *clients[DUET_CLIENTS_MAX];
    uint64_t connections[DUET_CLIENTS_MAX]; // 0: none
    uint64_t next_connection;
    uint32_t client_count;
    uint32_t delay;              // ticks, one way
    bool held[DUET_CLIENTS_MAX]; // nothing of the world reaches this client
    uint64_t tick;
    Letter letters[DUET_LETTERS_MAX];
    uint32_t letter_count;
    LogSink log;
    char text[64 << 10]; // what scripts of both sides have logged, "path: text\n"
    size_t text_bytes;
} Duet;

Duet *duet_open(const char *place, const char *scene, uint32_t delay, bool scripts);
// The same of any files.
Duet *duet_open_files(const PlaceFile *files, uint32_t file_count, uint32_t delay, bool scripts);
void duet_close(Duet *duet); // checks that all memory was given back
void duet_script(Duet *duet, const char *path, const char *source);
void duet_run(Duet *duet, uint32_t ticks);
void duet_connect(Duet *duet, uint32_t client);
void duet_cut(Duet *duet, uint32_t client);
// A new client, which plays when this returns.
Client *duet_join(Duet *duet, const char *id, bool scripts);
double duet_now_ms(const Duet *duet);
uint32_t duet_lines(const Duet *duet, const char *text); // how often it was logged
void duet_no_faults(Duet *duet);                         // fails if a script of any side had one
