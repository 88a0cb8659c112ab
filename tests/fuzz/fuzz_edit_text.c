// A scene.json of any text, and behind a zero byte another one: what can be read is written again
// to the byte, the difference to the other makes that one, and an edit changes only what it names.
#include "core/base/check.h"
#include "core/edit/diff.h"
#include "tests/support/edit_fixture.h"

#include <string.h>

#define INPUT_BYTES_MAX (1 << 14)
#define HEAP_BYTES      (256u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static EditText *open_scene(Heap *heap, const uint8_t *data, size_t size, EditDoc **doc)
{
    const EditTexts texts = {text_from(EDIT_PLACE), {(const char *)data, size}};
    EditText *text = NULL;
    PlaceError error;
    const Status status = edit_text_open(heap, (EditBlobs){0}, texts, &text, doc, &error);
    ASSERT(status == error.status);
    return text;
}

static void check_unchanged(EditText *text, EditDoc *doc, const uint8_t *data, size_t size)
{
    const Status status = edit_text_write(text, doc);
    const Text now = edit_text_now(text).scene;
    ASSERT(status == STATUS_OK && now.bytes == size && memcmp(now.data, data, size) == 0);
}

// Names everything anew.
static void check_edited(Heap *heap, EditText *text, EditDoc *doc)
{
    EditBuffer ops = edit_fixture_ops(heap);
    uint32_t id = edit_doc_first(doc, EDIT_ENTITY);
    for (; id != 0; id = edit_doc_next(doc, EDIT_ENTITY, id)) {
        edit_fixture_set(&ops, EDIT_ENTITY, id, "name", "\"New\"");
        edit_fixture_set(&ops, EDIT_ENTITY, id, "transform.position", "[0, 0, 0]");
    }
    edit_fixture_set(&ops, EDIT_SCENE, 0, "bounds.max", "[3, 3, 3]");
    Status status = edit_fixture_apply(doc, &ops, NULL);
    ASSERT(status == STATUS_OK);
    status = edit_text_write(text, doc);
    ASSERT(status == STATUS_OK);
    const Text now = edit_text_now(text).scene;
    EditDoc *again = NULL;
    EditText *other = open_scene(heap, (const uint8_t *)now.data, now.bytes, &again);
    ASSERT(other != NULL && edit_doc_hash(again) == edit_doc_hash(doc));
    edit_text_close(other);
    edit_doc_destroy(again);
}

static void check_difference(Heap *heap, EditDoc *from, const EditDoc *to)
{
    EditBuffer ops = edit_buffer(heap, 8u << 20);
    Status status = edit_diff(from, to, &ops);
    ASSERT(status == STATUS_OK);
    status = edit_fixture_apply(from, &ops, NULL);
    ASSERT(status == STATUS_OK && edit_doc_hash(from) == edit_doc_hash(to));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > INPUT_BYTES_MAX) {
        return 0;
    }
    const uint8_t *zero = memchr(data, 0, size);
    const size_t first = zero == NULL ? size : (size_t)(zero - data);
    Heap heap = heap_make(HEAP_BYTES);
    EditDoc *doc = NULL;
    EditDoc *other = NULL;
    EditText *text = open_scene(&heap, data, first, &doc);
    EditText *other_text =
        zero == NULL ? NULL : open_scene(&heap, zero + 1, size - first - 1, &other);
    if (text != NULL) {
        check_unchanged(text, doc, data, first);
        check_edited(&heap, text, doc);
    }
    if (text != NULL && other_text != NULL) {
        check_difference(&heap, doc, other);
    }
    edit_text_close(text);
    edit_text_close(other_text);
    edit_doc_destroy(doc);
    edit_doc_destroy(other);
    ASSERT(heap.bytes_now == 0);
    return 0;
}
