// The stripped scene and runes, sent in pieces over the socket. Browsers fetch both over HTTP; this
// serves native clients, tools, and browsers that cannot. A session has a few transfers at a time,
// which take turns, and gets as much as one large piece in a tick when its client has confirmed
// most of what was sent, so that no piece delays a snapshot and many small runes come quickly.
//
// The size of the pieces is fixed for a transfer. One that goes on (from_chunk above 0) has pieces
// of the usual size; a client that had smaller ones before sees another total, and starts again.
#include "core/world/script/script_host_inside.h"

#include <string.h>

#define PIECE_BYTES_SMALL  (4u << 10)
#define SLOW_RTT_MS        250
#define BACKLOG_BYTES      (32u << 10)  // unconfirmed; above it pieces wait
#define FETCH_BYTES        (512u << 10) // the same for a client that does not play yet
#define FETCH_TICKS        2
#define AT_ONCE            4
#define CHUNK_HEADER_BYTES 128 // at most, of a chunk: path and numbers
#define PATIENCE_TICKS     15  // then a piece is sent anyway, so that nobody waits forever

typedef enum TransferKind { TRANSFER_SCRIPT, TRANSFER_SCENE, TRANSFER_MANIFEST } TransferKind;

typedef struct Transfer {
    TransferKind kind;
    bool packed;     // the rune in fewer bytes
    uint32_t script; // its number at the host; of a scene: which one
    uint32_t piece_bytes;
    uint32_t next;
    uint32_t total;
} Transfer;

typedef struct TransferQueue {
    Transfer items[TRANSFERS_MAX];
    uint32_t count;
    uint32_t turn; // whose piece is next, of the first AT_ONCE
    uint64_t sent_tick;
} TransferQueue;

typedef struct Transfers {
    TransferQueue *queues; // by session
    uint32_t count;        // of all sessions
} Transfers;

Status transfer_create(ScriptHost *host)
{
    host->transfers = heap_alloc(host->config.heap, sizeof(Transfers));
    if (host->transfers == NULL) {
        return STATUS_LIMIT;
    }
    host->transfers->queues = heap_alloc(
        host->config.heap, heap_array_bytes(host->config.sessions->count, sizeof(TransferQueue)));
    return host->transfers->queues != NULL ? STATUS_OK : STATUS_LIMIT;
}

void transfer_destroy(ScriptHost *host)
{
    if (host->transfers != NULL) {
        heap_free(host->config.heap, host->transfers->queues);
        heap_free(host->config.heap, host->transfers);
        host->transfers = NULL;
    }
}

static TransferQueue *queue_of(const ScriptHost *host, const Session *session)
{
    return &host->transfers->queues[session_number(host->config.sessions, session)];
}

void transfer_forget(ScriptHost *host, const Session *session)
{
    TransferQueue *queue = queue_of(host, session);
    host->transfers->count -= queue->count;
    queue->count = 0;
    queue->turn = 0;
    queue->sent_tick = 0;
}

void transfer_forget_scripts(ScriptHost *host)
{
    for (uint32_t i = 0; i < host->config.sessions->count; i++) {
        TransferQueue *queue = &host->transfers->queues[i];
        uint32_t kept = 0;
        for (uint32_t t = 0; t < queue->count; t++) {
            if (queue->items[t].kind == TRANSFER_SCENE) {
                queue->items[kept++] = queue->items[t];
            }
        }
        host->transfers->count -= queue->count - kept;
        queue->count = kept;
    }
}

static uint32_t pieces(size_t bytes, uint32_t piece_bytes)
{
    const size_t count = (bytes + piece_bytes - 1) / piece_bytes;
    return count > 0 ? (uint32_t)count : 1;
}

static uint32_t piece_size(const ScriptHost *host, const Session *session, uint64_t from_chunk)
{
    const uint32_t slow = world_ticks(host->config.clock, SLOW_RTT_MS);
    return from_chunk == 0 && session->flow.rtt_eighths / 8 > slow ? PIECE_BYTES_SMALL
                                                                   : TRANSFER_PIECE_BYTES;
}

static bool same(const Transfer *a, const Transfer *b)
{
    return a->kind == b->kind && a->script == b->script;
}

