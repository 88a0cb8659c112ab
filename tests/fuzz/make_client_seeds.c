// Writes seeds for fuzz_client into a folder: a session for each message that a server may send,
// one with every event in a frame, one that fetches the scene, one that comes back.
#include "core/base/check.h"
#include "core/client/client.h"

#include <stdio.h>
#include <string.h>

static uint8_t seed[64 << 10];
static ByteWriter out;

static void begin(uint8_t flags)
{
    out = byte_writer(seed, sizeof seed);
    byte_write_u8(&out, flags);
    byte_write_u8(&out, 0x80);
    byte_write_u8(&out, 0);
}

static void step(uint8_t op, uint8_t argument)
{
    byte_write_u8(&out, op);
    byte_write_u8(&out, argument);
}

static void message(const uint8_t *bytes, size_t count)
{
    byte_write_u8(&out, 0);
    byte_write_u16(&out, (uint16_t)count);
    byte_write_bytes(&out, bytes, count);
}

static void end(const char *folder, const char *name)
{
    step(0x81, 10);
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ASSERT(file != NULL);
    ASSERT(fwrite(seed, 1, out.at, file) == out.at);
    ASSERT(fclose(file) == 0);
}

static void send(uint8_t number, const void *body)
{
    uint8_t bytes[4096];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    message_encode(&(Message){.number = number, .seq = 2, .body = body}, &writer);
    message(bytes, writer.at);
}

static void each_message(const char *folder)
{
    static const uint64_t zero[64];
    const MessageRow *row = NULL;
    for (uint32_t i = 0; (row = message_row_at(i)) != NULL; i++) {
        if (row->direction == MESSAGE_DOWN) {
            ASSERT(row->body_bytes <= sizeof zero);
            begin(row->number % 2 == 0 ? 3 : 1);
            byte_write_u8(&out, 0x84);
            send(row->number, zero);
            end(folder, row->name);
        }
    }
}

static size_t frame(uint8_t *bytes, size_t capacity)
{
    static const uint64_t zero[64];
    static uint8_t events[8192];
    ByteWriter list = byte_writer(events, sizeof events);
    const MessageRow *row = NULL;
    for (uint32_t i = 0; (row = message_row_at(i)) != NULL; i++) {
        if (row->direction == MESSAGE_EVENT) {
            uint8_t event[512];
            ByteWriter writer = byte_writer(event, sizeof event);
            message_encode_event(row->number, zero, &writer);
            snapshot_event(&list, 1, event, writer.at);
        }
    }
    uint8_t record[256];
    BitWriter bits = bit_writer(record, sizeof record);
    const NetState state = {.paint = {.colour = 0x33aa55, .visible = 1, .material = 3},
                            .version = 1,
                            .motion = net_motion_quantise(vec3(1, 0, 2), vec3(1, 0, 0), 0, 600),
                            .health = 100};
    delta_encode(NET_PLAYER, NULL, &state, NULL, 603, 60, &bits);
    const SnapshotEnter enters[2] = {
        {.slot = 0,
         .kind = NET_PLAYER,
         .net_id = 1000,
         .owner_id = 7,
         .record = {record, (uint32_t)bits.at}},
        {.slot = 3, .kind = NET_PLAYER, .net_id = 77, .record = {record, (uint32_t)bits.at}}};
    const NetOwn own = {.net_id = 1000,
                        .tick = 603,
                        .causes = NET_CAUSE_SPAWN,
                        .state = {.position = {4, 0, 0}, .health = 100, .grounded = true}};
    const SnapshotPlan plan = {.header = {.full = true, .seq = 1, .tick = 603},
                               .tick_rate = 60,
                               .own = &own,
                               .enters = enters,
                               .enter_count = 2,
                               .events = events,
                               .event_bytes = list.at};
    size_t count = 0;
    const Status status = snapshot_write(&plan, bytes, capacity, &count);
    ASSERT(status == STATUS_OK);
    return count;
}

