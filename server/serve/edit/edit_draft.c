// The session thread of an open draft: starts the process, stores its rows, and passes on what the
// other threads leave. It may wait for the store; meanwhile the process collects the next batch.
#define _GNU_SOURCE
#include "server/serve/edit/edit_draft.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/base/utf8.h"
#include "server/control/order/bans.h"
#include "server/control/order/class.h"
#include "server/control/order/rights.h"
#include "server/net/socket_pass.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"
#include "server/sys/file.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMORY_BYTES (1024ull << 20) // address space of the process
#define HEAP_BYTES   (512ull << 20)
#define TURN_MS      250
#define START_MS     20000
#define IDLE_MS      180000 // without editors
#define END_MS       2000   // to write what is left
#define CHECK_MS     3000   // whether editors still may, if nobody said that it changed
#define SEATS_EACH   8      // connections of one account at once
#define HUNG_MS      8000   // without a sign of life
#define LIVES_MAX    5      // that end within LIFE_MS
#define LIFE_MS      30000
// An honest process makes a checkpoint long before.
#define ROWS_MAX      EDIT_LOG_MAX
#define ROW_BYTES_MAX (40u << 20)
#define MESSAGES_TURN 256

static uint64_t now_ms(void)
{
    return clock_ns() / 1000000;
}

// --- the beginning ------------------------------------------------------------------------------

typedef struct Loading {
    EditDraft *draft;
    Heap heap;
    EditBuffer checkpoint, rows;
    uint64_t checkpoint_seq, newest_seq;
    uint32_t row_count;
} Loading;

static void load_checkpoint(void *user, uint64_t seq, uint64_t newest, const uint8_t *document,
                            size_t bytes)
{
    Loading *loading = user;
    loading->checkpoint_seq = seq;
    loading->newest_seq = newest;
    edit_buffer_append(&loading->checkpoint, document, bytes);
}

// Whoever had a number gets it again.
static void load_row(void *user, const StoreEditRow *row)
{
    Loading *loading = user;
    EditSeat *seat = &loading->draft->seats[row->editor <= EDIT_EDITORS_MAX ? row->editor : 0];
    edit_buffer_block(&loading->rows, row->told, row->bytes);
    loading->row_count += 1;
    if (row->seq > loading->newest_seq) {
        loading->draft->rows_since += 1;
        loading->draft->row_bytes_since += row->bytes;
    }
    if (row->editor > 0 && seat->connection == 0 && seat->resume[0] == '\0') {
        seat->is_used = true;
        seat->account = row->maker_id;
    }
}

// The text as it was written last; empty if it is not kept any more. `sandlot dev` keeps it only
// after the write, so first the disk is asked.
static Text base_text(const EditDraft *draft, const uint8_t hash[SHA256_BYTES], Text disk,
                      uint8_t **memory)
{
    uint8_t now[SHA256_BYTES];
    size_t bytes = 0;
    sha256_of(disk.data, disk.bytes, now);
    if (memcmp(now, hash, sizeof now) == 0) {
        return disk;
    }
    if (blob_read(draft->serve->blobs, hash, EDIT_TEXT_BYTES_MAX, memory, &bytes) != STATUS_OK) {
        return text_from("");
    }
    return (Text){(const char *)*memory, bytes};
}

