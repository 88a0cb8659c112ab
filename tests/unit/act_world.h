// A world on a place from JSON, an owner that stores its rows, and clients that send raw messages
// and keep the last message of each kind. Accounts are the numbers in the tickets.
#pragma once

#include "core/wire/merge.h"
#include "core/wire/message.h"
#include "core/world/world_inside.h"
#include "tests/support/test.h"
#include "tests/support/test_place.h"

#define ACT_CLIENTS  8
#define ACT_ROWS_MAX 512

typedef struct ActClient {
    uint64_t connection; // 0: none
    uint32_t seq;        // of the last command
    Merge merge;
    uint32_t counts[256];
    uint8_t *last[256]; // bytes of the last message or event of each number
    size_t last_bytes[256];
    uint32_t frame;
    uint32_t input_seq;
    bool silent; // confirms nothing
} ActClient;

typedef struct ActRow {
    Row row;
    uint8_t *value;
} ActRow;

typedef struct ActStore {
    ActRow rows[ACT_ROWS_MAX];
    uint32_t count;
    uint64_t seq;
    uint32_t refused; // rows that could not be read back
} ActStore;

typedef struct ActWorld {
    Heap heap;
    Heap place_heap;
    Place *place;
    TestPlaceBytes stripped;
    WorldConfig config;
    World *world;
    uint64_t unix_ms;
    ActClient clients[ACT_CLIENTS];
    ActStore *store;      // where saves go; kept
    bool same_place;      // rows were stored when this very place ran
    bool hold;            // saves are neither kept nor answered
    uint32_t held;        // commands since
    uint32_t store_count; // DataStore requests
    StoreRequest last_store;
    char store_key[129];
    uint64_t store_request;
    uint32_t stops;
    uint32_t reload_counts[RELOAD_RESULT_COUNT]; // COMMAND_RELOAD
    uint32_t reload_version;                     // of the last one
    uint64_t reload_tick;
    char reload_reason[512];
    uint32_t left_count; // COMMAND_LEFT
    uint64_t left_account;
    uint32_t stores_before_left; // store_count when the last one came
    // Is shown every message that goes to a client; NULL: nobody is.
    void (*shown)(const ActClient *client, const uint8_t *bytes, size_t count);
    uint8_t *journal; // every entry, one after the other; NULL: not kept
    ByteWriter entries;
} ActWorld;
#define ACT_JOURNAL_BYTES (8u << 20)

void act_world_open(ActWorld *act, ActStore *store, const char *place_json, const char *scene_json,
                    bool scripts);
// The same, with what scripts may use and where the world logs.
typedef struct ActOptions {
    bool scripts;
    uint32_t call_ms, tick_ms; // 0: the usual
    LogSink *log;              // kept; NULL: nowhere
} ActOptions;
void act_world_open_options(ActWorld *act, ActStore *store, const char *place_json,
                            const char *scene_json, const ActOptions *options);
void act_store_keep(ActStore *store, const uint8_t *bytes, size_t count); // one row, as row_write
// Rows of the store, then it may tick.
void act_world_rows(ActWorld *act);
void act_world_close(ActWorld *act);
void act_store_free(ActStore *store);
Status act_world_enter(ActWorld *act, const Entry *entry); // and into the journal

Status act_world_script(ActWorld *act, const char *path, const char *source);
void act_world_tick(ActWorld *act, uint32_t count);
void act_world_answer(ActWorld *act); // what the world has asked for; a tick does it too
#define ACT_PUPIL 500 // an account whose name is fixed; from 1000 on they are operators
ActClient *act_world_join(ActWorld *act, uint64_t account, const char *name); // and a few ticks
void act_world_cut(ActWorld *act, ActClient *client);
Session *act_world_session(ActWorld *act, const ActClient *client);
// Sends a command and ticks until it was answered; true if by an ack.
bool act_world_ask(ActWorld *act, ActClient *client, uint8_t number, const void *body);
void act_world_send(ActWorld *act, ActClient *client, uint8_t number, const void *body);
// The last message or event of a number, decoded; NULL: none. Valid until the next call.
const void *act_client_last(const ActClient *client, uint8_t number);
const char *act_client_code(const ActClient *client); // of the last error
// Puts the body of a client somewhere.
void act_world_place(ActWorld *act, const ActClient *client, Vec3 position);
static inline Text act_text(const char *text)
{
    uint32_t bytes = 0;
    while (text[bytes] != 0) {
        bytes += 1;
    }
    return (Text){text, bytes};
}
