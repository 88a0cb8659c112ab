// The members of what an editor changes, by the rows of place_table.h. A member that is an object
// (transform, shape, limits) is taken apart: `transform.position` and `transform.rotation` are two
// members, so two people can change them at the same time. Members are numbered in the order of the
// rows.
//
// A value as bytes is a 0 for "as it is by default", or a 1 and the member as in place_table.h.
// Whatever bytes come in, the value is brought into the one form that reading its JSON would give,
// so that a document and its text never differ.
#pragma once

#include "core/edit/buffer.h"
#include "core/wire/place_doc.h"

// What there is in a document, beside the table of files.
typedef enum EditKind {
    EDIT_SETTINGS, // place.json: one object, with the id 0
    EDIT_SCENE,    // of scene.json what is neither terrain nor an entity: one object, with the id 0
    EDIT_TERRAIN,  // boxes and chunks; their ids are not in the file
    EDIT_ENTITY,
    EDIT_KIND_COUNT
} EditKind;

// Room for any of them.
typedef union EditObject {
    PlaceSettingsDoc settings;
    PlaceSceneDoc scene;
    PlaceFillDoc fill;
    PlaceEntityDoc entity;
} EditObject;

const PlaceTable *edit_kind_table(EditKind kind);

typedef struct EditMember {
    const PlaceField *outer; // the row of the object it is in; NULL: none
    const PlaceField *field;
    size_t offset; // in the whole struct
} EditMember;

uint32_t edit_member_count(const PlaceTable *table);
bool edit_member_at(const PlaceTable *table, uint32_t number, EditMember *out);
// By "name" or "outer.name"; false: there is none.
bool edit_member_named(const PlaceTable *table, const char *name, uint32_t *number);
#define EDIT_MEMBER_NAME_BYTES 64
void edit_member_name(const EditMember *member, char name[EDIT_MEMBER_NAME_BYTES]);
// False for those that other operations change (id, parent, terrain, entities) and for `format`.
bool edit_member_can_set(EditKind kind, const EditMember *member);
// Differs when the tables do: bytes of another version of the tables are refused.
uint32_t edit_member_mark(void);

// Writes the value of a member of an object.
void edit_value_write(const EditMember *member, const void *object, EditBuffer *out);
// Reads a value into the object. Texts point into the bytes or into scratch.
MUST_USE Status edit_value_read(const EditMember *member, const uint8_t *bytes, size_t count,
                                PlaceScratch *scratch, void *object);
// A value from JSON text, as a person types it; the error says what is wrong.
MUST_USE Status edit_value_from_json(const EditMember *member, const char *text, size_t bytes,
                                     PlaceScratch *scratch, EditBuffer *out, JsonError *error);

// Whole objects. A record is the bytes of place_table_write: equal objects have equal records.
void edit_record_write(EditKind kind, const EditObject *object, EditBuffer *out);
MUST_USE Status edit_record_read(EditKind kind, const uint8_t *bytes, size_t count,
                                 PlaceScratch *scratch, EditObject *out);
// Brings every member into the form that its JSON would give.
MUST_USE Status edit_object_tidy(EditKind kind, PlaceScratch *scratch, EditObject *object);
