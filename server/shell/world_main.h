// The shell around a world: the program of a world process (`sandlot world-process`), which a host
// starts with the channel as descriptor 3.
//
// Everything in server/shell runs in the jail, because it reads the bytes of players and of places.
// It gives core/world what core/ has not: a clock (world_loop.h), the players' sockets
// (world_socket.h), the channel to its host, and the check of what scripts it may run
// (rune_gate.h). Nothing outside refers to this room but the table of roles in server/cli/main.c.
#pragma once

int world_main(void); // the exit code