static void sessions(const char *folder)
{
    uint8_t bytes[16384];
    const size_t count = frame(bytes, sizeof bytes);
    for (uint8_t flags = 0; flags < 8; flags++) {
        char name[32];
        begin(flags);
        message(bytes, count);
        for (uint32_t i = 0; i < 8; i++) {
            step(0x81, 25);
            step(0x83, (uint8_t)i);
        }
        byte_write_u8(&out, 0x82);
        step(0x80, 1);
        message(bytes, count);
        snprintf(name, sizeof name, "session_%u", flags);
        end(folder, name);
    }
    const WireManifestScript script = {.path = {"StarterGui/Hud.ts", 17},
                                       .size_bytes = 200,
                                       .run_context = {"Client", 6},
                                       .service = {"StarterGui", 10}};
    const MessageScriptManifest manifest = {.version = 1, .scripts = &script, .scripts_count = 1};
    const MessageScriptChunk chunk = {.script_path = {"StarterGui/Hud", 14},
                                      .total_chunks = 2,
                                      .data = {(const uint8_t *)"SLRN1234", 8}};
    const MessageScriptReload reload = {.version = 2, .at_tick = 610};
    const MessageScriptParameters parameters = {
        .version = 2, .entity_id = 1, .parameters = {"{\"light\": 2}", 12}};
    const MessageScriptBound bound = {.entity_id = 9,
                                      .script_path = {"Workspace/Door", 14},
                                      .parameters = {"{\"wide\": 1}", 11},
                                      .enabled = true};
    MessageScriptManifest next = manifest;
    next.version = 2;
    begin(3);
    byte_write_u8(&out, 0x84);
    send(MESSAGE_SCRIPT_MANIFEST, &manifest);
    step(0x81, 10);
    send(MESSAGE_SCRIPT_CHUNK, &chunk);
    send(MESSAGE_SCRIPT_RELOAD, &reload);
    send(MESSAGE_SCRIPT_PARAMETERS, &parameters);
    send(MESSAGE_SCRIPT_BOUND, &bound);
    send(MESSAGE_SCRIPT_MANIFEST, &next);
    byte_write_u8(&out, 0x84);
    end(folder, "scripts");
}

// A signed manifest with all its fields, which waits for its verdict.
static void proofs(const char *folder)
{
    static const uint8_t signature[64] = {1, 2, 3};
    const WireScriptPath requires[] = {{{"ReplicatedStorage/A", 19}},
                                       {{"ReplicatedStorage/B", 19}}};
    const WireManifestScript scripts[] = {{.path = {"ReplicatedStorage/A.lua", 23},
                                           .size_bytes = 200,
                                           .run_context = {"Both", 4},
                                           .service = {"ReplicatedStorage", 17},
                                           .replicate = true},
                                          {.path = {"StarterGui/Hud", 14},
                                           .size_bytes = 300,
                                           .run_context = {"Client", 6},
                                           .service = {"StarterGui", 10},
                                           .replicate = true,
                                           .requires = requires,
                                           .requires_count = 2}};
    const MessageScriptManifest manifest = {.version = 4,
                                            .scripts = scripts,
                                            .scripts_count = 2,
                                            .signature = {signature, 64},
                                            .server_tick = 9000,
                                            .cdn_base = {"https://cdn.example/", 20}};
    for (uint8_t verdict = 0; verdict < 2; verdict++) {
        begin(15);
        byte_write_u8(&out, 0x84);
        send(MESSAGE_SCRIPT_MANIFEST, &manifest);
        step(0x81, 10);
        step(0x86, verdict);
        step(0x81, 10);
        end(folder, verdict != 0 ? "proof_good" : "proof_bad");
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_client_seeds FOLDER\n");
        return 2;
    }
    each_message(argv[1]);
    sessions(argv[1]);
    proofs(argv[1]);
    return 0;
}
