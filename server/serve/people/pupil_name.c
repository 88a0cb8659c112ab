// See pupil_name.h.
#include "server/serve/people/pupil_name.h"

#include "server/control/order/class.h"
#include "server/control/order/rights.h"

#include <string.h>

#define CLASSES_MAX 16 // of one pupil

static bool is_taught_by(const Serve *serve, uint64_t account, const Identity *who)
{
    char ids[CLASSES_MAX][65];
    const uint32_t count = control_classes_of(serve->control, account, ids, CLASSES_MAX);
    bool is_taught = false;
    for (uint32_t i = 0; i < count && !is_taught; i++) {
        StoreClass class;
        is_taught = store_class_find(serve->store, ids[i], &class) == STATUS_OK &&
                    rights_teaches(serve->store, &class, who);
    }
    return is_taught;
}

void pupil_name_hide(const Serve *serve, const Identity *who, StoreAccount *account)
{
    if (serve->control == NULL ||
        !control_name_is_closed(serve->control, account->account_id, account->roles)) {
        return;
    }
    const bool may_know =
        who != NULL &&
        (who->account == account->account_id || (who->roles & ROLE_OPERATOR) != 0 ||
         control_is_classmate(serve->control, account->account_id, who->account, "") ||
         is_taught_by(serve, account->account_id, who));
    if (!may_know) {
        char alias[STORE_SHOWN_BYTES];
        store_pupil_alias(account->account_id, alias);
        _Static_assert(sizeof "Pupil 99999" <= sizeof account->name, "an alias fits");
        memcpy(account->name, alias, sizeof account->name);
        memcpy(account->shown_name, alias, sizeof account->shown_name);
    }
}
