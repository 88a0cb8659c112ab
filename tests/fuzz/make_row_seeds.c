// Writes a row of each type into the folder given: where the search for fuzz_row begins.
#include "core/base/check.h"
#include "core/world/save/row.h"

#include <stdio.h>
#include <string.h>

static uint8_t bytes[8192];
static ByteWriter writer;

static void keep(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ASSERT(writer.status == STATUS_OK);
    FILE *file = fopen(path, "wb");
    ASSERT(file != NULL);
    ASSERT(fwrite(bytes, 1, writer.at, file) == writer.at);
    ASSERT(fclose(file) == 0);
    writer = byte_writer(bytes, sizeof bytes);
}

static void keep_attributes(const char *folder)
{
    uint8_t attributes[256];
    ByteWriter inner = byte_writer(attributes, sizeof attributes);
    const NetValue value = {.type = NET_VALUE_NUMBER, .number = 4};
    net_attributes_write_name(&inner, text_from(""));
    net_attributes_write_one(&inner, text_from("gold"), &value);
    net_attributes_write_end(&inner);
    net_attributes_write_tag(&inner, text_from("gold"));
    net_attributes_write_end(&inner);
    ASSERT(inner.status == STATUS_OK);
    row_put_attributes(text_from("Vault"), 0, attributes, inner.at, &writer);
    row_put_attributes(text_from(""), 7, attributes, inner.at, &writer);
    row_put_attributes(text_from(""), ROW_SCENE_ID | 7, attributes, inner.at, &writer);
    row_delete_attributes(text_from("Vault"), 0, &writer);
    keep(folder, "attributes");
}

int main(int argument_count, char **arguments)
{
    ASSERT(argument_count == 2);
    const char *folder = arguments[1];
    writer = byte_writer(bytes, sizeof bytes);
    row_put_meta(&(RowMeta){.next_net_id = 70000, .next_player = 9, .tick = 100}, &writer);
    keep(folder, "meta");
    const RowPlayer player = {.account = 7,
                              .player = 1,
                              .entity = 9,
                              .health = 80,
                              .name = text_from("ann"),
                              .team = text_from("")};
    row_put_player(&player, &writer);
    keep(folder, "player");
    RowProfiles profiles = {.account = 7};
    (void)row_repair(&profiles, text_from("ann"));
    row_put_profiles(&profiles, &writer);
    keep(folder, "profiles");
    const RowResume resume = {.token_hash = {1, 2, 3}, .account = 7, .player = 1};
    row_put_resume(&resume, &writer);
    row_delete_resume(resume.token_hash, &writer);
    keep(folder, "resume");
    const RowStructure structure = {.desc = {.net_id = 12, .owner_id = 1, .cell = {-5, 0, 3}},
                                    .health = 50};
    row_put_structure(&structure, &writer);
    row_delete_structure(12, &writer);
    keep(folder, "structure");
    const uint8_t difference[] = {1, 0, 0, 0, 1};
    row_put_chunk((ChunkCoord){-1, 0, 5}, difference, sizeof difference, &writer);
    keep(folder, "chunk");
    keep_attributes(folder);
    return 0;
}
