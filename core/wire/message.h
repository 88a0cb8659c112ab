// Messages of protocol v2 as C structs, and their two encodings. Rows, fields and limits stand in
// schema.def; this header only turns them into types: MESSAGE(WELCOME, Welcome, …) gives the number
// MESSAGE_WELCOME and the struct MessageWelcome, STRUCT(InputFrame) gives WireInputFrame, a LIST a
// pointer and a count. Texts, bytes and lists of a decoded message point into the input or into the
// arena given; nothing is copied on encoding.
//
// Binary: u8 number · varint seq · for UP: varint clientTime in ms · the fields in the order of the
// rows. Events inside a snapshot have no seq: number, fields.
// JSON: the envelope of the room document, {"v":2,"kind":…,"seq":…,"feature":…,"action":…,
// "clientTime":…,"payload":{…}}.
//
// Decoders are total: any bytes give a message or a status, and every value is inside its limit.
#pragma once

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/base/json_write.h"
#include "core/base/limits.h"
#include "core/wire/error_code.h"
#include "core/wire/net.h"

#define PROTOCOL_VERSION 2
// Which rows of schema.def and which form of snapshot frames a program was built with. Until the
// first release they may change under the same version: then this number rises, and two programs
// with different numbers do not talk in binary. JSON names its members and does not need it.
#define PROTOCOL_SCHEMA  5
#define MESSAGE_SNAPSHOT 68 // snapshot.h
// Numbers of before there was a schema number. The answer to them is unsupported_version.
#define MESSAGE_OLD_HANDSHAKE 1
#define MESSAGE_OLD_WELCOME   64

typedef struct WireBytes {
    const uint8_t *data;
    uint32_t bytes;
} WireBytes;

typedef struct WireHash {
    uint8_t bytes[32];
} WireHash;

typedef struct WireCoord {
    int32_t x, y, z;
} WireCoord;

typedef enum MessageDirection { MESSAGE_UP, MESSAGE_DOWN, MESSAGE_EVENT } MessageDirection;

// The structs: UINT is uint64_t, SINT int32_t, BOOL bool, F32 float, TEXT Text, BYTES WireBytes,
// HASH WireHash, VEC3 Vec3, COORD WireCoord, LIST(x, …, Item, …) `const WireItem *x; uint32_t
// x_count;`.
#define UINT(name, json, limit, text)  uint64_t name;
#define SINT(name, json, limit, text)  int32_t name;
#define BOOL(name, json, limit, text)  bool name;
#define F32(name, json, limit, text)   float name;
#define TEXT(name, json, limit, text)  Text name;
#define BYTES(name, json, limit, text) WireBytes name;
#define HASH(name, json, limit, text)  WireHash name;
#define VEC3(name, json, limit, text)  Vec3 name;
#define COORD(name, json, limit, text) WireCoord name;
#define LIST(name, json, item, limit, text) \
    const Wire##item *name;                 \
    uint32_t name##_count;
#define STRUCT(name)                      \
    typedef struct Wire##name Wire##name; \
    struct Wire##name {
#define END_STRUCT(name) \
    }                    \
    ;
// A struct must not be empty in C.
#define MESSAGE(number_name, name, number, direction, kind, feature, action, text) \
    typedef struct Message##name Message##name;                                    \
    struct Message##name {                                                         \
        uint8_t unused;
#define END_MESSAGE(name) \
    }                     \
    ;
#include "core/wire/schema.def"

typedef enum MessageNumber {
#define MESSAGE(number_name, name, number, direction, kind, feature, action, text) \
    MESSAGE_##number_name = number,
#include "core/wire/schema.def"
} MessageNumber;

// A message with its envelope. `body` points to the struct of its number.
typedef struct Message {
    uint8_t number;
    uint32_t seq;
    double client_time_ms; // UP only; whole milliseconds in binary
    const void *body;
} Message;

// The row of a number: names for people and for JSON. NULL when there is none.
typedef struct MessageRow {
    uint8_t number;
    MessageDirection direction;
    const char *name; // "INPUT_BATCH"
    const char *kind, *feature, *action, *text;
    size_t body_bytes;
} MessageRow;
const MessageRow *message_row(uint32_t number);
const MessageRow *message_row_at(uint32_t index); // NULL past the last
const MessageRow *message_row_find(const char *kind, const char *feature, const char *action);

// --- what is valid ------------------------------------------------------------------------------
// The rules for a body that encoders require and decoders guarantee: STATUS_RANGE for a value over
// its limit, STATUS_UNSUPPORTED for a number without a row. For bodies from scripts: check before
// encoding.
MUST_USE Status message_check(uint32_t number, const void *body);
// A TEXT: UTF-8 without zero bytes, at most that long.
bool message_text_is_valid(Text text, uint32_t bytes_max);

// --- binary -------------------------------------------------------------------------------------
// The body must be inside the limits of its row (our bug otherwise). STATUS_LIMIT in the writer.
void message_encode(const Message *message, ByteWriter *writer);
// UP or DOWN, as the direction says; STATUS_UNSUPPORTED for a number that has no such row. The
// arena takes the body and its lists; on failure it is as it was.
MUST_USE Status message_decode(const uint8_t *bytes, size_t count, MessageDirection direction,
                               Arena *arena, Message *out);
// Whether a binary HANDSHAKE or WELCOME is of another schema than this program's. Looks at its
// first fields only, because those behind them may be other ones then. False also if it is no such
// message, or too short: then message_decode says what is wrong.
bool message_is_of_other_schema(const uint8_t *bytes, size_t count);
// Events as they stand in snapshots (snapshot_event): number, fields.
void message_encode_event(uint8_t number, const void *body, ByteWriter *writer);
MUST_USE Status message_decode_event(const uint8_t *bytes, size_t count, Arena *arena,
                                     Message *out);

// --- JSON ---------------------------------------------------------------------------------------
typedef struct MessageJsonError {
    ErrorCode code; // unsupported_version, malformed, unknown_action
    JsonError where;
} MessageJsonError;
// The whole envelope. STATUS_LIMIT in the writer.
void message_to_json(const Message *message, ByteWriter *writer);
// Only the payload, as a value wherever the writer stands: events inside a JSON snapshot.
void message_write_payload(uint8_t number, const void *body, JsonWriter *writer);
// `v` other than 2 is STATUS_UNSUPPORTED with the code unsupported_version. In an input,
// {up,down,left,right} mean the same as move: [x, z] in -1..1, which means the same as moveX and
// moveZ; yaw and pitch may also be given in radians as yawRadians and pitchRadians. jump, run, fire
// and use may stand as booleans.
// With MESSAGE_DOWN events are taken too. Texts point into the arena, which takes the parsed tree:
// MESSAGE_JSON_ARENA_BYTES are enough for whatever we write ourselves.
#define MESSAGE_JSON_ARENA_BYTES (3u << 20)
MUST_USE Status message_from_json(const char *text, size_t bytes, MessageDirection direction,
                                  Arena *arena, Message *out, MessageJsonError *error);
