// What scripts cost and how they fail, out of the world and to the host, once a second.
#pragma once

#include "server/shell/world_loop.h"

// Fills what `stats` says of scripts, and sends the table (script_table.h) if something has run.
void script_report(WorldLoop *loop, HostStats *stats);
