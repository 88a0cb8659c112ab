// A connection that uses JSON: everything it receives must be JSON in an envelope, and it sends
// what a tool would send.
#include "core/base/json_read.h"
#include "tests/scenario/net/net_inside.h"

#include <stdio.h>

void json_receive(Net *net, NetClient *client, const uint8_t *bytes, size_t count)
{
    static _Alignas(16) uint8_t block[1 << 20];
    Arena arena;
    arena_init(&arena, block, sizeof block);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root;
    JsonError error = {0};
    if (json_parse(&config, (const char *)bytes, count, &root, &error) != STATUS_OK) {
        net_fail(net, "a JSON connection gets what is no JSON: %s at %u:%u", error.message,
                 error.line, error.column);
        return;
    }
    client->json_messages += 1;
    const JsonNode *kind = json_find(root, "kind");
    const JsonNode *version = json_find(root, "v");
    if (kind == NULL || version == NULL || version->integer != 2) {
        net_fail(net, "a JSON message without an envelope");
    } else if (json_text_equal(kind, "snapshot")) {
        client->json_snapshots += 1;
        const JsonNode *payload = json_find(root, "payload");
        if (json_find(payload, "tick") == NULL || json_find(payload, "features") == NULL ||
            json_find(payload, "localAckSeq") == NULL) {
            net_fail(net, "a JSON snapshot lacks its tick, features or localAckSeq");
        }
    } else if (json_text_equal(kind, "error")) {
        net_fail(net, "a JSON connection is refused: %.*s", (int)(count < 200 ? count : 200),
                 (const char *)bytes);
    }
}

void json_update(Net *net, NetClient *client)
{
    client->json_seq += 1;
    char text[300];
    const bool left = rng_below(&client->bot.rng, 2) == 0;
    const int bytes = snprintf(
        text, sizeof text,
        "{\"v\":2,\"kind\":\"command\",\"seq\":%u,\"feature\":\"movement\",\"action\":"
        "\"input_batch\",\"clientTime\":%.2f,\"payload\":{\"inputs\":[{\"seq\":%u,\"up\":true,"
        "\"down\":false,\"left\":%s,\"right\":false}]}}",
        client->json_seq + 1, (double)net->now_us / 1000, client->json_seq,
        left ? "true" : "false");
    if (stream_has_room(client->up, client->profile, (size_t)bytes)) {
        stream_send(client->up, client->profile, &client->rng, net->now_us, (const uint8_t *)text,
                    (size_t)bytes);
    }
}
