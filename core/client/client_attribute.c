// Names, attributes and tags of visible entities, as the server says them or the scene has them.
// What the server says replaces what was there; scripts are told of what differs.
#include "core/client/client_bind.h"

#include "core/base/check.h"
#include "core/script/runtime/value.h"

#include <string.h>

static ScriptValue value_of(const NetValue *value)
{
    static const ScriptValueType types[NET_VALUE_TYPE_COUNT] = {
        SCRIPT_BOOL, SCRIPT_NUMBER, SCRIPT_TEXT, SCRIPT_VECTOR, SCRIPT_ENTITY};
    return (ScriptValue){.type = types[value->type],
                         .boolean = value->boolean,
                         .number = value->number,
                         .text = value->text,
                         .vector = value->vector,
                         .entity = value->entity};
}

// --- of the scene -------------------------------------------------------------------------------

static const PlaceExtra *extra_find(const Place *place, uint64_t net_id)
{
    for (uint32_t i = 0; i < place->extra_count; i++) {
        if (place->extras[i].net_id == net_id) {
            return &place->extras[i];
        }
    }
    return NULL;
}

// What does not fit is counted by the table itself (view_counters).
static void extra_apply(AttributeTable *attributes, const PlaceExtra *extra)
{
    for (uint32_t i = 0; i < extra->attribute_count; i++) {
        const PrefabAttribute *attribute = &extra->attributes[i];
        if (attribute_is_public(attribute->flags)) {
            (void)!attribute_table_set_attribute(attributes, extra->net_id, attribute->name,
                                                 &attribute->value, 0);
        }
    }
    for (uint32_t i = 0; i < extra->tag_count; i++) {
        (void)!attribute_table_set_tag(attributes, extra->net_id, extra->tags[i], true);
    }
}

void client_bind_extras(Client *client)
{
    for (uint32_t i = 0; i < client->place->extra_count; i++) {
        extra_apply(view_attributes(client->script.view), &client->place->extras[i]);
    }
}

// `user` is a PlaceExtra, or NULL: the scene has nothing.
static bool scene_has(void *user, Text name, bool is_tag)
{
    const PlaceExtra *extra = user;
    for (uint32_t i = 0; extra != NULL && is_tag && i < extra->tag_count; i++) {
        if (text_equal(extra->tags[i], name)) {
            return true;
        }
    }
    for (uint32_t i = 0; extra != NULL && !is_tag && i < extra->attribute_count; i++) {
        if (text_equal(extra->attributes[i].name, name)) {
            return true;
        }
    }
    return false;
}

void client_script_restore(Client *client, uint64_t net_id)
{
    if (client->script.view == NULL) {
        return;
    }
    AttributeTable *attributes = view_attributes(client->script.view);
    Record *record = attribute_table_find(attributes, net_id);
    const PlaceExtra *extra = extra_find(client->place, net_id);
    if (record != NULL) {
        attribute_table_prune(attributes, record, scene_has, (void *)(uintptr_t)extra);
    }
    if (extra != NULL) {
        extra_apply(attributes, extra);
    } else {
        attribute_table_remove(attributes, net_id);
    }
}

// --- of the server ------------------------------------------------------------------------------

typedef struct Said {
    const uint8_t *bytes;
    size_t count;
} Said;

static bool is_said(void *user, Text name, bool is_tag)
{
    const Said *said = user;
    NetAttributesReader reader;
    Text text;
    NetValue value;
    if (net_attributes_open(&reader, said->bytes, said->count, &text) != STATUS_OK) {
        return false;
    }
    while (!is_tag && net_attributes_next(&reader, &text, &value)) {
        if (text_equal(text, name)) {
            return true;
        }
    }
    while (is_tag && net_attributes_next_tag(&reader, &text)) {
        if (text_equal(text, name)) {
            return true;
        }
    }
    return false;
}

static void apply(AttributeTable *attributes, uint64_t net_id, NetAttributesReader *reader)
{
    Text key;
    NetValue value;
    while (net_attributes_next(reader, &key, &value)) {
        const ScriptValue kept = value_of(&value);
        (void)!attribute_table_set_attribute(attributes, net_id, key, &kept, 0);
    }
    while (net_attributes_next_tag(reader, &key)) {
        (void)!attribute_table_set_tag(attributes, net_id, key, true);
    }
}

void client_bind_scene_rows(Client *client)
{
    if (client->script.view == NULL) {
        return;
    }
    ByteReader reader = byte_reader(client->place->patch_rows, client->place->patch_row_bytes);
    PatchRow row = {0};
    while (byte_reader_left(&reader) > 0 && patch_row_read(&reader, row.net_id, &row)) {
        if ((row.groups & PATCH_ATTRIBUTES) != 0) {
            client_script_attributes(client, row.net_id, row.attributes, row.attributes_bytes);
        }
    }
}

void client_script_attributes(Client *client, uint64_t net_id, const uint8_t *bytes, size_t count)
{
    if (client->script.view == NULL) {
        return;
    }
    AttributeTable *attributes = view_attributes(client->script.view);
    NetAttributesReader reader;
    Text name;
    if (net_attributes_open(&reader, bytes, count, &name) != STATUS_OK) {
        client_fail(client, "attributes of entity %llu cannot be read", (unsigned long long)net_id);
        return;
    }
    const bool is_new = attribute_table_find(attributes, net_id) == NULL;
    Record *record = NULL;
    if (attribute_table_open(attributes, net_id, &record) != STATUS_OK) {
        return; // no room; the table counts it
    }
    // An entity that comes into sight has no attributes that changed; an anchored part was there.
    client->script.attributes_are_new = is_new && net_id > scene_part_count(client->place->scene);
    Said said = {bytes, count};
    attribute_table_prune(attributes, record, is_said, &said);
    if (name.bytes > 0) {
        (void)!attribute_table_set_name(attributes, net_id, name); // a name never changes
    }
    apply(attributes, net_id, &reader);
    client->script.attributes_are_new = false;
}

// --- what scripts are told ----------------------------------------------------------------------

static void on_changed(void *user, uint64_t net_id, Text name, const ScriptValue *now,
                       const ScriptValue *before)
{
    Client *client = user;
    if (client->script.attributes_are_new || visual_is_reserved(name)) {
        return;
    }
    uint8_t bytes[VALUE_ATTRIBUTES_BYTES];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    value_write_attributes((const ScriptValue[]){*now, *before}, 2, &writer);
    ASSERT(writer.status == STATUS_OK);
    const ScriptEvent event = {.type = SCRIPT_EVENT_ATTRIBUTE,
                               .entity = net_id,
                               .name = name,
                               .payload = bytes,
                               .payload_bytes = writer.at};
    (void)!script_event(client->script.system, &event); // a full queue is counted there
}

static void on_tagged(void *user, uint64_t net_id, Text tag, bool on)
{
    const Client *client = user;
    const ScriptEvent event = {
        .type = SCRIPT_EVENT_TAG, .entity = net_id, .name = tag, .value = on ? 1 : 0};
    (void)!script_event(client->script.system, &event);
}

void client_script_listen(Client *client)
{
    view_set_listener(
        client->script.view,
        &(AttributeListener){.user = client, .changed = on_changed, .tagged = on_tagged});
}
