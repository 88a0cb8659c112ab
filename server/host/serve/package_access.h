// Routes about a package: finding it, and whether the one who asks may do what they want with it.
#pragma once

#include "server/control/rights.h"
#include "server/host/serve/serve_inside.h"

// The package that the first part of the path names, for somebody with this right. False: the
// response says why not; who may not see it hears that it is not there. Waits for the disk.
MUST_USE bool serve_package_find(Serve *serve, HttpRequest *request, HttpResponse *response,
                                 Right right, StorePackage *out);
// "r3"; false: it is none.
bool serve_revision_read(const char *text, uint32_t *out);
