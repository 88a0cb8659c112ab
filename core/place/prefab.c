// Prefabs by name; see prefab.h.
#include "core/place/prefab.h"

#include <string.h>

const Prefab *prefab_find(const PrefabTable *table, Text name)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const Text known = table->prefabs[i].name;
        if (known.bytes == name.bytes && memcmp(known.data, name.data, name.bytes) == 0) {
            return &table->prefabs[i];
        }
    }
    return NULL;
}
