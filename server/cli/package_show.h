// Prints a package for a person (a table) and for a program (JSON).
#pragma once

#include "server/build/package/package.h"
#include "server/build/place/soul.h"

#include <stdio.h>

typedef struct PackageShown {
    const char *path; // the inspected file or folder
    const PackageInfo *info;
    bool is_folder;
    size_t archive_bytes;
    const SoulList *souls;
    const DiagnosticList *diagnostics;
} PackageShown;

void package_show_table(const PackageShown *shown, FILE *out);
bool package_show_json(const PackageShown *shown); // returns what command_json_print returns
// "1.5 MiB"
void package_show_bytes(uint64_t bytes, char out[16]);
