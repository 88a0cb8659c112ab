// The edit session and the page's side of it, message by message: order, refusals, ids that were
// taken, undo, a lost connection, a session that starts again.
#include "core/base/limits.h"
#include "core/edit/clip.h"
#include "core/edit/pending.h"
#include "core/edit/session.h"
#include "core/edit/text.h"
#include "tests/support/edit_fixture.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#define HEAP_BYTES (512u << 20)
#define PAGES      3
#define QUEUE_MAX  512

typedef struct Message {
    uint8_t *data;
    size_t bytes;
} Message;

// A session and some pages; what is sent waits until the test delivers it.
typedef struct Stage {
    Heap heap;
    EditDoc *doc;
    EditSession *session;
    EditDoc *docs[PAGES + 1];
    EditPending *pages[PAGES + 1];
    Message down[PAGES + 1][QUEUE_MAX];
    uint32_t down_count[PAGES + 1];
    Message rows[QUEUE_MAX];
    uint32_t row_count;
    bool store_fails;
    bool defers;
    bool forgets;  // keeps no rows
    EditNews news; // the last that a page got
} Stage;

static Stage stage;

static Message keep(const uint8_t *bytes, size_t count)
{
    Message message = {heap_alloc(&stage.heap, count), count};
    memcpy(message.data, bytes, count);
    return message;
}

static Status store(void *user, uint64_t seq, const uint8_t *row, size_t bytes)
{
    (void)user;
    if (stage.store_fails) {
        return STATUS_LIMIT;
    }
    if (stage.forgets) {
        return STATUS_OK;
    }
    CHECK_INT(seq, stage.row_count + 1);
    stage.rows[stage.row_count++] = keep(row, bytes);
    return STATUS_OK;
}

static void queue_down(void *user, uint32_t editor, const uint8_t *bytes, size_t count)
{
    (void)user;
    if (stage.down_count[editor] < QUEUE_MAX) {
        stage.down[editor][stage.down_count[editor]++] = keep(bytes, count);
    }
}

static void open_session(void)
{
    const EditSessionConfig config = {
        .store = store, .send = queue_down, .defers = stage.defers, .seed = 5};
    stage.doc = edit_fixture_doc(&stage.heap, EDIT_SCENE_TEXT);
    CHECK_OK(edit_session_create(&stage.heap, stage.doc, &config, &stage.session));
}

static void open_stage_as(bool defers)
{
    memset(&stage, 0, sizeof stage);
    stage.heap = heap_make(HEAP_BYTES);
    stage.defers = defers;
    open_session();
    for (uint32_t i = 1; i <= PAGES; i++) {
        stage.docs[i] = edit_fixture_doc(&stage.heap, EDIT_SCENE_TEXT);
        CHECK_OK(edit_pending_create(&stage.heap, stage.docs[i], i, 0, &stage.pages[i]));
        edit_session_join(stage.session, i, 0);
    }
}

static void open_stage(void)
{
    open_stage_as(false);
}

static void deliver(uint32_t page)
{
    for (uint32_t i = 0; i < stage.down_count[page]; i++) {
        const Message message = stage.down[page][i];
        CHECK_OK(edit_pending_receive(stage.pages[page], message.data, message.bytes, &stage.news));
        CHECK(!stage.news.is_stale);
        heap_free(&stage.heap, message.data);
    }
    stage.down_count[page] = 0;
}

static void deliver_all(void)
{
    for (uint32_t i = 1; i <= PAGES; i++) {
        deliver(i);
        CHECK_INT(edit_pending_count(stage.pages[i]), 0);
        CHECK_INT(edit_doc_hash(stage.docs[i]), edit_doc_hash(stage.doc));
    }
}

static void close_session(void)
{
    edit_session_destroy(stage.session);
    edit_doc_destroy(stage.doc);
}

static void close_stage(void)
{
    for (uint32_t i = 1; i <= PAGES; i++) {
        for (uint32_t k = 0; k < stage.down_count[i]; k++) {
            heap_free(&stage.heap, stage.down[i][k].data);
        }
        edit_pending_destroy(stage.pages[i]);
        edit_doc_destroy(stage.docs[i]);
    }
    for (uint32_t i = 0; i < stage.row_count; i++) {
        heap_free(&stage.heap, stage.rows[i].data);
    }
    close_session();
    CHECK_INT(stage.heap.bytes_now, 0);
}