// A second request for the same thing replaces the first.
static Status enqueue(ScriptHost *host, const Session *session, Transfer transfer, size_t bytes,
                      uint64_t from_chunk)
{
    TransferQueue *queue = queue_of(host, session);
    transfer.piece_bytes = piece_size(host, session, from_chunk);
    transfer.total = pieces(bytes, transfer.piece_bytes);
    if (from_chunk >= transfer.total) {
        return STATUS_RANGE;
    }
    transfer.next = (uint32_t)from_chunk;
    for (uint32_t i = 0; i < queue->count; i++) {
        if (same(&queue->items[i], &transfer)) {
            queue->items[i] = transfer;
            return STATUS_OK;
        }
    }
    if (queue->count == TRANSFERS_MAX) {
        return STATUS_LIMIT;
    }
    queue->items[queue->count++] = transfer;
    host->transfers->count += 1;
    return STATUS_OK;
}

// --- commands -----------------------------------------------------------------------------------

// The bytes of a blob that a client may have.
static bool find_blob(const ScriptHost *host, const uint8_t hash[32], Transfer *transfer,
                      WireBytes *out)
{
    for (uint32_t i = 0; i < HOST_SCENES; i++) {
        const HostScene *scene = &host->scenes[i];
        if (scene->bytes != NULL && memcmp(hash, scene->hash, sizeof scene->hash) == 0) {
            *transfer = (Transfer){.kind = TRANSFER_SCENE, .script = i};
            *out = (WireBytes){scene->bytes, (uint32_t)scene->count};
            return true;
        }
    }
    *transfer = (Transfer){.kind = TRANSFER_MANIFEST};
    return script_manifest_blob(host, hash, out);
}

void transfer_set_scene(ScriptHost *host, uint32_t number, const HostScene *scene)
{
    ASSERT(number < HOST_SCENES);
    host->scenes[number] = *scene;
    for (uint32_t i = 0; i < host->config.sessions->count; i++) {
        TransferQueue *queue = &host->transfers->queues[i];
        uint32_t kept = 0;
        for (uint32_t t = 0; t < queue->count; t++) {
            const Transfer *item = &queue->items[t];
            if (item->kind != TRANSFER_SCENE || item->script != number) {
                queue->items[kept++] = *item;
            }
        }
        host->transfers->count -= queue->count - kept;
        queue->count = kept;
    }
}

void transfer_blob_request(ScriptHost *host, Session *session, uint32_t seq,
                           const MessageBlobRequest *command)
{
    Sessions *sessions = host->config.sessions;
    Transfer transfer;
    WireBytes blob;
    if (!session_rate(sessions, session, seq, RATE_SCRIPT)) {
        return;
    }
    if (!find_blob(host, command->hash.bytes, &transfer, &blob)) {
        session_deny(sessions, session, seq, STATUS_NOT_FOUND,
                     "Only the newest scenes and the newest manifest can be asked for.");
        return;
    }
    const Status status = enqueue(host, session, transfer, blob.bytes, command->from_chunk);
    if (status != STATUS_OK) {
        session_deny(sessions, session, seq, status, "There is no such piece; ask again from 0.");
        return;
    }
    session_ack(sessions, session, seq, 0);
}

void transfer_script_request(ScriptHost *host, Session *session, uint32_t seq,
                             const MessageScriptRequest *command)
{
    Sessions *sessions = host->config.sessions;
    const uint32_t count = command->script_paths_count;
    if (count < 1 || !rate_take(host->config.stats, session, RATE_SCRIPT, (count + 15) / 16)) {
        session_deny(sessions, session, seq, count < 1 ? STATUS_RANGE : STATUS_LIMIT,
                     count < 1 ? "Name a script of the manifest."
                               : "Too many scripts at once; ask for the rest later.");
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        HostRune rune;
        if (!script_host_find(host, command->script_paths[i].path, &rune)) {
            session_deny(sessions, session, seq, STATUS_NOT_FOUND,
                         "The manifest has no such script; ask by the paths in it.");
            return;
        }
        const bool packed = rune.packed_count > 0 && command->encoding == rune.packing;
        // from_chunk is for the first; the others start at 0.
        const Status status =
            enqueue(host, session, (Transfer){.script = rune.number, .packed = packed},
                    packed ? rune.packed_count : rune.byte_count, i == 0 ? command->from_chunk : 0);
        if (status != STATUS_OK) {
            session_deny(sessions, session, seq, status,
                         status == STATUS_LIMIT
                             ? "Too many scripts at once; ask for the rest later."
                             : "There is no such piece; ask again from 0.");
            return;
        }
    }
    session_ack(sessions, session, seq, 0);
}

// --- the tick -----------------------------------------------------------------------------------

