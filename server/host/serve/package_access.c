// See package_access.h.
#include "server/host/serve/package_access.h"

#include "server/host/serve/access.h"

#include <stdlib.h>
#include <string.h>

bool serve_package_find(Serve *serve, HttpRequest *request, HttpResponse *response, Right right,
                        StorePackage *out)
{
    uint32_t rights = 0;
    const char *id = http_path_part(request, 0);
    const bool has_accounts = serve->control != NULL;
    const Status status = has_accounts && id != NULL
                              ? rights_find(serve->store, id, serve_who(request), out, &rights)
                              : STATUS_NOT_FOUND;
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such place here");
    } else if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it cannot be read now; try again");
    } else if ((rights & right) != (uint32_t)right) {
        http_fail(request, response, 403, "denied",
                  (right & (RIGHT_EDIT | RIGHT_OWN)) == 0 ? "its sources are not open"
                  : (right & RIGHT_OWN) != 0
                      ? "this is for its owner, and for operators"
                      : "this is for its owner, for editors whom the owner names, and for "
                        "operators");
    } else {
        return true;
    }
    return false;
}

bool serve_revision_read(const char *text, uint32_t *out)
{
    const size_t digits = text != NULL && text[0] == 'r' ? strspn(text + 1, "0123456789") : 0;
    if (digits == 0 || digits > 9 || text[1 + digits] != '\0' || text[1] == '0') {
        return false;
    }
    *out = (uint32_t)strtoul(text + 1, NULL, 10);
    return true;
}
