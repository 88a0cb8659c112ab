// See rights.h.
#include "server/control/rights.h"

static bool is_owner(const StorePackage *package, const Identity *who)
{
    return who != NULL && who->account != 0 && who->account == package->owner_id;
}

static bool is_operator(const Identity *who)
{
    const bool is_narrow = who != NULL && who->kind == SIGN_IN_TOKEN;
    return who != NULL && (who->roles & ROLE_OPERATOR) != 0 &&
           (!is_narrow || (who->scope & SCOPE_OPERATE) != 0);
}

static uint32_t rights_of_others(const StorePackage *package, StorePackageRole role)
{
    if (package->visibility == STORE_PRIVATE) {
        return 0;
    }
    if (role == STORE_BLOCKED) {
        return RIGHT_SEE;
    }
    const bool is_open = (package->flags & STORE_PACKAGE_OPEN) != 0;
    return RIGHT_SEE | RIGHT_PLAY | (is_open ? RIGHT_READ : 0);
}

uint32_t rights_of(const StorePackage *package, StorePackageRole role, const Identity *who)
{
    const bool is_removed = (package->flags & STORE_PACKAGE_REMOVED) != 0;
    const bool is_ones_own = is_owner(package, who);
    if (is_operator(who) || is_ones_own) {
        if (package->trashed_unix_ms != 0) {
            return RIGHT_SEE | RIGHT_READ | RIGHT_OWN;
        }
        return !is_removed        ? RIGHTS_ALL
               : is_operator(who) ? RIGHT_SEE | RIGHT_READ | RIGHT_OWN
                                  : RIGHT_SEE | RIGHT_READ;
    }
    if (package->trashed_unix_ms != 0 || is_removed) {
        return 0;
    }
    switch (role) {
    case STORE_EDITOR:
        return RIGHTS_ALL & ~(uint32_t)RIGHT_OWN;
    case STORE_TESTER:
        return RIGHT_SEE | RIGHT_PLAY | RIGHT_TEST | rights_of_others(package, role);
    case STORE_OFFERED:
        return RIGHT_SEE | rights_of_others(package, role);
    default:
        return rights_of_others(package, role);
    }
}

Status rights_find(Store *store, const char *package_id, const Identity *who, StorePackage *package,
                   uint32_t *rights)
{
    StorePackageRole role = STORE_NOBODY;
    Status status = store_package_find(store, package_id, package);
    if (status == STATUS_OK && who != NULL) {
        status = store_package_role(store, package_id, who->account, &role);
    }
    if (status != STATUS_OK) {
        return status;
    }
    *rights = rights_of(package, role, who);
    return (*rights & RIGHT_SEE) != 0 ? STATUS_OK : STATUS_NOT_FOUND;
}
