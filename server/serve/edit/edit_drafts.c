// See edit_drafts.h: the table of open drafts, tickets, and holds.
#define _GNU_SOURCE
#include "server/serve/edit/edit_drafts.h"

#include "core/base/check.h"
#include "server/control/order/bans.h"
#include "server/control/order/rights.h"
#include "server/serve/edit/edit_draft.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define OPEN_MS 20000
#define HOLD_MS 5000

// --- mail ---------------------------------------------------------------------------------------

static void wake(const EditDraft *draft)
{
    const uint64_t one = 1;
    (void)!write(draft->event, &one, sizeof one); // it is awake if this is full
}

// Nobody reads it any more: whoever waits on a socket of it is let go.
static void drop_mail(Serve *serve, EditMail *mail)
{
    while (mail != NULL) {
        EditMail *next = mail->next;
        if (mail->descriptor >= 0) {
            close(mail->descriptor);
        }
        if (mail->type == EDIT_MAIL_SOCKET) {
            http_socket_over(serve->http, mail->number, 0);
        }
        free(mail);
        mail = next;
    }
}

void edit_mail_post(EditDraft *draft, EditMailType type, uint64_t number, uint32_t life,
                    int descriptor, const void *data, size_t bytes)
{
    EditMail *mail = malloc(sizeof *mail + bytes);
    if (mail == NULL) {
        if (descriptor >= 0) {
            close(descriptor);
        }
        return;
    }
    *mail = (EditMail){
        .type = type, .number = number, .life = life, .descriptor = descriptor, .bytes = bytes};
    if (bytes > 0) {
        memcpy(mail->data, data, bytes);
    }
    EditDrafts *all = draft->serve->edits;
    pthread_mutex_lock(&all->lock);
    const bool has_ended = draft->state == EDIT_ENDED;
    if (!has_ended) {
        *draft->mail_end = mail;
        draft->mail_end = &mail->next;
    }
    pthread_mutex_unlock(&all->lock);
    if (has_ended) {
        drop_mail(draft->serve, mail);
    }
    wake(draft);
}

EditMail *edit_mail_take(EditDraft *draft)
{
    EditDrafts *all = draft->serve->edits;
    pthread_mutex_lock(&all->lock);
    EditMail *mail = draft->mail;
    draft->mail = NULL;
    draft->mail_end = &draft->mail;
    pthread_mutex_unlock(&all->lock);
    return mail;
}

// --- states -------------------------------------------------------------------------------------

void edit_draft_set_state(EditDraft *draft, EditState state)
{
    EditDrafts *all = draft->serve->edits;
    pthread_mutex_lock(&all->lock);
    draft->state = state;
    EditMail *mail = state == EDIT_ENDED ? draft->mail : NULL;
    if (state == EDIT_ENDED) {
        draft->mail = NULL;
        draft->mail_end = &draft->mail;
    }
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
    drop_mail(draft->serve, mail);
}

void edit_draft_held(EditDraft *draft, uint64_t number)
{
    EditDrafts *all = draft->serve->edits;
    pthread_mutex_lock(&all->lock);
    for (EditHold *hold = draft->holds; hold != NULL; hold = hold->next) {
        hold->is_held = hold->is_held || hold->number == number;
    }
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
}

static struct timespec time_after(uint32_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (long)(ms % 1000) * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    return until;
}

// With the lock.
static EditDraft **find_slot(EditDrafts *all, const char *place_id)
{
    for (uint32_t i = 0; i < EDIT_DRAFTS_MAX; i++) {
        if (all->drafts[i] != NULL && strcmp(all->drafts[i]->place_id, place_id) == 0) {
            return &all->drafts[i];
        }
    }
    return NULL;
}

static void free_draft(EditDraft *draft)
{
    drop_mail(draft->serve, draft->mail);
    if (draft->event >= 0) {
        close(draft->event);
    }
    free(draft->file_write);
    pthread_cond_destroy(&draft->file_wake);
    pthread_mutex_destroy(&draft->file_lock);
    pthread_mutex_destroy(&draft->disk_lock);
    free(draft);
}

// With the lock. Its thread has ended and nobody looks at it: it leaves the table.
static void sweep(EditDrafts *all)
{
    for (uint32_t i = 0; i < EDIT_DRAFTS_MAX && !all->is_closing; i++) {
        EditDraft *draft = all->drafts[i];
        if (draft != NULL && draft->state == EDIT_ENDED && draft->users == 0) {
            pthread_join(draft->thread, NULL);
#define ADD(name, help) all->numbers.counts.name += draft->counts.name;
            EDIT_COUNTS(ADD)
#undef ADD
            all->drafts[i] = NULL;
            free_draft(draft);
        }
    }
}

