// How an edit process begins after the server was killed at any moment of a write: what it wrote
// itself is no change on disk, and what somebody else wrote is one.
#include "server/shell/edit/edit_process.h"

#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#define PLACE "{\"format\": 1, \"name\": \"A\"}"
#define SCENE(x) \
    "{\"format\": 1, \"entities\": [{\"id\": 1, \"transform\": {\"position\": [" #x ", 0, 0]}}]}"

static Heap heap;
static EditBuffer rows;
static uint32_t row_count;
static uint8_t hashes[4][SHA256_BYTES]; // of the contents of a file

static Status keep_row(void *user, uint64_t seq, const uint8_t *row, size_t bytes)
{
    (void)user;
    (void)seq;
    edit_buffer_block(&rows, row, bytes);
    row_count += 1;
    return rows.status;
}

static void drop(void *user, uint32_t editor, const uint8_t *bytes, size_t count)
{
    (void)user;
    (void)editor;
    (void)bytes;
    (void)count;
}

static void run(EditSession *session, const EditBuffer *ops)
{
    EditError error = {0};
    CHECK_OK(edit_session_edit(session, text_from("x"), ops->data, ops->bytes, &error));
}

static void set_file(EditSession *session, const char *path, int hash, int known)
{
    EditBuffer ops = edit_buffer(&heap, 4096);
    edit_ops_begin(&ops);
    edit_op_file(&ops, text_from(path), hash < 0 ? NULL : hashes[hash],
                 known < 0 ? NULL : hashes[known]);
    run(session, &ops);
    edit_buffer_free(&ops);
}

static void set_position(EditSession *session, const char *value)
{
    EditMember member;
    uint32_t number;
    EditBuffer ops = edit_buffer(&heap, 4096), bytes = edit_buffer(&heap, 4096);
    PlaceScratch scratch = {.heap = &heap};
    JsonError error = {0};
    CHECK(edit_member_named(&place_table_entity, "transform.position", &number));
    CHECK(edit_member_at(&place_table_entity, number, &member));
    CHECK_OK(edit_value_from_json(&member, value, strlen(value), &scratch, &bytes, &error));
    edit_ops_begin(&ops);
    edit_op_set(&ops, EDIT_ENTITY, number, 1);
    edit_op_set_target(&ops, 1, bytes.data, bytes.bytes);
    run(session, &ops);
    edit_buffer_free(&ops);
    edit_buffer_free(&bytes);
    place_scratch_free(&scratch);
}

// What the disk has, and whether that is somebody's change.
typedef struct Case {
    const char *scene, *base; // on disk, and by the hash that is stored
    int door, coin;           // contents of files; -1: none
    uint32_t changes;         // transactions for what is on disk
    int door_then, coin_then; // in the document afterwards
    const char *what;
} Case;

