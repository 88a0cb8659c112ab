// Prints a frame as JSON. Shapes and attributes live only while the merge calls, so the feature
// `entity` is printed first, as they come by; the others are printed afterwards from what the merge
// holds and a few numbers kept per slot. Events lie in the frame itself and are walked once for
// each action.
#include "core/wire/snapshot_json.h"

#include "core/base/check.h"
#include "core/base/json_member.h"
#include "core/base/json_number.h"
#include "core/base/json_write.h"
#include "core/wire/message.h"

#include <stdalign.h>
#include <string.h>

_Static_assert(SNAPSHOT_NUMBER == MESSAGE_SNAPSHOT, "one number");

#define EVENT_ARENA_BYTES (8 << 10) // a body, and a list of 64 chunk versions

typedef enum Section { SECTION_NONE, SECTION_LEAVE, SECTION_ENTER, SECTION_UPDATE } Section;

// What happened to a slot in this frame.
typedef struct SlotNews {
    bool entered;
    uint32_t components; // of an update
    // Structures whose shape was in the frame.
    bool has_piece;
    uint16_t piece, health;
    uint8_t turn;
    VoxelCoord cell;
} SlotNews;

typedef struct Left {
    uint64_t net_id;
    NetKind kind;
} Left;

typedef struct Printer {
    JsonWriter json;
    ByteWriter *out;
    Merge *merge;
    SnapshotHeader header;
    uint64_t tick_before; // of the frame before
    bool entity_open;
    Section section;
    SlotNews news[NET_SLOTS_MAX];
    Left left[NET_SLOTS_MAX];
    uint32_t left_count;
    const uint8_t *events; // where they begin in the frame; NULL: none
    const uint8_t *frame_end;
    uint32_t numbers_seen[8]; // bits: which messages are among them
} Printer;

static void print_id_name(JsonWriter *json, uint64_t net_id)
{
    char text[JSON_NUMBER_TEXT_BYTES];
    const size_t bytes = json_number_format_integer((int64_t)net_id, text);
    json_write_name_bytes(json, text, bytes);
}

static void print_vec3(JsonWriter *json, const char *name, Vec3 v)
{
    json_member_floats(json, name, (const float[]){v.x, v.y, v.z}, 3);
}

static void print_quat(JsonWriter *json, const char *name, Quat q)
{
    json_member_floats(json, name, (const float[]){q.x, q.y, q.z, q.w}, 4);
}

static float radians(int32_t of_256)
{
    return (float)of_256 * (MATH_PI / 128);
}

// --- entity -------------------------------------------------------------------------------------
static const char *kind_name(NetKind kind)
{
    static const char *const names[NET_KIND_COUNT] = {"none", "player", "npc",      "projectile",
                                                      "part", "prop",   "structure"};
    ASSERT(kind < NET_KIND_COUNT);
    return names[kind];
}

