// A client against a simulated server: the test writes the server's messages and frames, and reads
// what the client sends.
#pragma once

#include "core/client/client.h"
#include "core/script/rune/rune.h"
#include "tests/support/test_place.h"

#define STAGE_PLAYER  7
#define STAGE_BODY    1000
#define STAGE_RECORDS 64

typedef struct StageEntity {
    NetKind kind;
    uint64_t net_id;
    NetState state; // as the client has it
} StageEntity;

typedef struct Stage {
    Heap heap;
    TestPlaceBytes scene;
    Place *place;
    Client *client;
    double now_ms;
    uint32_t seq;
    // The frame being written.
    SnapshotHeader last;
    uint64_t tick;
    bool full;
    StageEntity entities[NET_SLOTS_MAX];
    NetOwn own;
    bool has_own;
    uint8_t leaves[STAGE_RECORDS];
    SnapshotEnter enters[STAGE_RECORDS];
    SnapshotUpdate updates[STAGE_RECORDS];
    uint32_t leave_count, enter_count, update_count;
    uint8_t records[64 << 10];
    size_t record_bytes;
    uint8_t events[80 << 10];
    size_t event_bytes;
    // What the client sent: how often, and the last of each kind.
    uint32_t up_count[256];
    uint8_t up_bytes[64][64 << 10];
    size_t up_size[64];
    bool says_nothing; // does not answer to what is verified
    uint32_t newest_input;
    uint64_t input_frames;
    uint32_t buttons_seen;
    bool keeps_inputs; // never acknowledges any
    _Alignas(16) uint8_t arena_block[64 << 10];
    Arena arena;
    uint8_t frame[SNAPSHOT_BYTES_MAX];
} Stage;

// A client with the flat place at hand; `config` NULL: the default without scripts.
Stage *stage_open(const ClientConfig *config, bool place_at_hand);
// The same in a place of other files.
Stage *stage_open_files(const ClientConfig *config, bool place_at_hand, const PlaceFile *files,
                        uint32_t file_count);
void stage_close(Stage *stage);

void stage_send(Stage *stage, uint8_t number, const void *body); // DOWN
void stage_connect(Stage *stage);                                // up to the handshake
void stage_welcome(Stage *stage, bool resumed);
void stage_name(Stage *stage); // the player's own name, into the next frame
void stage_play(Stage *stage); // all of it, a body and a name included, until PLAYING

// Into the next frame.
NetState stage_state(Vec3 position, Vec3 velocity, uint64_t tick);
void stage_enter(Stage *stage, uint32_t slot, NetKind kind, uint64_t net_id, const NetState *state,
                 const NetShape *shape, const uint8_t *attributes, size_t attributes_bytes);
void stage_change(Stage *stage, uint32_t slot, const NetState *state);
// The same entity with other attributes.
void stage_attributes(Stage *stage, uint32_t slot, const uint8_t *attributes,
                      size_t attributes_bytes);
void stage_leave(Stage *stage, uint32_t slot);
void stage_event(Stage *stage, uint64_t ticks_ago, uint8_t number, const void *body);
void stage_body(Stage *stage, Vec3 position);
void stage_flush(Stage *stage); // the frame goes out

// Advances so many ticks, with a frame every third.
void stage_run(Stage *stage, uint32_t ticks);
// The last message of that number that the client sent; body NULL: none.
Message stage_up(Stage *stage, uint8_t number);
Text stage_text(const char *text);
// A rune from source.
size_t stage_rune(Stage *stage, const char *path, const char *source, uint8_t *out,
                  size_t capacity);