static uint32_t begin(const Case *test, EditProcess *process)
{
    EditText *text = NULL;
    EditDoc *doc = NULL;
    EditSession *session = NULL;
    PlaceError error;
    const EditTexts texts = {text_from(PLACE), text_from(SCENE(0))};
    const EditSessionConfig config = {.store = keep_row, .send = drop, .seed = 1};
    EditBuffer checkpoint = edit_buffer(&heap, 65536), disk = edit_buffer(&heap, 65536);
    EditBuffer message = edit_buffer(&heap, 1u << 20);
    row_count = 0;
    rows = edit_buffer(&heap, 65536);
    CHECK_OK(edit_text_open(&heap, (EditBlobs){0}, texts, &text, &doc, &error));
    edit_text_close(text);
    edit_doc_write(doc, &checkpoint);
    CHECK_OK(edit_session_create(&heap, doc, &config, &session));
    set_file(session, "Door.lua", 0, -1); // written with this row
    // Not stored as written: the door changes twice, a coin comes, goes and comes again.
    set_file(session, "Door.lua", 1, 0);
    set_file(session, "Coin.lua", 1, -1);
    set_position(session, "[5, 0, 0]");
    set_file(session, "Door.lua", 2, 1);
    set_file(session, "Coin.lua", -1, 1);
    set_file(session, "Coin.lua", 2, -1);
    set_position(session, "[7, 0, 0]");

    uint32_t file_count = 0;
    const int files[2] = {test->coin, test->door};
    static const char *const paths[2] = {"Coin.lua", "Door.lua"};
    for (uint32_t i = 0; i < 2; i++) {
        if (files[i] >= 0) {
            edit_disk_file_write(text_from(paths[i]), hashes[files[i]], &disk);
            file_count += 1;
        }
    }
    const EditBeginning beginning = {
        .epoch = 2,
        .log = 1,
        .seed = 7,
        .has_log = true,
        .checkpoint = {(const char *)checkpoint.data, checkpoint.bytes},
        .written_seq = 1,
        .base_settings = text_from(PLACE),
        .base_scene = text_from(test->base),
        .row_count = row_count,
        .rows = rows.data,
        .row_bytes = rows.bytes,
        .disk = {.settings = text_from(PLACE),
                 .scene = text_from(test->scene),
                 .file_count = file_count,
                 .files = disk.data,
                 .file_bytes = disk.bytes}};
    edit_beginning_write(&beginning, &message);
    EditReport failed = {0};
    CHECK_OK(edit_open(process, message.data, message.bytes, &failed));
    edit_session_destroy(session);
    edit_doc_destroy(doc);
    edit_buffer_free(&checkpoint);
    edit_buffer_free(&disk);
    edit_buffer_free(&message);
    edit_buffer_free(&rows);
    return process->batch.row_count;
}

static void check_file(const EditDoc *doc, const char *path, int hash, const char *what)
{
    const EditFile *file = edit_doc_file_find(doc, text_from(path));
    const bool is_so = hash < 0
                           ? file == NULL
                           : file != NULL && memcmp(file->hash, hashes[hash], SHA256_BYTES) == 0;
    if (!is_so) {
        test_fail(__FILE__, __LINE__, "%s: %s has another content", what, path);
    }
}

TEST(what_the_session_wrote_itself_is_no_change_on_disk)
{
    static const Case cases[] = {
        {SCENE(0), SCENE(0), 0, -1, 0, 2, 2, "killed before anything was written"},
        {SCENE(0), SCENE(0), 1, -1, 0, 2, 2, "one of the files was written"},
        {SCENE(0), SCENE(0), 1, 1, 0, 2, 2, "all files of an older state were written"},
        {SCENE(0), SCENE(5), 1, 1, 0, 2, 2,
         "the hash of a text is stored, the text is not written"},
        {SCENE(5), SCENE(5), 1, 1, 0, 2, 2, "the text is written"},
        {SCENE(7), SCENE(7), 2, 2, 0, 2, 2, "everything is written"},
        {SCENE(0), SCENE(0), 2, -1, 0, 2, 2, "a file that was deleted on the way"},
        {SCENE(9), SCENE(0), 0, -1, 1, 2, 2, "somebody changed the scene"},
        {SCENE(0), SCENE(0), 3, -1, 1, 3, 2, "somebody changed a file"},
        {SCENE(0), SCENE(0), 1, 3, 1, 2, 3, "somebody made a file that we made too"},
        {SCENE(0), SCENE(0), -1, -1, 1, -1, 2, "somebody deleted a file"},
    };
    for (uint8_t i = 0; i < 4; i++) {
        sha256_of(&i, 1, hashes[i]);
    }
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const Case *test = &cases[i];
        heap = heap_make(256u << 20);
        EditProcess *process = calloc(1, sizeof *process);
        REQUIRE(process != NULL);
        process->heap = heap_make(256u << 20);
        const uint32_t changes = begin(test, process);
        if (changes != test->changes) {
            test_fail(__FILE__, __LINE__, "%s: %u changes", test->what, (unsigned)changes);
        }
        check_file(process->doc, "Door.lua", test->door_then, test->what);
        check_file(process->doc, "Coin.lua", test->coin_then, test->what);
        edit_session_destroy(process->session);
        edit_text_close(process->text);
        edit_doc_destroy(process->doc);
        free(process->disk.items);
        CHECK_INT(process->heap.bytes_now, 0);
        CHECK_INT(heap.bytes_now, 0);
        free(process);
    }
}