static void print_segments(JsonWriter *json, const Motion *motion)
{
    json_write_name(json, "motion");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < motion->count; i++) {
        const MotionSegment *segment = &motion->segments[i];
        json_write_object_begin(json);
        print_vec3(json, "p", segment->pose.position);
        print_quat(json, "rotation", segment->pose.rotation);
        print_vec3(json, "v", segment->velocity);
        print_vec3(json, "angularVelocity", segment->angular_velocity);
        json_member_count(json, "fromTick", segment->tick_from);
        json_member_count(json, "toTick", segment->tick_to);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void print_shape(JsonWriter *json, const NetShape *shape)
{
    static const char *const kinds[SHAPE_KIND_COUNT] = {"box", "wedge", "sphere", "cylinder"};
    json_write_name(json, "shape");
    json_write_object_begin(json);
    json_write_name(json, "kind");
    json_write_text(json, kinds[shape->shape.kind]);
    print_vec3(json, "half", shape->shape.half);
    print_vec3(json, "p", shape->rest.position);
    print_quat(json, "rotation", shape->rest.rotation);
    json_member_count(json, "flags", shape->data.flags);
    if (shape->data.bounce_speed != 0) {
        json_member_f32(json, "bounceSpeed", shape->data.bounce_speed);
    }
    if (shape->data.damage != 0) {
        json_member_f32(json, "damage", shape->data.damage);
    }
    if (!vec3_equal(shape->data.conveyor_speed, VEC3_ZERO)) {
        print_vec3(json, "conveyorSpeed", shape->data.conveyor_speed);
    }
    if (shape->motion.count != 0) {
        print_segments(json, &shape->motion);
    }
    json_write_object_end(json);
}

static void print_value(JsonWriter *json, const NetValue *value)
{
    switch (value->type) {
    case NET_VALUE_BOOL:
        json_write_bool(json, value->boolean);
        break;
    case NET_VALUE_NUMBER:
        json_write_number(json, value->number);
        break;
    case NET_VALUE_TEXT:
        json_write_text_bytes(json, value->text.data, value->text.bytes);
        break;
    case NET_VALUE_VECTOR:
        json_write_array_begin(json);
        json_write_f32(json, value->vector.x);
        json_write_f32(json, value->vector.y);
        json_write_f32(json, value->vector.z);
        json_write_array_end(json);
        break;
    default:
        json_write_object_begin(json);
        json_member_count(json, "entityId", value->entity);
        json_write_object_end(json);
        break;
    }
}

static void print_attributes(JsonWriter *json, const uint8_t *bytes, size_t count)
{
    NetAttributesReader attributes;
    Text name;
    NetValue value;
    const Status status = net_attributes_open(&attributes, bytes, count, &name);
    ASSERT(status == STATUS_OK); // the merge lets no other through
    json_write_name(json, "name");
    json_write_text_bytes(json, name.data, name.bytes);
    json_write_name(json, "attributes");
    json_write_object_begin(json);
    while (net_attributes_next(&attributes, &name, &value)) {
        json_write_name_bytes(json, name.data, name.bytes);
        print_value(json, &value);
    }
    json_write_object_end(json);
    json_write_name(json, "tags");
    json_write_array_begin(json);
    while (net_attributes_next_tag(&attributes, &name)) {
        json_write_text_bytes(json, name.data, name.bytes);
    }
    json_write_array_end(json);
}

static void print_status(JsonWriter *json, NetKind kind, const NetState *state)
{
    if (kind == NET_PLAYER || kind == NET_NPC) {
        json_member_count(json, "health", state->health);
        json_member_bool(json, "grounded", (state->flags & NET_GROUNDED) != 0);
        json_member_bool(json, "climbing", (state->flags & NET_CLIMBING) != 0);
        json_member_bool(json, "running", (state->flags & NET_RUNNING) != 0);
        json_member_bool(json, "crouching", (state->flags & NET_CROUCHING) != 0);
        json_member_bool(json, "dead", (state->flags & NET_DEAD) != 0);
    }
}

// Of an entity that enters: what differs from the default; otherwise what has changed.
static void print_paint(JsonWriter *json, const Paint *before, const Paint *now)
{
    const uint32_t mask = paint_difference(before, now);
    if (mask != 0) {
        json_write_name(json, "paint");
        paint_write_json(json, now, mask);
    }
}

// The list that is open inside `entity` becomes another one. They come in this order.
static void open_section(Printer *printer, Section section)
{
    static const char *const names[] = {"", "leave", "enter", "update"};
    ASSERT(section >= printer->section);
    if (section == printer->section) {
        return;
    }
    if (!printer->entity_open) {
        json_write_name(&printer->json, "entity");
        json_write_object_begin(&printer->json);
        printer->entity_open = true;
    }
    if (printer->section != SECTION_NONE) {
        json_write_array_end(&printer->json);
    }
    json_write_name(&printer->json, names[section]);
    json_write_array_begin(&printer->json);
    printer->section = section;
}

static void note_structure(SlotNews *news, const MergeSlot *entity, const NetShape *shape)
{
    if (entity->kind != NET_STRUCTURE || shape == NULL) {
        return;
    }
    news->has_piece = true;
    news->piece = shape->piece;
    news->health = shape->health;
    news->turn = shape->turn;
    news->cell = shape->cell;
}

static void saw_begin(void *user, const SnapshotHeader *header)
{
    Printer *printer = user;
    JsonWriter *json = &printer->json;
    printer->header = *header;
    json_write_object_begin(json);
    json_member_count(json, "v", PROTOCOL_VERSION);
    json_write_name(json, "kind");
    json_write_text(json, "snapshot");
    json_member_count(json, "seq", header->seq);
    json_write_name(json, "payload");
    json_write_object_begin(json);
    json_write_name(json, "mode");
    json_write_text(json, header->full ? "full" : "delta");
    json_member_count(json, "tick", header->tick);
    json_member_count(json, "localAckSeq", header->ack_seq);
    json_member_count(json, "last_processed_sequence_id", header->ack_seq);
    json_write_name(json, "features");
    json_write_object_begin(json);
    if (header->full) {
        json_write_name(json, "entity");
        json_write_object_begin(json);
        printer->entity_open = true;
    }
}

static void saw_leave(void *user, uint32_t slot, const MergeSlot *entity)
{
    (void)slot;
    Printer *printer = user;
    open_section(printer, SECTION_LEAVE);
    json_write_integer(&printer->json, (int64_t)entity->net_id);
    printer->left[printer->left_count++] = (Left){entity->net_id, entity->kind};
}

static void saw_enter(void *user, uint32_t slot, const MergeSlot *entity, const NetShape *shape,
                      const uint8_t *attributes, size_t attributes_bytes)
{
    Printer *printer = user;
    JsonWriter *json = &printer->json;
    printer->news[slot].entered = true;
    note_structure(&printer->news[slot], entity, shape);
    open_section(printer, SECTION_ENTER);
    json_write_object_begin(json);
    json_member_count(json, "entityId", entity->net_id);
    json_write_name(json, "type");
    json_write_text(json, kind_name(entity->kind));
    json_member_count(json, "owner", entity->owner_id);
    print_status(json, entity->kind, &entity->state);
    if (shape != NULL) {
        print_shape(json, shape);
    }
    if (attributes != NULL) {
        print_attributes(json, attributes, attributes_bytes);
    }
    print_paint(json, &paint_default, &entity->state.paint);
    json_write_object_end(json);
}

static void saw_update(void *user, uint32_t slot, const MergeSlot *entity, const NetState *before,
                       uint32_t components, const NetShape *shape, const uint8_t *attributes,
                       size_t attributes_bytes)
{
    Printer *printer = user;
    JsonWriter *json = &printer->json;
    printer->news[slot].components = components;
    note_structure(&printer->news[slot], entity, shape);
    if ((components & (NET_STATUS | NET_SHAPE | NET_ATTRIBUTES | NET_PAINT)) == 0) {
        return;
    }
    open_section(printer, SECTION_UPDATE);
    json_write_object_begin(json);
    json_member_count(json, "entityId", entity->net_id);
    if ((components & NET_STATUS) != 0) {
        print_status(json, entity->kind, &entity->state);
    }
    if (shape != NULL) {
        print_shape(json, shape);
    }
    if (attributes != NULL) {
        print_attributes(json, attributes, attributes_bytes);
    }
    print_paint(json, &before->paint, &entity->state.paint);
    json_write_object_end(json);
}

static size_t varint_bytes(uint64_t value)
{
    size_t bytes = 1;
    for (; value >= 128; value >>= 7) {
        bytes++;
    }
    return bytes;
}

static void saw_event(void *user, uint64_t tick, const uint8_t *message, size_t bytes)
{
    Printer *printer = user;
    if (printer->events == NULL) {
        // Varints have their shortest form, so the place before them is known.
        printer->events = message - varint_bytes(bytes) - varint_bytes(printer->header.tick - tick);
    }
    printer->numbers_seen[message[0] / 32] |= 1u << (message[0] % 32);
}

// --- features -----------------------------------------------------------------------------------
// An object that is opened when there is something to put into it.
typedef struct Feature {
    Printer *printer;
    const char *name;
    bool is_open;
} Feature;

static JsonWriter *feature_open(Feature *feature)
{
    JsonWriter *json = &feature->printer->json;
    if (!feature->is_open) {
        json_write_name(json, feature->name);
        json_write_object_begin(json);
        feature->is_open = true;
    }
    return json;
}

// The events of one action: a list of payloads, each with its tick.
static Status print_action(Feature *feature, const MessageRow *row, const char *name)
{
    Printer *printer = feature->printer;
    JsonWriter *json = feature_open(feature);
    json_write_name(json, name);
    json_write_array_begin(json);
    ByteReader reader =
        byte_reader(printer->events, (size_t)(printer->frame_end - printer->events));
    while (byte_reader_left(&reader) != 0) {
        const uint64_t ticks_ago = byte_read_varint(&reader);
        const uint32_t count = byte_read_count(&reader, SNAPSHOT_BYTES_MAX);
        const uint8_t *bytes = byte_read_bytes(&reader, count);
        ASSERT(bytes != NULL && count != 0); // the merge has read them before
        if (bytes[0] != row->number) {
            continue;
        }
        alignas(16) uint8_t block[EVENT_ARENA_BYTES];
        Arena arena;
        Message message;
        arena_init(&arena, block, sizeof block);
        const Status status = message_decode_event(bytes, count, &arena, &message);
        if (status != STATUS_OK) {
            return status;
        }
        message_write_payload(message.number, message.body, json);
        if (printer->out->status != STATUS_OK) {
            return printer->out->status;
        }
        // No event is without fields, so the tick follows the last one: the brace is written anew.
        char text[JSON_NUMBER_TEXT_BYTES];
        const size_t digits =
            json_number_format_integer((int64_t)(printer->header.tick - ticks_ago), text);
        printer->out->at--;
        byte_write_bytes(printer->out, ",\"tick\":", 8);
        byte_write_bytes(printer->out, text, digits);
        byte_write_u8(printer->out, '}');
    }
    json_write_array_end(json);
    return STATUS_OK;
}

// Scripts' remotes have a feature of their own among the messages; here they stand with scripts.
static bool row_is_of(const MessageRow *row, const char *feature, const char **name)
{
    if (row->direction != MESSAGE_EVENT) {
        return false;
    }
    const bool is_remote = strcmp(row->feature, "remote") == 0;
    *name = is_remote ? "remote" : row->action;
    return strcmp(is_remote ? "script" : row->feature, feature) == 0;
}

static Status print_events(Feature *feature)
{
    const Printer *printer = feature->printer;
    for (uint32_t i = 0; printer->events != NULL; i++) {
        const MessageRow *row = message_row_at(i);
        if (row == NULL) {
            break;
        }
        const char *name = NULL;
        const bool seen = (printer->numbers_seen[row->number / 32] >> row->number % 32 & 1) != 0;
        if (seen && row_is_of(row, feature->name, &name)) {
            const Status status = print_action(feature, row, name);
            if (status != STATUS_OK) {
                return status;
            }
        }
    }
    return STATUS_OK;
}

static void print_left(Feature *feature, NetKind kind)
{
    Printer *printer = feature->printer;
    bool any = false;
    for (uint32_t i = 0; i < printer->left_count; i++) {
        if (printer->left[i].kind != kind) {
            continue;
        }
        JsonWriter *json = feature_open(feature);
        if (!any) {
            json_write_name(json, "leave");
            json_write_array_begin(json);
            any = true;
        }
        json_write_integer(json, (int64_t)printer->left[i].net_id);
    }
    if (any) {
        json_write_array_end(&printer->json);
    }
}

static bool is_moved(const Printer *printer, uint32_t slot)
{
    const MergeSlot *entity = &printer->merge->slots[slot];
    const SlotNews *news = &printer->news[slot];
    if (entity->net_id == 0 || (entity->kind != NET_PLAYER && entity->kind != NET_NPC)) {
        return false;
    }
    if (news->entered || (news->components & (NET_MOTION | NET_LOOK)) != 0) {
        return true;
    }
    int32_t now[3];
    int32_t before[3];
    net_motion_at(&entity->state.motion, printer->header.tick, printer->merge->tick_rate, now);
    net_motion_at(&entity->state.motion, printer->tick_before, printer->merge->tick_rate, before);
    return memcmp(now, before, sizeof now) != 0;
}

static void print_curve(const Printer *printer, JsonWriter *json, const NetMotion *motion)
{
    const NetMotion at = net_motion_move(motion, printer->header.tick, printer->merge->tick_rate);
    float p[3];
    float v[3];
    for (uint32_t i = 0; i < 3; i++) {
        p[i] = (float)at.position[i] / NET_POSITION_PER_M;
        v[i] = (float)at.velocity[i] / NET_VELOCITY_PER_MPS;
    }
    json_member_floats(json, "p", p, 3);
    json_member_floats(json, "v", v, 3);
}

static void print_movement(Feature *feature)
{
    const Printer *printer = feature->printer;
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        if (!is_moved(printer, slot)) {
            continue;
        }
        const MergeSlot *entity = &printer->merge->slots[slot];
        JsonWriter *json = feature_open(feature);
        print_id_name(json, entity->net_id);
        json_write_object_begin(json);
        print_curve(printer, json, &entity->state.motion);
        json_member_f32(json, "yaw", radians((int8_t)entity->state.yaw));
        json_member_f32(json, "pitch", radians(entity->state.pitch));
        json_write_object_end(json);
    }
}

