// A small place made by hand, a world on it, and the simplest possible clients: raw messages in,
// raw messages out, every entry recorded so that it can be replayed.
#pragma once

#include "core/wire/merge.h"
#include "core/wire/message.h"
#include "core/world/journal.h"
#include "core/world/world_inside.h"

#define FIXTURE_JOURNAL_BYTES (4u << 20)

// Anchored: a floor (1), a wall (2). Entities: a platform that goes to and fro (3), a coin (4), a
// guard (5).
typedef struct FixturePlace {
    Heap heap;
    Scene *scene;
    Place place;
    PlaceSpawn spawns[2];
    PlaceEntity entities[3];
    PlaceExtra extra;
    PrefabAttribute attribute;
    Text tag;
    Text scene_names[2];
    PlaceWeapon weapon;
    uint8_t stripped[64];
} FixturePlace;
void fixture_place_open(FixturePlace *fixture, uint32_t tick_rate, uint32_t snapshot_rate);
void fixture_place_close(FixturePlace *fixture);

typedef struct Fixture {
    FixturePlace place;
    Heap heap;
    WorldConfig config;
    World *world;
    uint64_t unix_ms;
    uint8_t *journal;
    ByteWriter writer;
    uint8_t *rows; // what was saved, u32 length before each; NULL: not kept
    size_t row_bytes;
    uint64_t *hashes; // after each tick
    uint32_t tick_count;
} Fixture;
WorldConfig fixture_config(const FixturePlace *place);
void fixture_open(Fixture *fixture);
void fixture_open_with(Fixture *fixture, uint32_t tick_rate, uint32_t snapshot_rate,
                       uint32_t player_max);
void fixture_close(Fixture *fixture);
Status fixture_enter(Fixture *fixture, const Entry *entry); // and into the journal
void fixture_tick(Fixture *fixture, uint32_t count); // and answers what the world wants saved
#define FIXTURE_ROW_BYTES (4u << 20)

// --- clients ------------------------------------------------------------------------------------
Status fixture_connect(Fixture *fixture, uint64_t connection, bool json);
Status fixture_disconnect(Fixture *fixture, uint64_t connection);
Status fixture_send(Fixture *fixture, uint64_t connection, uint8_t number, const void *body);
Status fixture_send_bytes(Fixture *fixture, uint64_t connection, const void *bytes, size_t count);
Status fixture_handshake(Fixture *fixture, uint64_t connection, const char *player_id,
                         const char *resume_token);
// Connects, shakes hands and ticks once.
void fixture_join(Fixture *fixture, uint64_t connection, const char *player_id);

// What came out for one connection, taken until nothing is left.
typedef struct Heard {
    uint32_t messages, frames, welcomes, errors, acks, pongs, events;
    char token[65];
    char code[65]; // of the last error
    char text[241];
    bool fatal;
    MessageWelcome welcome; // numbers only
    SnapshotHeader frame;   // of the last one
    bool has_own;
    NetOwn own; // the last one
    uint32_t own_count, own_causes;
    uint32_t event_counts[256];
    uint64_t last_event_entity;
} Heard;
// `merge` keeps the content of frames; NULL: frames are only counted.
void fixture_hear(Fixture *fixture, uint64_t connection, Merge *merge, Heard *heard);
bool fixture_is_closing(Fixture *fixture, uint64_t connection); // asks world_closing
