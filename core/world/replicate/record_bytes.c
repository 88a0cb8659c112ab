// The attributes of an entity that a player may see; see record_bytes.h.
#include "core/world/replicate/record_bytes.h"

#include "core/base/check.h"
#include "core/wire/net_attributes.h"

#define ATTRIBUTES_END_BYTES 2 // after the attributes and after the tags

static bool net_value(const ScriptValue *value, NetValue *out)
{
    *out = (NetValue){0};
    switch (value->type) {
    case SCRIPT_BOOL:
        out->type = NET_VALUE_BOOL;
        out->boolean = value->boolean;
        return true;
    case SCRIPT_NUMBER:
        out->type = NET_VALUE_NUMBER;
        out->number = value->number;
        return true;
    case SCRIPT_TEXT:
        out->type = NET_VALUE_TEXT;
        out->text = value->text;
        return true;
    case SCRIPT_VECTOR:
        out->type = NET_VALUE_VECTOR;
        out->vector = value->vector;
        return true;
    case SCRIPT_ENTITY:
        out->type = NET_VALUE_ENTITY;
        out->entity = value->entity;
        return true;
    default:
        return false;
    }
}

// True if what was written since `before` fits; otherwise it is removed again.
static bool fits(ByteWriter *writer, size_t before)
{
    const size_t end = NET_ATTRIBUTES_BYTES_MAX - ATTRIBUTES_END_BYTES;
    if (writer->status == STATUS_OK && writer->at <= end) {
        return true;
    }
    writer->at = before;
    writer->status = STATUS_OK;
    return false;
}

// Writes the attributes of a record that its owner, or everybody, may see. True if all of it fits.
static bool write_attributes(const AttributeTable *attributes, const Record *record, bool is_owner,
                             ByteWriter *writer)
{
    bool whole = true;
    net_attributes_write_name(writer, (Text){record->name.data, record->name.bytes});
    AttributeEntry attribute = {0};
    NetValue value;
    while (attribute_table_attribute_next(attributes, record, &attribute)) {
        const size_t before = writer->at;
        if (attribute_is_visible(attribute.flags, is_owner) &&
            net_value(&attribute.value, &value)) {
            net_attributes_write_one(writer, attribute.name, &value);
            whole = fits(writer, before) && whole;
        }
    }
    net_attributes_write_end(writer);
    uint32_t index = 0;
    Text tag;
    while (attribute_table_tag_of(attributes, record, &index, &tag)) {
        const size_t before = writer->at;
        net_attributes_write_tag(writer, tag);
        whole = fits(writer, before) && whole;
    }
    net_attributes_write_end(writer);
    ASSERT(writer->status == STATUS_OK);
    return whole;
}

uint32_t record_encode(const AttributeTable *attributes, uint64_t net_id, bool is_owner,
                       uint8_t *out, bool *whole)
{
    static const Record nothing;
    const Record *record = attribute_table_find(attributes, net_id);
    ByteWriter writer = byte_writer(out, NET_ATTRIBUTES_BYTES_MAX);
    *whole = write_attributes(attributes, record != NULL ? record : &nothing, is_owner, &writer);
    return (uint32_t)writer.at;
}
