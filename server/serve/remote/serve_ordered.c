// See serve_ordered.h.
#define _GNU_SOURCE
#include "server/serve/remote/serve_ordered.h"

#include "core/base/json_read.h"
#include "server/control/order/address_bans.h"
#include "server/serve/operate/http_admin.h"
#include "server/serve/order/http_order.h"
#include "server/serve/remote/serve_remote.h"

#include <inttypes.h>
#include <stdio.h>

// A player, or somebody who was one lately.
typedef struct Person {
    uint64_t account;
    uint64_t used; // the higher, the later
    HostRules rules;
    uint64_t *blocks; // from malloc
    uint32_t block_count;
} Person;

typedef struct Waiting {
    uint8_t *body; // from malloc
    size_t bytes;
} Waiting;

struct ServeOrdered {
    bool has_rule;
    ChatRule rule;
    uint64_t lists_version;
    char *words, *phrases; // from malloc; NULL: none
    Person *people;        // at most REMOTE_ACCOUNTS_MAX
    uint32_t person_count;
    uint64_t uses;
    bool is_urgent;
    Waiting waiting[REMOTE_EVIDENCE_MAX]; // the oldest first
    uint32_t waiting_count;
    uint64_t report_number;
    pthread_mutex_t lock; // of the bans
    AddressBan *bans;
    uint32_t ban_count;
};

Status serve_ordered_open(Serve *serve)
{
    serve->ordered = calloc(1, sizeof *serve->ordered);
    if (serve->ordered == NULL) {
        return STATUS_LIMIT;
    }
    pthread_mutex_init(&serve->ordered->lock, NULL);
    serve->ordered->people = calloc(REMOTE_ACCOUNTS_MAX, sizeof *serve->ordered->people);
    return serve->ordered->people != NULL ? STATUS_OK : STATUS_LIMIT;
}

void serve_ordered_close(Serve *serve)
{
    struct ServeOrdered *ordered = serve->ordered;
    if (ordered == NULL) {
        return;
    }
    for (uint32_t i = 0; i < ordered->person_count; i++) {
        free(ordered->people[i].blocks);
    }
    for (uint32_t i = 0; i < ordered->waiting_count; i++) {
        free(ordered->waiting[i].body);
    }
    pthread_mutex_destroy(&ordered->lock);
    free(ordered->people);
    free(ordered->words);
    free(ordered->phrases);
    free(ordered->bans);
    free(ordered);
    serve->ordered = NULL;
}

// --- people -------------------------------------------------------------------------------------

static Person *find_person(const struct ServeOrdered *ordered, uint64_t account)
{
    for (uint32_t i = 0; i < ordered->person_count; i++) {
        if (ordered->people[i].account == account) {
            return &ordered->people[i];
        }
    }
    return NULL;
}

// The one that was not asked about for the longest time gives way.
static Person *make_person(struct ServeOrdered *ordered)
{
    if (ordered->person_count < REMOTE_ACCOUNTS_MAX) {
        return &ordered->people[ordered->person_count++];
    }
    Person *oldest = &ordered->people[0];
    for (uint32_t i = 1; i < ordered->person_count; i++) {
        oldest = ordered->people[i].used < oldest->used ? &ordered->people[i] : oldest;
    }
    free(oldest->blocks);
    return oldest;
}

// Numbers with a space between them; what is none ends them.
static void read_blocks(Person *person, const char *text)
{
    uint64_t blocks[BLOCKS_PER_ACCOUNT_MAX];
    uint32_t count = 0;
    char *end = NULL;
    for (; count < BLOCKS_PER_ACCOUNT_MAX; count++, text = end) {
        blocks[count] = strtoull(text, &end, 10);
        if (end == text || blocks[count] == 0) {
            break;
        }
    }
    free(person->blocks);
    person->blocks = count > 0 ? malloc(count * sizeof *blocks) : NULL;
    person->block_count = person->blocks != NULL ? count : 0;
    for (uint32_t i = 0; i < person->block_count; i++) {
        person->blocks[i] = blocks[i];
    }
}

