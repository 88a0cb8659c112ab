// The link between a host and an edit process: messages of any size arrive whole, every report is
// read as it was written, and any bytes give a report or a status.
#define _GNU_SOURCE
#include "server/channel/edit_link.h"

#include "core/base/rng.h"
#include "server/net/socket_pass.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAP_BYTES (256u << 20)

static EditReport report, again;

static Status pass(Channel *from, Channel *to, EditLinkReader *reader, EditLinkMessage *out)
{
    Status status = STATUS_NOT_FOUND;
    while (status == STATUS_NOT_FOUND && test_is_passing()) {
        const Status flushed = channel_flush(from);
        CHECK(flushed == STATUS_OK || flushed == STATUS_LIMIT);
        status = edit_link_take(to, reader, out);
    }
    return status;
}

TEST(messages_of_every_size_arrive_whole)
{
    int ends[2];
    Channel a, b;
    EditLinkReader reader = {0};
    REQUIRE(socket_pass_pair(ends) == STATUS_OK);
    REQUIRE(channel_open(&a, ends[0], EDIT_LINK_QUEUE) == STATUS_OK);
    REQUIRE(channel_open(&b, ends[1], 1 << 16) == STATUS_OK);
    const size_t sizes[] = {0,       1, EDIT_LINK_PIECE - 1, EDIT_LINK_PIECE, EDIT_LINK_PIECE + 1,
                            5u << 20};
    uint8_t *bytes = malloc(5u << 20);
    for (size_t i = 0; i < 5u << 20; i++) {
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        EditLinkMessage message = {0};
        CHECK_OK(edit_link_put(&a, EDIT_LINK_DISK, bytes, sizes[i], dup(ends[1])));
        CHECK_OK(pass(&a, &b, &reader, &message));
        CHECK_INT(message.type, EDIT_LINK_DISK);
        CHECK_INT(message.count, sizes[i]);
        CHECK(sizes[i] == 0 || memcmp(message.bytes, bytes, sizes[i]) == 0);
        CHECK(message.descriptor >= 0);
        close(message.descriptor);
    }
    free(bytes);
    edit_link_reader_free(&reader);
    channel_close(&a);
    channel_close(&b);
}

TEST(pieces_that_do_not_belong_together_are_malformed)
{
    static const uint8_t bad[][3] = {{EDIT_LINK_NONE, 0, 0},
                                     {EDIT_LINK_TYPE_COUNT, 0, 0},
                                     {EDIT_LINK_LOOK, 2, 0},
                                     {EDIT_LINK_ROWS, 0, 0}}; // after a piece of another message
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int ends[2];
        Channel a, b;
        EditLinkReader reader = {0};
        EditLinkMessage message;
        const uint8_t begun[] = {EDIT_LINK_WRITE, 1, 7};
        REQUIRE(socket_pass_pair(ends) == STATUS_OK);
        REQUIRE(channel_open(&a, ends[0], 1 << 16) == STATUS_OK);
        REQUIRE(channel_open(&b, ends[1], 1 << 16) == STATUS_OK);
        if (i == 3) {
            CHECK_OK(channel_put(&a, CHANNEL_EDIT, begun, sizeof begun, -1));
        }
        CHECK_OK(channel_put(&a, CHANNEL_EDIT, bad[i], i < 2 ? 3 : 2, -1));
        CHECK_INT(pass(&a, &b, &reader, &message), STATUS_MALFORMED);
        edit_link_reader_free(&reader);
        channel_close(&a);
        channel_close(&b);
    }
}

// Written and read again, it is the same.
static void check_round(EditBuffer *written)
{
    CHECK_OK(written->status);
    CHECK_OK(edit_report_read(report.type, written->data, written->bytes, &again));
    for (size_t cut = 0; cut < written->bytes; cut++) { // CHECKPOINT has any bytes at its end
        const Status status = edit_report_read(report.type, written->data, cut, &again);
        CHECK(status != STATUS_OK || report.type == EDIT_LINK_CHECKPOINT);
    }
    CHECK_OK(edit_report_read(report.type, written->data, written->bytes, &again));
}

