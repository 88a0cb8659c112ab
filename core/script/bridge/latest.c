// See latest.h. A message is a header, its name and its payload; the next one follows.
#include "core/script/bridge/latest.h"

#include "core/base/check.h"

#include <string.h>

typedef struct Header {
    uint32_t name_bytes, payload_bytes, maker;
} Header;

static uint32_t size_of(const Header *header)
{
    return (uint32_t)sizeof *header + header->name_bytes + header->payload_bytes;
}

static Header header_at(const Latest *latest, uint32_t at)
{
    Header header;
    ASSERT(at + sizeof header <= latest->used);
    memcpy(&header, latest->bytes + at, sizeof header);
    return header;
}

// Where the message of a name is; `used` if there is none.
static uint32_t find_value(const Latest *latest, Text name)
{
    for (uint32_t at = 0; at < latest->used;) {
        const Header header = header_at(latest, at);
        if (header.name_bytes == name.bytes &&
            memcmp(latest->bytes + at + sizeof header, name.data, name.bytes) == 0) {
            return at;
        }
        at += size_of(&header);
    }
    return latest->used;
}

static void remove_at(Latest *latest, uint32_t at)
{
    const Header header = header_at(latest, at);
    const uint32_t end = at + size_of(&header);
    memmove(latest->bytes + at, latest->bytes + end, latest->used - end);
    latest->used -= size_of(&header);
    latest->count -= 1;
}

LatestResult latest_put(Latest *latest, const LatestMessage *message)
{
    const uint32_t old = find_value(latest, message->name);
    const bool replaces = old < latest->used;
    const Header before = replaces ? header_at(latest, old) : (Header){0};
    const uint32_t left = latest->used - (replaces ? size_of(&before) : 0);
    const uint64_t need = sizeof before + message->name.bytes + (uint64_t)message->payload_bytes;
    if (need > sizeof latest->bytes - left || (!replaces && latest->count == REMOTE_LATEST_NAMES)) {
        return LATEST_NO_ROOM;
    }
    if (replaces) {
        remove_at(latest, old);
    }
    const Header header = {(uint32_t)message->name.bytes, message->payload_bytes, message->maker};
    uint8_t *to = latest->bytes + latest->used;
    memcpy(to, &header, sizeof header);
    memcpy(to + sizeof header, message->name.data, header.name_bytes);
    if (header.payload_bytes > 0) {
        memcpy(to + sizeof header + header.name_bytes, message->payload, header.payload_bytes);
    }
    latest->used += size_of(&header);
    latest->count += 1;
    return replaces ? LATEST_REPLACED : LATEST_KEPT;
}

bool latest_remove(Latest *latest, Text name)
{
    const uint32_t at = find_value(latest, name);
    if (at == latest->used) {
        return false;
    }
    remove_at(latest, at);
    return true;
}

bool latest_first(const Latest *latest, LatestMessage *out)
{
    if (latest->count == 0) {
        return false;
    }
    const Header header = header_at(latest, 0);
    const uint8_t *name = latest->bytes + sizeof header;
    *out = (LatestMessage){.name = {(const char *)name, header.name_bytes},
                           .payload = name + header.name_bytes,
                           .payload_bytes = header.payload_bytes,
                           .maker = header.maker};
    return true;
}

void latest_clear(Latest *latest)
{
    latest->count = 0;
    latest->used = 0;
}