// Applies on the page; the message goes up later.
static EditBuffer edit(uint32_t page, EditBuffer *ops)
{
    EditBuffer message = edit_buffer(&stage.heap, 2u << 20);
    EditError error;
    CHECK_OK(edit_pending_edit(stage.pages[page], text_from("Test"), ops->data, ops->bytes,
                               &message, &error));
    edit_buffer_free(ops);
    return message;
}

static void send_up(uint32_t page, EditBuffer *message)
{
    edit_session_receive(stage.session, page, message->data, message->bytes);
    edit_buffer_free(message);
}

static void set_name(uint32_t page, uint32_t id, const char *json)
{
    EditBuffer ops = edit_fixture_ops(&stage.heap);
    edit_fixture_set(&ops, EDIT_ENTITY, id, "name", json);
    EditBuffer message = edit(page, &ops);
    send_up(page, &message);
}

static const char *name_of(EditDoc *doc, uint32_t id)
{
    return edit_fixture_value(doc, EDIT_ENTITY, id, "name");
}

TEST(a_page_shows_its_own_change_at_once_and_the_last_writer_wins)
{
    open_stage();
    set_name(1, 20, "\"One\"");
    CHECK_TEXT(name_of(stage.docs[1], 20), "\"One\"");
    CHECK_TEXT(name_of(stage.docs[2], 20), "\"Crate\"");
    set_name(2, 20, "\"Two\"");
    deliver(1);
    CHECK_TEXT(name_of(stage.docs[1], 20), "\"Two\"");
    deliver_all();
    CHECK_TEXT(name_of(stage.docs[3], 20), "\"Two\"");
    close_stage();
}

TEST(what_cannot_be_applied_is_refused_and_taken_back)
{
    open_stage();
    EditBuffer ops = edit_fixture_ops(&stage.heap);
    edit_fixture_delete(&ops, EDIT_ENTITY, 20);
    EditBuffer deletion = edit(1, &ops);
    ops = edit_fixture_ops(&stage.heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 20, "name", "\"Two\"");
    edit_fixture_set(&ops, EDIT_ENTITY, 11, "name", "\"Two\"");
    EditBuffer change = edit(2, &ops);
    send_up(1, &deletion);
    send_up(2, &change);
    deliver_all();
    CHECK_INT(stage.news.down.type, EDIT_DOWN_TOLD);
    CHECK_TEXT(name_of(stage.docs[2], 11), "\"Floor\"");
    CHECK_INT(edit_session_counts(stage.session).refused, 1);
    close_stage();
}

TEST(a_taken_id_is_changed_also_in_what_was_sent_after_it)
{
    open_stage();
    EditBuffer ops = edit_fixture_ops(&stage.heap);
    edit_fixture_create(&ops, (EditWhere){0}, "{\"id\": 77, \"name\": \"One\"}");
    EditBuffer first = edit(1, &ops);
    ops = edit_fixture_ops(&stage.heap);
    edit_fixture_create(&ops, (EditWhere){0}, "{\"id\": 77, \"name\": \"Two\"}");
    edit_fixture_create(&ops, (EditWhere){0}, "{\"id\": 78, \"parent\": 77}");
    EditBuffer second = edit(2, &ops);
    ops = edit_fixture_ops(&stage.heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 77, "name", "\"Two again\"");
    edit_fixture_set(&ops, EDIT_ENTITY, 12, "attributes", "{\"to\": {\"entity\": 77}}");
    EditBuffer third = edit(2, &ops);
    send_up(1, &first);
    send_up(2, &second);
    // Sent before the page learnt of the new id.
    send_up(2, &third);
    // And one that is not sent before.
    ops = edit_fixture_ops(&stage.heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 77, "colour", "\"#000001\"");
    EditBuffer fourth = edit(2, &ops);
    edit_buffer_free(&fourth);
    deliver(2);
    CHECK_INT(edit_pending_count(stage.pages[2]), 1);
    EditBuffer message = edit_buffer(&stage.heap, 1u << 20);
    edit_pending_message(stage.pages[2], 0, &message);
    send_up(2, &message);
    deliver_all();
    CHECK_TEXT(name_of(stage.doc, 77), "\"One\"");
    CHECK_TEXT(edit_fixture_value(stage.doc, EDIT_ENTITY, 77, "colour"), "\"#a0a0a0\"");
    const uint32_t other = edit_doc_parent(stage.doc, 78);
    CHECK(other != 77);
    CHECK_TEXT(name_of(stage.doc, other), "\"Two again\"");
    CHECK_TEXT(edit_fixture_value(stage.doc, EDIT_ENTITY, other, "colour"), "\"#000001\"");
    char want[64];
    (void)snprintf(want, sizeof want, "{\"to\":{\"entity\":%u}}", (unsigned)other);
    CHECK_TEXT(edit_fixture_value(stage.doc, EDIT_ENTITY, 12, "attributes"), want);
    CHECK_INT(edit_session_counts(stage.session).renumbered, 1);
    close_stage();
}

