// What somebody may do with a package. Every route that shows or changes one asks here and nowhere
// else.
//
//   who                     may
//   owner, operator         everything
//   editor                  all but its team, its trash and giving it away
//   tester                  play it, the beta and the draft too
//   who it is offered to    see it, also a private one
//   others                  nothing of a private one; else see and play it, and read it if it is
//                           open
//   somebody kept out       see it, if others may
//
//   of one that is a class's (store_class.h), whatever its visibility
//   teacher of the class    see, play and read it and its draft; change nothing
//   its pupils              as others
//   everybody else          nothing, also editors and testers
//   while the class pauses  nobody plays it
//
//   of one in the trash     owner and operator see, read and restore it; nobody else knows of it
//   of one that was removed owner and operator see and read it; nobody plays it
//
//   by a token for playing  no more than testers
#pragma once

#include "server/control/identity.h"
#include "server/store/people/store_class.h"
#include "server/store/place/store_package.h"

typedef enum Right {
    RIGHT_SEE = 1 << 0,   // that it is there: title, description, pictures
    RIGHT_PLAY = 1 << 1,  // come into its worlds, and get what players get
    RIGHT_TEST = 1 << 2,  // the same of its beta and its draft
    RIGHT_READ = 1 << 3,  // package, sources, whole manifests; fork it
    RIGHT_EDIT = 1 << 4,  // drafts, revisions, channels, its page
    RIGHT_OWN = 1 << 5,   // its team, trash, giving it away
    RIGHT_DRAFT = 1 << 6, // read its draft, and the history of that
    RIGHTS_ALL = (1 << 7) - 1
} Right;

// What somebody is in the class that a package is marked with.
typedef enum ClassPart { CLASS_NOBODY, CLASS_PUPIL, CLASS_TEACHER } ClassPart;

// NULL: nobody is signed in. The part counts for packages that are marked with a class.
uint32_t rights_of(const StorePackage *package, StorePackageRole role, ClassPart part,
                   const Identity *who);
// May they lead this class: is it theirs, and are they still a teacher, or an operator? Waits for
// the disk.
bool rights_teaches(Store *store, const StoreClass *class, const Identity *who);
// May this account be in the team of the package? Of one that is a class's, its pupils alone.
// STATUS_DENIED: no. Waits for the disk.
MUST_USE Status rights_team(Store *store, const StorePackage *package, uint64_t account);
// The package and what `who` may do with it. STATUS_NOT_FOUND: none, or they may not even see it.
// Waits for the disk.
MUST_USE Status rights_find(Store *store, const char *package_id, const Identity *who,
                            StorePackage *package, uint32_t *rights);