static Status write_beginning(EditDraft *draft, EditBuffer *out)
{
    Loading loading = {.draft = draft, .heap = heap_make(HEAP_BYTES)};
    loading.checkpoint = edit_buffer(&loading.heap, EDIT_DOCUMENT_BYTES_MAX);
    loading.rows = edit_buffer(&loading.heap, HEAP_BYTES / 2);
    EditBuffer disk = edit_buffer(&loading.heap, HEAP_BYTES / 2);
    const StoreEditLoad load = {.user = &loading, .checkpoint = load_checkpoint, .row = load_row};
    EditBeginning beginning = {.epoch = draft->head.epoch, .log = draft->head.log};
    uint8_t *settings = NULL, *scene = NULL;
    entropy_fill(&beginning.seed, sizeof beginning.seed);
    draft->rows_since = 0;
    draft->row_bytes_since = 0;
    Status status = edit_files_disk(draft, &disk);
    pthread_mutex_lock(&draft->disk_lock);
    memcpy(draft->begun_settings, draft->settings_hash, sizeof draft->begun_settings);
    memcpy(draft->begun_scene, draft->scene_hash, sizeof draft->begun_scene);
    pthread_mutex_unlock(&draft->disk_lock);
    if (status == STATUS_OK && draft->head.log != 0) {
        const Status loaded = store_edit_load(draft->serve->store, draft->place_id, &load);
        beginning.has_log = loaded == STATUS_OK && loading.rows.status == STATUS_OK &&
                            loading.checkpoint.status == STATUS_OK &&
                            loading.checkpoint_seq + loading.row_count == draft->head.seq;
        if (!beginning.has_log) {
            serve_log(LOG_WARN, "edit", "%s: its log cannot be read: its files begin a new one",
                      draft->place_id);
        }
    }
    ByteReader reader = byte_reader(disk.data, disk.bytes);
    status = status == STATUS_OK ? edit_disk_read(&reader, &beginning.disk) : status;
    if (status == STATUS_OK && beginning.has_log) {
        beginning.checkpoint_seq = loading.checkpoint_seq;
        beginning.newest_seq = loading.newest_seq;
        beginning.checkpoint =
            (Text){(const char *)loading.checkpoint.data, loading.checkpoint.bytes};
        beginning.row_count = loading.row_count;
        beginning.rows = loading.rows.data;
        beginning.row_bytes = loading.rows.bytes;
        beginning.written_seq = draft->head.written;
        beginning.base_settings =
            base_text(draft, draft->head.settings_hash, beginning.disk.settings, &settings);
        beginning.base_scene =
            base_text(draft, draft->head.scene_hash, beginning.disk.scene, &scene);
    }
    if (status == STATUS_OK) {
        edit_beginning_write(&beginning, out);
        status = out->status;
    }
    free(settings);
    free(scene);
    edit_buffer_free(&loading.checkpoint);
    edit_buffer_free(&loading.rows);
    edit_buffer_free(&disk);
    return status;
}

static Status put_message(EditDraft *draft, EditLinkType type, const void *bytes, size_t count,
                          int descriptor)
{
    const Status status = edit_link_put(&draft->channel, type, bytes, count, descriptor);
    if (status != STATUS_OK && descriptor >= 0) {
        close(descriptor);
    }
    return status;
}

static Status send_beginning(EditDraft *draft)
{
    Heap heap = heap_make(HEAP_BYTES);
    EditBuffer beginning = edit_buffer(&heap, HEAP_BYTES);
    uint8_t message[32];
    ByteWriter writer = byte_writer(message, sizeof message);
    const EditStart start = {.memory_bytes_max = MEMORY_BYTES,
                             .allow_weak_jail = draft->serve->config.allow_weak_jail};
    int memory = -1;
    edit_start_write(&start, &writer);
    Status status = write_beginning(draft, &beginning);
    if (status == STATUS_OK) {
        status = file_memory("sandlot-edit", beginning.data, beginning.bytes, NULL, 0, &memory);
    }
    if (status == STATUS_OK) {
        status = put_message(draft, EDIT_LINK_BEGIN, message, writer.at, memory);
    }
    edit_buffer_free(&beginning);
    return status;
}

// A write of the process before may be on its way to the disk (no other one begins). The store must
// know of it before this session fences that one: else what it wrote looks like a change on disk,
// and is taken again over newer ones.
static void wait_for_write(EditDraft *draft)
{
    pthread_mutex_lock(&draft->disk_lock);
    pthread_mutex_unlock(&draft->disk_lock);
}

// Nothing is stored for a place that was deleted.
static bool is_place_gone(EditDraft *draft)
{
    StorePackage package;
    return draft->serve->control != NULL &&
           store_package_find(draft->serve->store, draft->place_id, &package) == STATUS_NOT_FOUND;
}

static void note_gone(EditDraft *draft)
{
    EditDrafts *all = draft->serve->edits;
    pthread_mutex_lock(&all->lock);
    draft->is_gone = true;
    draft->must_end = true;
    pthread_mutex_unlock(&all->lock);
}

