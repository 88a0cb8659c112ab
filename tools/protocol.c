// Prints the texts that are generated from core/wire/schema.def.
//
//   protocol tables                      the tables of docs/PROTOCOL.md
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

static int update(const char *path, const char *tables, size_t bytes)
{
    char *page = read_page(path);
    if (page == NULL) {
        return fail("cannot read ", path);
    }
    char *begin = strstr(page, PROTOCOL_TABLES_BEGIN);
    char *end = strstr(page, PROTOCOL_TABLES_END);
    int result = 0;
    FILE *file = NULL;
    if (begin == NULL || end == NULL || end < begin) {
        result = fail("there are no markers in ", path);
    } else if ((file = fopen(path, "wb")) == NULL) {
        result = fail("cannot write ", path);
    } else {
        begin += strlen(PROTOCOL_TABLES_BEGIN);
        fwrite(page, 1, (size_t)(begin - page), file);
        fwrite(tables, 1, bytes, file);
        fwrite(end, 1, strlen(end), file);
        if (fclose(file) != 0) {
            result = fail("cannot write ", path);
        }
    }
    free(page);
    return result;
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
        protocol_tables_write(&writer);
        fwrite(text, 1, writer.at, stdout);
    } else if (strcmp(command, "update") == 0 && argument_count == 3) {
        protocol_tables_write(&writer);
        result = update(arguments[2], text, writer.at);
    } else {
        fprintf(stderr, "usage: protocol tables | update PAGE | vectors\n");
        result = 2;
    }
    ASSERT(writer.status == STATUS_OK);
    free(block);
    free(text);
    return result;
}
