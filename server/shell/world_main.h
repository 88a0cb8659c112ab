// The program of a world process (`sandlot world-process`), started by a host with the channel as
// descriptor 3.
#pragma once

int world_main(void); // the exit code
