// What a pupil is called in an answer. People outside of the class read an alias instead of the
// names, unless the teacher allows it (server/control/order/class.h). Every answer that names an
// account to somebody who is not an operator goes through here.
#pragma once

#include "server/control/identity.h"
#include "server/serve/serve_inside.h"

// Puts the alias in place of both names if `who` (NULL: nobody) must not know them. Waits for the
// disk.
void pupil_name_hide(const Serve *serve, const Identity *who, StoreAccount *account);
