// A model of the host (server/serve/edit): it stores rows, writes files step by step, and tells the
// process what is on disk. See draft.h.
#include "tests/scenario/edit/draft_inside.h"

#include "core/base/check.h"

#include <stdio.h>
#include <string.h>

// --- the store ----------------------------------------------------------------------------------

static bool is_outsiders(Text path)
{
    return path.bytes > 13 && memcmp(path.data, "Workspace/Out", 13) == 0;
}

// A change on disk must be one that another program has made: what the process wrote itself, or did
// not write any more, is none. It would put an old value over a newer one.
static void check_row(const EditReportRow *row)
{
    EditDown told;
    EditOp op;
    EditError error = {0};
    const Status status = edit_down_read(row->row, row->row_bytes, &told);
    ASSERT(status == STATUS_OK);
    if (told.editor != 0 || !text_equal(told.text, text_from("Changed on disk"))) {
        return;
    }
    if (run.mode == 0) {
        draft_fail("row %u is a change on disk that nobody made", (unsigned)row->seq);
    }
    ByteReader reader = byte_reader(told.ops, told.ops_bytes);
    if (run.mode != 1 || edit_ops_open(&reader, &error) != STATUS_OK) {
        return;
    }
    while (edit_op_read(&reader, &op, &error)) {
        const bool is_file = op.type == EDIT_FILE || op.type == EDIT_RENAME;
        if (is_file ? !is_outsiders(op.path) : op.type != EDIT_SET || op.kind != EDIT_SETTINGS) {
            draft_fail("row %u takes what an editor did for a change on disk", (unsigned)row->seq);
        }
    }
}

static void draft_answer(EditLinkType type, const EditBuffer *message)
{
    draft_queue_add(&run.to_process, type, message->data, message->bytes, 4);
}

static void answer_stored(Status status)
{
    EditBuffer message = edit_buffer(&run.heap, 64);
    edit_buffer_u8(&message, (uint8_t)status);
    draft_answer(EDIT_LINK_STORED, &message);
    edit_buffer_free(&message);
}

static void store_rows(const EditReport *report)
{
    if (draft_chance(40)) {
        answer_stored(STATUS_LIMIT); // the disk of the store is full for a moment
        return;
    }
    if (draft_chance(60)) {
        draft_kill_server(); // before they are stored
        return;
    }
    for (uint32_t i = 0; i < report->row_count; i++) {
        const EditReportRow *row = &report->rows[i];
        ASSERT(run.row_count < ROWS_MAX && row->seq == run.row_count + 1u);
        check_row(row);
        run.rows[run.row_count++] =
            (Packet){draft_copy_of(row->row, row->row_bytes), row->row_bytes, 0, 0};
    }
    if (draft_chance(60)) {
        draft_kill_server(); // after they are stored, before anybody was told
        return;
    }
    answer_stored(STATUS_OK);
}

static void store_checkpoint(const EditReport *report)
{
    if (report->flag) {
        run.head.log = run.head.epoch;
        run.head.written = run.written_seq = report->seq;
        memcpy(run.head.hashes, run.begun, sizeof run.head.hashes);
    }
    heap_free(&run.heap, run.checkpoints[0].data);
    run.checkpoints[0] = run.checkpoints[1];
    run.checkpoints[1] = (Checkpoint){report->seq, draft_copy_of(report->bytes, report->byte_count),
                                      report->byte_count};
    answer_stored(STATUS_OK);
}

// --- writing files ------------------------------------------------------------------------------

void draft_job_free(void)
{
    heap_free(&run.heap, run.job.bytes);
    edit_buffer_free(&run.job.failed);
    run.job = (Job){0};
}

static void begin_write(const Packet *packet)
{
    ASSERT(run.job.bytes == NULL);
    run.job = (Job){.bytes = draft_copy_of(packet->data, packet->bytes),
                    .life = run.life,
                    .epoch = run.head.epoch,
                    .failed = edit_buffer(&run.heap, 1u << 20)};
    const Status status =
        edit_report_read(EDIT_LINK_WRITE, run.job.bytes, packet->bytes, &run.job.report);
    ASSERT(status == STATUS_OK);
    memcpy(run.job.hashes[0], run.job.report.settings_known, SHA256_BYTES);
    memcpy(run.job.hashes[1], run.job.report.scene_known, SHA256_BYTES);
}

// Which texts the disk is about to have.
static void announce_texts(void)
{
    const EditReport *report = &run.job.report;
    if (!report->has_settings && !report->has_scene) {
        return;
    }
    memcpy(run.head.hashes, run.job.hashes, sizeof run.head.hashes);
    if (report->has_settings) {
        sha256_of(report->settings.data, report->settings.bytes, run.head.hashes[0]);
    }
    if (report->has_scene) {
        sha256_of(report->scene.data, report->scene.bytes, run.head.hashes[1]);
    }
}

static Status write_file(const EditReportFile *file)
{
    (void)snprintf(run.job.path, sizeof run.job.path, "%.*s", (int)file->path.bytes,
                   file->path.data);
    const DiskFile *there = draft_file_find(run.job.path);
    const bool is_known =
        there == NULL ? file->known == NULL
                      : file->known != NULL && memcmp(there->hash, file->known, SHA256_BYTES) == 0;
    if (!is_known) {
        return STATUS_MISMATCH;
    }
    if (!is_outsiders(file->path) && draft_chance(40)) {
        edit_buffer_block(&run.job.failed, run.job.path, strlen(run.job.path));
        edit_buffer_block(&run.job.failed, "full", 4);
        run.job.failed_count += 1;
        return STATUS_OK;
    }
    draft_file_set(run.job.path, file->hash);
    return STATUS_OK;
}

