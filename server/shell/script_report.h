// What scripts cost and how they fail, out of the world and to the host: numbers once a second, a
// fault at the end of its tick.
#pragma once

#include "server/shell/world_loop.h"

// Fills what `stats` says of scripts, and sends the table (script_table.h) if something has run.
void script_report(WorldLoop *loop, HostStats *stats);
// After each tick: sends the table again if a script has failed.
void script_report_faults(WorldLoop *loop);
