// The inside of ENTRY_EDIT, for edit.c (what is there changes), edit_made.c (what is added) and
// edit_spawn.c (where players start).
#pragma once

#include "core/world/world_inside.h"

#include "core/wire/place_doc.h"

// --- edit.c -------------------------------------------------------------------------------------
// Whether it can get the tag, or lose it, without a script that relies on what it found.
bool edit_tag_may_change(World *world, Text tag, bool on);
void edit_tell_tag(World *world, uint64_t net_id, Text tag, bool on); // tells scripts
// An attribute's value here; false: it names an entity that is not in this world.
bool edit_value(World *world, const PlaceAttribute *attribute, ScriptValue *out);

// --- edit_made.c --------------------------------------------------------------------------------
MUST_USE Status edit_enter_made(World *world, const Entry *entry); // ENTRY_EDIT_CREATED
// Reads one entity to the end of the bytes.
MUST_USE Status edit_read_entity(ByteReader *reader, PlaceScratch *scratch, PlaceEntityDoc *out);
// The same with the pose of its parent in the world before it: its frame, and where it stands then.
MUST_USE Status edit_read_framed(ByteReader *reader, PlaceScratch *scratch, PlaceEntityDoc *out);
bool edit_is_made(const World *world, uint64_t net_id); // it was added
void edit_forget_made(World *world, uint64_t net_id);
// No script relies on what it found by that name, and no prefab is called so.
bool edit_name_is_free(World *world, Text name);

// --- edit_spawn.c -------------------------------------------------------------------------------
MUST_USE Status edit_enter_spawn(World *world, const Entry *entry);
