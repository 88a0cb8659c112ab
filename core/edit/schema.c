// See schema.h.
#include "core/edit/schema.h"

#include "core/base/limits.h"
#include "core/wire/place_help.h"

#include <string.h>

static const char *const type_names[] = {
    [PLACE_BOOL] = "bool",         [PLACE_U32] = "u32",
    [PLACE_F32] = "f32",           [PLACE_VEC3] = "vec3",
    [PLACE_CELLS] = "cells",       [PLACE_TEXT] = "text",
    [PLACE_CHOICE] = "choice",     [PLACE_COLOUR] = "colour",
    [PLACE_ROTATION] = "rotation", [PLACE_OBJECT] = "object",
    [PLACE_LIST] = "list",         [PLACE_TEXTS] = "texts",
    [PLACE_VECTORS] = "vectors",   [PLACE_ATTRIBUTES] = "attributes",
    [PLACE_JSON] = "json"};

static void write_text(JsonWriter *json, const char *name, const char *text)
{
    json_write_name(json, name);
    json_write_text(json, text);
}

static void write_flag(JsonWriter *json, const char *name, bool value)
{
    json_write_name(json, name);
    json_write_bool(json, value);
}

static void write_range(JsonWriter *json, const PlaceField *field)
{
    if (field->low != 0 || field->high != 0) {
        json_write_name(json, "low");
        json_write_number(json, field->low);
        json_write_name(json, "high");
        json_write_number(json, field->high);
    }
}

static void write_choices(JsonWriter *json, const PlaceField *field)
{
    json_write_name(json, "choices");
    json_write_array_begin(json);
    for (uint32_t i = 0; field->words[i] != NULL; i++) {
        json_write_text(json, field->words[i]);
    }
    json_write_array_end(json);
}

static bool has_plain_default(PlaceFieldType type)
{
    return type <= PLACE_COLOUR && type != PLACE_TEXT;
}

static void write_default(JsonWriter *json, const PlaceField *field, PlaceScratch *scratch)
{
    EditObject room;
    memset(&room, 0, sizeof room);
    json_write_name(json, "default");
    if (!has_plain_default(field->type)) {
        json_write_null(json);
        return;
    }
    place_field_default(field, &room);
    place_field_to_json(field, &room, scratch, json);
}

// Without its number, its end and whether it can be set.
static void write_field(JsonWriter *json, const PlaceTable *table, const PlaceField *field,
                        PlaceScratch *scratch)
{
    const PlaceHelp *help = place_help(table, field);
    write_text(json, "type", type_names[field->type]);
    write_text(json, "unit", help != NULL ? help->unit : "");
    write_text(json, "help", help != NULL ? help->text : "");
    write_default(json, field, scratch);
    write_flag(json, "required", (field->flags & PLACE_REQUIRED) != 0);
    write_flag(json, "server", (field->flags & PLACE_SERVER) != 0);
    write_range(json, field);
    if (field->type == PLACE_CHOICE) {
        write_choices(json, field);
    }
    if (field->type == PLACE_LIST) {
        json_write_name(json, "members");
        json_write_array_begin(json);
        for (uint32_t i = 0; i < field->table->field_count; i++) {
            const PlaceField *inner = &field->table->fields[i];
            const PlaceHelp *about = place_help(field->table, inner);
            json_write_object_begin(json);
            write_text(json, "name", inner->name);
            write_text(json, "type", type_names[inner->type]);
            write_text(json, "unit", about != NULL ? about->unit : "");
            write_text(json, "help", about != NULL ? about->text : "");
            write_range(json, inner);
            if (inner->type == PLACE_CHOICE) {
                write_choices(json, inner);
            }
            json_write_object_end(json);
        }
        json_write_array_end(json);
    }
}

static void write_kind(JsonWriter *json, EditKind kind, PlaceScratch *scratch)
{
    const PlaceTable *table = edit_kind_table(kind);
    EditMember member;
    json_write_array_begin(json);
    for (uint32_t i = 0; edit_member_at(table, i, &member); i++) {
        char name[EDIT_MEMBER_NAME_BYTES];
        edit_member_name(&member, name);
        json_write_object_begin(json);
        json_write_name(json, "number");
        json_write_integer(json, i);
        write_text(json, "name", name);
        write_flag(json, "can_set", edit_member_can_set(kind, &member));
        write_field(json, member.outer != NULL ? member.outer->table : table, member.field,
                    scratch);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_schema(const void *user, ByteWriter *writer)
{
    static const char *const names[EDIT_KIND_COUNT] = {[EDIT_SETTINGS] = "settings",
                                                       [EDIT_SCENE] = "scene",
                                                       [EDIT_TERRAIN] = "terrain",
                                                       [EDIT_ENTITY] = "entity"};
    PlaceScratch scratch = *(const PlaceScratch *)user;
    JsonWriter json = json_writer(writer, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "mark");
    json_write_integer(&json, edit_member_mark());
    json_write_name(&json, "kinds");
    json_write_object_begin(&json);
    for (uint32_t kind = 0; kind < EDIT_KIND_COUNT; kind++) {
        json_write_name(&json, names[kind]);
        write_kind(&json, (EditKind)kind, &scratch);
    }
    json_write_object_end(&json);
    json_write_object_end(&json);
    place_scratch_free(&scratch);
}

Status edit_schema_write(Heap *heap, EditBuffer *out)
{
    const PlaceScratch scratch = {.heap = heap};
    edit_buffer_write(out, write_schema, &scratch);
    return out->status;
}
