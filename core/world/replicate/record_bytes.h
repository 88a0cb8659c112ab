// Name, attributes and tags of an entity, as far as a player may see them, as bytes
// (wire/net_attributes.h).
#pragma once

#include "core/script/bridge/attribute_table.h"

#define RECORD_EMPTY_BYTES 3 // no name, no attributes, no tags

// `out` has room for NET_ATTRIBUTES_BYTES_MAX. What does not fit is left out, and *whole is false.
// An entity without a record has RECORD_EMPTY_BYTES.
uint32_t record_encode(const AttributeTable *attributes, uint64_t net_id, bool is_owner,
                       uint8_t *out, bool *whole);