static bool has_room(const ScriptHost *host, const Session *session, const TransferQueue *queue)
{
    const size_t waiting = session_waiting(session);
    const uint64_t since = host->config.clock->tick - queue->sent_tick;
    if (session->flow.acked == 0) {
        return (waiting <= FETCH_BYTES && since >= FETCH_TICKS) || since >= PATIENCE_TICKS;
    }
    return waiting <= BACKLOG_BYTES || since >= PATIENCE_TICKS;
}

static WireBytes piece_of(const Transfer *transfer, const uint8_t *bytes, size_t count)
{
    const size_t begin = (size_t)transfer->next * transfer->piece_bytes;
    ASSERT(begin <= count);
    const size_t left = count - begin;
    return (WireBytes){bytes + begin,
                       (uint32_t)(left < transfer->piece_bytes ? left : transfer->piece_bytes)};
}

static uint32_t send_blob(ScriptHost *host, Session *session, const Transfer *transfer)
{
    const bool is_scene = transfer->kind == TRANSFER_SCENE;
    const SignedManifest *manifest = &host->signed_now; // a reload drops the transfers
    const HostScene *scene = &host->scenes[is_scene ? transfer->script : 0];
    const uint8_t *bytes = is_scene ? scene->bytes : manifest->text;
    const size_t count = is_scene ? scene->count : manifest->text_bytes;
    MessageBlobChunk chunk = {.chunk_index = transfer->next,
                              .total_chunks = transfer->total,
                              .data = piece_of(transfer, bytes, count)};
    memcpy(chunk.hash.bytes, is_scene ? scene->hash : manifest->text_hash, sizeof chunk.hash.bytes);
    session_send(host->config.sessions, session, MESSAGE_BLOB_CHUNK, &chunk);
    return chunk.data.bytes;
}

static uint32_t send_script(ScriptHost *host, Session *session, const Transfer *transfer)
{
    HostRune rune;
    const bool found = script_host_at(host, transfer->script, &rune);
    ASSERT(found); // a reload drops the transfers
    const MessageScriptChunk chunk = {
        .script_path = text_from(rune.path),
        .chunk_index = transfer->next,
        .total_chunks = transfer->total,
        .encoding = transfer->packed ? rune.packing : 0,
        .data = transfer->packed ? piece_of(transfer, rune.packed, rune.packed_count)
                                 : piece_of(transfer, rune.bytes, rune.byte_count),
    };
    session_send(host->config.sessions, session, MESSAGE_SCRIPT_CHUNK, &chunk);
    return chunk.data.bytes;
}

// Returns its bytes.
static uint32_t send_piece(ScriptHost *host, Session *session, TransferQueue *queue)
{
    ASSERT(queue->count > 0);
    const uint32_t at = queue->turn++ % (queue->count < AT_ONCE ? queue->count : AT_ONCE);
    Transfer *transfer = &queue->items[at];
    ASSERT(transfer->next < transfer->total);
    const uint32_t bytes = transfer->kind != TRANSFER_SCRIPT ? send_blob(host, session, transfer)
                                                             : send_script(host, session, transfer);
    queue->sent_tick = host->config.clock->tick;
    transfer->next += 1;
    if (transfer->next >= transfer->total) {
        queue->count -= 1;
        host->transfers->count -= 1;
        memmove(transfer, transfer + 1, (queue->count - at) * sizeof(Transfer));
    }
    return bytes;
}

void transfer_tick(ScriptHost *host)
{
    Sessions *sessions = host->config.sessions;
    for (uint32_t i = 0; i < sessions->high && host->transfers->count > 0; i++) {
        Session *session = session_at(sessions, i);
        TransferQueue *queue = &host->transfers->queues[i];
        if (session->state != SESSION_PLAYING || queue->count == 0 ||
            !has_room(host, session, queue)) {
            continue;
        }
        for (uint32_t sent = 0; queue->count > 0 && sent < TRANSFER_PIECE_BYTES;) {
            sent += send_piece(host, session, queue) + CHUNK_HEADER_BYTES;
        }
    }
}

void transfer_hash(const ScriptHost *host, Hash64 *hash)
{
    for (uint32_t i = 0; i < host->config.sessions->high; i++) {
        const TransferQueue *queue = &host->transfers->queues[i];
        hash_u64(hash, queue->count);
        hash_u64(hash, queue->sent_tick);
        hash_u64(hash, queue->turn);
        hash_u64(hash, queue->count > 0 ? queue->items[0].next : 0);
    }
}