static void undo(uint32_t page, uint64_t seq)
{
    EditBuffer message = edit_buffer(&stage.heap, 1u << 10);
    CHECK_OK(edit_pending_undo(stage.pages[page], seq, &message));
    send_up(page, &message);
}

TEST(an_undo_is_ones_own_and_can_be_undone)
{
    open_stage();
    set_name(1, 20, "\"One\"");
    deliver_all();
    undo(2, 1); // somebody else's
    CHECK_INT(edit_session_counts(stage.session).refused, 1);
    undo(1, 1);
    deliver_all();
    CHECK_TEXT(name_of(stage.docs[2], 20), "\"Crate\"");
    undo(1, 1); // again
    CHECK_INT(edit_session_counts(stage.session).refused, 2);
    undo(1, 2); // the undo
    deliver_all();
    CHECK_TEXT(name_of(stage.docs[2], 20), "\"One\"");
    // All of it changed by somebody else: nothing is left to undo.
    set_name(2, 20, "\"Two\"");
    deliver_all();
    undo(1, 3);
    CHECK_INT(edit_session_counts(stage.session).refused, 3);
    deliver_all();
    CHECK_TEXT(name_of(stage.doc, 20), "\"Two\"");
    close_stage();
}

// --- paste --------------------------------------------------------------------------------------

static EditBuffer clip;
static uint8_t clip_hash[SHA256_BYTES];

static const uint8_t *find_clip(void *user, const uint8_t hash[SHA256_BYTES], size_t *bytes)
{
    (void)user;
    *bytes = clip.bytes;
    return memcmp(hash, clip_hash, SHA256_BYTES) == 0 ? clip.data : NULL;
}

static EditBuffer paste_ops(uint32_t times)
{
    EditBuffer ops = edit_fixture_ops(&stage.heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 10, "name", "\"Copied\"");
    for (uint32_t i = 0; i < times; i++) {
        edit_op_paste(&ops, clip_hash, 5 + i, 20, vec3(0, 10, 0));
    }
    edit_fixture_set(&ops, EDIT_ENTITY, 20, "name", "\"Above\"");
    return ops;
}

static uint32_t count_ops(const Message *row, EditOpType type)
{
    EditDown told;
    EditError error;
    EditOp op;
    uint32_t count = 0;
    CHECK_OK(edit_down_read(row->data, row->bytes, &told));
    ByteReader reader = byte_reader(told.ops, told.ops_bytes);
    CHECK_OK(edit_ops_open(&reader, &error));
    while (edit_op_read(&reader, &op, &error)) {
        count += op.type == type;
    }
    CHECK_OK(reader.status);
    return count;
}

