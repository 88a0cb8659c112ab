// An edit session inside of the module, for tests of the Studio's side without a server: what pages
// send goes in, what they receive comes out. It is in a module of its own; no page carries it.
#include "core/base/check.h"
#include "core/edit/session.h"
#include "core/wasm/exports_edit_inside.h"

#include <string.h>

typedef struct Message {
    struct Message *next;
    uint32_t editor;
    size_t bytes;
    uint8_t data[];
} Message;

typedef struct Host {
    EditSession *session;
    EditDoc *doc;
    Message *first, *last;
} Host;

static Status store(void *user, uint64_t seq, const uint8_t *row, size_t bytes)
{
    (void)user, (void)seq, (void)row, (void)bytes;
    return STATUS_OK;
}

static void send(void *user, uint32_t editor, const uint8_t *bytes, size_t count)
{
    Host *host = user;
    Message *message = heap_alloc(edit_exports_heap(), sizeof *message + count);
    ASSERT(message != NULL);
    message->editor = editor;
    message->bytes = count;
    memcpy(message->data, bytes, count);
    *(host->first == NULL ? &host->first : &host->last->next) = message;
    host->last = message;
}

EXPORT("sessionOpen") Host *export_session_open(const uint8_t *bytes, uint32_t count)
{
    Heap *heap = edit_exports_heap();
    Host *host = heap_alloc(heap, sizeof *host);
    const EditSessionConfig config = {.user = host, .store = store, .send = send, .seed = 7};
    if (host == NULL ||
        edit_doc_open(heap, (EditBlobs){0}, bytes, count, &host->doc) != STATUS_OK ||
        edit_session_create(heap, host->doc, &config, &host->session) != STATUS_OK) {
        return NULL;
    }
    return host;
}

EXPORT("sessionJoin") void export_session_join(Host *host, uint32_t editor, double seq)
{
    edit_session_join(host->session, editor, (uint64_t)seq);
}

EXPORT("sessionReceive")
void export_session_receive(Host *host, uint32_t editor, const uint8_t *bytes, uint32_t count)
{
    edit_session_receive(host->session, editor, bytes, count);
}

// The oldest message: u32 editor, then its bytes. 0: there is none.
EXPORT("sessionTake") const void *export_session_take(Host *host)
{
    Message *message = host->first;
    if (message == NULL) {
        return NULL;
    }
    host->first = message->next;
    EditBuffer *out = edit_exports_result();
    edit_buffer_append(out, &message->editor, sizeof message->editor);
    edit_buffer_append(out, message->data, message->bytes);
    heap_free(edit_exports_heap(), message);
    return edit_exports_give(out->data, out->bytes);
}

EXPORT("sessionHash") uint64_t export_session_hash(const Host *host)
{
    return edit_doc_hash(host->doc);
}
