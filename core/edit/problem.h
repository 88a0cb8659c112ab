// What keeps a document from being played or published: the rules of a whole place, which need not
// hold while somebody works on it. All of them at once, each with where it is.
#pragma once

#include "core/edit/doc.h"

typedef struct EditProblem {
    Status status;
    EditKind kind;
    uint32_t id;        // of the entity or the terrain; 0: it is about the file
    const char *list;   // of settings: "weapons", …; NULL: none
    uint32_t index;     // in it
    const char *member; // NULL: the object itself
    char message[JSON_MESSAGE_BYTES];
} EditProblem;
typedef void (*EditProblemSink)(void *user, const EditProblem *problem);

// Prefabs and scripts are files, and looked at by a build. STATUS_LIMIT: memory ended the search.
MUST_USE Status edit_problems(const EditDoc *doc, EditProblemSink sink, void *user);
