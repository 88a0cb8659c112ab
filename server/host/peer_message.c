// See peer_message.h.
#include "server/host/peer_message.h"

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/limits.h"

#include <sodium.h>
#include <string.h>

#define VERSION 2

static void write_text(ByteWriter *writer, const char *text)
{
    const size_t bytes = strlen(text);
    ASSERT(bytes <= UINT8_MAX);
    byte_write_u8(writer, (uint8_t)bytes);
    byte_write_bytes(writer, text, bytes);
}

static void read_chars(ByteReader *reader, size_t bytes, char *out, size_t capacity)
{
    const uint8_t *text = byte_read_bytes(reader, bytes);
    if (reader->status != STATUS_OK) {
        return;
    }
    if (bytes >= capacity || memchr(text, '\0', bytes) != NULL) {
        reader->status = STATUS_MALFORMED;
        return;
    }
    memcpy(out, text, bytes);
    out[bytes] = '\0';
}

static void read_text(ByteReader *reader, char *out, size_t capacity)
{
    const uint8_t bytes = byte_read_u8(reader);
    read_chars(reader, bytes, out, capacity);
}

static void read_fixed(ByteReader *reader, uint8_t *out, size_t bytes)
{
    const uint8_t *data = byte_read_bytes(reader, bytes);
    if (reader->status == STATUS_OK) {
        memcpy(out, data, bytes);
    }
}

static size_t sign(const SigningKey *key, ByteWriter *writer, uint8_t *bytes, size_t capacity)
{
    ASSERT(writer->status == STATUS_OK && writer->at + crypto_sign_BYTES <= capacity);
    (void)crypto_sign_detached(bytes + writer->at, NULL, bytes, writer->at, key->secret);
    return writer->at + crypto_sign_BYTES;
}

size_t peer_ask_write(const SigningKey *key, const PeerEnvelope *envelope, const HostPeerAsk *ask,
                      uint8_t out[PEER_MESSAGE_BYTES])
{
    ByteWriter writer = byte_writer(out, PEER_MESSAGE_BYTES);
    byte_write_u8(&writer, VERSION);
    byte_write_u8(&writer, (uint8_t)ask->kind);
    byte_write_bytes(&writer, envelope->sender, sizeof envelope->sender);
    byte_write_bytes(&writer, envelope->receiver, sizeof envelope->receiver);
    byte_write_u64(&writer, envelope->unix_ms);
    byte_write_bytes(&writer, envelope->nonce, sizeof envelope->nonce);
    write_text(&writer, ask->host_id);
    byte_write_bytes(&writer, ask->boot, sizeof ask->boot);
    write_text(&writer, ask->world_id);
    byte_write_u16(&writer, (uint16_t)strlen(ask->text));
    byte_write_bytes(&writer, ask->text, strlen(ask->text));
    return sign(key, &writer, out, PEER_MESSAGE_BYTES);
}

Status peer_ask_read(const uint8_t *bytes, size_t count, PeerEnvelope *envelope, HostPeerAsk *out)
{
    if (count <= crypto_sign_BYTES || count > PEER_MESSAGE_BYTES) {
        return STATUS_MALFORMED;
    }
    ByteReader reader = byte_reader(bytes, count - crypto_sign_BYTES);
    PeerEnvelope said = {.unix_ms = 0};
    HostPeerAsk ask = {.tag = 0};
    const uint8_t version = byte_read_u8(&reader);
    const uint8_t kind = byte_read_u8(&reader);
    read_fixed(&reader, said.sender, sizeof said.sender);
    read_fixed(&reader, said.receiver, sizeof said.receiver);
    said.unix_ms = byte_read_u64(&reader);
    read_fixed(&reader, said.nonce, sizeof said.nonce);
    read_text(&reader, ask.host_id, sizeof ask.host_id);
    read_fixed(&reader, ask.boot, sizeof ask.boot);
    read_text(&reader, ask.world_id, sizeof ask.world_id);
    read_chars(&reader, byte_read_u16(&reader), ask.text, sizeof ask.text);
    if (byte_reader_finish(&reader) != STATUS_OK || version != VERSION || kind >= PEER_KIND_COUNT) {
        return STATUS_MALFORMED;
    }
    ask.kind = (HostPeerKind)kind;
    *envelope = said;
    *out = ask;
    return STATUS_OK;
}

bool peer_ask_is_signed(const uint8_t *bytes, size_t count, const PeerEnvelope *envelope)
{
    const size_t said = count - crypto_sign_BYTES;
    return crypto_sign_verify_detached(bytes + said, bytes, said, envelope->sender) == 0;
}