// Entities of one kind that entered, or that an update told more of, as a list.
static void print_slots(Feature *feature, const char *name, bool entered, NetKind kind,
                        void (*print)(const Printer *printer, JsonWriter *json, uint32_t slot))
{
    const Printer *printer = feature->printer;
    bool any = false;
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        const MergeSlot *entity = &printer->merge->slots[slot];
        const SlotNews *news = &printer->news[slot];
        const bool has_news = entered ? news->entered : !news->entered && news->has_piece;
        if (entity->net_id == 0 || entity->kind != kind || !has_news) {
            continue;
        }
        JsonWriter *json = feature_open(feature);
        if (!any) {
            json_write_name(json, name);
            json_write_array_begin(json);
            any = true;
        }
        json_write_object_begin(json);
        json_member_count(json, "entityId", entity->net_id);
        json_member_count(json, "owner", entity->owner_id);
        print(printer, json, slot);
        json_write_object_end(json);
    }
    if (any) {
        json_write_array_end(&feature->printer->json);
    }
}

static void print_structure(const Printer *printer, JsonWriter *json, uint32_t slot)
{
    const SlotNews *news = &printer->news[slot];
    json_member_count(json, "piece", news->piece);
    json_write_name(json, "cell");
    json_write_array_begin(json);
    json_write_integer(json, news->cell.x);
    json_write_integer(json, news->cell.y);
    json_write_integer(json, news->cell.z);
    json_write_array_end(json);
    json_member_count(json, "turn", news->turn);
    json_member_count(json, "health", news->health);
}