static EditDraft *make_draft(Serve *serve, const char *place_id)
{
    EditDraft *draft = calloc(1, sizeof *draft);
    if (draft == NULL) {
        return NULL;
    }
    draft->serve = serve;
    draft->mail_end = &draft->mail;
    draft->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    snprintf(draft->place_id, sizeof draft->place_id, "%s", place_id);
    pthread_mutex_init(&draft->file_lock, NULL);
    pthread_mutex_init(&draft->disk_lock, NULL);
    pthread_cond_init(&draft->file_wake, NULL);
    draft->channel.end = -1;
    const bool has_folder = serve->drafts != NULL
                                ? draft_folder(serve->drafts, place_id, draft->folder) == STATUS_OK
                                : realpath(serve->config.places[0], draft->folder) != NULL;
    if (draft->event < 0 || !has_folder ||
        pthread_create(&draft->thread, NULL, edit_draft_run, draft) != 0) {
        free_draft(draft);
        return NULL;
    }
    return draft;
}

// With the lock.
static EditDraft *add_draft(Serve *serve, const char *place_id)
{
    EditDrafts *all = serve->edits;
    for (uint32_t i = 0; i < EDIT_DRAFTS_MAX; i++) {
        if (all->drafts[i] == NULL) {
            all->drafts[i] = make_draft(serve, place_id);
            return all->drafts[i];
        }
    }
    return NULL;
}

static bool is_open_by(const EditDraft *draft, uint64_t account)
{
    return draft != NULL && !draft->must_end && draft->state != EDIT_ENDED &&
           (account == 0 || draft->opened_by == account);
}

// With the lock. The draft that nobody edits and that was opened longest ago makes room: of this
// account, or of anybody (0). False: there is none.
static bool close_idle(EditDrafts *all, uint64_t account)
{
    EditDraft *oldest = NULL;
    for (uint32_t i = 0; i < EDIT_DRAFTS_MAX; i++) {
        EditDraft *draft = all->drafts[i];
        if (is_open_by(draft, account) && draft->editor_count == 0 && draft->users == 0 &&
            draft->holds == NULL && (oldest == NULL || draft->used_ns < oldest->used_ns)) {
            oldest = draft;
        }
    }
    if (oldest != NULL) {
        oldest->must_end = true;
        wake(oldest);
    }
    return oldest != NULL;
}

// With the lock. May this account open one more, and is there a slot? A slot is free once one that
// makes room has ended: *must_wait.
static bool has_room(EditDrafts *all, uint64_t account, bool *must_wait)
{
    uint32_t own = 0, free_count = 0, ending = 0;
    for (uint32_t i = 0; i < EDIT_DRAFTS_MAX; i++) {
        own += account != 0 && is_open_by(all->drafts[i], account);
        free_count += all->drafts[i] == NULL;
        ending += all->drafts[i] != NULL && all->drafts[i]->must_end;
    }
    if (own >= EDIT_DRAFTS_EACH && !close_idle(all, account)) {
        return false;
    }
    *must_wait = free_count == 0;
    return free_count > 0 || ending > 0 || close_idle(all, 0);
}

Status edit_draft_open(Serve *serve, const char *place_id, uint64_t account, EditFailure *failure)
{
    EditDrafts *all = serve->edits;
    const struct timespec until = time_after(OPEN_MS);
    Status status = STATUS_BLOCKED;
    *failure = (EditFailure){.message = "the editor cannot be started now; try again"};
    pthread_mutex_lock(&all->lock);
    EditDraft *draft = NULL;
    while (!all->is_closing) {
        sweep(all);
        EditDraft **slot = find_slot(all, place_id);
        bool must_wait = false;
        if (slot == NULL && !has_room(all, account, &must_wait)) {
            draft = NULL;
            *failure = (EditFailure){.message = "too many drafts are edited now; close one, or try "
                                                "again later"};
            break;
        }
        draft = slot != NULL ? *slot : must_wait ? NULL : add_draft(serve, place_id);
        if (slot == NULL && draft != NULL) {
            draft->opened_by = account;
        }
        if (!must_wait && (draft == NULL || (draft->state != EDIT_ENDED && !draft->must_end))) {
            break;
        }
        // One that ends is on its way out; then it begins anew.
        if (pthread_cond_timedwait(&all->changed, &all->lock, &until) != 0) {
            draft = NULL;
            break;
        }
    }
    if (draft != NULL) {
        draft->users += 1;
        draft->used_ns = clock_ns();
        while (draft->state == EDIT_OPENING &&
               pthread_cond_timedwait(&all->changed, &all->lock, &until) == 0) {
        }
        status = draft->state == EDIT_OPEN        ? STATUS_OK
                 : draft->failure.file[0] != '\0' ? STATUS_MALFORMED
                                                  : STATUS_BLOCKED;
        if (status != STATUS_OK && draft->failure.message[0] != '\0') {
            *failure = draft->failure;
        }
        draft->users -= 1;
        sweep(all);
    }
    pthread_mutex_unlock(&all->lock);
    return status;
}