void serve_ordered_put(Serve *serve, const OrderedPerson *told)
{
    struct ServeOrdered *ordered = serve->ordered;
    Person *person = find_person(ordered, told->account);
    if (person == NULL) {
        person = make_person(ordered);
        *person = (Person){.account = told->account};
    }
    person->used = ++ordered->uses;
    person->rules = told->rules;
    read_blocks(person, told->blocks);
    host_rules_changed(serve->host, told->account, "");
    host_blocks_changed(serve->host, told->account);
}

void serve_ordered_rules(void *user, uint64_t account, const char *world_id, HostRules *out)
{
    struct ServeOrdered *ordered = ((Serve *)user)->ordered;
    Person *person = find_person(ordered, account);
    (void)world_id; // there is one
    if (person != NULL) {
        person->used = ++ordered->uses;
        *out = person->rules;
        return;
    }
    *out = (HostRules){.chat = CHAT_OFF};
    ordered->is_urgent = true;
}

uint32_t serve_ordered_blocks(void *user, uint64_t account, uint64_t *out, uint32_t max)
{
    const Person *person = find_person(((Serve *)user)->ordered, account);
    uint32_t count = 0;
    for (; person != NULL && count < person->block_count && count < max; count++) {
        out[count] = person->blocks[count];
    }
    return count;
}

bool serve_ordered_is_urgent(Serve *serve)
{
    const bool is_urgent = serve->ordered->is_urgent;
    serve->ordered->is_urgent = false;
    return is_urgent;
}

// --- the world ----------------------------------------------------------------------------------

void serve_ordered_chat(Serve *serve, ChatRule rule)
{
    struct ServeOrdered *ordered = serve->ordered;
    const bool is_new = !ordered->has_rule || ordered->rule != rule;
    ordered->has_rule = true;
    ordered->rule = rule;
    if (is_new) {
        host_chat_changed(serve->host, "");
    }
}

void serve_ordered_chat_of(void *user, const char *place_id, HostChat *out)
{
    const struct ServeOrdered *ordered = ((Serve *)user)->ordered;
    const bool is_told = ordered->has_rule && ordered->lists_version != 0;
    (void)place_id; // there is one
    *out = (HostChat){.rule = is_told ? ordered->rule : CHAT_OFF,
                      .words = ordered->words != NULL ? ordered->words : "",
                      .phrases = ordered->phrases != NULL ? ordered->phrases : ""};
    out->word_bytes = strlen(out->words);
    out->phrase_bytes = strlen(out->phrases);
}

uint64_t serve_ordered_lists_version(const Serve *serve)
{
    return serve->ordered->lists_version;
}

// --- the lists ----------------------------------------------------------------------------------

bool serve_ordered_ban(const Serve *serve, const HttpPeer *peer, StoreAddressBan *out)
{
    struct ServeOrdered *ordered = serve->ordered;
    if (ordered == NULL) {
        return false;
    }
    pthread_mutex_lock(&ordered->lock);
    const AddressBan *found =
        address_ban_find(ordered->bans, ordered->ban_count, peer, serve_remote_unix_ms(serve));
    if (found != NULL) {
        *out = found->row;
    }
    pthread_mutex_unlock(&ordered->lock);
    return found != NULL;
}

// "192.0.2.0/24 1700000000000 reason".
static bool read_ban(const char *line, size_t bytes, AddressBan *out)
{
    char text[STORE_RANGE_BYTES + 32 + STORE_REASON_TEXT_BYTES], written[STORE_RANGE_BYTES];
    if (bytes >= sizeof text) {
        return false;
    }
    memcpy(text, line, bytes);
    text[bytes] = '\0';
    char *until = strchr(text, ' '), *reason = NULL;
    if (until == NULL) {
        return false;
    }
    *until++ = '\0';
    *out = (AddressBan){.row = {.until_unix_ms = strtoull(until, &reason, 10)}};
    if (*reason != ' ' || !address_range_read(text, &out->range, written)) {
        return false;
    }
    snprintf(out->row.range, sizeof out->row.range, "%s", written);
    snprintf(out->row.reason, sizeof out->row.reason, "%s", reason + 1);
    return true;
}

