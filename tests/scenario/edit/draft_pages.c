// Those who change the draft: editors at their pages, and other programs on the disk. See draft.h.
#include "tests/scenario/edit/draft_inside.h"

#include "core/base/check.h"
#include "tests/support/edit_fixture.h"

#include <stdio.h>
#include <string.h>

// --- pages --------------------------------------------------------------------------------------

static void send_pending(Page *page)
{
    for (uint32_t i = 0; i < edit_pending_count(page->pending); i++) {
        EditBuffer message = edit_buffer(&run.heap, 8u << 20);
        edit_pending_message(page->pending, i, &message);
        draft_queue_add(&page->up, SAYS_MESSAGE, message.data, message.bytes, 12);
        edit_buffer_free(&message);
    }
}

static void load(Page *page, uint32_t number, const Packet *packet)
{
    ByteReader reader = byte_reader(packet->data, packet->bytes);
    page->log = byte_read_u64(&reader);
    const uint64_t seq = byte_read_u64(&reader);
    EditDoc *doc = NULL;
    const Status status =
        edit_doc_open(&run.heap, (EditBlobs){0}, packet->data + 16, packet->bytes - 16, &doc);
    ASSERT(status == STATUS_OK);
    if (page->pending == NULL) {
        const Status made = edit_pending_create(&run.heap, doc, number, seq, &page->pending);
        ASSERT(made == STATUS_OK);
    } else {
        edit_pending_reset(page->pending, doc, seq);
        edit_doc_destroy(page->doc);
    }
    page->doc = doc;
}

static void hear(uint32_t number, const Packet *packet)
{
    Page *page = &run.pages[number];
    EditNews news;
    if (packet->type == SAYS_DOCUMENT) {
        load(page, number, packet);
        return;
    }
    const Status status = edit_pending_receive(page->pending, packet->data, packet->bytes, &news);
    if (status != STATUS_OK || news.is_stale) {
        draft_fail("a page must load again: %s", status_name(status));
        return;
    }
    if (news.down.type == EDIT_DOWN_TOLD) {
        run.told_max = news.down.seq > run.told_max ? news.down.seq : run.told_max;
        if (news.is_own && page->own_count < OWN_MAX &&
            text_equal(news.down.text, text_from("Act"))) {
            page->own[page->own_count++] = news.down.seq;
        }
    } else if (news.down.type == EDIT_DOWN_WELCOME) {
        page->is_welcome = true;
        send_pending(page);
    }
}

// What only this page changes.
static void act_own(Page *page, uint32_t number, EditBuffer *ops)
{
    char text[64];
    uint8_t hash[SHA256_BYTES] = {(uint8_t)number, 1};
    page->own_writes += 1;
    memcpy(hash + 2, &page->own_writes, sizeof page->own_writes);
    if (number == 1 && page->own_writes % 2 == 0) {
        (void)snprintf(text, sizeof text, "[-%u.5, -40, -40]", 40 + (unsigned)page->own_writes);
        edit_fixture_set(ops, EDIT_SCENE, 0, "bounds.min", text);
        return;
    }
    (void)snprintf(text, sizeof text, "Workspace/Own%u.lua", (unsigned)number);
    const EditFile *file = edit_doc_file_find(page->doc, text_from(text));
    const bool is_gone = file != NULL && rng_below(&run.rng, 4) == 0;
    edit_op_file(ops, text_from(text), is_gone ? NULL : hash, file != NULL ? file->hash : NULL);
}

