// Example bodies of messages, generated from the schema: for round trips, test vectors and fuzz
// seeds.
#pragma once

#include "core/base/rng.h"
#include "core/wire/message_inside.h"

typedef enum ExampleKind {
    EXAMPLE_EMPTY,   // all zero
    EXAMPLE_FILLED,  // something in every field, drawn from the generator
    EXAMPLE_LARGEST, // every field at its limit
} ExampleKind;

typedef struct ExampleConfig {
    ExampleKind kind;
    uint32_t bytes_max; // of one text or one block of bytes, whatever the limit of its field
    uint32_t items_max; // of one list
} ExampleConfig;

// The body lives in the arena, which must be large enough.
const void *message_example(const MessageRow *row, const ExampleConfig *config, Rng *rng,
                            Arena *arena);
