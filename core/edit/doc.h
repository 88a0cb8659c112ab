// A place as a document: what an editor changes. It holds what place.json and scene.json say,
// member by member, and which files there are by their hash (scripts, assets, prefabs, chunks;
// their contents live elsewhere). It is the same code in the browser and on the server, and it does
// no I/O.
//
// What always holds, whatever operations came: each member is in its range, ids are unique, parents
// exist, nobody is its own parent, at most PLACE_PARENTS_MAX are above each other, and no limit is
// passed. The rules of a whole place (problem.h) do not have to hold: somebody is working on it.
//
// The heap must have room for EDIT_RECORDS_BYTES_MAX and what belongs to it: a change that would
// pass that limit is refused, but one that was made can always be taken back.
//
// Changes go through apply.h alone. Equal documents have equal hashes in every build.
#pragma once

#include "core/base/heap.h"
#include "core/base/rng.h"
#include "core/base/sha256.h"
#include "core/edit/member.h"

typedef struct EditDoc EditDoc;

// Where `paste` finds what it names. The bytes must have that hash and stay valid during the call;
// NULL: they are not here.
typedef struct EditBlobs {
    void *user;
    const uint8_t *(*find)(void *user, const uint8_t hash[SHA256_BYTES], size_t *bytes);
} EditBlobs;

// An empty place with default settings.
MUST_USE Status edit_doc_create(Heap *heap, EditBlobs blobs, EditDoc **out);
void edit_doc_destroy(EditDoc *doc); // NULL is allowed
void edit_doc_set_blobs(EditDoc *doc, EditBlobs blobs);
Heap *edit_doc_heap(const EditDoc *doc);

// What scene.json takes for whoever reads it, if it says this and nothing that is the default:
// values, and bytes at most.
typedef struct EditSize {
    uint64_t nodes, bytes;
} EditSize;
// From here on each change is measured. Not everybody needs that: it takes some time.
MUST_USE Status edit_doc_measure(EditDoc *doc);
EditSize edit_doc_size(const EditDoc *doc); // after edit_doc_measure

// The whole document in 64 bits.
uint64_t edit_doc_hash(const EditDoc *doc);

// Whether both have the same place.json (EDIT_SETTINGS) or scene.json (EDIT_SCENE, with terrain and
// entities; the ids of terrain are in no text).
bool edit_doc_says_same(const EditDoc *a, const EditDoc *b, EditKind text);

uint32_t edit_doc_count(const EditDoc *doc, EditKind kind); // 1 for settings and scene
bool edit_doc_has(const EditDoc *doc, EditKind kind, uint32_t id);
// In order: the first and the next id; 0: none. Only of lists.
uint32_t edit_doc_first(const EditDoc *doc, EditKind kind);
uint32_t edit_doc_next(const EditDoc *doc, EditKind kind, uint32_t id);
uint32_t edit_doc_before(const EditDoc *doc, EditKind kind, uint32_t id);
uint32_t edit_doc_parent(const EditDoc *doc, uint32_t entity); // 0: none
// The record of an object (member.h), which must exist; valid until the next change.
const uint8_t *edit_doc_record(const EditDoc *doc, EditKind kind, uint32_t id, size_t *bytes);
// Whether both documents have the same record of it; it must exist in both.
bool edit_doc_same(const EditDoc *a, const EditDoc *b, EditKind kind, uint32_t id);
// The object itself; texts point into the record, lists into scratch.
MUST_USE Status edit_doc_read(const EditDoc *doc, EditKind kind, uint32_t id, PlaceScratch *scratch,
                              EditObject *out);
// A number that changes whenever the object does.
uint32_t edit_doc_version(const EditDoc *doc, EditKind kind, uint32_t id);

typedef struct EditFile {
    Text path;
    uint8_t hash[SHA256_BYTES];
} EditFile;
uint32_t edit_doc_file_count(const EditDoc *doc);
const EditFile *edit_doc_file_at(const EditDoc *doc, uint32_t index); // by ascending path
const EditFile *edit_doc_file_find(const EditDoc *doc, Text path);    // NULL: none
// "a/b.lua": relative, no empty, "." or ".." part, no backslash, and neither of the two files that
// the document itself is.
bool edit_path_is_valid(Text path);

// An id for a new object, from the caller's random numbers: 32 bits, so that two people who create
// something at the same time rarely get the same one (the session renumbers it if they do).
uint32_t edit_doc_new_id(const EditDoc *doc, EditKind kind, Rng *rng);

// All of it as bytes, for a page that joins. The reader accepts any bytes; on failure there is no
// document.
void edit_doc_write(const EditDoc *doc, EditBuffer *out);
MUST_USE Status edit_doc_open(Heap *heap, EditBlobs blobs, const uint8_t *bytes, size_t count,
                              EditDoc **out);