void edit_draft_end(Serve *serve, const char *place_id)
{
    EditDrafts *all = serve->edits;
    if (all == NULL) {
        return;
    }
    const struct timespec until = time_after(HOLD_MS);
    pthread_mutex_lock(&all->lock);
    EditDraft **slot = find_slot(all, place_id);
    if (slot != NULL) {
        EditDraft *draft = *slot;
        draft->users += 1;
        draft->is_gone = true;
        draft->must_end = true;
        wake(draft);
        while (draft->state != EDIT_ENDED &&
               pthread_cond_timedwait(&all->changed, &all->lock, &until) == 0) {
        }
        draft->users -= 1;
        sweep(all);
    }
    pthread_mutex_unlock(&all->lock);
}

void edit_draft_check(Serve *serve, const char *place_id)
{
    EditDrafts *all = serve->edits;
    if (all == NULL) {
        return;
    }
    pthread_mutex_lock(&all->lock);
    EditDraft **slot = find_slot(all, place_id);
    if (slot != NULL) {
        (*slot)->must_check = true;
        wake(*slot);
    }
    pthread_mutex_unlock(&all->lock);
}

bool edit_can_write(Serve *serve, const Identity *who, const StorePackage *package, uint32_t rights)
{
    StorePackageRole role;
    if ((rights & RIGHT_EDIT) == 0) {
        return false;
    }
    return (who->roles & ROLE_OPERATOR) == 0 || package->owner_id == who->account ||
           (store_package_role(serve->store, package->package_id, who->account, &role) ==
                STATUS_OK &&
            role == STORE_EDITOR);
}

Status edit_may(Serve *serve, const char *place_id, const Identity *who, bool *can_write)
{
    StorePackage package;
    StoreBan ban;
    uint32_t rights = 0;
    *can_write = serve->control == NULL;
    if (serve->control == NULL) {
        return STATUS_OK;
    }
    if (!identity_is_current(serve->control, who) ||
        control_find_ban(serve->control, who->account, "", BAN_ENTER, &ban)) {
        return STATUS_DENIED;
    }
    const Status status = rights_find(serve->store, place_id, who, &package, &rights);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_DENIED : status;
    }
    *can_write = edit_can_write(serve, who, &package, rights);
    return (rights & RIGHT_DRAFT) != 0 ? STATUS_OK : STATUS_DENIED;
}

// --- tickets ------------------------------------------------------------------------------------

Status edit_ticket_make(Serve *serve, const char *place_id, const Identity *who, bool can_write,
                        char out[EDIT_TICKET_BYTES])
{
    EditDrafts *all = serve->edits;
    uint8_t secret[SHA256_BYTES];
    entropy_fill(secret, sizeof secret);
    sha256_hex(secret, out);
    struct EditTicket ticket = {.expires_ns = clock_ns() + EDIT_TICKET_MS * 1000000ull,
                                .can_write = can_write};
    sha256_of(out, strlen(out), ticket.hash);
    snprintf(ticket.place_id, sizeof ticket.place_id, "%s", place_id);
    if (who != NULL) {
        ticket.who = *who;
    }
    Status status = STATUS_LIMIT;
    const uint64_t now = clock_ns();
    pthread_mutex_lock(&all->lock);
    struct EditTicket *slot = NULL, *oldest = NULL;
    uint32_t own = 0;
    for (uint32_t i = 0; i < EDIT_TICKETS_MAX; i++) {
        struct EditTicket *at = &all->tickets[i];
        if (at->expires_ns < now) {
            slot = at;
        } else if (ticket.who.account != 0 && at->who.account == ticket.who.account) {
            own += 1;
            oldest = oldest == NULL || at->expires_ns < oldest->expires_ns ? at : oldest;
        }
    }
    slot = own >= EDIT_TICKETS_EACH ? oldest : slot;
    if (slot != NULL) {
        *slot = ticket;
        status = STATUS_OK;
    }
    pthread_mutex_unlock(&all->lock);
    return status;
}