TEST(a_paste_is_stored_and_told_as_what_it_creates)
{
    open_stage();
    clip = edit_buffer(&stage.heap, 1u << 20);
    const uint32_t hut = 10;
    CHECK_OK(edit_clip_write(stage.doc, &hut, 1, &clip));
    sha256_of(clip.data, clip.bytes, clip_hash);
    // The session and the page that pastes have the clip; the other pages never see it.
    stage.doc->blobs = stage.docs[1]->blobs = (EditBlobs){NULL, find_clip};
    const uint32_t before = edit_doc_count(stage.doc, EDIT_ENTITY);
    EditBuffer ops = paste_ops(1);
    EditBuffer message = edit(1, &ops);
    const uint64_t shown = edit_doc_hash(stage.docs[1]);
    send_up(1, &message);
    deliver_all();
    CHECK_INT(edit_doc_hash(stage.doc), shown); // the same ids as the page chose
    CHECK_INT(edit_doc_count(stage.doc, EDIT_ENTITY), before + 3);
    CHECK_TEXT(name_of(stage.docs[2], 20), "\"Above\"");
    CHECK_INT(count_ops(&stage.rows[0], EDIT_PASTE), 0);
    CHECK_INT(count_ops(&stage.rows[0], EDIT_CREATE), 3);
    CHECK_INT(count_ops(&stage.rows[0], EDIT_SET), 2);
    // A session that starts again needs the rows alone.
    close_session();
    open_session();
    CHECK_OK(edit_session_replay(stage.session, stage.rows[0].data, stage.rows[0].bytes));
    CHECK_INT(edit_doc_hash(stage.doc), shown);
    for (uint32_t i = 1; i <= PAGES; i++) {
        edit_session_join(stage.session, i, 1);
    }
    // One step of undo takes all of it away.
    undo(1, 1);
    deliver_all();
    CHECK_INT(edit_doc_count(stage.doc, EDIT_ENTITY), before);
    edit_buffer_free(&clip);
    close_stage();
}

// A page that is not ours sends any bytes: those of the message are not applied there first.
static void refuse_paste(EditBuffer *ops, Status status, const char *words)
{
    static uint64_t n;
    EditBuffer message = edit_buffer(&stage.heap, 2u << 20);
    edit_up_write(&(EditUp){.type = EDIT_UP_OPS,
                            .n = ++n,
                            .label = text_from("Paste"),
                            .ops = ops->data,
                            .ops_bytes = ops->bytes},
                  &message);
    const uint64_t before = edit_doc_hash(stage.doc);
    send_up(2, &message);
    edit_buffer_free(ops);
    CHECK_INT(edit_doc_hash(stage.doc), before);
    CHECK_INT(stage.row_count, 0);
    EditDown down;
    const Message *last = &stage.down[2][stage.down_count[2] - 1];
    CHECK_OK(edit_down_read(last->data, last->bytes, &down));
    CHECK_INT(down.type, EDIT_DOWN_REFUSED);
    CHECK_INT(down.status, status);
    char text[EDIT_LABEL_BYTES_MAX * 4];
    (void)snprintf(text, sizeof text, "%.*s", (int)down.text.bytes, down.text.data);
    CHECK(strstr(text, words) != NULL);
}

static void rewrite_clip(uint32_t count)
{
    edit_buffer_clear(&clip);
    edit_buffer_u8(&clip, 1);
    edit_buffer_varint(&clip, edit_member_mark());
    edit_buffer_varint(&clip, count);
}

TEST(a_paste_that_cannot_be_is_refused_with_a_reason)
{
    open_stage();
    clip = edit_buffer(&stage.heap, EDIT_CLIP_BYTES_MAX);
    const uint32_t hut = 10;
    CHECK_OK(edit_clip_write(stage.doc, &hut, 1, &clip));
    EditBuffer ops = paste_ops(1);
    refuse_paste(&ops, STATUS_NOT_FOUND, "not stored here"); // nobody gives clips
    stage.doc->blobs = (EditBlobs){NULL, find_clip};
    ops = paste_ops(2);
    refuse_paste(&ops, STATUS_UNSUPPORTED, "twice");
    ops = paste_ops(1);
    clip.data[0] = 9;
    refuse_paste(&ops, STATUS_UNSUPPORTED, "cannot be read");
    rewrite_clip(EDIT_CLIP_ENTITIES_MAX + 1);
    ops = paste_ops(1);
    refuse_paste(&ops, STATUS_LIMIT, "pastes more than 65536 things");
    rewrite_clip(5); // and there are none
    ops = paste_ops(1);
    refuse_paste(&ops, STATUS_TRUNCATED, "cannot be read");
    edit_buffer_clear(&clip);
    edit_buffer_append(&clip, "not a clip", 10);
    ops = paste_ops(1);
    refuse_paste(&ops, STATUS_UNSUPPORTED, "cannot be read");
    // As many as are allowed, all with one id.
    size_t bytes;
    const uint8_t *record = edit_doc_record(stage.doc, EDIT_ENTITY, 10, &bytes);
    const uint32_t many = EDIT_CLIP_ENTITIES_MAX;
    rewrite_clip(many);
    for (uint32_t i = 0; i < many; i++) {
        edit_buffer_block(&clip, record, bytes); // one id for all
    }
    CHECK_OK(clip.status);
    ops = paste_ops(1);
    refuse_paste(&ops, STATUS_EXISTS, "cannot be read");
    edit_buffer_free(&clip);
    close_stage();
}

