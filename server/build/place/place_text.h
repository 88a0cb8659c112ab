// Checks that the texts of a place are UTF-8 without control characters, so that no bytecode and no
// other file is taken for a script. All are checked before anything else reads them.
#pragma once

#include "core/base/text_problem.h"
#include "server/build/base/diagnostic.h"
#include "server/build/place/place_folder.h"

// Everything in the folder but .chunk files: each text that is none becomes an error with its file
// and line. Gives how many there were.
uint32_t place_text_check(const PlaceFolder *folder, DiagnosticList *diagnostics);
