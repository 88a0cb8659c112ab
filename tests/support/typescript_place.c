// See typescript_place.h.
#include "tests/support/typescript_place.h"

#include "core/base/check.h"

#include <stdio.h>
#include <string.h>

TypeScriptConfig typescript_config_patient(void)
{
    TypeScriptConfig config = typescript_config_default();
    config.quiet_ms *= 6;
    return config;
}

void typescript_place_add(TypeScriptPlace *place, const char *path, const char *text)
{
    ASSERT(place->list.count < TYPESCRIPT_PLACE_MAX);
    const uint32_t i = place->list.count++;
    place->list.items = place->souls;
    place->files[i] =
        (PlaceFile){.path = path, .data = (const uint8_t *)text, .bytes = strlen(text)};
    Soul *soul = &place->souls[i];
    *soul = (Soul){.file = &place->files[i]};
    const char *plain = strncmp(path, "SoulService/", 12) == 0 ? path + 12 : path;
    const char *dot = strrchr(plain, '.');
    soul->language = strcmp(dot, ".ts") == 0 ? SOUL_TYPESCRIPT : SOUL_LUA;
    soul->replicate = strncmp(plain, "ServerScriptService/", 20) != 0;
    snprintf(soul->path, sizeof soul->path, "%.*s", (int)(dot - plain), plain);
}

void typescript_place_set(TypeScriptPlace *place, const char *path, const char *text)
{
    for (uint32_t i = 0; i < place->list.count; i++) {
        if (strcmp(place->files[i].path, path) == 0) {
            place->files[i].data = (const uint8_t *)text;
            place->files[i].bytes = strlen(text);
        }
    }
}

const TypeScriptOutput *typescript_place_find(const TypeScriptResult *result, const char *path)
{
    for (uint32_t i = 0; i < result->count; i++) {
        if (strcmp(result->items[i].path, path) == 0) {
            return &result->items[i];
        }
    }
    return NULL;
}
