// Operations of an editor: any bytes are a transaction on a small document, a message to an edit
// session, a clip that is pasted, or a document. What is refused changes nothing; what is applied
// can be taken back exactly, and the texts of the result read back as the same document.
#include "core/base/check.h"
#include "core/edit/pending.h"
#include "core/edit/session.h"
#include "tests/support/edit_fixture.h"

#include <string.h>

#define INPUT_BYTES_MAX (1 << 14)
#define HEAP_BYTES      (256u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(Heap *heap, EditText *text, EditDoc *doc)
{
    Status status = edit_text_write(text, doc);
    ASSERT(status == STATUS_OK);
    EditDoc *again = NULL;
    EditText *other = NULL;
    PlaceError error;
    status = edit_text_open(heap, (EditBlobs){0}, edit_text_now(text), &other, &again, &error);
    ASSERT(status == STATUS_OK);
    EditBuffer ops = edit_fixture_ops(heap);
    for (uint32_t i = 0; i < edit_doc_file_count(doc); i++) {
        const EditFile *file = edit_doc_file_at(doc, i);
        edit_op_file(&ops, file->path, file->hash, NULL);
    }
    status = edit_fixture_apply(again, &ops, NULL);
    ASSERT(status == STATUS_OK && edit_doc_hash(again) == edit_doc_hash(doc));
    edit_text_close(other);
    edit_doc_destroy(again);
}

// Puts the head before the bytes: a search that must guess it finds little.
static void check_ops(Heap *heap, const uint8_t *data, size_t size)
{
    EditDoc *doc = NULL;
    EditText *text = edit_fixture_open(heap, EDIT_SCENE_TEXT, &doc);
    EditBuffer ops = edit_fixture_ops(heap);
    edit_buffer_append(&ops, data, size);
    const uint64_t before = edit_doc_hash(doc);
    EditInverse inverse = edit_inverse(heap);
    EditError error = {0};
    const Status status = edit_apply(doc, ops.data, ops.bytes, &inverse, &error);
    if (status == STATUS_OK) {
        check_text(heap, text, doc);
        edit_take_back(doc, &inverse);
    } else {
        ASSERT(error.message[0] != '\0');
    }
    ASSERT(edit_doc_hash(doc) == before);
    edit_inverse_free(&inverse);
    edit_buffer_free(&ops);
    edit_text_close(text);
    edit_doc_destroy(doc);
}

static Status store(void *user, uint64_t seq, const uint8_t *row, size_t bytes)
{
    (void)user;
    (void)row;
    ASSERT(seq > 0 && bytes > 0);
    return STATUS_OK;
}

// What the session tells is what a page understands.
static void hear(void *user, uint32_t editor, const uint8_t *bytes, size_t count)
{
    if (editor != 1) {
        return; // the one who sends; it is only refused
    }
    EditNews news;
    const Status status = edit_pending_receive(user, bytes, count, &news);
    ASSERT(status == STATUS_OK && !news.is_stale);
}

static void check_session(Heap *heap, const uint8_t *data, size_t size)
{
    EditDoc *doc = edit_fixture_doc(heap, EDIT_SCENE_TEXT);
    EditDoc *page = edit_fixture_doc(heap, EDIT_SCENE_TEXT);
    EditPending *pending = NULL;
    EditSession *session = NULL;
    Status status = edit_pending_create(heap, page, 1, 0, &pending);
    ASSERT(status == STATUS_OK);
    const EditSessionConfig config = {.user = pending, .store = store, .send = hear};
    status = edit_session_create(heap, doc, &config, &session);
    ASSERT(status == STATUS_OK);
    edit_session_join(session, 1, 0);
    // Messages, each behind its length.
    ByteReader reader = byte_reader(data, size);
    while (byte_reader_left(&reader) > 0) {
        size_t bytes;
        const uint8_t *message = edit_read_block(&reader, &bytes);
        if (message == NULL) {
            break;
        }
        edit_session_receive(session, 2, message, bytes);
        EditNews news;
        status_ignore(edit_pending_receive(pending, message, 0, &news)); // refused
    }
    ASSERT(edit_doc_hash(page) == edit_doc_hash(doc));
    edit_session_destroy(session);
    edit_pending_destroy(pending);
    edit_doc_destroy(doc);
    edit_doc_destroy(page);
}

static const uint8_t *find_clip(void *user, const uint8_t hash[SHA256_BYTES], size_t *bytes)
{
    const EditBuffer *clip = user;
    (void)hash;
    *bytes = clip->bytes;
    return clip->data;
}

// Any clip gives the same document to a page that has never seen it, or is refused.
static void check_clip(Heap *heap, const uint8_t *data, size_t size)
{
    static const uint8_t hash[SHA256_BYTES] = {1};
    EditBuffer clip = edit_buffer(heap, 1u << 20), message = edit_buffer(heap, 1u << 20);
    EditBuffer ops = edit_fixture_ops(heap);
    EditDoc *doc = edit_fixture_doc(heap, EDIT_SCENE_TEXT);
    EditDoc *page = edit_fixture_doc(heap, EDIT_SCENE_TEXT);
    EditPending *pending = NULL;
    EditSession *session = NULL;
    edit_ops_begin(&clip); // the head of a clip is that of a transaction
    edit_buffer_append(&clip, data, size);
    edit_doc_set_blobs(doc, (EditBlobs){&clip, find_clip});
    Status status = edit_pending_create(heap, page, 1, 0, &pending);
    ASSERT(status == STATUS_OK);
    const EditSessionConfig config = {.user = pending, .store = store, .send = hear};
    status = edit_session_create(heap, doc, &config, &session);
    ASSERT(status == STATUS_OK);
    edit_session_join(session, 1, 0);
    edit_op_paste(&ops, hash, 3, 20, vec3(1, 2, 3));
    edit_up_write(&(EditUp){.type = EDIT_UP_OPS, .n = 1, .ops = ops.data, .ops_bytes = ops.bytes},
                  &message);
    edit_session_receive(session, 2, message.data, message.bytes);
    ASSERT(edit_doc_hash(page) == edit_doc_hash(doc));
    edit_session_destroy(session);
    edit_pending_destroy(pending);
    edit_doc_destroy(doc);
    edit_doc_destroy(page);
    edit_buffer_free(&ops);
    edit_buffer_free(&message);
    edit_buffer_free(&clip);
}

static void check_doc(Heap *heap, const uint8_t *data, size_t size)
{
    EditDoc *doc = NULL;
    if (edit_doc_open(heap, (EditBlobs){0}, data, size, &doc) == STATUS_OK) {
        EditBuffer out = edit_buffer(heap, 8u << 20);
        edit_doc_write(doc, &out);
        EditDoc *again = NULL;
        const Status status = edit_doc_open(heap, (EditBlobs){0}, out.data, out.bytes, &again);
        ASSERT(status == STATUS_OK && edit_doc_hash(again) == edit_doc_hash(doc));
        edit_doc_destroy(again);
        edit_buffer_free(&out);
    }
    edit_doc_destroy(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > INPUT_BYTES_MAX) {
        return 0;
    }
    Heap heap = heap_make(HEAP_BYTES);
    switch (data[0] == 255 ? 3 : data[0] % 3) {
    case 3:
        check_clip(&heap, data + 1, size - 1);
        break;
    case 0:
        check_ops(&heap, data + 1, size - 1);
        break;
    case 1:
        check_session(&heap, data + 1, size - 1);
        break;
    default:
        check_doc(&heap, data + 1, size - 1);
        break;
    }
    ASSERT(heap.bytes_now == 0);
    return 0;
}
