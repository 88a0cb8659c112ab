// Evidence for reports: what was said in each world and who came and went, in the last ten minutes,
// in memory alone. A world says it and may lie: it can say nothing, and it can say that somebody
// said something. So the host notes with each line when it heard it and whether it has let that
// account into the world, and whoever reads it is told where it comes from. The journal is no
// evidence: it holds secrets.
#include "server/host/host_inside.h"

#include "core/base/text.h"

#define BYTES_FIRST 4096u
#define SWEEP_NS    (60 * HOST_SECOND_NS)

// Lines one after the other from begin to end, each with this before its text.
typedef struct LineHead {
    uint64_t unix_ms, account;
    uint32_t bytes;
    uint8_t kind;
    bool is_known;
} LineHead;

struct Evidence {
    uint8_t *bytes;
    size_t capacity, begin, end;
    uint64_t last_unix_ms;
};

static LineHead head_at(const struct Evidence *evidence, size_t at)
{
    LineHead head;
    memcpy(&head, evidence->bytes + at, sizeof head);
    return head;
}

static void drop_first(struct Evidence *evidence)
{
    evidence->begin += sizeof(LineHead) + head_at(evidence, evidence->begin).bytes;
}

static void drop_old(const Host *host, struct Evidence *evidence)
{
    const uint64_t now = host_unix_ms(host);
    while (evidence->begin < evidence->end &&
           head_at(evidence, evidence->begin).unix_ms + EVIDENCE_MS < now) {
        drop_first(evidence);
    }
}

static bool grow(Host *host, struct Evidence *evidence)
{
    const size_t more = evidence->capacity > 0 ? evidence->capacity * 2 : BYTES_FIRST;
    if (more > EVIDENCE_BYTES_MAX ||
        host->evidence_bytes + more - evidence->capacity > EVIDENCE_ALL_BYTES_MAX) {
        return false;
    }
    uint8_t *bytes = realloc(evidence->bytes, more);
    if (bytes == NULL) {
        return false;
    }
    host->evidence_bytes += more - evidence->capacity;
    evidence->bytes = bytes;
    evidence->capacity = more;
    return true;
}

// If there is no more memory a quarter of the lines go, the oldest, so that moving the rest is
// rare.
static bool make_room(Host *host, struct Evidence *evidence, size_t need)
{
    drop_old(host, evidence);
    if (evidence->end + need <= evidence->capacity) {
        return true;
    }
    while (evidence->end - evidence->begin + need > evidence->capacity * 3 / 4 &&
           !grow(host, evidence)) {
        if (evidence->begin == evidence->end) {
            return need <= evidence->capacity;
        }
        while (evidence->begin < evidence->end &&
               evidence->end - evidence->begin + need > evidence->capacity * 3 / 4) {
            drop_first(evidence);
        }
    }
    memmove(evidence->bytes, evidence->bytes + evidence->begin, evidence->end - evidence->begin);
    evidence->end -= evidence->begin;
    evidence->begin = 0;
    return evidence->end + need <= evidence->capacity;
}

void hosted_heard(HostWorld *world, const ChannelReport *report)
{
    Host *host = world->host;
    char text[CHAT_BYTES_MAX];
    const size_t bytes = text_clean(report->bytes, report->byte_count, text, sizeof text);
    if (world->evidence == NULL) {
        world->evidence = calloc(1, sizeof *world->evidence);
    }
    struct Evidence *evidence = world->evidence;
    const size_t need = sizeof(LineHead) + bytes;
    if (evidence == NULL || !make_room(host, evidence, need)) {
        host->counts.evidence_dropped += 1;
        return;
    }
    LineHead head;
    memset(&head, 0, sizeof head);
    head.unix_ms = host_unix_ms(host);
    head.account = report->account;
    head.bytes = (uint32_t)bytes;
    head.kind = (uint8_t)report->heard;
    head.is_known = host_account_was_let_in(world, report->account);
    memcpy(evidence->bytes + evidence->end, &head, sizeof head);
    memcpy(evidence->bytes + evidence->end + sizeof head, text, bytes);
    evidence->end += need;
    evidence->last_unix_ms = head.unix_ms;
}

void host_evidence(HostWorld *world, HostHeardSink sink, void *user)
{
    struct Evidence *evidence = world->evidence;
    if (evidence == NULL) {
        return;
    }
    drop_old(world->host, evidence);
    for (size_t at = evidence->begin; at < evidence->end;) {
        const LineHead head = head_at(evidence, at);
        const char *text = (const char *)evidence->bytes + at + sizeof head;
        const HostHeard heard = {.unix_ms = head.unix_ms,
                                 .account = head.account,
                                 .kind = (HeardKind)head.kind,
                                 .is_known = head.is_known,
                                 .text = {text, head.bytes}};
        sink(user, &heard);
        at += sizeof head + head.bytes;
    }
}

void hosted_evidence_free(HostWorld *world)
{
    if (world->evidence != NULL) {
        world->host->evidence_bytes -= world->evidence->capacity;
        free(world->evidence->bytes);
        free(world->evidence);
        world->evidence = NULL;
    }
}

void host_evidence_step(Host *host)
{
    const uint64_t now = host_now(host), unix_ms = host_unix_ms(host);
    if (now - host->evidence_swept_ns < SWEEP_NS) {
        return;
    }
    host->evidence_swept_ns = now;
    for (uint32_t i = 0; i < host->world_count; i++) {
        const struct Evidence *evidence = host->worlds[i]->evidence;
        if (evidence != NULL && evidence->last_unix_ms + EVIDENCE_MS < unix_ms) {
            hosted_evidence_free(host->worlds[i]);
        }
    }
}

// A world may only speak for those who are in it.
void hosted_reported(HostWorld *world, const ChannelReport *report)
{
    Host *host = world->host;
    const char *bytes = (const char *)report->bytes;
    const char *line_end = report->byte_count > 0 ? memchr(bytes, '\n', report->byte_count) : NULL;
    const Text reason = {bytes, line_end != NULL ? (size_t)(line_end - bytes) : 0};
    char text[REPORT_TEXT_BYTES_MAX];
    if (line_end == NULL || !report_reason_is_valid(reason) || report->account == 0 ||
        !host_account_is_in(world, report->account)) {
        host->counts.reports_refused += 1;
        return;
    }
    const size_t left = report->byte_count - reason.bytes - 1;
    const HostReport told = {.reporter = report->account,
                             .account = report->other,
                             .reason = reason,
                             .text = {text, text_clean(line_end + 1, left, text, sizeof text)}};
    if (host->config.outside.reported != NULL) {
        host->config.outside.reported(host->config.outside.user, world, &told);
    }
}
