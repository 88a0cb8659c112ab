// What somebody may do with a package. Every route that shows or changes one asks here and nowhere
// else.
//
//   who                     may
//   owner, operator         everything
//   editor                  all but its team, its trash and giving it away
//   tester                  play it, the beta too
//   who it is offered to    see it, also a private one
//   others                  nothing of a private one; else see and play it, and read it if it is
//                           open
//   somebody kept out       see it, if others may
//
//   of one in the trash     owner and operator see, read and restore it; nobody else knows of it
//   of one that was removed owner and operator see and read it; nobody plays it
#pragma once

#include "server/control/identity.h"
#include "server/store/store_package.h"

typedef enum Right {
    RIGHT_SEE = 1 << 0,  // that it is there: title, description, pictures
    RIGHT_PLAY = 1 << 1, // come into its worlds, and get what players get
    RIGHT_TEST = 1 << 2, // the same of its beta
    RIGHT_READ = 1 << 3, // package, sources, whole manifests; fork it
    RIGHT_EDIT = 1 << 4, // drafts, revisions, channels, its page
    RIGHT_OWN = 1 << 5,  // its team, trash, giving it away
    RIGHTS_ALL = (1 << 6) - 1
} Right;

// NULL: nobody is signed in.
uint32_t rights_of(const StorePackage *package, StorePackageRole role, const Identity *who);
// The package and what `who` may do with it. STATUS_NOT_FOUND: none, or they may not even see it.
// Waits for the disk.
MUST_USE Status rights_find(Store *store, const char *package_id, const Identity *who,
                            StorePackage *package, uint32_t *rights);
