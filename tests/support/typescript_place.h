// A place with TypeScript in memory, for tests: files as {path, text}, as a scan of the folder
// would find them.
#pragma once

#include "server/build/typescript/typescript.h"

#define TYPESCRIPT_PLACE_MAX 32

typedef struct TypeScriptPlace {
    PlaceFile files[TYPESCRIPT_PLACE_MAX];
    Soul souls[TYPESCRIPT_PLACE_MAX];
    SoulList list;
} TypeScriptPlace;

// For tests that are not about how long a silent compiler is waited for: a busy machine passes too.
TypeScriptConfig typescript_config_patient(void);
// Both texts are kept by pointer. The path is "Workspace/Door.ts", with or without SoulService/.
void typescript_place_add(TypeScriptPlace *place, const char *path, const char *text);
void typescript_place_set(TypeScriptPlace *place, const char *path, const char *text);
const TypeScriptOutput *typescript_place_find(const TypeScriptResult *result, const char *path);