static Status start_process(EditDraft *draft)
{
    int ends[2];
    wait_for_write(draft);
    if (is_place_gone(draft)) {
        note_gone(draft);
        return STATUS_NOT_FOUND;
    }
    Status status =
        store_edit_take(draft->serve->store, draft->place_id, clock_unix_ms(), &draft->head);
    status = status == STATUS_OK ? socket_pass_pair(ends) : status;
    if (status != STATUS_OK) {
        return status;
    }
    const char *const arguments[] = {"sandlot", "edit-process", NULL};
    const ProcessConfig start = {
        .arguments = arguments, .descriptors = {ends[1]}, .descriptor_count = 1};
    status = process_start(&start, &draft->process);
    close(ends[1]);
    if (status != STATUS_OK) {
        close(ends[0]);
        return status;
    }
    draft->has_process = true;
    draft->life += 1;
    snprintf(draft->bounds, sizeof draft->bounds, "edit-%d-%d", (int)getpid(),
             (int)draft->process.pid);
    draft->is_bound =
        host_bounds_apply(&draft->serve->bounds, draft->bounds, MEMORY_BYTES, draft->process.pid);
    if (!draft->is_bound) {
        close(ends[0]);
        return STATUS_DENIED;
    }
    draft->life_counts = (EditCounts){0};
    status = channel_open(&draft->channel, ends[0], EDIT_LINK_QUEUE);
    if (status != STATUS_OK) {
        close(ends[0]);
        return status;
    }
    EditDrafts *all = draft->serve->edits;
    pthread_mutex_lock(&all->lock);
    all->numbers.starts += 1;
    pthread_mutex_unlock(&all->lock);
    status = send_beginning(draft);
    pthread_mutex_lock(&draft->file_lock);
    draft->file_epoch = draft->head.epoch;
    draft->file_life = draft->life;
    draft->written_seq = draft->head.written;
    pthread_mutex_unlock(&draft->file_lock);
    return status;
}

// --- who may come in ----------------------------------------------------------------------------

static uint32_t free_seat(EditDraft *draft, uint64_t account, const char *resume)
{
    uint32_t best = 0;
    uint32_t best_rank = 0;
    uint32_t own_count = 0;
    for (uint32_t i = 1; i <= EDIT_EDITORS_MAX; i++) {
        const EditSeat *seat = &draft->seats[i];
        own_count += seat->connection != 0 && seat->account == account;
        const bool is_own = seat->is_used && seat->account == account;
        uint32_t rank = 0;
        if (is_own && resume[0] != '\0' && strcmp(seat->resume, resume) == 0) {
            rank = 4; // the same page again, perhaps before its old socket was missed
        } else if (seat->connection == 0) {
            rank = is_own ? 3 : !seat->is_used ? 2 : 1;
        }
        const bool is_older =
            rank == 1 && best_rank == 1 && seat->left_ms < draft->seats[best].left_ms;
        if (rank > best_rank || is_older) {
            best = i;
            best_rank = rank;
        }
    }
    const bool is_too_often = account != 0 && own_count >= SEATS_EACH && best_rank != 4;
    return is_too_often ? 0 : best;
}

static void count_editors(EditDraft *draft)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i <= EDIT_EDITORS_MAX; i++) {
        count += draft->seats[i].connection != 0;
    }
    EditDrafts *all = draft->serve->edits;
    pthread_mutex_lock(&all->lock);
    draft->editor_count = count;
    pthread_mutex_unlock(&all->lock);
    draft->idle_ms = count > 0 ? 0 : now_ms();
}

static void expel(EditDraft *draft, uint64_t connection, EditExpelReason reason)
{
    uint8_t message[sizeof connection + 1];
    ByteWriter writer = byte_writer(message, sizeof message);
    byte_write_u64(&writer, connection);
    byte_write_u8(&writer, (uint8_t)reason);
    status_ignore(
        put_message(draft, EDIT_LINK_EXPEL, message, writer.at, -1)); // a full queue ends it
}

// A pupil has their name in places of their class alone, as in a game (host_people_name).
void edit_name_editor(Serve *serve, const char *place_id, const Identity *who,
                      char out[EDIT_LINK_NAME_BYTES])
{
    Control *control = serve->control;
    char name[STORE_SHOWN_BYTES] = "you";
    if (control != NULL) {
        snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1,
                 who->shown_name[0] != '\0' ? who->shown_name : who->name);
        if (!control_name_at(control, who->account, place_id, name) &&
            control_name_is_closed(control, who->account, who->roles)) {
            store_pupil_alias(who->account, name);
        }
    }
    snprintf(out, EDIT_LINK_NAME_BYTES, "%.64s", name);
    utf8_clean(out);
}

// The number for whoever brings this ticket; 0: they may not come in, and `why` says so. The right
// is asked now: it may have ended after the ticket was given.
static uint32_t seat_for(EditDraft *draft, const EditReport *ask, Identity *who, bool *can_write,
                         char why[CHANNEL_REASON_BYTES])
{
    bool may_write = false;
    if (!edit_ticket_take(draft, ask->text, who, can_write)) {
        snprintf(why, CHANNEL_REASON_BYTES,
                 "the ticket was used before, or has expired; ask for another");
        return 0;
    }
    if (edit_may(draft->serve, draft->place_id, who, &may_write) != STATUS_OK) {
        snprintf(why, CHANNEL_REASON_BYTES, "you may not edit this place (any more)");
        return 0;
    }
    *can_write = *can_write && may_write;
    const uint32_t seat = free_seat(draft, who->account, ask->name);
    if (seat == 0) {
        snprintf(why, CHANNEL_REASON_BYTES,
                 "as many people as can be are editing already, or you have it open too often");
    }
    return seat;
}

