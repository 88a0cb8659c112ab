// See rights.h.
#include "server/control/order/rights.h"

#include "server/store/place/store_publish.h"
#include "server/sys/clock.h"

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

// With a token that is for playing alone one is a player, also of what is one's own.
static bool is_only_playing(const Identity *who)
{
    return who != NULL && who->kind == SIGN_IN_TOKEN &&
           (who->scope & (SCOPE_CREATE | SCOPE_OPERATE)) == 0;
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

bool rights_teaches(Store *store, const StoreClass *class, const Identity *who)
{
    const bool is_narrow = who != NULL && who->kind == SIGN_IN_TOKEN;
    const bool is_teacher = who != NULL && (who->roles & ROLE_TEACHER) != 0 &&
                            (!is_narrow || (who->scope & SCOPE_OPERATE) != 0);
    return is_operator(who) ||
           (is_teacher && store_class_teaches(store, class, who->account) == STATUS_OK);
}

uint32_t rights_of(const StorePackage *package, StorePackageRole role, ClassPart part,
                   const Identity *who)
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
    if ((package->flags & STORE_PACKAGE_CLASS) != 0 && part != CLASS_PUPIL) {
        return part == CLASS_TEACHER
                   ? RIGHT_SEE | RIGHT_PLAY | RIGHT_TEST | RIGHT_READ | RIGHT_DRAFT
                   : 0;
    }
    switch (role) {
    case STORE_EDITOR:
        return RIGHTS_ALL & ~(uint32_t)RIGHT_OWN;
    case STORE_TESTER:
        return RIGHT_SEE | RIGHT_PLAY | RIGHT_TEST | rights_of_others(package, role);
    default:
        return rights_of_others(package, role);
    }
}

static Status find_part(Store *store, const char *package_id, const Identity *who, ClassPart *part,
                        bool *is_paused)
{
    StoreClass class;
    StorePupil pupil;
    Status status = store_class_of(store, package_id, &class);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status; // it was deleted
    }
    *is_paused = class.is_paused;
    if (rights_teaches(store, &class, who)) {
        *part = CLASS_TEACHER;
    } else if (who != NULL) {
        status = store_pupil_find(store, class.class_id, who->account, &pupil);
        *part = status == STATUS_OK ? CLASS_PUPIL : CLASS_NOBODY;
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static bool is_offered(Store *store, const StorePackage *package, const Identity *who)
{
    StoreOffer offer;
    return who != NULL && package->trashed_unix_ms == 0 &&
           (package->flags & STORE_PACKAGE_REMOVED) == 0 &&
           store_offer_find(store, package->package_id, &offer) == STATUS_OK &&
           offer.account_id == who->account && offer.expires_unix_ms > clock_unix_ms();
}

Status rights_find(Store *store, const char *package_id, const Identity *who, StorePackage *package,
                   uint32_t *rights)
{
    StorePackageRole role = STORE_NOBODY;
    ClassPart part = CLASS_NOBODY;
    bool is_paused = false;
    Status status = store_package_find(store, package_id, package);
    if (status == STATUS_OK && who != NULL) {
        status = store_package_role(store, package_id, who->account, &role);
    }
    if (status == STATUS_OK && (package->flags & STORE_PACKAGE_CLASS) != 0) {
        status = find_part(store, package_id, who, &part, &is_paused);
    }
    if (status != STATUS_OK) {
        return status;
    }
    *rights = rights_of(package, role, part, who);
    if (is_only_playing(who)) {
        const uint32_t of_others = rights_of_others(package, role);
        *rights &= RIGHT_SEE | RIGHT_PLAY | RIGHT_TEST | of_others;
    }
    if (*rights == 0 && is_offered(store, package, who)) {
        *rights = RIGHT_SEE;
    }
    if (is_paused) {
        *rights &= ~(uint32_t)(RIGHT_PLAY | RIGHT_TEST);
    }
    return (*rights & RIGHT_SEE) != 0 ? STATUS_OK : STATUS_NOT_FOUND;
}

Status rights_team(Store *store, const StorePackage *package, uint64_t account)
{
    StoreClass class;
    StorePupil pupil;
    if ((package->flags & STORE_PACKAGE_CLASS) == 0) {
        return STATUS_OK;
    }
    Status status = store_class_of(store, package->package_id, &class);
    status =
        status == STATUS_OK ? store_pupil_find(store, class.class_id, account, &pupil) : status;
    return status == STATUS_NOT_FOUND ? STATUS_DENIED : status;
}