static Status write_text(uint32_t which, Text text, const uint8_t *known)
{
    (void)snprintf(run.job.path, sizeof run.job.path, "%s",
                   which == 0 ? "place.json" : "scene.json");
    if (memcmp(run.blobs[run.texts[which]].hash, known, SHA256_BYTES) != 0) {
        return STATUS_MISMATCH;
    }
    if (draft_chance(60)) {
        return STATUS_LIMIT;
    }
    run.texts[which] = draft_blob_add(text.data, text.bytes, run.keeps_history);
    memcpy(run.job.hashes[which], run.blobs[run.texts[which]].hash, SHA256_BYTES);
    return STATUS_OK;
}

static void answer_write(void)
{
    EditBuffer message = edit_buffer(&run.heap, 1u << 20);
    const bool is_bad = run.job.status != STATUS_OK;
    edit_buffer_u8(&message, (uint8_t)run.job.status);
    edit_buffer_block(&message, run.job.path, is_bad ? strlen(run.job.path) : 0);
    edit_buffer_block(&message, "", 0);
    edit_buffer_u64(&message, is_bad ? 0 : run.job.failed_count);
    edit_buffer_append(&message, run.job.failed.data, is_bad ? 0 : run.job.failed.bytes);
    if (run.job.life == run.life && run.process != NULL) {
        draft_answer(EDIT_LINK_WRITTEN, &message);
    }
    edit_buffer_free(&message);
    draft_job_free();
}

// One step of it. The server may die before and after each.
static void step_write(void)
{
    Job *job = &run.job;
    const EditReport *report = &job->report;
    const uint32_t files_end = 1 + report->file_count;
    const uint32_t at = job->at++;
    if (at == 0) {
        announce_texts();
    } else if (at < files_end) {
        ByteReader files = report->files;
        EditReportFile file;
        for (uint32_t i = 0; i < at; i++) {
            edit_report_file(&files, &file);
        }
        job->status = write_file(&file);
    } else if (at == files_end && report->has_settings) {
        job->status = write_text(0, report->settings, report->settings_known);
    } else if (at == files_end + 1 && report->has_scene) {
        job->status = write_text(1, report->scene, report->scene_known);
    } else if (at == files_end + 2) {
        for (uint32_t i = 0; i < 2 && !run.keeps_history; i++) {
            run.blobs[run.texts[i]].is_kept = true;
        }
    } else if (at == files_end + 3) {
        run.written_seq = job->failed_count > 0 ? run.written_seq : report->seq;
        run.head.written = run.written_seq;
        memcpy(run.head.hashes, job->hashes, sizeof run.head.hashes);
    } else if (at == files_end + 4) {
        answer_write();
        return;
    }
    if (job->status != STATUS_OK) {
        memcpy(run.head.hashes, job->hashes, sizeof run.head.hashes);
        answer_write();
    }
}

// --- the host -----------------------------------------------------------------------------------

static void tell_disk(void)
{
    EditBuffer files = edit_buffer(&run.heap, 1u << 20),
               message = edit_buffer(&run.heap, 64u << 20);
    const EditDisk disk = draft_disk_now(&files);
    edit_disk_write(&disk, &message);
    draft_answer(EDIT_LINK_DISK, &message);
    edit_buffer_free(&files);
    edit_buffer_free(&message);
    run.disk_told_at = 0;
}

static void release(void)
{
    EditBuffer message = edit_buffer(&run.heap, 64);
    if (run.mode != 0) {
        draft_outside_file();
    }
    edit_buffer_u64(&message, run.hold);
    draft_answer(EDIT_LINK_RELEASE, &message);
    edit_buffer_free(&message);
    run.hold = 0;
}

static void draft_hear_process(const Packet *packet)
{
    static EditReport report;
    const Status status =
        edit_report_read((EditLinkType)packet->type, packet->data, packet->bytes, &report);
    ASSERT(status == STATUS_OK);
    EditBuffer message = edit_buffer(&run.heap, 64);
    switch (packet->type) {
    case EDIT_LINK_ROWS:
        store_rows(&report);
        break;
    case EDIT_LINK_CHECKPOINT:
        store_checkpoint(&report);
        break;
    case EDIT_LINK_WRITE:
        begin_write(packet);
        break;
    case EDIT_LINK_LOOK:
        run.disk_told_at = run.step + 1 + rng_below(&run.rng, 10);
        break;
    case EDIT_LINK_NEED:
        edit_buffer_append(&message, report.hash, SHA256_BYTES);
        edit_buffer_u8(&message, draft_chance(20) ? 0 : 1);
        draft_answer(EDIT_LINK_BLOB, &message);
        break;
    case EDIT_LINK_HELD:
        if (report.number == run.hold) {
            release();
        }
        break;
    default:
        break;
    }
    edit_buffer_free(&message);
}

void draft_step_host(void)
{
    Packet packet;
    if (run.process == NULL && run.job.bytes == NULL && run.step >= run.starts_at) {
        draft_start_process();
    }
    while (run.process != NULL && draft_queue_take(&run.to_host, &packet)) {
        draft_hear_process(&packet);
        heap_free(&run.heap, packet.data);
    }
    if (run.job.bytes != NULL) {
        if (draft_chance(25)) {
            draft_kill_server();
            return;
        }
        step_write();
    }
    if (run.process != NULL && run.job.bytes == NULL && run.disk_told_at != 0 &&
        run.step >= run.disk_told_at) {
        tell_disk();
    }
    if (run.process != NULL && run.hold == 0 && draft_chance(150)) {
        EditBuffer message = edit_buffer(&run.heap, 64);
        run.hold = ++run.hold_next;
        edit_buffer_u64(&message, run.hold);
        draft_answer(EDIT_LINK_HOLD, &message);
        edit_buffer_free(&message);
    }
}
