// See draft.h. The host is a model of server/serve/edit (edit_draft.c, edit_files.c): it does the
// same in the same order, but each step of a write is a step of virtual time, and it may be the
// last.
//
// Who may change what tells whether something was lost. Editors have files of their own and the
// scene's lower bound, other programs have files of their own and the name of the place:
//   seed % 3 = 0   nothing else writes: no row may be a change on disk
//   seed % 3 = 1   other programs change what is theirs: no change on disk has anything of an
//   editor's seed % 3 = 2   other programs change anything, and write texts that cannot be read
#include "tests/scenario/edit/draft_inside.h"

#include "core/base/check.h"
#include "tests/support/edit_fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

Run run;

void draft_fail(const char *format, ...)
{
    if (run.result.has_failed) {
        return;
    }
    run.result.has_failed = true;
    va_list arguments;
    va_start(arguments, format);
    const int at = snprintf(run.result.why, sizeof run.result.why, "step %u: ", (unsigned)run.step);
    (void)vsnprintf(run.result.why + at, sizeof run.result.why - (size_t)at, format, arguments);
    va_end(arguments);
}

bool draft_chance(uint32_t one_in)
{
    return !run.is_quiet && rng_below(&run.rng, one_in) == 0;
}

// --- a run --------------------------------------------------------------------------------------

static void check_files(void)
{
    const EditDoc *doc = run.process->doc;
    if (edit_doc_file_count(doc) != run.file_count) {
        draft_fail("the document has %u files, the disk %u", (unsigned)edit_doc_file_count(doc),
                   (unsigned)run.file_count);
    }
    for (uint32_t i = 0; i < run.file_count; i++) {
        const EditFile *file = edit_doc_file_find(doc, text_from(run.files[i].path));
        if (file == NULL || memcmp(file->hash, run.files[i].hash, SHA256_BYTES) != 0) {
            draft_fail("%s on disk is not the document's", run.files[i].path);
        }
    }
    const DiskFile *outside = draft_file_find("Workspace/Out.lua");
    if (run.has_outside && (outside == NULL || memcmp(outside->hash, run.outside_hash,
                                                      sizeof run.outside_hash) != 0)) {
        draft_fail("what another program wrote is gone");
    }
}

static void check_texts(void)
{
    EditDoc *doc = NULL;
    EditText *text = NULL;
    PlaceError error;
    const EditTexts now = {draft_blob_text(run.texts[0]), draft_blob_text(run.texts[1])};
    const Status status = edit_text_open(&run.heap, (EditBlobs){0}, now, &text, &doc, &error);
    if (status != STATUS_OK) {
        draft_fail("the texts cannot be read: %s", error.where.message);
        return;
    }
    if (!edit_doc_says_same(doc, run.process->doc, EDIT_SETTINGS) ||
        !edit_doc_says_same(doc, run.process->doc, EDIT_SCENE)) {
        draft_fail("the texts on disk are another document");
    }
    edit_text_close(text);
    edit_doc_destroy(doc);
}

// After quiet: everybody has the same document, and the disk has it too.
static void check_end(void)
{
    if (run.process == NULL || run.process->written_seq != run.row_count || run.row_count == 0) {
        draft_fail("not everything is written after quiet");
        return;
    }
    for (uint32_t i = 1; i <= run.page_count; i++) {
        const Page *page = &run.pages[i];
        if (page->pending == NULL || edit_pending_count(page->pending) != 0 ||
            edit_pending_seq(page->pending) != run.row_count ||
            edit_doc_hash(page->doc) != edit_doc_hash(run.process->doc)) {
            draft_fail("editor %u has another document after quiet", (unsigned)i);
        }
    }
    check_files();
    check_texts();
}

static void open_run(uint64_t seed)
{
    memset(&run, 0, sizeof run);
    run.heap = heap_make(HEAP_BYTES);
    run.rng = rng_make(seed, 5);
    run.trace = HASH64_INIT;
    run.mode = (uint32_t)(seed % 3);
    run.keeps_history = seed % 2 == 0;
    run.page_count = 2 + rng_below(&run.rng, EDITORS_MAX - 1);
    run.texts[0] = draft_blob_add(EDIT_PLACE, strlen(EDIT_PLACE), run.keeps_history);
    run.texts[1] = draft_blob_add(EDIT_SCENE_TEXT, strlen(EDIT_SCENE_TEXT), run.keeps_history);
}

static void close_run(void)
{
    draft_process_free();
    if (run.job.bytes != NULL) {
        draft_job_free();
    }
    draft_queue_clear(&run.to_host);
    draft_queue_clear(&run.to_process);
    for (uint32_t i = 1; i <= run.page_count; i++) {
        draft_disconnect(i);
        edit_pending_destroy(run.pages[i].pending);
        edit_doc_destroy(run.pages[i].doc);
    }
    for (uint32_t i = 0; i < run.row_count; i++) {
        heap_free(&run.heap, run.rows[i].data);
    }
    for (uint32_t i = 0; i < run.blob_count; i++) {
        heap_free(&run.heap, run.blobs[i].data);
    }
    for (uint32_t i = 0; i < 2; i++) {
        heap_free(&run.heap, run.checkpoints[i].data);
    }
    if (run.heap.bytes_now != 0) {
        draft_fail("%llu bytes were not given back", (unsigned long long)run.heap.bytes_now);
    }
}

EditorsResult draft_run(uint64_t seed)
{
    open_run(seed);
    for (run.step = 0; run.step < STEPS + QUIET_STEPS && !run.result.has_failed; run.step++) {
        run.is_quiet = run.step >= STEPS;
        draft_step_outside();
        if (run.process != NULL && draft_chance(300)) {
            draft_kill_process();
        }
        draft_step_host();
        draft_step_process();
        draft_step_pages();
    }
    if (!run.result.has_failed) {
        check_end();
    }
    run.result.hash = run.trace.state;
    close_run();
    return run.result;
}
