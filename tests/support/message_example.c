// Example messages. Their texts contain characters that are hard to encode: quotes, control
// characters, characters of every length.
#include "tests/support/message_example.h"

#include "core/base/check.h"
#include "core/base/utf8.h"

#include <string.h>

typedef struct Example {
    const ExampleConfig *config;
    Rng *rng;
    Arena *arena;
    bool inside; // of a list: lists in it are short, or the largest message would be none
} Example;

static uint64_t minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t make_uint(const Example *example, uint64_t limit)
{
    if (example->config->kind == EXAMPLE_LARGEST) {
        return limit;
    }
    // Small and large ones alike: a random number of bits.
    const uint32_t bits = rng_below(example->rng, 53);
    const uint64_t value = rng_u64(example->rng) >> (63 - bits);
    return limit == UINT64_MAX ? value : value % (limit + 1);
}

static int32_t make_sint(const Example *example, uint64_t limit)
{
    const int32_t value = (int32_t)make_uint(example, limit);
    return rng_below(example->rng, 2) == 0 ? value : -value;
}

static float make_f32(const Example *example, float magnitude)
{
    const float value = example->config->kind == EXAMPLE_LARGEST
                            ? magnitude
                            : rng_unit(example->rng) * math_min(magnitude, 1000);
    return rng_below(example->rng, 2) == 0 ? value : -value;
}

static Text make_text(const Example *example, uint64_t limit)
{
    static const char *const texts[] = {
        "Workspace/Door",           "p_9",           "\xc3\x84pfel \"und\" \\ Birnen",
        "\xe6\x97\xa5\xe6\x9c\xac", "tab\there\x01", "\xf0\x9f\x90\x9d bee"};
    const size_t most = (size_t)minimum(limit, example->config->bytes_max);
    if (example->config->kind == EXAMPLE_LARGEST) {
        char *data = arena_alloc(example->arena, most);
        ASSERT(data != NULL);
        memset(data, 'x', most);
        return (Text){data, (uint32_t)most};
    }
    const char *text = texts[rng_below(example->rng, sizeof texts / sizeof texts[0])];
    return (Text){text, (uint32_t)utf8_cut(text, strlen(text), most)};
}

static WireBytes make_bytes(const Example *example, uint64_t limit)
{
    const uint32_t most = (uint32_t)minimum(limit, example->config->bytes_max);
    const uint32_t count =
        example->config->kind == EXAMPLE_LARGEST ? most : rng_below(example->rng, most + 1);
    uint8_t *data = arena_alloc(example->arena, count);
    ASSERT(data != NULL);
    for (uint32_t i = 0; i < count; i++) {
        data[i] = (uint8_t)rng_u32(example->rng);
    }
    return (WireBytes){data, count};
}

static void fill_group(const Example *example, MessageGroup group, uint8_t *body);

static void fill_list(const Example *example, const MessageField *field, uint8_t *body)
{
    const uint32_t items_max = example->inside ? 2 : example->config->items_max;
    const uint32_t most = (uint32_t)minimum(field->limit, items_max);
    const uint32_t count =
        example->config->kind == EXAMPLE_LARGEST ? most : 1 + rng_below(example->rng, most);
    const size_t item_bytes = message_group_bytes(field->item);
    uint8_t *items = arena_array(example->arena, count, item_bytes);
    ASSERT(items != NULL);
    for (uint32_t i = 0; i < count; i++) {
        Example item = *example;
        item.inside = true;
        fill_group(&item, field->item, items + i * item_bytes);
    }
    *(const void **)(void *)(body + field->offset) = items;
    *(uint32_t *)(void *)(body + field->count_offset) = count;
}

static void fill_vector(const Example *example, const MessageField *field, void *value)
{
    for (uint32_t axis = 0; axis < 3; axis++) {
        if (field->type == FIELD_VEC3) {
            ((float *)value)[axis] = make_f32(example, field->magnitude);
        } else {
            ((int32_t *)value)[axis] = make_sint(example, field->limit);
        }
    }
}

static void fill_field(const Example *example, const MessageField *field, uint8_t *body)
{
    void *value = body + field->offset;
    switch (field->type) {
    case FIELD_UINT:
        *(uint64_t *)value = make_uint(example, field->limit);
        return;
    case FIELD_SINT:
        *(int32_t *)value = make_sint(example, field->limit);
        return;
    case FIELD_BOOL:
        *(bool *)value = true;
        return;
    case FIELD_F32:
        *(float *)value = make_f32(example, field->magnitude);
        return;
    case FIELD_TEXT:
        *(Text *)value = make_text(example, field->limit);
        return;
    case FIELD_BYTES:
        *(WireBytes *)value = make_bytes(example, field->limit);
        return;
    case FIELD_HASH:
        for (uint32_t i = 0; i < sizeof(WireHash); i++) {
            ((WireHash *)value)->bytes[i] = (uint8_t)rng_u32(example->rng);
        }
        return;
    case FIELD_VEC3:
    case FIELD_COORD:
        fill_vector(example, field, value);
        return;
    case FIELD_LIST:
        fill_list(example, field, body);
        return;
    case FIELD_END:
    case FIELD_TYPE_COUNT:
        break;
    }
    ASSERT(false);
}

static void fill_group(const Example *example, MessageGroup group, uint8_t *body)
{
    for (const MessageField *field = message_fields(group); field->type != FIELD_END; field++) {
        fill_field(example, field, body);
    }
}

const void *message_example(const MessageRow *row, const ExampleConfig *config, Rng *rng,
                            Arena *arena)
{
    const Example example = {.config = config, .rng = rng, .arena = arena};
    uint8_t *body = arena_alloc(arena, row->body_bytes);
    ASSERT(body != NULL);
    if (config->kind != EXAMPLE_EMPTY) {
        fill_group(&example, message_row_group(row), body);
    }
    ASSERT(message_check(row->number, body) == STATUS_OK);
    return body;
}
