// See place_facts.h.
#include "server/build/place/place_facts.h"

#include "core/base/limits.h"
#include "core/base/utf8.h"

#include <string.h>

void place_facts_write(const PlaceFacts *facts, Buffer *out)
{
    buffer_put_block(out, facts->name, strlen(facts->name));
    buffer_put_u32(out, facts->tick_rate);
    buffer_put_u32(out, facts->player_max);
    buffer_put_u32(out, facts->entity_max);
}

void place_facts_read(ByteReader *reader, PlaceFacts *out)
{
    size_t bytes;
    const uint8_t *name = byte_read_block(reader, &bytes);
    PlaceFacts facts = {0};
    facts.tick_rate = byte_read_u32(reader);
    facts.player_max = byte_read_u32(reader);
    facts.entity_max = byte_read_u32(reader);
    const bool fits = name != NULL && bytes < sizeof facts.name && utf8_is_valid(name, bytes) &&
                      !utf8_has_control(name, bytes) &&
                      (facts.tick_rate == TICK_RATE_LOW || facts.tick_rate == TICK_RATE_DEFAULT) &&
                      facts.player_max <= WORLD_PLAYERS_MAX && facts.entity_max > 0 &&
                      facts.entity_max <= WORLD_ENTITIES_MAX;
    if (!fits) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return;
    }
    memcpy(facts.name, name, bytes);
    *out = facts;
}
