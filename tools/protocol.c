// Prints the texts that are generated from core/wire: schema.def, error.def, limit.def, answer.def.
//
//   protocol tables                      the generated parts of docs/PROTOCOL.md
//   protocol update docs/PROTOCOL.md     writes them between the markers of the page
//   protocol vectors                     tests/vectors/messages.json
#include "core/base/check.h"
#include "tests/support/protocol_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES  (4u << 20)
#define ARENA_BYTES (1u << 20)

static int fail(const char *message, const char *what)
{
    fprintf(stderr, "protocol: %s%s\n", message, what);
    return 1;
}

static char *read_page(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, TEXT_BYTES);
    if (file == NULL || text == NULL || fread(text, 1, TEXT_BYTES - 1, file) == TEXT_BYTES - 1) {
        free(text);
        text = NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

// Copies the page up to a region, then what the region is printed as; the rest is left in *from.
static bool put_region(const ProtocolRegion *region, const char **from, ByteWriter *out)
{
    const char *begin = NULL;
    const char *end = NULL;
    if (!protocol_region_find(*from, region, &begin, &end)) {
        return false;
    }
    byte_write_bytes(out, *from, (size_t)(begin - *from));
    region->write(out);
    *from = end;
    return true;
}

static int update(const char *path, ByteWriter *out)
{
    char *page = read_page(path);
    if (page == NULL) {
        return fail("cannot read ", path);
    }
    const char *from = page;
    for (uint32_t i = 0; protocol_region_at(i) != NULL; i++) {
        if (!put_region(protocol_region_at(i), &from, out)) {
            free(page);
            fprintf(stderr, "protocol: %s has no markers, in this order, for: %s\n", path,
                    protocol_region_at(i)->name);
            return 1;
        }
    }
    byte_write_bytes(out, from, strlen(from));
    ASSERT(out->status == STATUS_OK);
    free(page);
    FILE *file = fopen(path, "wb");
    const bool written = file != NULL && fwrite(out->data, 1, out->at, file) == out->at;
    const bool closed = file != NULL && fclose(file) == 0;
    return written && closed ? 0 : fail("cannot write ", path);
}

int main(int argument_count, char **arguments)
{
    const char *command = argument_count > 1 ? arguments[1] : "";
    char *text = malloc(TEXT_BYTES);
    void *block = aligned_alloc(16, ARENA_BYTES);
    ASSERT(text != NULL && block != NULL);
    ByteWriter writer = byte_writer(text, TEXT_BYTES);
    Arena arena;
    arena_init(&arena, block, ARENA_BYTES);
    int result = 0;
    if (strcmp(command, "vectors") == 0) {
        protocol_vectors_write(&writer, &arena);
        fwrite(text, 1, writer.at, stdout);
    } else if (strcmp(command, "tables") == 0) {
        for (uint32_t i = 0; protocol_region_at(i) != NULL; i++) {
            protocol_region_at(i)->write(&writer);
        }
        fwrite(text, 1, writer.at, stdout);
    } else if (strcmp(command, "update") == 0 && argument_count == 3) {
        result = update(arguments[2], &writer);
    } else {
        fprintf(stderr, "usage: protocol tables | update PAGE | vectors\n");
        result = 2;
    }
    ASSERT(writer.status == STATUS_OK);
    free(block);
    free(text);
    return result;
}
