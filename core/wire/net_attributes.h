// Name, attributes and tags of an entity as bytes; the form is drawn in net_attributes.c.
#pragma once

#include "core/base/bytes.h"
#include "core/base/math.h"
#include "core/base/text.h"

#define NET_ATTRIBUTES_BYTES_MAX 4096

typedef enum NetValueType {
    NET_VALUE_BOOL,
    NET_VALUE_NUMBER,
    NET_VALUE_TEXT,
    NET_VALUE_VECTOR,
    NET_VALUE_ENTITY,
    NET_VALUE_TYPE_COUNT
} NetValueType;

typedef struct NetValue {
    NetValueType type;
    bool boolean;
    double number; // finite
    Text text;     // at most 1,024 bytes
    Vec3 vector;
    uint64_t entity;
} NetValue;

// Written piece by piece: the name, the attributes in the order of their names (bytes), an end, the
// tags, an end.
void net_attributes_write_name(ByteWriter *writer, Text name); // "" for none
void net_attributes_write_one(ByteWriter *writer, Text name, const NetValue *value);
void net_attributes_write_end(ByteWriter *writer); // after the attributes, and again after the tags
void net_attributes_write_tag(ByteWriter *writer, Text tag);

typedef struct NetAttributesReader {
    ByteReader bytes;
    uint8_t stage;
} NetAttributesReader;
// The whole is checked at once: names of 1..64 bytes, in order, none twice; UTF-8, finite numbers,
// nothing left over.
MUST_USE Status net_attributes_open(NetAttributesReader *reader, const uint8_t *bytes, size_t count,
                                    Text *name);
bool net_attributes_next(NetAttributesReader *reader, Text *name,
                         NetValue *value);                            // false: no more
bool net_attributes_next_tag(NetAttributesReader *reader, Text *tag); // after the last attribute