TEST(what_cannot_be_stored_was_not_done)
{
    open_stage();
    const uint64_t before = edit_doc_hash(stage.doc);
    stage.store_fails = true;
    set_name(1, 20, "\"One\"");
    CHECK_INT(edit_doc_hash(stage.doc), before);
    deliver_all();
    CHECK_TEXT(name_of(stage.docs[1], 20), "\"Crate\"");
    CHECK_INT(edit_session_seq(stage.session), 0);
    close_stage();
}

TEST(after_a_lost_connection_nothing_is_lost_and_nothing_is_done_twice)
{
    open_stage();
    set_name(1, 20, "\"One\""); // arrives; its answer is lost
    EditBuffer ops = edit_fixture_ops(&stage.heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 11, "name", "\"Lost on its way\"");
    EditBuffer lost = edit(1, &ops);
    edit_buffer_free(&lost);
    edit_session_leave(stage.session, 1);
    for (uint32_t i = 0; i < stage.down_count[1]; i++) {
        heap_free(&stage.heap, stage.down[1][i].data);
    }
    stage.down_count[1] = 0;
    set_name(2, 12, "\"Meanwhile\"");
    edit_session_join(stage.session, 1, edit_pending_seq(stage.pages[1]));
    deliver(1);
    CHECK_INT(edit_pending_count(stage.pages[1]), 1);
    EditBuffer message = edit_buffer(&stage.heap, 1u << 20);
    edit_pending_message(stage.pages[1], 0, &message);
    edit_session_receive(stage.session, 1, message.data, message.bytes);
    send_up(1, &message); // twice
    deliver_all();
    CHECK_INT(edit_session_counts(stage.session).repeated, 1);
    CHECK_TEXT(name_of(stage.doc, 20), "\"One\"");
    CHECK_TEXT(name_of(stage.doc, 11), "\"Lost on its way\"");
    close_stage();
}

TEST(a_session_that_starts_again_knows_all_that_was_told)
{
    open_stage();
    set_name(1, 20, "\"One\"");
    set_name(2, 11, "\"Two\"");
    deliver_all();
    const uint64_t before = edit_doc_hash(stage.doc);
    close_session();
    open_session();
    for (uint32_t i = 0; i < stage.row_count; i++) {
        CHECK_OK(edit_session_replay(stage.session, stage.rows[i].data, stage.rows[i].bytes));
    }
    CHECK_INT(edit_doc_hash(stage.doc), before);
    CHECK(edit_session_replay(stage.session, stage.rows[0].data, stage.rows[0].bytes) != STATUS_OK);
    for (uint32_t i = 1; i <= PAGES; i++) {
        edit_session_join(stage.session, i, edit_pending_seq(stage.pages[i]));
    }
    deliver_all();
    undo(1, 1); // of before
    deliver_all();
    CHECK_TEXT(name_of(stage.docs[2], 20), "\"Crate\"");
    close_stage();
}

TEST(a_page_that_differs_is_told_to_load_again)
{
    open_stage();
    EditBuffer ops = edit_fixture_ops(&stage.heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 12, "name", "\"Damage\"");
    CHECK_OK(edit_fixture_apply(stage.docs[3], &ops, NULL));
    for (uint32_t i = 0; i < EDIT_HASH_EVERY; i++) {
        char json[32];
        (void)snprintf(json, sizeof json, "\"Name %u\"", (unsigned)i);
        set_name(1, 20, json);
        deliver(1);
        deliver(2);
    }
    bool is_stale = false;
    for (uint32_t i = 0; i < stage.down_count[3]; i++) {
        const Message message = stage.down[3][i];
        CHECK_OK(edit_pending_receive(stage.pages[3], message.data, message.bytes, &stage.news));
        is_stale |= stage.news.is_stale;
        heap_free(&stage.heap, message.data);
    }
    stage.down_count[3] = 0;
    CHECK(is_stale);
    // It loads the document, and its own unconfirmed change is still there.
    ops = edit_fixture_ops(&stage.heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 11, "name", "\"Mine\"");
    EditBuffer message = edit(3, &ops);
    EditBuffer bytes = edit_buffer(&stage.heap, 1u << 20);
    edit_doc_write(stage.doc, &bytes);
    EditDoc *again = NULL;
    CHECK_OK(edit_doc_open(&stage.heap, (EditBlobs){0}, bytes.data, bytes.bytes, &again));
    edit_pending_reset(stage.pages[3], again, edit_session_seq(stage.session));
    edit_doc_destroy(stage.docs[3]);
    stage.docs[3] = again;
    CHECK_TEXT(name_of(again, 11), "\"Mine\"");
    send_up(3, &message);
    deliver_all();
    edit_buffer_free(&bytes);
    close_stage();
}