static void act(uint32_t number)
{
    Page *page = &run.pages[number];
    if (page->pending == NULL) {
        return;
    }
    EditBuffer message = edit_buffer(&run.heap, 8u << 20);
    if (page->own_count != 0 && rng_below(&run.rng, 5) == 0) {
        const uint32_t back = rng_below(&run.rng, page->own_count < 4 ? page->own_count : 4);
        status_ignore(edit_pending_undo(page->pending, page->own[page->own_count - 1 - back],
                                        &message)); // too many unconfirmed: not now
    } else {
        EditBuffer ops = edit_fixture_ops(&run.heap);
        EditError error;
        const bool is_own = rng_below(&run.rng, 3) == 0;
        if (is_own) {
            act_own(page, number, &ops);
        } else {
            edit_fixture_random(page->doc, &run.rng, IDS, &ops);
        }
        status_ignore(edit_pending_edit(page->pending, text_from(is_own ? "Own" : "Act"), ops.data,
                                        ops.bytes, &message, &error)); // refused by the page
        edit_buffer_free(&ops);
    }
    if (message.bytes != 0 && page->is_welcome) {
        draft_queue_add(&page->up, SAYS_MESSAGE, message.data, message.bytes, 12);
    }
    edit_buffer_free(&message);
}

void draft_step_pages(void)
{
    for (uint32_t i = 1; i <= run.page_count; i++) {
        Page *page = &run.pages[i];
        Packet packet;
        while (page->connection != 0 && draft_queue_take(&page->down, &packet)) {
            hear(i, &packet);
            heap_free(&run.heap, packet.data);
        }
        if (page->connection == 0 && run.process != NULL &&
            (run.is_quiet || rng_below(&run.rng, 10) == 0)) {
            draft_connect(i);
        } else if (draft_chance(600)) {
            draft_disconnect(i);
        }
        if (draft_chance(20)) {
            act(i);
        }
    }
}

// --- other programs -----------------------------------------------------------------------------

void draft_outside_file(void)
{
    run.outside_count += 1;
    run.has_outside = true;
    run.outside_hash[0] = 200;
    memcpy(run.outside_hash + 1, &run.outside_count, sizeof run.outside_count);
    draft_file_set("Workspace/Out.lua", run.outside_hash);
}

// A text editor that reads both texts, changes something, and writes them.
static void outside_text(bool is_any)
{
    EditDoc *doc = NULL;
    EditText *text = NULL;
    PlaceError error;
    char name[64];
    const EditTexts now = {draft_blob_text(run.texts[0]), draft_blob_text(run.texts[1])};
    Status status = edit_text_open(&run.heap, (EditBlobs){0}, now, &text, &doc, &error);
    ASSERT(status == STATUS_OK);
    EditBuffer ops = edit_fixture_ops(&run.heap);
    (void)snprintf(name, sizeof name, "\"Out %u\"", (unsigned)++run.outside_count);
    if (is_any) {
        edit_fixture_random(doc, &run.rng, IDS, &ops);
    } else {
        edit_fixture_set(&ops, EDIT_SETTINGS, 0, "name", name);
    }
    status_ignore(edit_fixture_apply(doc, &ops, NULL)); // some are refused
    status = edit_text_write(text, doc);
    ASSERT(status == STATUS_OK);
    const EditTexts then = edit_text_now(text);
    run.texts[0] = draft_blob_add(then.settings.data, then.settings.bytes, false);
    run.texts[1] = draft_blob_add(then.scene.data, then.scene.bytes, false);
    edit_text_close(text);
    edit_doc_destroy(doc);
}

static void break_text(void)
{
    static uint32_t good;
    if (!run.is_broken) {
        good = run.texts[1];
        run.texts[1] = draft_blob_add("{\"format\": 1, \"entities\": [", 27, false);
    } else {
        run.texts[1] = good;
    }
    run.is_broken = !run.is_broken;
}

void draft_step_outside(void)
{
    const bool is_time = run.is_quiet ? run.is_broken : run.mode != 0 && draft_chance(40);
    if (!is_time) {
        return;
    }
    const uint32_t dice = rng_below(&run.rng, 10);
    if (run.is_broken || (run.mode == 2 && dice == 0 && run.head.log != 0)) {
        break_text();
    } else if (dice < 4) {
        draft_outside_file();
    } else {
        outside_text(run.mode == 2 && dice < 8);
    }
    run.result.disk_edits += 1;
    // The host notices a little later.
    run.disk_told_at =
        run.disk_told_at != 0 ? run.disk_told_at : run.step + 1 + rng_below(&run.rng, 40);
}