// The lock is held. NULL: there is none of that place.
static struct EditTicket *find_ticket(EditDrafts *all, const char *place_id, const char *text)
{
    uint8_t hash[SHA256_BYTES];
    const uint64_t now = clock_ns();
    sha256_of(text, strlen(text), hash);
    for (uint32_t i = 0; i < EDIT_TICKETS_MAX; i++) {
        struct EditTicket *ticket = &all->tickets[i];
        if (ticket->expires_ns > now && memcmp(ticket->hash, hash, sizeof hash) == 0 &&
            strcmp(ticket->place_id, place_id) == 0) {
            return ticket;
        }
    }
    return NULL;
}

bool edit_ticket_is_good(Serve *serve, const char *place_id, const char *text)
{
    pthread_mutex_lock(&serve->edits->lock);
    const bool found = find_ticket(serve->edits, place_id, text) != NULL;
    pthread_mutex_unlock(&serve->edits->lock);
    return found;
}

bool edit_ticket_take(EditDraft *draft, const char *text, Identity *who, bool *can_write)
{
    EditDrafts *all = draft->serve->edits;
    pthread_mutex_lock(&all->lock);
    struct EditTicket *ticket = find_ticket(all, draft->place_id, text);
    if (ticket != NULL) {
        *who = ticket->who;
        *can_write = ticket->can_write;
        *ticket = (struct EditTicket){0};
    }
    pthread_mutex_unlock(&all->lock);
    return ticket != NULL;
}

// --- sockets and holds --------------------------------------------------------------------------

// The draft, which stays until release_draft; NULL: it is not open.
static EditDraft *use_draft(EditDrafts *all, const char *place_id)
{
    pthread_mutex_lock(&all->lock);
    EditDraft **slot = find_slot(all, place_id);
    EditDraft *draft = slot != NULL && (*slot)->state != EDIT_ENDED &&
                               (*slot)->state != EDIT_FAILED && !(*slot)->must_end
                           ? *slot
                           : NULL;
    if (draft != NULL) {
        draft->users += 1;
    }
    pthread_mutex_unlock(&all->lock);
    return draft;
}

static void release_draft(EditDrafts *all, EditDraft *draft)
{
    pthread_mutex_lock(&all->lock);
    draft->users -= 1;
    pthread_mutex_unlock(&all->lock);
}

bool edit_draft_is_open(Serve *serve, const char *place_id)
{
    EditDraft *draft = use_draft(serve->edits, place_id);
    if (draft != NULL) {
        release_draft(serve->edits, draft);
    }
    return draft != NULL;
}

Status edit_draft_socket(Serve *serve, const char *place_id, int socket, uint64_t number,
                         const uint8_t *already, size_t bytes)
{
    EditDraft *draft = use_draft(serve->edits, place_id);
    if (draft == NULL) {
        return STATUS_NOT_FOUND;
    }
    edit_mail_post(draft, EDIT_MAIL_SOCKET, number, 0, socket, already, bytes);
    release_draft(serve->edits, draft);
    return STATUS_OK;
}

EditHold *edit_hold(Serve *serve, const char *place_id, Status *status)
{
    EditDrafts *all = serve->edits;
    *status = STATUS_OK;
    EditDraft *draft = all != NULL ? use_draft(all, place_id) : NULL;
    if (draft == NULL) {
        return NULL;
    }
    EditHold *hold = calloc(1, sizeof *hold);
    if (hold == NULL) {
        release_draft(all, draft);
        *status = STATUS_BLOCKED;
        return NULL;
    }
    const struct timespec until = time_after(HOLD_MS);
    pthread_mutex_lock(&all->lock);
    *hold = (EditHold){.next = draft->holds, .draft = draft, .number = ++all->hold_number};
    draft->holds = hold;
    pthread_mutex_unlock(&all->lock);
    edit_mail_post(draft, EDIT_MAIL_HOLD, hold->number, 0, -1, NULL, 0);
    pthread_mutex_lock(&all->lock);
    while (!hold->is_held && draft->state != EDIT_ENDED && draft->state != EDIT_FAILED &&
           pthread_cond_timedwait(&all->changed, &all->lock, &until) == 0) {
    }
    const bool is_free = hold->is_held || draft->state == EDIT_ENDED || draft->state == EDIT_FAILED;
    pthread_mutex_unlock(&all->lock);
    if (!is_free) {
        edit_release(hold);
        *status = STATUS_BLOCKED;
        return NULL;
    }
    return hold;
}