TEST(hostile_bytes_are_refused_and_disturb_nobody)
{
    open_stage();
    Rng rng = rng_make(test_seed(), 4);
    EditBuffer ops = edit_fixture_ops(&stage.heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 20, "name", "\"One\"");
    edit_fixture_delete(&ops, EDIT_ENTITY, 10);
    EditBuffer good = edit(1, &ops);
    for (uint32_t i = 0; i < 4000; i++) {
        uint8_t bytes[512];
        CHECK(good.bytes < sizeof bytes);
        memcpy(bytes, good.data, good.bytes);
        const size_t cut =
            rng_below(&rng, 4) == 0 ? rng_below(&rng, (uint32_t)good.bytes) : good.bytes;
        for (uint32_t k = 0; k <= rng_below(&rng, 3); k++) {
            const uint32_t at = rng_below(&rng, (uint32_t)good.bytes);
            bytes[at] = (uint8_t)rng_u32(&rng);
        }
        edit_session_receive(stage.session, 3, bytes, cut);
        deliver(2);
        for (uint32_t page = 1; page <= 3; page += 2) {
            for (uint32_t k = 0; k < stage.down_count[page]; k++) {
                heap_free(&stage.heap, stage.down[page][k].data);
            }
            stage.down_count[page] = 0;
        }
    }
    CHECK(edit_session_counts(stage.session).malformed > 100);
    CHECK_INT(edit_doc_hash(stage.docs[2]), edit_doc_hash(stage.doc));
    edit_buffer_free(&good);
    close_stage();
}

TEST(a_transaction_of_more_than_a_mebibyte_is_refused)
{
    open_stage();
    EditBuffer ops = edit_fixture_ops(&stage.heap);
    while (ops.bytes <= EDIT_TRANSACTION_BYTES_MAX) {
        edit_fixture_set(&ops, EDIT_ENTITY, 20, "name", "\"x\"");
    }
    EditBuffer message = edit_buffer(&stage.heap, 4u << 20);
    EditError error;
    CHECK_INT(
        edit_pending_edit(stage.pages[1], text_from(""), ops.data, ops.bytes, &message, &error),
        STATUS_LIMIT);
    const EditUp up = {.type = EDIT_UP_OPS,
                       .n = 1,
                       .label = text_from(""),
                       .ops = ops.data,
                       .ops_bytes = ops.bytes};
    edit_up_write(&up, &message);
    edit_session_receive(stage.session, 1, message.data, message.bytes);
    CHECK_INT(edit_session_counts(stage.session).malformed, 1);
    CHECK_TEXT(name_of(stage.doc, 20), "\"Crate\"");
    edit_buffer_free(&ops);
    edit_buffer_free(&message);
    close_stage();
}

