// What a pupil is called in an answer: in the class what the class calls them, elsewhere by an
// alias, or by the shown name if the teacher allows it (server/control/order/class.h). Every answer
// that names an account to somebody who is not an operator goes through here. Operators read the
// names that nobody else has.
#pragma once

#include "server/control/identity.h"
#include "server/serve/serve_inside.h"

// Puts what `who` (NULL: nobody) may read in place of both names. Waits for the disk.
void pupil_name_show(const Serve *serve, const Identity *who, StoreAccount *account);
// May `who` find the account by its name? Whoever could try names until one fits would learn whose
// alias they have met. Waits for the disk.
bool pupil_name_is_known(const Serve *serve, const Identity *who, const StoreAccount *account);
// What they themselves read. Does not wait.
void pupil_name_own(const Serve *serve, const Identity *who, char name[STORE_SHOWN_BYTES]);
