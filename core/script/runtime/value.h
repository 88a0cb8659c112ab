// Values that leave a Vm: arguments of remotes, stored data, UI trees. A small tagged format,
// bounded in size and depth, the same on both sides; reading is total. Functions, coroutines and
// tables with cycles are refused: the error names the path to them ("argument 2.items[3]").
//
//   0 nil · 1 false · 2 true · 3 integer (zigzag varint) · 4 float (f64) · 5 text (varint, bytes)
//   6 list (varint count, values) · 7 map (varint count, key and value pairs, keys in order:
//   integers, floats, then texts) · 8 Vector3 (3 x f32) · 9 entity (varint net id) · 10 player
//   (varint id)
//
// Equal values give equal bytes. NaN and infinity are refused.
#pragma once

#include "core/base/bytes.h"
#include "core/base/limits.h"
#include "core/base/status.h"
#include "core/wire/attribute.h"

typedef struct lua_State lua_State;

#define VALUE_DEPTH_MAX   8
#define VALUE_BYTES_MAX   (64 << 10)
#define VALUE_LIST_MAX    64 // values in one list, such as arguments
#define VALUE_ERROR_BYTES 200

// What the values are written for, in the words of error messages.
typedef struct ValueUse {
    const char *noun; // "argument"
    int number;       // of the first one: argument 1, argument 2
    const char *verb; // "sent"
} ValueUse;

// Writes the values at stack indices first..last as a list. STATUS_LIMIT (too big or too deep) or
// STATUS_MALFORMED (something that cannot be sent) with a message for the script.
MUST_USE Status value_write_for(lua_State *thread, int first, int last, const ValueUse *use,
                                ByteWriter *writer, char error[VALUE_ERROR_BYTES]);
// The same for arguments that are sent.
MUST_USE Status value_write(lua_State *thread, int first, int last, ByteWriter *writer,
                            char error[VALUE_ERROR_BYTES]);
// Pushes the values of a list, and returns how many. Charges the thread for the bytes.
MUST_USE Status value_read(lua_State *thread, const uint8_t *bytes, size_t count, int *pushed);
// Writes values of attributes as a list, without a Vm; two take at most VALUE_ATTRIBUTES_BYTES.
#define VALUE_ATTRIBUTES_BYTES (2 * (ATTRIBUTE_TEXT_BYTES_MAX + 16))
void value_write_attributes(const ScriptValue *values, uint32_t count, ByteWriter *writer);
// The first value of a list that is good, if it is a text; without a Vm.
bool value_first_text(const uint8_t *bytes, size_t count, Text *out);
// Checks bytes without a Vm.
MUST_USE Status value_check(const uint8_t *bytes, size_t count);

// A table is a list if its keys are exactly 1..count; an empty one is a list too. Charges the
// thread for the check.
bool value_is_list(lua_State *thread, int index, uint64_t *count);
