// Which script belongs to which entity on a client, for client_script.c alone.
#pragma once

#include "core/client/client_inside.h"

// Attributes and tags that the scene gives its anchored parts.
void client_bind_extras(Client *client);
// A script that was just loaded gets its instances.
void client_bind_rune(Client *client, ClientRune *rune);
// The scripts of the own character, when it is another or alive again.
void client_bind_own(Client *client);
// The scripts of entities that entered since the last call.
void client_bind_entered(Client *client);