static void admit(EditDraft *draft, const EditReport *ask)
{
    EditAdmit answer = {.connection = ask->connection};
    Identity who = {0};
    bool can_write = false;
    uint8_t bytes[1024], token[16];
    answer.editor = seat_for(draft, ask, &who, &can_write, answer.text);
    if (answer.editor != 0) {
        EditSeat *seat = &draft->seats[answer.editor];
        if (seat->connection != 0) {
            expel(draft, seat->connection, EDIT_EXPEL_REPLACED);
        }
        *seat = (EditSeat){.is_used = true,
                           .account = who.account,
                           .connection = ask->connection,
                           .can_write = can_write,
                           .who = who};
        entropy_fill(token, sizeof token);
        for (uint32_t i = 0; i < sizeof token; i++) {
            snprintf(seat->resume + 2 * i, 3, "%02x", token[i]);
        }
        answer.can_write = can_write;
        edit_name_editor(draft->serve, draft->place_id, &who, answer.name);
        snprintf(answer.text, sizeof answer.text, "%s", seat->resume);
        count_editors(draft);
    }
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    edit_admit_write(&answer, &writer);
    ASSERT(writer.status == STATUS_OK);
    status_ignore(
        put_message(draft, EDIT_LINK_ADMIT, bytes, writer.at, -1)); // a full queue ends it
}

static void editor_left(EditDraft *draft, uint64_t connection)
{
    for (uint32_t i = 1; i <= EDIT_EDITORS_MAX; i++) {
        if (draft->seats[i].connection == connection && connection != 0) {
            draft->seats[i].connection = 0;
            draft->seats[i].left_ms = now_ms();
        }
    }
    count_editors(draft);
}

// A place that is gone, or that nobody may edit now (in the trash, removed), has no session.
static void check_place(EditDraft *draft)
{
    StorePackage package;
    const Status status = store_package_find(draft->serve->store, draft->place_id, &package);
    const bool is_closed = status == STATUS_OK && (package.trashed_unix_ms != 0 ||
                                                   (package.flags & STORE_PACKAGE_REMOVED) != 0);
    if (status == STATUS_NOT_FOUND) {
        note_gone(draft);
    } else if (is_closed) {
        EditDrafts *all = draft->serve->edits;
        pthread_mutex_lock(&all->lock);
        draft->must_end = true;
        pthread_mutex_unlock(&all->lock);
    }
}

// Sign-ins and bans are in memory and are looked at each turn. The rest is read from the store when
// somebody has changed it, and from time to time.
static bool is_lost(EditDraft *draft, const EditSeat *seat, bool must_read)
{
    Serve *serve = draft->serve;
    StoreBan ban;
    bool can_write = false;
    if (!must_read) {
        return !identity_is_current(serve->control, &seat->who) ||
               control_find_ban(serve->control, seat->account, "", BAN_ENTER, &ban);
    }
    const Status status = edit_may(serve, draft->place_id, &seat->who, &can_write);
    return status == STATUS_DENIED || (status == STATUS_OK && seat->can_write && !can_write);
}

// Those who lost their sign-in or their right leave. May wait for the disk.
static void check_rights(EditDraft *draft)
{
    EditDrafts *all = draft->serve->edits;
    if (draft->serve->control == NULL) {
        return;
    }
    pthread_mutex_lock(&all->lock);
    const bool must_read = draft->must_check || now_ms() - draft->checked_ms >= CHECK_MS;
    draft->must_check = false;
    pthread_mutex_unlock(&all->lock);
    if (must_read) {
        draft->checked_ms = now_ms();
        check_place(draft);
    }
    for (uint32_t i = 1; i <= EDIT_EDITORS_MAX; i++) {
        EditSeat *seat = &draft->seats[i];
        if (seat->connection != 0 && !seat->is_expelled && is_lost(draft, seat, must_read)) {
            seat->is_expelled = true;
            expel(draft, seat->connection, EDIT_EXPEL_DENIED);
        }
    }
}

// --- rows ---------------------------------------------------------------------------------------

static void answer_stored(EditDraft *draft, Status status)
{
    const uint8_t byte = (uint8_t)status;
    status_ignore(put_message(draft, EDIT_LINK_STORED, &byte, 1, -1)); // a full queue ends it
}

