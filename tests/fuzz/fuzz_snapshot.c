// Frames for a merge that already has a state. The first byte says how many of the following bytes
// are a first frame; if there are none, a fixed frame is used. The rest is a second frame. Every
// result is inside its ranges, and its JSON, if it fits, is valid JSON.
#include "core/base/check.h"
#include "core/base/json.h"
#include "core/wire/snapshot_json.h"
#include "tests/fuzz/small_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Merge merge;
static Merge printed;
static uint8_t small[4096];
static char text[4 << 20];
static _Alignas(16) uint8_t block[32 << 20];

static void check_slots(uint64_t tick)
{
    for (uint32_t i = 0; i < NET_SLOTS_MAX; i++) {
        const MergeSlot *slot = &merge.slots[i];
        if (slot->net_id == 0) {
            continue;
        }
        ASSERT(slot->net_id <= SIM_NET_ID_MAX && slot->owner_id <= SIM_NET_ID_MAX);
        ASSERT(slot->kind > NET_NONE && slot->kind < NET_KIND_COUNT);
        ASSERT(slot->state.version != 0);
        ASSERT(net_motion_is_sane(&slot->state.motion));
        ASSERT(slot->state.motion.tick <= tick);
        ASSERT((slot->state.flags & ~NET_STATUS_ALL) == 0);
        for (uint32_t j = 0; j < i; j++) {
            ASSERT(merge.slots[j].net_id != slot->net_id);
        }
    }
}

static void saw_enter(void *user, uint32_t slot, const MergeSlot *entity, const NetShape *shape,
                      const uint8_t *attributes, size_t attributes_bytes)
{
    (void)user;
    (void)attributes;
    ASSERT(slot < NET_SLOTS_MAX && entity == &merge.slots[slot]);
    ASSERT(attributes_bytes <= NET_ATTRIBUTES_BYTES_MAX);
    if (shape != NULL) {
        const PartDesc desc = {shape->shape, shape->rest, shape->data};
        ASSERT(part_desc_check(&desc) == STATUS_OK);
    }
}

static void saw_event(void *user, uint64_t tick, const uint8_t *message, size_t bytes)
{
    (void)user;
    ASSERT(tick <= SIM_NET_ID_MAX);
    ASSERT(message != NULL && bytes >= 1);
}

// What was merged and can be printed is JSON.
static void print(const uint8_t *frame, size_t bytes)
{
    ByteWriter out = byte_writer(text, sizeof text);
    const Status status = snapshot_to_json(&printed, frame, bytes, &out);
    if (status != STATUS_OK) {
        ASSERT(out.at == 0 && out.status == STATUS_OK);
        return;
    }
    Arena arena;
    arena_init(&arena, block, sizeof block);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    ASSERT(json_parse(&config, text, out.at, &root, NULL) == STATUS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const MergeSink sink = {.enter = saw_enter, .event = saw_event};
    if (size < 1) {
        return 0;
    }
    merge_reset(&merge, 60);
    size_t first = data[0] < size ? data[0] : size - 1;
    if (merge_apply(&merge, data + 1, first, &sink) != STATUS_OK) {
        first = 0;
        merge_reset(&merge, 60);
        const size_t bytes = small_frame_first(small, sizeof small);
        ASSERT(merge_apply(&merge, small, bytes, &sink) == STATUS_OK);
    }
    check_slots(merge.last.tick);
    printed = merge;
    const uint8_t *second = data + 1 + first;
    const size_t second_bytes = size - 1 - first;
    if (merge_apply(&merge, second, second_bytes, &sink) == STATUS_OK) {
        check_slots(merge.last.tick);
        print(second, second_bytes);
    } else {
        ASSERT(merge.last.seq == 0);
    }
    return 0;
}
