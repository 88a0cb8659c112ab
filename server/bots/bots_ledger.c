// What the server said is stored: it must be there again after everything. A file of lines,
//
//   structure <entity> | gone-structure <entity> | voxel x y z kind
//
// written by one run and checked by another, whose clients have seen nothing of the first.
#include "server/bots/bots_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Status ledger_init(Ledger *ledger)
{
    *ledger = (Ledger){.items = calloc(BOTS_LEDGER_MAX, sizeof(LedgerItem))};
    return ledger->items != NULL ? STATUS_OK : STATUS_LIMIT;
}

void ledger_deinit(Ledger *ledger)
{
    free(ledger->items);
    *ledger = (Ledger){0};
}

LedgerItem *ledger_voxel(Ledger *ledger, VoxelCoord at)
{
    for (uint32_t i = 0; i < ledger->count; i++) {
        LedgerItem *item = &ledger->items[i];
        if (!item->is_structure && item->voxel.x == at.x && item->voxel.y == at.y &&
            item->voxel.z == at.z) {
            return item;
        }
    }
    return NULL;
}

LedgerItem *ledger_structure(Ledger *ledger, uint64_t entity)
{
    for (uint32_t i = 0; i < ledger->count; i++) {
        if (ledger->items[i].is_structure && ledger->items[i].entity == entity) {
            return &ledger->items[i];
        }
    }
    return NULL;
}

static LedgerItem *add_item(Ledger *ledger)
{
    return ledger->count < BOTS_LEDGER_MAX ? &ledger->items[ledger->count++] : NULL;
}

void ledger_doubt_voxel(Ledger *ledger, VoxelCoord at)
{
    LedgerItem *item = ledger_voxel(ledger, at);
    item = item != NULL ? item : add_item(ledger);
    if (item != NULL) {
        *item = (LedgerItem){.state = LEDGER_UNSURE, .voxel = at};
    }
}

void ledger_store(Ledger *ledger, const BotCommand *command)
{
    LedgerItem *item = NULL;
    ledger->durable += 1;
    if (command->number == MESSAGE_TERRAFORM) {
        item = ledger_voxel(ledger, command->voxel);
        if (item != NULL) {
            *item = (LedgerItem){.voxel = command->voxel, .kind = command->kind};
        }
    } else if (command->number == MESSAGE_BUILD_PLACE && command->entity != 0) {
        item = add_item(ledger);
        if (item != NULL) {
            *item =
                (LedgerItem){.is_structure = true, .bot = command->bot, .entity = command->entity};
        }
    } else if (command->number == MESSAGE_BUILD_REMOVE) {
        item = ledger_structure(ledger, command->entity);
        if (item != NULL) {
            item->state = LEDGER_GONE;
        }
    }
}

Status ledger_write(const Ledger *ledger, const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return STATUS_BLOCKED;
    }
    for (uint32_t i = 0; i < ledger->count; i++) {
        const LedgerItem *item = &ledger->items[i];
        if (item->state == LEDGER_UNSURE) {
            continue;
        }
        if (item->is_structure) {
            fprintf(file, "%sstructure %" PRIu64 "\n", item->state == LEDGER_GONE ? "gone-" : "",
                    item->entity);
        } else {
            fprintf(file, "voxel %d %d %d %u\n", item->voxel.x, item->voxel.y, item->voxel.z,
                    (unsigned)item->kind);
        }
    }
    const bool failed = ferror(file) != 0;
    return fclose(file) == 0 && !failed ? STATUS_OK : STATUS_BLOCKED;
}

static bool read_line(const char *line, LedgerItem *out)
{
    unsigned kind;
    *out = (LedgerItem){0};
    if (sscanf(line, "voxel %d %d %d %u", &out->voxel.x, &out->voxel.y, &out->voxel.z, &kind) ==
        4) {
        out->kind = (VoxelKind)(kind & 0xffff);
        return true;
    }
    out->is_structure = true;
    if (sscanf(line, "gone-structure %" SCNu64, &out->entity) == 1) {
        out->state = LEDGER_GONE;
        return true;
    }
    return sscanf(line, "structure %" SCNu64, &out->entity) == 1;
}

Status ledger_read(Ledger *ledger, const char *path)
{
    char line[128];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return STATUS_NOT_FOUND;
    }
    Status status = STATUS_OK;
    while (status == STATUS_OK && fgets(line, sizeof line, file) != NULL) {
        LedgerItem item;
        LedgerItem *at = NULL;
        if (!read_line(line, &item)) {
            status = STATUS_MALFORMED;
        } else {
            at = add_item(ledger);
            status = at != NULL ? STATUS_OK : STATUS_LIMIT;
        }
        if (at != NULL) {
            *at = item;
        }
    }
    fclose(file);
    return status;
}