static void commit_rows(EditDraft *draft, const EditReport *report)
{
    EditDrafts *all = draft->serve->edits;
    StoreEditRow rows[EDIT_BATCH_MAX];
    const uint64_t began_ns = clock_ns();
    size_t bytes = 0;
    for (uint32_t i = 0; i < report->row_count; i++) {
        const EditReportRow *row = &report->rows[i];
        const EditSeat *seat = &draft->seats[row->editor];
        rows[i] = (StoreEditRow){.seq = row->seq,
                                 .editor = row->editor,
                                 .maker_id = row->editor != 0 ? seat->account : 0,
                                 .unix_ms = clock_unix_ms(),
                                 .told = row->row,
                                 .bytes = row->row_bytes};
        memcpy(rows[i].label, row->label.data, row->label.bytes);
        utf8_clean(rows[i].label); // the process may be anybody's
        bytes += row->row_bytes;
        draft->last_account = rows[i].maker_id != 0 ? rows[i].maker_id : draft->last_account;
    }
    const bool is_too_much = draft->rows_since > ROWS_MAX || draft->row_bytes_since > ROW_BYTES_MAX;
    const Status status = is_too_much
                              ? STATUS_LIMIT
                              : store_edit_commit(draft->serve->store, draft->place_id,
                                                  draft->head.epoch, rows, report->row_count);
    if (status == STATUS_OK) {
        draft->head.seq += report->row_count;
        draft->rows_since += report->row_count;
        draft->row_bytes_since += bytes;
    }
    pthread_mutex_lock(&all->lock);
    all->numbers.commits += 1;
    all->numbers.commit_us += (clock_ns() - began_ns) / 1000;
    pthread_mutex_unlock(&all->lock);
    answer_stored(draft, status);
}

static void keep_checkpoint(EditDraft *draft, const EditReport *report)
{
    Status status = STATUS_OK;
    if (report->flag) {
        StoreEditHead head = {.epoch = draft->head.epoch, .log = draft->head.epoch};
        head.seq = head.written = report->seq;
        memcpy(head.settings_hash, draft->begun_settings, sizeof head.settings_hash);
        memcpy(head.scene_hash, draft->begun_scene, sizeof head.scene_hash);
        status = store_edit_begin(draft->serve->store, draft->place_id, &head, report->bytes,
                                  report->byte_count);
        if (status == STATUS_OK) {
            draft->head = head;
            pthread_mutex_lock(&draft->file_lock);
            draft->written_seq = head.written;
            pthread_mutex_unlock(&draft->file_lock);
        }
    } else {
        status = store_edit_checkpoint(draft->serve->store, draft->place_id, draft->head.epoch,
                                       report->seq, report->bytes, report->byte_count);
    }
    if (status == STATUS_OK) {
        draft->rows_since = 0;
        draft->row_bytes_since = 0;
    }
    answer_stored(draft, status);
}

// --- what the process says ----------------------------------------------------------------------

static void ask_files(EditDraft *draft, bool must_look, const EditLinkMessage *write)
{
    uint8_t *copy = write != NULL ? malloc(write->count) : NULL;
    pthread_mutex_lock(&draft->file_lock);
    draft->file_look = draft->file_look || must_look;
    draft->file_account = draft->last_account;
    if (copy != NULL) {
        memcpy(copy, write->bytes, write->count);
        free(draft->file_write); // of a process that is gone
        draft->file_write = copy;
        draft->file_write_bytes = write->count;
    }
    pthread_cond_signal(&draft->file_wake);
    pthread_mutex_unlock(&draft->file_lock);
}

// Of a file the process needs to know that its content is there; of a clip it needs the bytes.
static void answer_need(EditDraft *draft, const uint8_t hash[SHA256_BYTES], bool is_clip)
{
    uint8_t head[SHA256_BYTES + 1];
    Serve *serve = draft->serve;
    bool is_there =
        blob_exists(serve->blobs, hash) &&
        (serve->drafts == NULL || store_edit_has_blob(serve->store, draft->place_id, hash));
    uint8_t *data = NULL;
    size_t bytes = 0;
    if (is_there && is_clip &&
        blob_read(serve->blobs, hash, EDIT_CLIP_BYTES_MAX, &data, &bytes) != STATUS_OK) {
        is_there = false;
        bytes = 0;
    }
    memcpy(head, hash, SHA256_BYTES);
    head[SHA256_BYTES] = is_there ? 1 : 0;
    uint8_t *message = malloc(sizeof head + bytes);
    if (message != NULL) {
        memcpy(message, head, sizeof head);
        if (bytes != 0) {
            memcpy(message + sizeof head, data, bytes);
        }
        status_ignore(put_message(draft, is_clip ? EDIT_LINK_CLIP : EDIT_LINK_BLOB, message,
                                  sizeof head + bytes, -1)); // a full queue ends it
    }
    free(message);
    free(data);
}