size_t peer_answer_write(const SigningKey *key, const uint8_t nonce[16],
                         const HostPeerAnswer *answer, uint8_t out[PEER_MESSAGE_BYTES])
{
    ByteWriter writer = byte_writer(out, PEER_MESSAGE_BYTES);
    byte_write_u8(&writer, VERSION);
    byte_write_bytes(&writer, nonce, 16);
    byte_write_u8(&writer, (uint8_t)answer->result);
    byte_write_bytes(&writer, answer->boot, sizeof answer->boot);
    byte_write_u32(&writer, answer->written_ms);
    byte_write_u8(&writer, (uint8_t)answer->checked);
    byte_write_u8(&writer, (uint8_t)answer->refusal);
    byte_write_u64(&writer, answer->held.epoch);
    byte_write_bytes(&writer, answer->held.boot, sizeof answer->held.boot);
    write_text(&writer, answer->held.address);
    byte_write_u32(&writer, answer->players);
    return sign(key, &writer, out, PEER_MESSAGE_BYTES);
}

Status peer_answer_read(const uint8_t public_half[SIGNING_PUBLIC_BYTES], const uint8_t nonce[16],
                        const uint8_t *bytes, size_t count, HostPeerAnswer *out)
{
    if (count <= crypto_sign_BYTES || count > PEER_MESSAGE_BYTES) {
        return STATUS_MALFORMED;
    }
    const size_t said = count - crypto_sign_BYTES;
    ByteReader reader = byte_reader(bytes, said);
    HostPeerAnswer answer = {.players = 0};
    uint8_t asked[16] = {0};
    const uint8_t version = byte_read_u8(&reader);
    read_fixed(&reader, asked, sizeof asked);
    const uint8_t result = byte_read_u8(&reader);
    read_fixed(&reader, answer.boot, sizeof answer.boot);
    answer.written_ms = byte_read_u32(&reader);
    const uint8_t checked = byte_read_u8(&reader);
    const uint8_t refusal = byte_read_u8(&reader);
    answer.held.epoch = byte_read_u64(&reader);
    read_fixed(&reader, answer.held.boot, sizeof answer.held.boot);
    read_text(&reader, answer.held.address, sizeof answer.held.address);
    answer.players = byte_read_u32(&reader);
    if (byte_reader_finish(&reader) != STATUS_OK || version != VERSION ||
        result >= PEER_RESULT_COUNT || checked >= PEER_RESULT_COUNT || refusal >= REFUSED_COUNT) {
        return STATUS_MALFORMED;
    }
    if (memcmp(asked, nonce, sizeof asked) != 0 ||
        crypto_sign_verify_detached(bytes + said, bytes, said, public_half) != 0) {
        return STATUS_DENIED;
    }
    answer.result = (HostPeerResult)result;
    answer.checked = (HostPeerResult)checked;
    answer.refusal = (HostRefusal)refusal;
    *out = answer;
    return STATUS_OK;
}

// --- replies ------------------------------------------------------------------------------------

_Static_assert(1 + 16 + 1 + 4 + crypto_sign_BYTES <= PEER_REPLY_BYTES - PEER_PAYLOAD_BYTES,
               "a reply has room for its head and its signature");

size_t peer_reply_write(const SigningKey *key, const uint8_t nonce[16], const PeerReply *reply,
                        uint8_t out[PEER_REPLY_BYTES])
{
    ASSERT(reply->count <= PEER_PAYLOAD_BYTES);
    ByteWriter writer = byte_writer(out, PEER_REPLY_BYTES);
    byte_write_u8(&writer, VERSION);
    byte_write_bytes(&writer, nonce, 16);
    byte_write_u8(&writer, (uint8_t)reply->outcome);
    byte_write_u32(&writer, (uint32_t)reply->count);
    byte_write_bytes(&writer, reply->bytes, reply->count);
    return sign(key, &writer, out, PEER_REPLY_BYTES);
}

Status peer_reply_read(const uint8_t public_half[SIGNING_PUBLIC_BYTES], const uint8_t nonce[16],
                       const uint8_t *bytes, size_t count, PeerReply *out)
{
    if (count <= crypto_sign_BYTES || count > PEER_REPLY_BYTES) {
        return STATUS_MALFORMED;
    }
    const size_t said = count - crypto_sign_BYTES;
    ByteReader reader = byte_reader(bytes, said);
    uint8_t asked[16] = {0};
    const uint8_t version = byte_read_u8(&reader);
    read_fixed(&reader, asked, sizeof asked);
    const uint8_t outcome = byte_read_u8(&reader);
    const uint32_t payload = byte_read_u32(&reader);
    const uint8_t *data = byte_read_bytes(&reader, payload);
    if (byte_reader_finish(&reader) != STATUS_OK || version != VERSION ||
        outcome >= PEER_OUTCOME_COUNT || payload > PEER_PAYLOAD_BYTES) {
        return STATUS_MALFORMED;
    }
    if (memcmp(asked, nonce, sizeof asked) != 0 ||
        crypto_sign_verify_detached(bytes + said, bytes, said, public_half) != 0) {
        return STATUS_DENIED;
    }
    *out = (PeerReply){.outcome = (PeerOutcome)outcome, .bytes = data, .count = payload};
    return STATUS_OK;
}

