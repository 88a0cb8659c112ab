// Which script belongs to which entity on a client, for client_script.c alone.
#pragma once

#include "core/client/client_inside.h"

// The script that the scene gives an entity or an anchored part; NULL: none.
const PlaceBinding *client_binding(const Place *place, uint64_t net_id);
// Attributes and tags that the scene gives its anchored parts.
void client_bind_extras(Client *client);
// The attributes that parts had in the running world when it made this scene (place.h).
void client_bind_scene_rows(Client *client);
// Binds a script that was just loaded to its entities.
void client_bind_rune(Client *client, ClientRune *rune);
// Binds the scripts of the own character, if it is a new one or alive again.
void client_bind_own(Client *client);
// Binds the scripts of entities that entered since the last call.
void client_bind_entered(Client *client);
