// Writes transactions, messages, a document and two scenes into the folders given (of fuzz_edit and
// of fuzz_edit_text): where their searches begin.
#include "core/base/check.h"
#include "core/edit/session_message.h"
#include "tests/support/edit_fixture.h"

#include <stdio.h>
#include <string.h>

static void keep(const char *folder, const char *name, const void *bytes, size_t count)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ASSERT(file != NULL);
    ASSERT(fwrite(bytes, 1, count, file) == count);
    ASSERT(fclose(file) == 0);
}

static void keep_ops(Heap *heap, const char *folder, EditDoc *doc, uint32_t number)
{
    Rng rng = rng_make(number, 9);
    EditBuffer ops = edit_fixture_ops(heap);
    const size_t head = ops.bytes;
    edit_fixture_random(doc, &rng, 20, &ops);
    EditBuffer out = edit_buffer(heap, 1u << 20);
    edit_buffer_u8(&out, 0);
    edit_buffer_append(&out, ops.data + head, ops.bytes - head);
    char name[32];
    (void)snprintf(name, sizeof name, "ops_%u", (unsigned)number);
    keep(folder, name, out.data, out.bytes);
    edit_buffer_clear(&out);
    edit_buffer_u8(&out, 1);
    EditBuffer message = edit_buffer(heap, 1u << 20);
    edit_up_write(&(EditUp){.type = EDIT_UP_OPS,
                            .n = 1,
                            .label = text_from("Seed"),
                            .ops = ops.data,
                            .ops_bytes = ops.bytes},
                  &message);
    edit_buffer_block(&out, message.data, message.bytes);
    edit_buffer_clear(&message);
    edit_up_write(&(EditUp){.type = EDIT_UP_UNDO, .n = 2, .undo = 1}, &message);
    edit_buffer_block(&out, message.data, message.bytes);
    (void)snprintf(name, sizeof name, "session_%u", (unsigned)number);
    keep(folder, name, out.data, out.bytes);
    edit_buffer_free(&message);
    edit_buffer_free(&out);
    edit_buffer_free(&ops);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        (void)fprintf(stderr, "usage: make_edit_seeds FOLDER FOLDER_OF_TEXTS\n");
        return 2;
    }
    Heap heap = heap_make(64u << 20);
    EditDoc *doc = edit_fixture_doc(&heap, EDIT_SCENE_TEXT);
    for (uint32_t i = 1; i <= 12; i++) {
        keep_ops(&heap, argv[1], doc, i);
    }
    EditBuffer bytes = edit_buffer(&heap, 1u << 20);
    edit_buffer_u8(&bytes, 2);
    edit_doc_write(doc, &bytes);
    keep(argv[1], "document", bytes.data, bytes.bytes);
    static const char other[] =
        "{\"entities\": [{\"id\": 20}, {\"id\": 12, \"parent\": 20}, {\"id\": 7}],\"format\":1}";
    edit_buffer_clear(&bytes);
    edit_buffer_append(&bytes, EDIT_SCENE_TEXT, strlen(EDIT_SCENE_TEXT) + 1);
    edit_buffer_append(&bytes, other, sizeof other - 1);
    keep(argv[2], "two", bytes.data, bytes.bytes);
    keep(argv[2], "small", other, sizeof other - 1);
    edit_buffer_free(&bytes);
    edit_doc_destroy(doc);
    return 0;
}