#define WORLD_BYTES_MAX (1 + 64 + 1 + 4 + 4 + 1 + 8 * 8)

_Static_assert(1 + 2 + PEER_WORLDS_MAX * WORLD_BYTES_MAX <= PEER_PAYLOAD_BYTES,
               "a page of worlds fits into a reply");

size_t peer_worlds_write(const PeerWorld *worlds, uint32_t count, bool has_more,
                         uint8_t out[PEER_PAYLOAD_BYTES])
{
    ASSERT(count <= PEER_WORLDS_MAX);
    ByteWriter writer = byte_writer(out, PEER_PAYLOAD_BYTES);
    byte_write_u8(&writer, has_more);
    byte_write_u16(&writer, (uint16_t)count);
    for (uint32_t i = 0; i < count; i++) {
        const PeerWorld *world = &worlds[i];
        const uint64_t numbers[] = {world->tick,         world->late_p99_us, world->work_max_us,
                                    world->memory_bytes, world->uptime_s,    world->crashes,
                                    world->bytes_down,   world->bytes_up};
        write_text(&writer, world->world_id);
        byte_write_u8(&writer, (uint8_t)world->state);
        byte_write_u32(&writer, world->players);
        byte_write_u32(&writer, world->player_max);
        byte_write_u8(&writer, world->is_hidden);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            byte_write_u64(&writer, numbers[k]);
        }
    }
    ASSERT(writer.status == STATUS_OK);
    return writer.at;
}

static bool is_id(const char *text)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    return text[0] != '\0' && text[strspn(text, allowed)] == '\0';
}

static void read_world(ByteReader *reader, const char *before, PeerWorld *out)
{
    uint64_t *const numbers[] = {&out->tick,         &out->late_p99_us, &out->work_max_us,
                                 &out->memory_bytes, &out->uptime_s,    &out->crashes,
                                 &out->bytes_down,   &out->bytes_up};
    read_text(reader, out->world_id, sizeof out->world_id);
    const uint8_t state = byte_read_u8(reader);
    out->players = byte_read_u32(reader);
    out->player_max = byte_read_u32(reader);
    const uint8_t hidden = byte_read_u8(reader);
    out->is_hidden = hidden == 1;
    bool is_good = is_id(out->world_id) && strcmp(before, out->world_id) < 0 &&
                   state < WORLD_STATE_COUNT && hidden <= 1 && out->players <= WORLD_PLAYERS_MAX &&
                   out->player_max <= WORLD_PLAYERS_MAX;
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        *numbers[k] = byte_read_u64(reader);
        is_good = is_good && *numbers[k] < PEER_NUMBER_MAX;
    }
    if (reader->status == STATUS_OK && !is_good) {
        reader->status = STATUS_MALFORMED;
    }
    out->state = is_good ? (HostWorldState)state : WORLD_STOPPED;
}

Status peer_worlds_read(const uint8_t *bytes, size_t byte_count, PeerWorld *out, uint32_t *count,
                        bool *has_more)
{
    ByteReader reader = byte_reader(bytes, byte_count);
    const uint8_t more = byte_read_u8(&reader);
    const uint16_t rows = byte_read_u16(&reader);
    if (reader.status != STATUS_OK || more > 1 || rows > PEER_WORLDS_MAX ||
        (more == 1 && rows == 0)) {
        return STATUS_MALFORMED;
    }
    for (uint32_t i = 0; i < rows && reader.status == STATUS_OK; i++) {
        read_world(&reader, i > 0 ? out[i - 1].world_id : "", &out[i]);
    }
    if (byte_reader_finish(&reader) != STATUS_OK) {
        return STATUS_MALFORMED;
    }
    *count = rows;
    *has_more = more == 1;
    return STATUS_OK;
}

bool peer_nonce_use(PeerNonces *nonces, const PeerEnvelope *envelope, uint64_t now_unix_ms)
{
    if (envelope->unix_ms + PEER_MESSAGE_MS <= now_unix_ms ||
        envelope->unix_ms > now_unix_ms + PEER_MESSAGE_MS) {
        return false;
    }
    for (uint32_t i = 0; i < PEER_NONCES_MAX; i++) {
        if (nonces->all[i].until_unix_ms > now_unix_ms &&
            memcmp(nonces->all[i].nonce, envelope->nonce, sizeof envelope->nonce) == 0) {
            return false;
        }
    }
    // When there are too many, the oldest gives way: what peers ask may be asked twice.
    const uint32_t at = nonces->next++ % PEER_NONCES_MAX;
    memcpy(nonces->all[at].nonce, envelope->nonce, sizeof envelope->nonce);
    nonces->all[at].until_unix_ms = envelope->unix_ms + PEER_MESSAGE_MS;
    return true;
}