TEST(the_log_is_bounded_and_who_knows_less_must_load_again)
{
    open_stage();
    static char json[8000];
    (void)memset(json, 'x', sizeof json);
    memcpy(json, "{\"text\": \"", 10);
    memcpy(json + sizeof json - 3, "\"}", 3);
    stage.forgets = true;
    for (uint32_t i = 0; i < 1500 && test_is_passing(); i++) {
        json[100] = (char)('a' + i % 20);
        EditBuffer ops = edit_fixture_ops(&stage.heap);
        edit_fixture_set(&ops, EDIT_ENTITY, 20, "parameters", json);
        EditBuffer message = edit(1, &ops);
        send_up(1, &message);
        for (uint32_t page = 1; page <= PAGES; page++) {
            deliver(page);
        }
    }
    const uint64_t from = edit_session_log_from(stage.session);
    CHECK(from > 1 && from < 1400);
    undo(1, 1);
    CHECK_INT(edit_session_counts(stage.session).refused, 1);
    undo(1, from + 1);
    CHECK_INT(edit_session_counts(stage.session).refused, 2); // changed since
    undo(1, 1500);
    CHECK_INT(edit_session_counts(stage.session).refused, 2);
    deliver_all();
    edit_session_join(stage.session, 3, 0);
    CHECK_INT(stage.down_count[3], 1);
    CHECK_INT(stage.down[3][0].data[0], EDIT_DOWN_RELOAD);
    close_stage();
}
TEST(a_store_that_answers_later_holds_back_what_is_told)
{
    open_stage_as(true);
    const uint64_t before = edit_doc_hash(stage.doc);
    deliver_all();
    set_name(1, 20, "\"One\"");
    set_name(2, 20, "\"Two\"");
    CHECK_INT(stage.row_count, 2);
    CHECK_INT(edit_session_committed(stage.session), 0);
    CHECK_INT(stage.down_count[3], 0); // nobody is told yet, and nothing is refused
    edit_session_commit(stage.session);
    deliver_all();
    CHECK_INT(edit_session_committed(stage.session), 2);
    CHECK_TEXT(name_of(stage.docs[3], 20), "\"Two\"");
    CHECK(before != edit_doc_hash(stage.doc));
    close_stage();
}

TEST(what_could_not_be_stored_is_taken_back_as_a_whole)
{
    open_stage_as(true);
    deliver_all();
    set_name(1, 20, "\"One\"");
    edit_session_commit(stage.session);
    deliver_all();
    const uint64_t before = edit_doc_hash(stage.doc);
    // An undo, a taken id, and somebody's change on top of another's.
    EditBuffer undo = edit_buffer(&stage.heap, 1u << 20);
    CHECK_OK(edit_pending_undo(stage.pages[1], 1, &undo));
    send_up(1, &undo);
    EditBuffer ops = edit_fixture_ops(&stage.heap);
    edit_fixture_create(&ops, (EditWhere){0}, "{\"id\": 77, \"name\": \"One\"}");
    EditBuffer first = edit(1, &ops);
    ops = edit_fixture_ops(&stage.heap);
    edit_fixture_create(&ops, (EditWhere){0}, "{\"id\": 77, \"name\": \"Two\"}");
    EditBuffer second = edit(2, &ops);
    send_up(1, &first);
    send_up(2, &second);
    set_name(3, 11, "\"Three\"");
    CHECK_INT(edit_session_seq(stage.session), 5);
    CHECK(before != edit_doc_hash(stage.doc));
    edit_session_roll_back(stage.session, STATUS_LIMIT);
    CHECK_INT(edit_session_seq(stage.session), 1);
    CHECK_INT(edit_doc_hash(stage.doc), before);
    deliver_all(); // every page has taken its own back
    CHECK_INT(stage.news.down.type, EDIT_DOWN_REFUSED);
    CHECK_INT(edit_session_counts(stage.session).refused, 4);
    for (uint32_t i = 1; i < 5; i++) {
        heap_free(&stage.heap, stage.rows[i].data);
    }
    stage.row_count = 1;
    // The undone one can be undone again, and numbers go on.
    undo = edit_buffer(&stage.heap, 1u << 20);
    CHECK_OK(edit_pending_undo(stage.pages[1], 1, &undo));
    send_up(1, &undo);
    edit_session_commit(stage.session);
    deliver_all();
    CHECK_TEXT(name_of(stage.docs[2], 20), "\"Crate\"");
    close_stage();
}