static void take_counts(EditDraft *draft, const EditCounts *counts)
{
    EditDrafts *all = draft->serve->edits;
    pthread_mutex_lock(&all->lock);
#define ADD(name, help)   \
    draft->counts.name += \
        counts->name > draft->life_counts.name ? counts->name - draft->life_counts.name : 0;
    EDIT_COUNTS(ADD)
#undef ADD
    pthread_mutex_unlock(&all->lock);
    draft->life_counts = *counts;
}

static void take_failure(EditDraft *draft, const EditReport *report)
{
    EditDrafts *all = draft->serve->edits;
    pthread_mutex_lock(&all->lock);
    draft->failure = (EditFailure){.line = report->line};
    snprintf(draft->failure.file, sizeof draft->failure.file, "%s", report->name);
    snprintf(draft->failure.message, sizeof draft->failure.message, "%s", report->text);
    pthread_mutex_unlock(&all->lock);
    serve_log(LOG_WARN, "edit", "%s cannot be edited: %s%s%s", draft->place_id, report->name,
              report->name[0] != '\0' ? ": " : "", report->text);
    edit_draft_set_state(draft, EDIT_FAILED);
}

// False: it said what no process of ours says.
static bool take_report(EditDraft *draft, const EditLinkMessage *message)
{
    EditReport *report = malloc(sizeof *report);
    bool is_good =
        report != NULL && message->descriptor < 0 &&
        edit_report_read(message->type, message->bytes, message->count, report) == STATUS_OK;
    switch (is_good ? message->type : EDIT_LINK_NONE) {
    case EDIT_LINK_READY:
        edit_draft_set_state(draft, EDIT_OPEN);
        break;
    case EDIT_LINK_FAILED:
        take_failure(draft, report);
        break;
    case EDIT_LINK_ASK:
        admit(draft, report);
        break;
    case EDIT_LINK_LEFT:
        editor_left(draft, report->connection);
        break;
    case EDIT_LINK_OVER:
        http_socket_over(draft->serve->http, report->number, (uint64_t)(uintptr_t)draft);
        break;
    case EDIT_LINK_ROWS:
        commit_rows(draft, report);
        break;
    case EDIT_LINK_CHECKPOINT:
        keep_checkpoint(draft, report);
        break;
    case EDIT_LINK_WRITE:
        ask_files(draft, false, message);
        break;
    case EDIT_LINK_LOOK:
        ask_files(draft, true, NULL);
        break;
    case EDIT_LINK_HELD:
        draft->is_finished = draft->is_finished || report->number == 0;
        edit_draft_held(draft, report->number);
        break;
    case EDIT_LINK_NEED:
        answer_need(draft, report->hash, report->flag);
        break;
    case EDIT_LINK_COUNTS:
        take_counts(draft, &report->counts);
        break;
    default:
        is_good = false;
    }
    free(report);
    return is_good;
}

// False: the process is gone, or must go.
static bool hear_process(EditDraft *draft)
{
    for (uint32_t i = 0; i < MESSAGES_TURN; i++) {
        EditLinkMessage message;
        const Status status = edit_link_take(&draft->channel, &draft->reader, &message);
        if (status == STATUS_NOT_FOUND) {
            return true;
        }
        draft->heard_ms = now_ms();
        const bool is_good = status == STATUS_OK && take_report(draft, &message);
        if (status == STATUS_OK && message.descriptor >= 0) {
            close(message.descriptor);
        }
        if (!is_good) {
            if (status != STATUS_TRUNCATED) {
                serve_log(LOG_ERROR, "edit", "%s: the edit process says what it may not; it ends",
                          draft->place_id);
            }
            return false;
        }
    }
    return true;
}

// --- mail of other threads ----------------------------------------------------------------------

