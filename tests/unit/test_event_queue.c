// The queue of events: in order, complete, and bounded.
#include "core/base/rng.h"
#include "core/world/replicate/event_queue.h"
#include "tests/support/test.h"

#include <string.h>

TEST(events_come_out_as_they_went_in)
{
    static uint8_t memory[1024];
    static uint8_t message[256];
    EventQueue queue;
    event_queue_init(&queue, memory, sizeof memory);
    Rng rng = rng_make(test_seed(), 1);
    uint64_t pushed = 0;
    uint64_t taken = 0;
    for (uint32_t round = 0; round < 20000; round++) {
        if (rng_below(&rng, 2) == 0) {
            const uint32_t bytes = 1 + rng_below(&rng, 200);
            memset(message, (int)(pushed % 251), bytes);
            const QueuedEvent event = {.tick = pushed, .subject = bytes, .bytes = bytes};
            const size_t need = event_queue_waiting(&queue) + sizeof event + bytes;
            const Status status = event_queue_push(&queue, &event, message);
            CHECK_INT(status, need <= sizeof memory ? STATUS_OK : STATUS_LIMIT);
            pushed += status == STATUS_OK ? 1 : 0;
            continue;
        }
        const uint32_t wanted = rng_below(&rng, 4);
        size_t at = 0;
        QueuedEvent event;
        const uint8_t *data;
        for (uint32_t i = 0; i < wanted && event_queue_next(&queue, &at, &event, &data); i++) {
            CHECK_INT(event.tick, taken);
            CHECK_INT(event.subject, event.bytes);
            CHECK_INT(data[0], taken % 251);
            CHECK_INT(data[event.bytes - 1], taken % 251);
            taken += 1;
        }
        event_queue_drop(&queue, at);
    }
    CHECK(taken > 1000);
}

TEST(an_empty_queue_has_nothing_and_a_cleared_one_neither)
{
    uint8_t memory[128];
    EventQueue queue;
    QueuedEvent event = {.bytes = 1};
    const uint8_t *data;
    size_t at = 0;
    event_queue_init(&queue, memory, sizeof memory);
    CHECK(!event_queue_next(&queue, &at, &event, &data));
    CHECK_OK(event_queue_push(&queue, &event, memory));
    event_queue_clear(&queue);
    CHECK(!event_queue_next(&queue, &at, &event, &data));
    CHECK_INT(event_queue_waiting(&queue), 0);
    event_queue_init(&queue, memory, 0);
    CHECK_INT(event_queue_push(&queue, &event, memory), STATUS_LIMIT);
}

// Scripts that send without end have at most their part, however many they are; one that sends
// little, and the world itself, still get through.
TEST(every_sender_has_its_part)
{
    static uint8_t memory[96 << 10];
    static uint8_t message[200];
    EventQueue queue;
    event_queue_init(&queue, memory, sizeof memory);
    size_t before = 0;
    for (uint32_t maker = 1; maker <= 4; maker++) {
        const QueuedEvent event = {.maker = maker, .bytes = sizeof message};
        while (event_queue_push(&queue, &event, message) == STATUS_OK) {
        }
        const size_t own = event_queue_waiting(&queue) - before;
        CHECK(own <= sizeof memory / 2 + 2 * sizeof event + 2 * sizeof message);
        CHECK(maker < 3 || own <= sizeof memory / 64 + 2 * sizeof event + 2 * sizeof message);
        before = event_queue_waiting(&queue);
    }
    for (uint32_t maker = 5; maker <= 8; maker++) {
        const QueuedEvent event = {.maker = maker, .bytes = sizeof message};
        CHECK_OK(event_queue_push(&queue, &event, message));
    }
    // What was taken makes room for the same sender again.
    size_t at = 0;
    QueuedEvent event;
    const uint8_t *data;
    while (event_queue_next(&queue, &at, &event, &data) && event.maker == 1) {
    }
    event_queue_drop(&queue, at);
    const QueuedEvent again = {.maker = 1, .bytes = sizeof message};
    CHECK_OK(event_queue_push(&queue, &again, message));
    const QueuedEvent world = {.bytes = sizeof message};
    while (event_queue_push(&queue, &world, message) == STATUS_OK) {
    }
    CHECK(event_queue_waiting(&queue) > sizeof memory - 1024);
}
