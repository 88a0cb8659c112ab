// A client against a simulated server: the test writes the server's messages and frames, and reads
// what the client sends.
#pragma once

#include "core/client/client.h"
#include "core/script/rune/rune.h"
#include "tests/support/test_place.h"

#define FAKE_PLAYER  7
#define FAKE_BODY    1000
#define FAKE_RECORDS 64

typedef struct FakeEntity {
    NetKind kind;
    uint64_t net_id;
    NetState state; // as the client has it
} FakeEntity;

typedef struct FakeServer {
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
    FakeEntity entities[NET_SLOTS_MAX];
    NetOwn own;
    bool has_own;
    uint8_t leaves[FAKE_RECORDS];
    SnapshotEnter enters[FAKE_RECORDS];
    SnapshotUpdate updates[FAKE_RECORDS];
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
} FakeServer;

// A client with the flat place at hand; `config` NULL: the default without scripts.
FakeServer *fake_open(const ClientConfig *config, bool place_at_hand);
// The same in a place of other files.
FakeServer *fake_open_files(const ClientConfig *config, bool place_at_hand, const PlaceFile *files,
                            uint32_t file_count);
void fake_close(FakeServer *fake);

void fake_send(FakeServer *fake, uint8_t number, const void *body); // DOWN
void fake_connect(FakeServer *fake);                                // up to the handshake
void fake_welcome(FakeServer *fake, bool resumed);
void fake_name(FakeServer *fake); // the player's own name, into the next frame
void fake_play(FakeServer *fake); // all of it, a body and a name included, until PLAYING

// Into the next frame.
NetState fake_state(Vec3 position, Vec3 velocity, uint64_t tick);
void fake_enter(FakeServer *fake, uint32_t slot, NetKind kind, uint64_t net_id,
                const NetState *state, const NetShape *shape, const uint8_t *attributes,
                size_t attributes_bytes);
void fake_change(FakeServer *fake, uint32_t slot, const NetState *state);
// The same entity with other attributes.
void fake_attributes(FakeServer *fake, uint32_t slot, const uint8_t *attributes,
                     size_t attributes_bytes);
void fake_leave(FakeServer *fake, uint32_t slot);
void fake_event(FakeServer *fake, uint64_t ticks_ago, uint8_t number, const void *body);
void fake_body(FakeServer *fake, Vec3 position);
void fake_flush(FakeServer *fake); // the frame goes out

// Advances so many ticks, with a frame every third.
void fake_run(FakeServer *fake, uint32_t ticks);
// The last message of that number that the client sent; body NULL: none.
Message fake_up(FakeServer *fake, uint8_t number);
Text fake_text(const char *text);
// A rune from source.
size_t fake_rune(FakeServer *fake, const char *path, const char *source, uint8_t *out,
                 size_t capacity);