static void pass_socket(EditDraft *draft, EditMail *mail)
{
    uint8_t *message = malloc(sizeof mail->number + mail->bytes);
    ByteWriter writer =
        byte_writer(message, message != NULL ? sizeof mail->number + mail->bytes : 0);
    byte_write_u64(&writer, mail->number);
    byte_write_bytes(&writer, mail->data, mail->bytes);
    http_socket_pass(draft->serve->http, mail->number, (uint64_t)(uintptr_t)draft);
    if (writer.status != STATUS_OK || edit_link_put(&draft->channel, EDIT_LINK_SOCKET, message,
                                                    writer.at, mail->descriptor) != STATUS_OK) {
        http_socket_over(draft->serve->http, mail->number, (uint64_t)(uintptr_t)draft);
    } else {
        mail->descriptor = -1;
        draft->idle_ms = draft->editor_count > 0 ? 0 : now_ms();
    }
    free(message);
}

static void put_number(EditDraft *draft, EditLinkType type, uint64_t number)
{
    uint8_t message[sizeof number];
    ByteWriter writer = byte_writer(message, sizeof message);
    byte_write_u64(&writer, number);
    status_ignore(put_message(draft, type, message, writer.at, -1)); // a full queue ends it
}

static void pass_mail(EditDraft *draft)
{
    for (EditMail *mail = edit_mail_take(draft); mail != NULL;) {
        EditMail *next = mail->next;
        const bool is_current = mail->life == 0 || mail->life == draft->life;
        switch (mail->type) {
        case EDIT_MAIL_SOCKET:
            pass_socket(draft, mail);
            break;
        case EDIT_MAIL_HOLD:
            put_number(draft, EDIT_LINK_HOLD, mail->number);
            break;
        case EDIT_MAIL_RELEASE:
            put_number(draft, EDIT_LINK_RELEASE, mail->number);
            break;
        case EDIT_MAIL_WRITTEN:
            if (is_current) {
                status_ignore(put_message(draft, EDIT_LINK_WRITTEN, mail->data, mail->bytes, -1));
            }
            break;
        case EDIT_MAIL_DISK:
            if (is_current && edit_link_put(&draft->channel, EDIT_LINK_DISK, NULL, 0,
                                            mail->descriptor) == STATUS_OK) {
                mail->descriptor = -1;
            }
            break;
        }
        if (mail->descriptor >= 0) {
            close(mail->descriptor);
        }
        free(mail);
        mail = next;
    }
}

// --- a life -------------------------------------------------------------------------------------

static bool must_end(EditDraft *draft)
{
    EditDrafts *all = draft->serve->edits;
    pthread_mutex_lock(&all->lock);
    const bool ends = draft->must_end || draft->state == EDIT_FAILED;
    pthread_mutex_unlock(&all->lock);
    return ends;
}

static bool is_written(EditDraft *draft)
{
    pthread_mutex_lock(&draft->file_lock);
    const bool written = draft->written_seq == draft->head.seq;
    pthread_mutex_unlock(&draft->file_lock);
    return written;
}

// Nobody has been here for a while, and everything is in the files: it takes no new sockets then. A
// draft that cannot be written (it is in the trash, the disk is full) ends later, and is written
// when it is opened again.
static bool is_idle(EditDraft *draft)
{
    EditDrafts *all = draft->serve->edits;
    const uint64_t idle_ms = draft->idle_ms != 0 ? now_ms() - draft->idle_ms : 0;
    if (idle_ms < IDLE_MS || (idle_ms < 2 * IDLE_MS && !is_written(draft))) {
        return false;
    }
    pthread_mutex_lock(&all->lock);
    const bool is_unused = draft->users == 0 && draft->holds == NULL && draft->mail == NULL;
    draft->must_end = draft->must_end || is_unused;
    pthread_mutex_unlock(&all->lock);
    return is_unused;
}

static void wait_turn(const EditDraft *draft, int ms)
{
    struct pollfd ends[2] = {{.fd = draft->channel.end, .events = POLLIN},
                             {.fd = draft->event, .events = POLLIN}};
    uint64_t woken;
    if (channel_free(&draft->channel) < draft->channel.out_capacity) {
        ends[0].events |= POLLOUT;
    }
    (void)poll(ends, 2, ms);
    (void)!read(draft->event, &woken, sizeof woken);
}

// What other threads wait for is asked again from a new process.
static void repeat_holds(EditDraft *draft)
{
    EditDrafts *all = draft->serve->edits;
    uint64_t numbers[EDIT_DRAFTS_MAX];
    uint32_t count = 0;
    pthread_mutex_lock(&all->lock);
    for (EditHold *hold = draft->holds; hold != NULL && count < EDIT_DRAFTS_MAX;
         hold = hold->next) {
        numbers[count++] = hold->number;
    }
    pthread_mutex_unlock(&all->lock);
    while (count > 0) {
        put_number(draft, EDIT_LINK_HOLD, numbers[--count]);
    }
}

