// Classes of a school: their teachers, their pupils with the codes that these sign in with, and the
// places that were handed out. A place that is marked with a class has STORE_PACKAGE_CLASS, and
// stays marked when the class is deleted: then it is its owner's and the operators' alone. These
// wait for the disk.
#pragma once

#include "server/store/people/store_account.h"
#include "server/store/place/store_package.h"

#define STORE_HANDOUT_BYTES 33

typedef struct StoreClass {
    char class_id[65];
    uint64_t teacher_id; // the first one; others are in a table of their own
    char name[STORE_SHOWN_BYTES];
    bool is_paused;        // nobody plays its places
    bool has_public_names; // everybody sees what its pupils are called, and they may change it
    uint64_t created_unix_ms;
} StoreClass;

// Written with the account (StoreAccountChange.pupil).
typedef struct StorePupil {
    char class_id[65];
    uint64_t account_id;
    uint8_t code_hash[STORE_TOKEN_BYTES];
    uint64_t created_unix_ms;
    // Only for writing: what the class calls the pupil, until the account gets another shown name.
    // "": what it has stays.
    char name[STORE_SHOWN_BYTES];
} StorePupil;

// STATUS_EXISTS: the id is taken. STATUS_LIMIT: the teacher has count_max already.
MUST_USE Status store_class_make(Store *store, const StoreClass *made, uint32_t count_max);
// STATUS_NOT_FOUND; STATUS_MALFORMED: damaged.
MUST_USE Status store_class_find(Store *store, const char *class_id, StoreClass *out);
// Those of a teacher (0: of all) by id, from behind that one on.
MUST_USE Status store_classes(Store *store, uint64_t teacher, const char *after, StoreClass *out,
                              uint32_t max, uint32_t *count);
MUST_USE Status store_class_pause(Store *store, const char *class_id, bool is_paused);
MUST_USE Status store_class_names(Store *store, const char *class_id, bool are_public);
// With its pupils' rows, their codes and its chat rule. Accounts stay, and places stay marked.
MUST_USE Status store_class_delete(Store *store, const char *class_id);

// --- teachers -----------------------------------------------------------------------------------
// Besides the one in the row, the oldest first, at most max.
MUST_USE Status store_teachers(Store *store, const char *class_id, uint64_t *out, uint32_t max,
                               uint32_t *count);
// Is it one of them, or the one in the row? STATUS_NOT_FOUND: no.
MUST_USE Status store_class_teaches(Store *store, const StoreClass *class, uint64_t account);
// May be done twice. STATUS_LIMIT: there are count_max besides the first one.
MUST_USE Status store_teacher_add(Store *store, const char *class_id, uint64_t account,
                                  uint64_t unix_ms, uint32_t count_max);
// If it was the one in the row, the next one takes its place. STATUS_LIMIT: it is the last one.
// STATUS_NOT_FOUND: it is none.
MUST_USE Status store_teacher_remove(Store *store, const char *class_id, uint64_t account);

// --- pupils -------------------------------------------------------------------------------------
// What people outside of the class see in place of a pupil's name: "Pupil 48213". Always the same
// for an account; no name of an account has a space.
void store_pupil_alias(uint64_t account, char out[STORE_SHOWN_BYTES]);
// By account, at most max.
MUST_USE Status store_pupils(Store *store, const char *class_id, StorePupil *out, uint32_t max,
                             uint32_t *count);
MUST_USE Status store_pupil_find(Store *store, const char *class_id, uint64_t account,
                                 StorePupil *out);
MUST_USE Status store_pupil_by_code(Store *store, const uint8_t hash[STORE_TOKEN_BYTES],
                                    StorePupil *out);
// STATUS_NOT_FOUND: they are none.
MUST_USE Status store_pupil_remove(Store *store, const char *class_id, uint64_t account);
// All of all classes; name: what the class calls them ("": by their shown name). The sink must not
// call the store.
typedef void (*StorePupilSink)(void *user, const char *class_id, uint64_t account,
                               const char *name);
MUST_USE Status store_pupils_all(Store *store, StorePupilSink sink, void *user);

// --- places -------------------------------------------------------------------------------------
// A new package that is marked with the class, both at once; `handout` tells what was handed out.
// As store_package_make.
MUST_USE Status store_class_place_make(Store *store, StorePackage *package, const char *class_id,
                                       const char *handout, uint32_t count_max);
// What this pupil got by that handout. STATUS_NOT_FOUND: nothing.
MUST_USE Status store_class_handed(Store *store, const char *class_id, const char *handout,
                                   uint64_t account, StorePackage *out);
// Those that are marked with it, by id, from behind that one on.
MUST_USE Status store_class_places(Store *store, const char *class_id, const char *after,
                                   StorePackage *out, uint32_t max, uint32_t *count);
// The class of a place. STATUS_NOT_FOUND: it has none (any more).
MUST_USE Status store_class_of(Store *store, const char *package_id, StoreClass *out);
typedef void (*StoreClassPlaceSink)(void *user, const char *class_id, const char *package_id);
MUST_USE Status store_class_places_all(Store *store, StoreClassPlaceSink sink, void *user);