static AddressBan *read_bans(const char *text, uint32_t *count)
{
    AddressBan *bans = calloc(ADDRESS_BANS_MAX, sizeof *bans);
    *count = 0;
    while (bans != NULL && *text != '\0' && *count < ADDRESS_BANS_MAX) {
        const size_t bytes = strcspn(text, "\n");
        *count += read_ban(text, bytes, &bans[*count]);
        text += bytes + (text[bytes] == '\n');
    }
    return bans;
}

static bool has_range(const AddressBan *bans, uint32_t count, const char *range)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(bans[i].row.range, range) == 0) {
            return true;
        }
    }
    return false;
}

static void put_bans(Serve *serve, AddressBan *bans, uint32_t count)
{
    struct ServeOrdered *ordered = serve->ordered;
    AddressBan *old = ordered->bans;
    const uint32_t old_count = ordered->ban_count;
    pthread_mutex_lock(&ordered->lock);
    ordered->bans = bans;
    ordered->ban_count = count;
    pthread_mutex_unlock(&ordered->lock);
    for (uint32_t i = 0; i < count; i++) {
        if (!has_range(old, old_count, bans[i].row.range)) {
            serve_cut_off(serve, &bans[i].range);
        }
    }
    free(old);
}

Status serve_ordered_take_lists(Serve *serve, const uint8_t *json, size_t bytes)
{
    struct ServeOrdered *ordered = serve->ordered;
    const size_t arena_bytes = 2 * bytes + 4096;
    void *memory = malloc(arena_bytes);
    const JsonNode *root = NULL;
    JsonError error = {0};
    Arena arena;
    if (memory == NULL) {
        return STATUS_LIMIT;
    }
    arena_init(&arena, memory, arena_bytes);
    const JsonConfig config = {
        .arena = &arena, .bytes_max = (uint32_t)bytes, .node_count_max = 16, .depth_max = 2};
    Status status = json_parse(&config, (const char *)json, bytes, &root, NULL);
    if (status == STATUS_OK) {
        const uint64_t version = (uint64_t)json_read_integer(
            json_read_member(root, "version", &error), 1, (int64_t)1 << 53, &error);
        const char *words =
            json_read_text(json_read_member(root, "words", &error), WORD_LIST_BYTES_MAX, &error);
        const char *phrases =
            json_read_text(json_read_member(root, "phrases", &error), WORD_LIST_BYTES_MAX, &error);
        const char *ranges =
            json_read_text(json_read_member(root, "addresses", &error), (uint32_t)bytes, &error);
        uint32_t count = 0;
        AddressBan *bans = error.status == STATUS_OK ? read_bans(ranges, &count) : NULL;
        status = error.status;
        if (bans != NULL) {
            put_bans(serve, bans, count);
            free(ordered->words);
            free(ordered->phrases);
            ordered->words = strdup(words);
            ordered->phrases = strdup(phrases);
            ordered->lists_version = version;
            host_chat_changed(serve->host, "");
        }
    }
    free(memory);
    return status;
}

// --- reports ------------------------------------------------------------------------------------

typedef struct Evidence {
    JsonWriter json;
    uint32_t skip; // of the lines: the newest EVIDENCE_LINES_MAX are sent
} Evidence;

static void count_line(void *user, const HostHeard *heard)
{
    (void)heard;
    *(uint32_t *)user += 1;
}

static void write_account(JsonWriter *json, const char *name, uint64_t account)
{
    char id[32];
    serve_account_text(account, false, id);
    serve_write_member(json, name, account != 0 ? id : NULL);
}