static void print_projectile(const Printer *printer, JsonWriter *json, uint32_t slot)
{
    const NetState *state = &printer->merge->slots[slot].state;
    json_member_count(json, "projectileKind", state->projectile_kind);
    json_member_f32(json, "radius", (float)state->projectile_radius / 128);
    print_curve(printer, json, &state->motion);
    json_member_f32(json, "gravity", (float)state->motion.gravity / NET_GRAVITY_PER_MPS2);
}

static void print_npcs(Feature *feature)
{
    const Printer *printer = feature->printer;
    bool any = false;
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        const MergeSlot *entity = &printer->merge->slots[slot];
        const SlotNews *news = &printer->news[slot];
        const bool has_news = news->entered || (news->components & NET_STATUS) != 0;
        if (entity->net_id == 0 || entity->kind != NET_NPC || !has_news) {
            continue;
        }
        JsonWriter *json = feature_open(feature);
        if (!any) {
            json_write_name(json, "states");
            json_write_object_begin(json);
            any = true;
        }
        print_id_name(json, entity->net_id);
        json_write_integer(json, entity->state.npc_state);
    }
    if (any) {
        json_write_object_end(&feature->printer->json);
    }
}

static Status print_feature(Printer *printer, const char *name)
{
    Feature feature = {printer, name, false};
    const bool is_entity = strcmp(name, "entity") == 0;
    if (is_entity) {
        feature.is_open = printer->entity_open;
        if (printer->section != SECTION_NONE) {
            json_write_array_end(&printer->json);
        }
    } else if (strcmp(name, "movement") == 0) {
        print_movement(&feature);
    } else if (strcmp(name, "build") == 0) {
        print_left(&feature, NET_STRUCTURE);
        print_slots(&feature, "enter", true, NET_STRUCTURE, print_structure);
        print_slots(&feature, "update", false, NET_STRUCTURE, print_structure);
    } else if (strcmp(name, "projectile") == 0) {
        print_left(&feature, NET_PROJECTILE);
        print_slots(&feature, "enter", true, NET_PROJECTILE, print_projectile);
    } else if (strcmp(name, "npc") == 0) {
        print_npcs(&feature);
    }
    const Status status = print_events(&feature);
    if (status != STATUS_OK) {
        return status;
    }
    const bool is_extra = strcmp(name, "chat") == 0; // not one of the document's features
    if (printer->header.full && !is_extra) {
        (void)feature_open(&feature);
    }
    if (feature.is_open) {
        json_write_object_end(&printer->json);
    }
    return STATUS_OK;
}

