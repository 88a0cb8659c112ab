// What the API has under which name, for run-time errors and for lints: classes and shapes, their
// members, the words that an argument may be, and names of other engines with what to write here.
#pragma once

#include "core/script/api/api.h"

// A member of a table that is passed or returned (API_FIELD).
typedef struct ApiField {
    const char *shape;
    const char *name;
    const char *type; // as written
} ApiField;
const ApiField *api_fields(uint32_t *count);

// The class or shape that a type names: "Entity?" is Entity, "{Player}" a list of Player. The text
// is the same pointer for the same class. NULL: none of them.
const char *api_class_of(const char *type, bool *is_list);
// What is known about a member of a class or shape.
typedef struct ApiMember {
    const ApiRow *row; // NULL: a field
    const char *type;  // of its value; "" for methods
} ApiMember;
bool api_class_member(const char *class, const char *name, ApiMember *out);
// Whether scripts may set fields of their own on objects of the class.
bool api_class_is_open(const char *class);
// The member with the most similar name; NULL: none is near.
const char *api_class_nearest(const char *class, Text name);

// What to say about an option that a shape does not have: a similar one, or all of them.
#define API_OPTIONS_BYTES 288
void api_options_text(const char *shape, Text name, char out[API_OPTIONS_BYTES]);
// The name of an option as the API prints it: color is another spelling of colour.
const char *api_option_name(const char *name);

// The words that a type stands for (API_WORDS), separated by spaces; NULL: it is another type.
const char *api_words_of(const char *type, size_t bytes);
#define API_WORDS_BYTES 256 // with the sentence of api_words_text
bool api_words_has(const char *words, Text word);
// "Player, Npc or Part", or with a similar word "…; did you mean Npc?".
void api_words_text(const char *words, Text word, char *out, size_t capacity);

// What to write here instead of a name of another engine; NULL: it is not one of them.
const char *api_foreign_global(const char *name);
// The same for a member of an object. *is_telling: nobody would call a field of their own like
// that.
const char *api_foreign_member(const char *name, bool *is_telling);