// The most of one kind of thing that a session takes, 512 KiB of JSON at once; then what was
// accepted is written and read again.
static void fill_to_the_limit(const char *rest, const char *refusal)
{
    open_stage();
    stage.forgets = true;
    EditText *text = edit_fixture_open(&stage.heap, EDIT_SCENE_TEXT, &stage.docs[0]);
    edit_text_rebind(text);
    static char thing[65536];
    EditError error = {0};
    uint32_t id = 1000000;
    uint32_t at_once = 1 + (512u << 10) / (uint32_t)strlen(rest);
    uint32_t steps = 0;
    for (; steps < 100 && at_once > 0; steps++) {
        EditBuffer ops = edit_fixture_ops(&stage.heap);
        for (uint32_t i = 0; i < at_once; i++) {
            (void)snprintf(thing, sizeof thing, "{\"id\":%u,%s", (unsigned)(id + i), rest);
            edit_fixture_create(&ops, (EditWhere){EDIT_AT_END, 0}, thing);
        }
        EditBuffer message = edit_buffer(&stage.heap, EDIT_UP_BYTES_MAX);
        edit_up_write(
            &(EditUp){.type = EDIT_UP_OPS, .n = steps + 1, .ops = ops.data, .ops_bytes = ops.bytes},
            &message);
        const uint64_t told = edit_session_counts(stage.session).told;
        edit_session_receive(stage.session, 1, message.data, message.bytes);
        if (edit_session_counts(stage.session).told > told) {
            id += at_once;
        } else {
            EditDown down;
            const Message last = stage.down[1][stage.down_count[1] - 1];
            CHECK_OK(edit_down_read(last.data, last.bytes, &down));
            CHECK_INT(down.type, EDIT_DOWN_REFUSED);
            (void)snprintf(error.message, sizeof error.message, "%.*s", (int)down.text.bytes,
                           down.text.data);
            at_once /= 2; // up to the last one that fits
        }
        edit_buffer_free(&message);
        edit_buffer_free(&ops);
        for (uint32_t page = 1; page <= PAGES; page++) {
            for (uint32_t k = 0; k < stage.down_count[page]; k++) {
                heap_free(&stage.heap, stage.down[page][k].data);
            }
            stage.down_count[page] = 0;
        }
    }
    if (strstr(error.message, refusal) == NULL) {
        test_fail(__FILE__, __LINE__, "%s", error.message);
    }
    CHECK_OK(edit_text_write(text, stage.doc));
    EditText *again = NULL;
    EditDoc *read = NULL;
    PlaceError where = {0};
    CHECK_OK(
        edit_text_open(&stage.heap, (EditBlobs){0}, edit_text_now(text), &again, &read, &where));
    CHECK(edit_doc_says_same(read, stage.doc, EDIT_SCENE));
    edit_text_close(again);
    edit_text_close(text);
    edit_doc_destroy(read);
    edit_doc_destroy(stage.docs[0]);
    close_stage();
}

TEST(what_has_more_values_than_a_reader_takes_is_refused)
{
    static char rest[8192];
    size_t at = (size_t)snprintf(rest, sizeof rest, "\"type\":\"npc\",\"npc\":{\"patrol\":[");
    for (uint32_t i = 0; i < NPC_PATROL_MAX; i++) {
        at += (size_t)snprintf(rest + at, sizeof rest - at, "%s[1,2,3]", i == 0 ? "" : ",");
    }
    (void)snprintf(rest + at, sizeof rest - at, "]}}");
    fill_to_the_limit(rest, "more than 1048576 values");
}

TEST(what_would_be_longer_than_a_file_is_refused)
{
    static char rest[32768];
    size_t at = (size_t)snprintf(rest, sizeof rest, "\"type\":\"part\",\"attributes\":{");
    for (uint32_t i = 0; i < 30; i++) {
        at += (size_t)snprintf(rest + at, sizeof rest - at, "%s\"a%u\":\"%0900d\"",
                               i == 0 ? "" : ",", (unsigned)i, 0);
    }
    (void)snprintf(rest + at, sizeof rest - at, "}}");
    fill_to_the_limit(rest, "longer than 32 MiB");
}

TEST(who_sends_too_much_is_refused_by_number)
{
    open_stage();
    deliver_all();
    EditBuffer ops = edit_fixture_ops(&stage.heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 20, "name", "\"One\"");
    EditBuffer message = edit(1, &ops);
    edit_session_refuse(stage.session, 1, message.data, message.bytes, STATUS_LIMIT, "too much");
    edit_session_refuse(stage.session, 1, message.data, message.bytes, STATUS_LIMIT, "too much");
    CHECK_INT(stage.down_count[1], 1); // once: it is decided
    edit_session_receive(stage.session, 1, message.data, message.bytes);
    CHECK_INT(edit_session_counts(stage.session).repeated, 1);
    edit_buffer_free(&message);
    deliver_all();
    CHECK_TEXT(name_of(stage.docs[1], 20), "\"Crate\"");
    close_stage();
}
