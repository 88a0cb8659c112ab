// See pupil_name.h.
#include "server/serve/people/pupil_name.h"

#include "server/control/order/class.h"
#include "server/control/order/rights.h"

#include <string.h>

// Do they read what the class calls its pupil?
static bool is_of_class(const Serve *serve, const char *class_id, uint64_t pupil,
                        const Identity *who)
{
    StoreClass class;
    return who->account == pupil || control_is_pupil_of(serve->control, class_id, who->account) ||
           (store_class_find(serve->store, class_id, &class) == STATUS_OK &&
            rights_teaches(serve->store, &class, who));
}

// True: they may read the names, in class_id what the class calls its pupil ("": the shown name).
static bool find_name(const Serve *serve, const Identity *who, const StoreAccount *account,
                      char class_id[65])
{
    char ids[CLASSES_OF_PUPIL_MAX][65];
    class_id[0] = '\0';
    if (serve->control == NULL || (who != NULL && (who->roles & ROLE_OPERATOR) != 0)) {
        return true;
    }
    const uint32_t count = control_classes_of(serve->control, account->account_id, ids,
                                              who != NULL ? CLASSES_OF_PUPIL_MAX : 0);
    for (uint32_t i = 0; i < count; i++) {
        if (is_of_class(serve, ids[i], account->account_id, who)) {
            memcpy(class_id, ids[i], sizeof ids[i]);
            return true;
        }
    }
    return (who != NULL && who->account == account->account_id) ||
           !control_name_is_closed(serve->control, account->account_id, account->roles);
}

bool pupil_name_is_known(const Serve *serve, const Identity *who, const StoreAccount *account)
{
    char class_id[65];
    return find_name(serve, who, account, class_id);
}

void pupil_name_show(const Serve *serve, const Identity *who, StoreAccount *account)
{
    char class_id[65], alias[STORE_SHOWN_BYTES];
    if (!find_name(serve, who, account, class_id)) {
        store_pupil_alias(account->account_id, alias);
        _Static_assert(sizeof "Pupil 99999" <= sizeof account->name, "an alias fits");
        memcpy(account->name, alias, sizeof account->name);
        memcpy(account->shown_name, alias, sizeof account->shown_name);
    } else if (class_id[0] != '\0') {
        control_class_name(serve->control, class_id, account->account_id, account->shown_name);
    }
}

void pupil_name_own(const Serve *serve, const Identity *who, char name[STORE_SHOWN_BYTES])
{
    char ids[1][65];
    memcpy(name, who->shown_name, STORE_SHOWN_BYTES);
    if (serve->control != NULL && control_classes_of(serve->control, who->account, ids, 1) == 1) {
        control_class_name(serve->control, ids[0], who->account, name);
    }
}