// Everything that was told is to be in the files before it ends. The number is nobody's.
static void wait_until_written(EditDraft *draft)
{
    EditDrafts *all = draft->serve->edits;
    const uint64_t until = now_ms() + END_MS;
    pthread_mutex_lock(&all->lock);
    const bool is_gone = draft->is_gone || draft->state != EDIT_OPEN;
    pthread_mutex_unlock(&all->lock);
    if (is_gone || is_written(draft)) {
        return;
    }
    draft->is_finished = false;
    put_number(draft, EDIT_LINK_HOLD, 0);
    while (now_ms() < until && !draft->is_finished) {
        if (channel_flush(&draft->channel) == STATUS_TRUNCATED) {
            return;
        }
        wait_turn(draft, 20);
        pass_mail(draft);
        if (!hear_process(draft)) {
            return;
        }
    }
}

static void end_process(EditDraft *draft)
{
    int code = 0;
    if (draft->channel.end >= 0) {
        channel_close(&draft->channel); // it ends by itself then
    }
    if (draft->has_process) {
        process_kill(&draft->process, SIGKILL);
        process_wait(&draft->process, &code);
        draft->has_process = false;
    }
    if (draft->is_bound) {
        host_bounds_remove(&draft->serve->bounds, draft->bounds);
        draft->is_bound = false;
    }
    edit_link_reader_free(&draft->reader);
    pthread_mutex_lock(&draft->file_lock);
    draft->file_life = 0; // nobody is told until the next one runs
    free(draft->file_write);
    draft->file_write = NULL;
    draft->file_look = false;
    pthread_mutex_unlock(&draft->file_lock);
    http_socket_over_all(draft->serve->http, (uint64_t)(uintptr_t)draft);
    for (uint32_t i = 1; i <= EDIT_EDITORS_MAX; i++) {
        draft->seats[i].connection = 0;
    }
    count_editors(draft);
}

// One process, until it ends or is to.
static void live(EditDraft *draft)
{
    const uint64_t began = now_ms();
    if (start_process(draft) != STATUS_OK) {
        return;
    }
    repeat_holds(draft);
    draft->idle_ms = now_ms();
    draft->heard_ms = draft->idle_ms + START_MS; // it reads its log first
    for (bool is_running = true; is_running && !must_end(draft) && !is_idle(draft);) {
        if (channel_flush(&draft->channel) == STATUS_TRUNCATED) {
            break;
        }
        wait_turn(draft, TURN_MS);
        check_rights(draft); // before anything that was sent later is taken
        pass_mail(draft);
        is_running = hear_process(draft);
        pthread_mutex_lock(&draft->serve->edits->lock);
        const bool is_open = draft->state == EDIT_OPEN;
        const bool is_late = draft->state == EDIT_OPENING && now_ms() - began > START_MS;
        pthread_mutex_unlock(&draft->serve->edits->lock);
        const bool is_hung = is_open && now_ms() > draft->heard_ms + HUNG_MS;
        if (is_hung) {
            serve_log(LOG_ERROR, "edit", "%s: its edit process does not answer; it ends",
                      draft->place_id);
        }
        is_running = is_running && !is_late && !is_hung;
    }
    if (must_end(draft)) {
        wait_until_written(draft);
    }
}

void *edit_draft_run(void *user)
{
    EditDraft *draft = user;
    EditDrafts *all = draft->serve->edits;
    uint32_t short_lives = 0;
    const bool has_files = pthread_create(&draft->file_thread, NULL, edit_files_run, draft) == 0;
    while (has_files && !must_end(draft) && short_lives < LIVES_MAX) {
        const uint64_t began = now_ms();
        live(draft);
        end_process(draft);
        if (!must_end(draft)) {
            short_lives = now_ms() - began < LIFE_MS ? short_lives + 1 : 0;
            serve_log(LOG_WARN, "edit", "%s: its edit process has ended and is started again",
                      draft->place_id);
            pthread_mutex_lock(&all->lock);
            all->numbers.deaths += 1;
            pthread_mutex_unlock(&all->lock);
        }
    }
    if (has_files) {
        pthread_mutex_lock(&draft->file_lock);
        draft->file_stop = true;
        pthread_cond_signal(&draft->file_wake);
        pthread_mutex_unlock(&draft->file_lock);
        pthread_join(draft->file_thread, NULL);
    }
    if (is_place_gone(draft)) { // it may have gone while the session began
        status_ignore(store_edit_forget(draft->serve->store, draft->place_id));
    }
    edit_draft_set_state(draft, EDIT_ENDED);
    return NULL;
}