static Status print_all(Printer *printer)
{
    static const char *const features[] = {"entity", "presence", "movement", "build", "projectile",
                                           "npc",    "voxel",    "script",   "chat"};
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        const Status status = print_feature(printer, features[i]);
        if (status != STATUS_OK) {
            return status;
        }
    }
    json_write_object_end(&printer->json); // features
    json_write_object_end(&printer->json); // payload
    json_write_object_end(&printer->json);
    return json_writer_finish(&printer->json);
}

Status snapshot_to_json(Merge *merge, const uint8_t *frame, size_t bytes, ByteWriter *out)
{
    if (out->status != STATUS_OK) {
        return out->status;
    }
    const size_t begin = out->at;
    Printer printer = {.json = json_writer(out, 0),
                       .out = out,
                       .merge = merge,
                       .tick_before = merge->last.tick,
                       .frame_end = frame + bytes};
    const MergeSink sink = {.user = &printer,
                            .begin = saw_begin,
                            .leave = saw_leave,
                            .enter = saw_enter,
                            .update = saw_update,
                            .event = saw_event};
    Status status = merge_apply(merge, frame, bytes, &sink);
    if (status == STATUS_OK) {
        status = print_all(&printer);
    }
    if (status != STATUS_OK) {
        merge->last = (SnapshotHeader){0};
        out->at = begin;
        out->status = STATUS_OK;
    }
    return status;
}
