// GET /api/schema: what the members of place.json and scene.json are, from the tables by which they
// are read, and the help for people. A page makes its forms of it, and a tool its operations.
#include "core/edit/member.h"
#include "core/wire/place_help.h"
#include "server/serve/edit/http_edit.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/publish/http_place.h"

#include <stdio.h>

#define SCHEMA_BYTES (256u << 10)
#define NESTED_MAX   4

static const char *type_name(PlaceFieldType type)
{
    static const char *const names[] = {
        [PLACE_BOOL] = "boolean",      [PLACE_U32] = "integer",
        [PLACE_F32] = "number",        [PLACE_VEC3] = "vector",
        [PLACE_CELLS] = "cells",       [PLACE_TEXT] = "text",
        [PLACE_CHOICE] = "choice",     [PLACE_COLOUR] = "colour",
        [PLACE_ROTATION] = "rotation", [PLACE_OBJECT] = "object",
        [PLACE_LIST] = "list",         [PLACE_TEXTS] = "texts",
        [PLACE_VECTORS] = "vectors",   [PLACE_ATTRIBUTES] = "attributes",
        [PLACE_JSON] = "json"};
    return names[type];
}

static void write_range(JsonWriter *json, const PlaceField *field)
{
    const bool has_range = field->type != PLACE_BOOL && field->type != PLACE_CHOICE &&
                           field->type != PLACE_COLOUR && field->type != PLACE_ROTATION &&
                           field->type != PLACE_OBJECT;
    if (has_range) {
        json_write_name(json, "low");
        json_write_number(json, field->low);
        json_write_name(json, "high");
        json_write_number(json, field->high);
    }
    if (field->type == PLACE_CHOICE) {
        json_write_name(json, "choices");
        json_write_array_begin(json);
        for (const char *const *word = field->words; *word != NULL; word++) {
            json_write_text(json, *word);
        }
        json_write_array_end(json);
    }
}

// As JSON says it; the default of a list, a text or JSON is that there is none.
static void write_default(JsonWriter *json, const PlaceField *field)
{
    _Alignas(16) uint8_t value[64] = {0};
    PlaceScratch scratch = {0};
    json_write_name(json, "default");
    switch (field->type) {
    case PLACE_BOOL:
    case PLACE_U32:
    case PLACE_F32:
    case PLACE_VEC3:
    case PLACE_CELLS:
    case PLACE_CHOICE:
    case PLACE_COLOUR:
        place_field_default(field, value);
        place_field_to_json(field, value, &scratch, json);
        break;
    default:
        json_write_null(json);
    }
}

static void write_table(JsonWriter *json, const PlaceTable *table, uint32_t depth);

static void write_field(JsonWriter *json, const PlaceTable *table, const PlaceField *field,
                        uint32_t depth)
{
    const PlaceHelp *help = place_help(table, field);
    serve_write_member(json, "type", type_name(field->type));
    json_write_name(json, "required");
    json_write_bool(json, (field->flags & PLACE_REQUIRED) != 0);
    json_write_name(json, "server");
    json_write_bool(json, (field->flags & PLACE_SERVER) != 0);
    write_range(json, field);
    write_default(json, field);
    serve_write_member(json, "unit", help != NULL ? help->unit : "");
    serve_write_member(json, "help", help != NULL ? help->text : "");
    if (field->table != NULL && depth < NESTED_MAX) {
        json_write_name(json, "members");
        write_table(json, field->table, depth + 1);
    }
}

// Of what is in a list: by its rows.
static void write_table(JsonWriter *json, const PlaceTable *table, uint32_t depth)
{
    json_write_array_begin(json);
    for (uint32_t i = 0; i < table->field_count; i++) {
        json_write_object_begin(json);
        serve_write_member(json, "name", table->fields[i].name);
        write_field(json, table, &table->fields[i], depth);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_kind(JsonWriter *json, EditKind kind)
{
    const PlaceTable *table = edit_kind_table(kind);
    json_write_array_begin(json);
    for (uint32_t i = 0; i < edit_member_count(table); i++) {
        EditMember member;
        char name[EDIT_MEMBER_NAME_BYTES];
        if (!edit_member_at(table, i, &member)) {
            continue;
        }
        edit_member_name(&member, name);
        json_write_object_begin(json);
        serve_write_number(json, "number", i);
        serve_write_member(json, "name", name);
        json_write_name(json, "can_set");
        json_write_bool(json, edit_member_can_set(kind, &member));
        write_field(json, member.outer != NULL ? member.outer->table : table, member.field, 0);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

void serve_get_schema(void *user, HttpRequest *request, HttpResponse *response)
{
    static const char *const names[] = {[EDIT_SETTINGS] = "settings",
                                        [EDIT_SCENE] = "scene",
                                        [EDIT_TERRAIN] = "terrain",
                                        [EDIT_ENTITY] = "entity"};
    (void)user;
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, SCHEMA_BYTES);
    json_write_object_begin(&answer.json);
    serve_write_number(&answer.json, "mark", edit_member_mark());
    json_write_name(&answer.json, "kinds");
    json_write_object_begin(&answer.json);
    for (uint32_t kind = 0; kind < EDIT_KIND_COUNT; kind++) {
        json_write_name(&answer.json, names[kind]);
        write_kind(&answer.json, (EditKind)kind);
    }
    json_write_object_end(&answer.json);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}
