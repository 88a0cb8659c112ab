// What hosts on one database say to each other (peer_message.h): any bytes are a question, an
// answer, a reply or a page of worlds. What is accepted as one of worlds is written again as the
// same bytes.
#include "core/base/check.h"
#include "server/host/peer_message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_worlds(const uint8_t *data, size_t size)
{
    static PeerWorld worlds[PEER_WORLDS_MAX];
    uint32_t count = 0;
    bool has_more = false;
    uint8_t *again = malloc(PEER_PAYLOAD_BYTES);
    ASSERT(again != NULL);
    if (peer_worlds_read(data, size, worlds, &count, &has_more) == STATUS_OK) {
        ASSERT(count <= PEER_WORLDS_MAX);
        ASSERT(peer_worlds_write(worlds, count, has_more, again) == size);
        ASSERT(memcmp(again, data, size) == 0);
    }
    free(again);
}

static void look_at_messages(const uint8_t *data, size_t size)
{
    static const uint8_t key[SIGNING_PUBLIC_BYTES], nonce[16];
    PeerEnvelope envelope;
    HostPeerAsk ask;
    HostPeerAnswer answer;
    PeerReply reply;
    if (peer_ask_read(data, size, &envelope, &ask) == STATUS_OK) {
        ASSERT(ask.kind < PEER_KIND_COUNT && strlen(ask.world_id) < sizeof ask.world_id &&
               strlen(ask.text) < sizeof ask.text);
        (void)peer_ask_is_signed(data, size, &envelope);
    }
    if (peer_answer_read(key, nonce, data, size, &answer) == STATUS_OK) {
        ASSERT(answer.result < PEER_RESULT_COUNT && answer.refusal < REFUSED_COUNT);
    }
    if (peer_reply_read(key, nonce, data, size, &reply) == STATUS_OK) {
        ASSERT(reply.bytes >= data && reply.bytes + reply.count <= data + size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    look_at_worlds(data, size);
    look_at_messages(data, size);
    return 0;
}