static void write_line(void *user, const HostHeard *heard)
{
    static const char *const kinds[] = {[HEARD_SAID] = "said",
                                        [HEARD_REFUSED] = "refused",
                                        [HEARD_CAME] = "came",
                                        [HEARD_LEFT] = "left"};
    Evidence *evidence = user;
    if (evidence->skip > 0) {
        evidence->skip -= 1;
        return;
    }
    JsonWriter *json = &evidence->json;
    json_write_object_begin(json);
    serve_write_number(json, "at", heard->unix_ms);
    serve_write_member(json, "kind", kinds[heard->kind]);
    write_account(json, "account", heard->account);
    json_write_name(json, "text");
    json_write_text_bytes(json, heard->text.data, heard->text.bytes);
    json_write_object_end(json);
}

static void write_members(Serve *serve, JsonWriter *json, uint64_t report_id,
                          const HostReport *report)
{
    char boot[2 * TICKET_BOOT_BYTES + 1];
    for (size_t i = 0; i < TICKET_BOOT_BYTES; i++) {
        snprintf(boot + 2 * i, 3, "%02x", serve->boot[i]);
    }
    serve_write_member(json, "world_id", host_world_view(serve->one_world).row->world_id);
    serve_write_member(json, "boot", boot);
    serve_write_number(json, "report_id", report_id);
    serve_write_number(json, "number", report_id == 0 ? ++serve->ordered->report_number : 0);
    write_account(json, "reporter", report->reporter);
    write_account(json, "account", report->account);
    serve_write_number(json, "at", serve_remote_unix_ms(serve));
    json_write_name(json, "reason");
    json_write_text_bytes(json, report->reason.data, report->reason.bytes);
    json_write_name(json, "text");
    json_write_text_bytes(json, report->text.data, report->text.bytes);
}

static void add_waiting(Serve *serve, uint64_t report_id, const HostReport *report)
{
    struct ServeOrdered *ordered = serve->ordered;
    uint32_t lines = 0;
    uint8_t *body =
        ordered->waiting_count < REMOTE_EVIDENCE_MAX ? malloc(REMOTE_EVIDENCE_BYTES_MAX) : NULL;
    if (body == NULL) {
        serve_log(LOG_WARN, "host", "too many reports wait for the control plane; one is lost");
        return;
    }
    host_evidence(serve->one_world, count_line, &lines);
    ByteWriter writer = byte_writer(body, REMOTE_EVIDENCE_BYTES_MAX);
    Evidence evidence = {.json = json_writer(&writer, 0),
                         .skip = lines > EVIDENCE_LINES_MAX ? lines - EVIDENCE_LINES_MAX : 0};
    json_write_object_begin(&evidence.json);
    write_members(serve, &evidence.json, report_id, report);
    json_write_name(&evidence.json, "lines");
    json_write_array_begin(&evidence.json);
    host_evidence(serve->one_world, write_line, &evidence);
    json_write_array_end(&evidence.json);
    json_write_object_end(&evidence.json);
    if (json_writer_finish(&evidence.json) != STATUS_OK) {
        free(body);
        return;
    }
    uint8_t *fitting = realloc(body, writer.at);
    ordered->waiting[ordered->waiting_count++] =
        (Waiting){fitting != NULL ? fitting : body, writer.at};
}

void serve_ordered_reported(void *user, HostWorld *world, const HostReport *report)
{
    (void)world; // there is one
    add_waiting(user, 0, report);
}

void serve_ordered_evidence(Serve *serve, uint64_t report_id)
{
    const HostReport none = {.reason = {"", 0}, .text = {"", 0}};
    add_waiting(serve, report_id, &none);
}

const uint8_t *serve_ordered_waiting(const Serve *serve, size_t *bytes)
{
    const struct ServeOrdered *ordered = serve->ordered;
    if (ordered->waiting_count == 0) {
        return NULL;
    }
    *bytes = ordered->waiting[0].bytes;
    return ordered->waiting[0].body;
}

void serve_ordered_sent(Serve *serve)
{
    struct ServeOrdered *ordered = serve->ordered;
    free(ordered->waiting[0].body);
    ordered->waiting_count -= 1;
    memmove(&ordered->waiting[0], &ordered->waiting[1],
            ordered->waiting_count * sizeof ordered->waiting[0]);
}
