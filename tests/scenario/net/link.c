// Links in simulated time: a stream delivers its bytes in order, after a varying delay, at a
// limited bandwidth, with stalls as after a lost packet: nothing arrives until the packet is sent
// again, and then everything that waited behind it arrives at once.
#include "core/base/check.h"
#include "tests/scenario/net/net.h"

#include <string.h>

#define STREAM_BYTES    (1u << 18) // a power of two: more than any queue of any profile holds
#define STREAM_SEGMENTS 1024u
#define SEGMENT_BYTES   1400u

const LinkProfile link_clean = {.name = "clean", .delay_us = 20000, .queue_bytes = 1 << 17};
const LinkProfile link_home = {.name = "home",
                               .delay_us = 15000,
                               .jitter_us = 8000,
                               .bandwidth = 500000,
                               .queue_bytes = 65536,
                               .stalls_a_minute = 2,
                               .stall_us = 150000};
const LinkProfile link_mobile = {.name = "mobile",
                                 .delay_us = 60000,
                                 .jitter_us = 60000,
                                 .bandwidth = 200000,
                                 .queue_bytes = 65536,
                                 .stalls_a_minute = 10,
                                 .stall_us = 400000};
const LinkProfile link_slow = {.name = "slow",
                               .delay_us = 100000,
                               .jitter_us = 20000,
                               .bandwidth = 6000,
                               .queue_bytes = 16384,
                               .stalls_a_minute = 4,
                               .stall_us = 300000};
const LinkProfile link_stalling = {.name = "stalling",
                                   .delay_us = 40000,
                                   .jitter_us = 10000,
                                   .bandwidth = 500000,
                                   .queue_bytes = 65536,
                                   .stalls_a_minute = 30,
                                   .stall_us = 1200000};
const LinkProfile link_cut = {.name = "cut",
                              .delay_us = 30000,
                              .jitter_us = 15000,
                              .bandwidth = 300000,
                              .queue_bytes = 65536,
                              .cuts_a_minute = 12,
                              .reconnect_us = 1500000};

typedef struct Segment {
    uint32_t bytes;
    uint64_t arrives_us;
} Segment;

struct Stream {
    uint8_t data[STREAM_BYTES]; // a ring: begin..arrived..end count bytes since the start
    uint64_t begin, arrived, end;
    Segment segments[STREAM_SEGMENTS]; // a ring of what is on its way
    uint32_t first, count;
    uint64_t line_free_us, last_arrival_us, stalled_until_us;
    uint8_t message[MESSAGE_BYTES_MAX + 4];
};

Stream *stream_create(Heap *heap)
{
    Stream *stream = heap_alloc(heap, sizeof *stream);
    ASSERT(stream != NULL);
    return stream;
}

void stream_destroy(Heap *heap, Stream *stream)
{
    heap_free(heap, stream);
}

void stream_clear(Stream *stream)
{
    stream->begin = stream->arrived = stream->end = 0;
    stream->first = stream->count = 0;
    stream->line_free_us = stream->last_arrival_us = stream->stalled_until_us = 0;
}

size_t stream_in_flight(const Stream *stream)
{
    return (size_t)(stream->end - stream->arrived);
}

void stream_calm(Stream *stream, uint64_t now_us, uint32_t within_us)
{
    const uint64_t latest = now_us + within_us;
    for (uint32_t i = 0; i < stream->count; i++) {
        Segment *segment = &stream->segments[(stream->first + i) % STREAM_SEGMENTS];
        segment->arrives_us = segment->arrives_us < latest ? segment->arrives_us : latest;
    }
    stream->line_free_us = stream->stalled_until_us = now_us;
    stream->last_arrival_us = stream->last_arrival_us < latest ? stream->last_arrival_us : latest;
}

bool stream_has_room(const Stream *stream, const LinkProfile *profile, size_t bytes)
{
    const size_t waiting = stream_in_flight(stream);
    // A message larger than the queue still goes when nothing else waits.
    const bool fits = waiting == 0 || waiting + bytes + 4 <= profile->queue_bytes;
    return fits && (size_t)(stream->end - stream->begin) + bytes + 4 <= STREAM_BYTES &&
           stream->count + bytes / SEGMENT_BYTES + 2 <= STREAM_SEGMENTS;
}

static void push_bytes(Stream *stream, const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        stream->data[(stream->end + i) % STREAM_BYTES] = data[i];
    }
    stream->end += bytes;
}

// When the last byte of a segment that is sent now will arrive.
static uint64_t arrival_of(Stream *stream, const LinkProfile *profile, Rng *rng, uint64_t now_us,
                           uint32_t bytes)
{
    if (stream->line_free_us < now_us) {
        stream->line_free_us = now_us;
    }
    if (profile->bandwidth != 0) {
        stream->line_free_us += (uint64_t)bytes * 1000000 / profile->bandwidth;
    }
    uint64_t arrives = stream->line_free_us + profile->delay_us;
    if (profile->jitter_us != 0) {
        arrives += rng_below(rng, profile->jitter_us);
    }
    if (profile->stalls_a_minute != 0 && now_us >= stream->stalled_until_us) {
        // About fifty segments a second go each way.
        if (rng_below(rng, 3000) < profile->stalls_a_minute) {
            stream->stalled_until_us = now_us + rng_below(rng, profile->stall_us);
        }
    }
    if (arrives < stream->stalled_until_us) {
        arrives = stream->stalled_until_us;
    }
    if (arrives < stream->last_arrival_us) {
        arrives = stream->last_arrival_us;
    }
    stream->last_arrival_us = arrives;
    return arrives;
}

void stream_send(Stream *stream, const LinkProfile *profile, Rng *rng, uint64_t now_us,
                 const uint8_t *message, size_t bytes)
{
    ASSERT(bytes <= MESSAGE_BYTES_MAX + 65536);
    const uint8_t length[4] = {(uint8_t)bytes, (uint8_t)(bytes >> 8), (uint8_t)(bytes >> 16),
                               (uint8_t)(bytes >> 24)};
    push_bytes(stream, length, sizeof length);
    push_bytes(stream, message, bytes);
    for (size_t left = bytes + 4; left > 0;) {
        const uint32_t part = left < SEGMENT_BYTES ? (uint32_t)left : SEGMENT_BYTES;
        const uint32_t at = (stream->first + stream->count) % STREAM_SEGMENTS;
        stream->segments[at] = (Segment){part, arrival_of(stream, profile, rng, now_us, part)};
        stream->count += 1;
        left -= part;
    }
}

bool stream_receive(Stream *stream, uint64_t now_us, const uint8_t **message, size_t *bytes)
{
    while (stream->count > 0 && stream->segments[stream->first].arrives_us <= now_us) {
        stream->arrived += stream->segments[stream->first].bytes;
        stream->first = (stream->first + 1) % STREAM_SEGMENTS;
        stream->count -= 1;
    }
    const uint64_t there = stream->arrived - stream->begin;
    if (there < 4) {
        return false;
    }
    uint32_t length = 0;
    for (uint32_t i = 0; i < 4; i++) {
        length |= (uint32_t)stream->data[(stream->begin + i) % STREAM_BYTES] << (8 * i);
    }
    ASSERT(length <= sizeof stream->message);
    if (there < 4 + (uint64_t)length) {
        return false;
    }
    for (uint32_t i = 0; i < length; i++) {
        stream->message[i] = stream->data[(stream->begin + 4 + i) % STREAM_BYTES];
    }
    stream->begin += 4 + (uint64_t)length;
    *message = stream->message;
    *bytes = length;
    return true;
}