TEST(reports_are_read_as_they_were_written)
{
    Heap heap = heap_make(HEAP_BYTES);
    EditBuffer out = edit_buffer(&heap, HEAP_BYTES / 2);
    static const uint8_t hash[SHA256_BYTES] = {1, 2, 3};

    report = (EditReport){.type = EDIT_LINK_ROWS, .row_count = 2};
    report.rows[0] = (EditReportRow){
        .seq = 7, .editor = 3, .label = text_from("Move"), .row = hash, .row_bytes = 5};
    report.rows[1] = (EditReportRow){.seq = 8, .label = text_from(""), .row = hash, .row_bytes = 0};
    edit_report_write(&report, &out);
    check_round(&out);
    CHECK_INT(again.row_count, 2);
    CHECK_INT(again.rows[0].seq, 7);
    CHECK_INT(again.rows[0].editor, 3);
    CHECK(text_is(again.rows[0].label, "Move"));
    CHECK_BYTES(again.rows[0].row, hash, 5);

    edit_buffer_clear(&out);
    report = (EditReport){.type = EDIT_LINK_WRITE, .seq = 9, .has_scene = true, .file_count = 2};
    report.scene = text_from("{}");
    edit_report_write(&report, &out);
    edit_report_file_write(&(EditReportFile){.path = text_from("a.lua"), .hash = hash}, &out);
    edit_report_file_write(&(EditReportFile){.path = text_from("b.lua"), .known = hash}, &out);
    check_round(&out);
    CHECK(!again.has_settings && again.has_scene && text_is(again.scene, "{}"));
    EditReportFile file;
    ByteReader files = again.files;
    edit_report_file(&files, &file);
    CHECK(text_is(file.path, "a.lua") && file.hash != NULL && file.known == NULL);
    edit_report_file(&files, &file);
    CHECK(text_is(file.path, "b.lua") && file.hash == NULL && file.known != NULL);

    edit_buffer_clear(&out);
    report = (EditReport){.type = EDIT_LINK_CHECKPOINT, .seq = 4, .flag = true, .bytes = hash};
    report.byte_count = sizeof hash;
    edit_report_write(&report, &out);
    check_round(&out);
    CHECK(again.flag && again.byte_count == sizeof hash);

    edit_buffer_clear(&out);
    report =
        (EditReport){.type = EDIT_LINK_ASK, .connection = 5, .text = "tick\x01\xff", .name = "r"};
    edit_report_write(&report, &out);
    CHECK_OK(edit_report_read(report.type, out.data, out.bytes, &again));
    CHECK(strchr(again.text, '\x01') == NULL && strncmp(again.text, "tick", 4) == 0);

    edit_buffer_clear(&out);
    report = (EditReport){.type = EDIT_LINK_COUNTS, .counts = {.told = 1, .slow = 300}};
    edit_report_write(&report, &out);
    check_round(&out);
    CHECK_INT(again.counts.slow, 300);
    edit_buffer_free(&out);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(what_only_a_host_says_and_what_is_too_much_is_refused)
{
    uint8_t bytes[64] = {0};
    for (EditLinkType type = EDIT_LINK_NONE; type < EDIT_LINK_READY; type++) {
        CHECK(edit_report_read(type, bytes, 0, &again) != STATUS_OK);
    }
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    byte_write_varint(&writer, EDIT_BATCH_MAX + 1);
    CHECK(edit_report_read(EDIT_LINK_ROWS, bytes, writer.at, &again) != STATUS_OK);
    // A path with a zero, and an empty one.
    for (uint32_t i = 0; i < 2; i++) {
        writer = byte_writer(bytes, sizeof bytes);
        byte_write_varint(&writer, 1);
        byte_write_bool(&writer, false);
        byte_write_bool(&writer, false);
        byte_write_varint(&writer, 1);
        byte_write_varint(&writer, i == 0 ? 3 : 0);
        byte_write_bytes(&writer, "a\0b", i == 0 ? 3 : 0);
        byte_write_bool(&writer, false);
        byte_write_bool(&writer, false);
        CHECK(edit_report_read(EDIT_LINK_WRITE, bytes, writer.at, &again) != STATUS_OK);
    }
}

TEST(a_beginning_is_read_as_it_was_written)
{
    Heap heap = heap_make(HEAP_BYTES);
    EditBuffer files = edit_buffer(&heap, 4096), rows = edit_buffer(&heap, 4096);
    EditBuffer out = edit_buffer(&heap, 1 << 16);
    static const uint8_t hash[SHA256_BYTES] = {9};
    edit_disk_file_write(text_from("a.lua"), hash, &files);
    edit_buffer_block(&rows, "row", 3);
    const EditBeginning beginning = {.epoch = 5,
                                     .log = 3,
                                     .seed = 77,
                                     .has_log = true,
                                     .checkpoint_seq = 10,
                                     .written_seq = 11,
                                     .checkpoint = text_from("document"),
                                     .base_settings = text_from("{}"),
                                     .base_scene = text_from("[]"),
                                     .row_count = 1,
                                     .rows = rows.data,
                                     .row_bytes = rows.bytes,
                                     .disk = {.settings = text_from("s"),
                                              .scene = text_from("t"),
                                              .file_count = 1,
                                              .files = files.data,
                                              .file_bytes = files.bytes}};
    edit_beginning_write(&beginning, &out);
    EditBeginning read;
    CHECK_OK(edit_beginning_read(out.data, out.bytes, &read));
    CHECK(read.epoch == 5 && read.log == 3 && read.seed == 77 && read.written_seq == 11);
    CHECK(text_is(read.checkpoint, "document") && text_is(read.disk.scene, "t"));
    CHECK_INT(read.disk.file_count, 1);
    for (size_t cut = 0; cut < out.bytes; cut++) {
        CHECK(edit_beginning_read(out.data, cut, &read) != STATUS_OK);
    }
    edit_buffer_free(&files);
    edit_buffer_free(&rows);
    edit_buffer_free(&out);

    const EditAdmit admit = {
        .connection = 4, .editor = 32, .can_write = true, .name = "Ann", .text = "x"};
    uint8_t bytes[512];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    EditAdmit got;
    edit_admit_write(&admit, &writer);
    CHECK_OK(edit_admit_read(bytes, writer.at, &got));
    CHECK(got.connection == 4 && got.editor == 32 && got.can_write && strcmp(got.name, "Ann") == 0);
}

TEST(any_bytes_give_a_report_or_a_status)
{
    Rng rng = rng_make(11, 1);
    uint8_t bytes[256];
    for (uint32_t i = 0; i < 20000; i++) {
        const size_t count = rng_below(&rng, sizeof bytes);
        for (size_t k = 0; k < count; k++) {
            bytes[k] = (uint8_t)rng_below(&rng, rng_below(&rng, 2) == 0 ? 256 : 4);
        }
        const Status status = edit_report_read((EditLinkType)rng_below(&rng, EDIT_LINK_TYPE_COUNT),
                                               bytes, count, &again);
        CHECK(status < STATUS_COUNT);
    }
}