void edit_release(EditHold *hold)
{
    if (hold == NULL) {
        return;
    }
    EditDraft *draft = hold->draft;
    EditDrafts *all = draft->serve->edits;
    pthread_mutex_lock(&all->lock);
    for (EditHold **at = &draft->holds; *at != NULL; at = &(*at)->next) {
        if (*at == hold) {
            *at = hold->next;
            break;
        }
    }
    pthread_mutex_unlock(&all->lock);
    edit_mail_post(draft, EDIT_MAIL_RELEASE, hold->number, 0, -1, NULL, 0);
    release_draft(all, draft);
    free(hold);
}

// --- all of them --------------------------------------------------------------------------------

Status edit_drafts_open(Serve *serve)
{
    EditDrafts *all = calloc(1, sizeof *all);
    if (all == NULL) {
        return STATUS_LIMIT;
    }
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->changed, NULL);
    serve->edits = all;
    return STATUS_OK;
}

void edit_drafts_stop(Serve *serve)
{
    EditDrafts *all = serve->edits;
    if (all == NULL) {
        return;
    }
    pthread_mutex_lock(&all->lock);
    all->is_closing = true;
    for (uint32_t i = 0; i < EDIT_DRAFTS_MAX; i++) {
        if (all->drafts[i] != NULL) {
            all->drafts[i]->must_end = true;
            wake(all->drafts[i]);
        }
    }
    pthread_mutex_unlock(&all->lock);
    for (uint32_t i = 0; i < EDIT_DRAFTS_MAX; i++) { // nothing is added or swept any more
        if (all->drafts[i] != NULL) {
            pthread_join(all->drafts[i]->thread, NULL);
        }
    }
}

void edit_drafts_close(Serve *serve)
{
    EditDrafts *all = serve->edits;
    if (all == NULL) {
        return;
    }
    for (uint32_t i = 0; i < EDIT_DRAFTS_MAX; i++) {
        if (all->drafts[i] != NULL) {
            free_draft(all->drafts[i]);
        }
    }
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
    free(all);
    serve->edits = NULL;
}

typedef struct Recover {
    char ids[EDIT_DRAFTS_MAX][65];
    uint32_t count;
} Recover;

static void add_unwritten(void *user, const char *package_id)
{
    Recover *recover = user;
    if (recover->count < EDIT_DRAFTS_MAX) {
        snprintf(recover->ids[recover->count++], sizeof recover->ids[0], "%s", package_id);
    }
}

static void recover_drafts(void *user, bool is_cancelled)
{
    Serve *serve = user;
    Recover *recover = calloc(1, sizeof *recover);
    if (recover == NULL || is_cancelled ||
        store_edit_unwritten(serve->store, add_unwritten, recover) != STATUS_OK) {
        free(recover);
        return;
    }
    for (uint32_t i = 0; i < recover->count; i++) {
        EditFailure failure;
        const bool is_there = serve->drafts != NULL
                                  ? draft_exists(serve->drafts, recover->ids[i])
                                  : strcmp(serve->default_place, recover->ids[i]) == 0;
        if (is_there && edit_draft_open(serve, recover->ids[i], 0, &failure) != STATUS_OK) {
            serve_log(LOG_WARN, "edit", "%s: changes that are not in its files yet: %s",
                      recover->ids[i], failure.message);
        }
    }
    free(recover);
}

void edit_drafts_recover(Serve *serve)
{
    if (serve->edits != NULL) {
        status_ignore(work_pool_submit(serve->pool, recover_drafts, serve)); // or when it is opened
    }
}

EditNumbers edit_drafts_numbers(Serve *serve)
{
    EditNumbers numbers = {0};
    EditDrafts *all = serve->edits;
    if (all == NULL) {
        return numbers;
    }
    pthread_mutex_lock(&all->lock);
    numbers = all->numbers;
    for (uint32_t i = 0; i < EDIT_DRAFTS_MAX; i++) {
        const EditDraft *draft = all->drafts[i];
        if (draft != NULL) {
            numbers.drafts += draft->state == EDIT_OPEN;
            numbers.editors += draft->editor_count;
#define ADD(name, help) numbers.counts.name += draft->counts.name;
            EDIT_COUNTS(ADD)
#undef ADD
        }
    }
    pthread_mutex_unlock(&all->lock);
    return numbers;
}
