// Checks whether our server signed a manifest. The signed text is written again from the received
// fields, by the same function that the server uses, and verified by Ed25519: in a native client at
// once, by a callback; in a browser later, because WebCrypto is asynchronous. Until then the
// manifest is staged and nothing of it is fetched or run.
#include "core/client/client_inside.h"

#include "core/wire/manifest.h"

#include <string.h>

static bool wants_proof(const Client *client)
{
    return client->config.verify != NULL || client->config.owner_verifies;
}

void manifest_proof_free(Client *client)
{
    heap_free(client->heap, client->runes.proof.text);
    client->runes.proof = (ManifestProof){0};
}

// --- the text -----------------------------------------------------------------------------------

// The fields of a message in the form that manifest_write needs.
typedef struct Rows {
    ManifestRow *rows;
    Text *requires;
    char *paths;
} Rows;

static size_t count_requires(const MessageScriptManifest *message)
{
    size_t count = 0;
    for (uint32_t i = 0; i < message->scripts_count; i++) {
        count += message->scripts[i].requires_count;
    }
    return count;
}

static size_t count_path_bytes(const MessageScriptManifest *message)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < message->scripts_count; i++) {
        bytes += message->scripts[i].path.bytes + message->scripts[i].ending.bytes;
    }
    return bytes;
}

static int order_of(Text a, Text b)
{
    const size_t common = a.bytes < b.bytes ? a.bytes : b.bytes;
    const int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
    return order != 0 ? order : (a.bytes > b.bytes) - (a.bytes < b.bytes);
}

// False if the rows are not in the signed order.
static bool fill_rows(const MessageScriptManifest *message, Rows *to)
{
    char *path = to->paths;
    Text *require = to->requires;
    for (uint32_t i = 0; i < message->scripts_count; i++) {
        const WireManifestScript *from = &message->scripts[i];
        ManifestRow *row = &to->rows[i];
        *row = (ManifestRow){.path = {path, from->path.bytes + from->ending.bytes},
                             .size_bytes = (uint32_t)from->size_bytes,
                             .run_context = from->run_context,
                             .service = from->service,
                             .replicate = true,
                             .requires = require,
                             .require_count = from->requires_count};
        memcpy(row->rune_hash, from->rune_hash.bytes, sizeof row->rune_hash);
        memcpy(path, from->path.data, from->path.bytes);
        if (from->ending.bytes > 0) {
            memcpy(path + from->path.bytes, from->ending.data, from->ending.bytes);
        }
        path += row->path.bytes;
        for (uint32_t k = 0; k < from->requires_count; k++) {
            *require++ = from->requires[k].path;
        }
        if (i > 0 && order_of(to->rows[i - 1].path, row->path) >= 0) {
            return false;
        }
    }
    return true;
}

static Status write_text(Client *client, const ManifestList *list)
{
    ManifestProof *proof = &client->runes.proof;
    ByteWriter counter = byte_counter();
    Status status = manifest_write(list, NULL, &counter);
    if (status != STATUS_OK) {
        return status;
    }
    proof->text = heap_alloc(client->heap, counter.at);
    proof->text_bytes = counter.at;
    if (proof->text == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter writer = byte_writer(proof->text, counter.at);
    status = manifest_write(list, NULL, &writer);
    ASSERT(status != STATUS_OK || writer.at == counter.at);
    return status;
}

static Status make_text(Client *client, const MessageScriptManifest *message)
{
    const size_t requires = count_requires(message);
    Rows rows = {
        .rows = heap_alloc(client->heap, (message->scripts_count + 1) * sizeof(ManifestRow)),
        .requires = heap_alloc(client->heap, (requires + 1) * sizeof(Text)),
        .paths = heap_alloc(client->heap, count_path_bytes(message) + 1),
    };
    Status status = STATUS_LIMIT;
    if (rows.rows != NULL && rows.requires != NULL && rows.paths != NULL) {
        const ManifestList list = {.version = (uint32_t)message->version,
                                   .server_tick = message->server_tick,
                                   .cdn_base = message->cdn_base,
                                   .rows = rows.rows,
                                   .row_count = message->scripts_count};
        status = fill_rows(message, &rows) ? write_text(client, &list) : STATUS_MALFORMED;
    }
    heap_free(client->heap, rows.paths);
    heap_free(client->heap, rows.requires);
    heap_free(client->heap, rows.rows);
    return status;
}

// --- the verdict --------------------------------------------------------------------------------

ProofState manifest_proof_begin(Client *client, const MessageScriptManifest *message)
{
    ManifestProof *proof = &client->runes.proof;
    manifest_proof_free(client);
    if (!wants_proof(client)) {
        return PROOF_GOOD;
    }
    if (message->signature.bytes != MANIFEST_SIGNATURE_BYTES) {
        client_fail(client, "the manifest of the scripts is not signed");
        return PROOF_BAD;
    }
    const Status status = make_text(client, message);
    if (status != STATUS_OK) {
        manifest_proof_free(client);
        client_fail(client, "the manifest of the scripts cannot be verified: %s",
                    status_text(status));
        return PROOF_BAD;
    }
    memcpy(proof->signature, message->signature.data, sizeof proof->signature);
    proof->version = (uint32_t)message->version;
    if (client->config.verify == NULL) {
        return PROOF_WAITS;
    }
    const bool good = client->config.verify(client->config.verify_user, proof->text,
                                            proof->text_bytes, proof->signature) == STATUS_OK;
    manifest_proof_free(client);
    if (!good) {
        client_fail(client, PROOF_BAD_TEXT);
    }
    return good ? PROOF_GOOD : PROOF_BAD;
}

bool client_proof(const Client *client, ClientProof *out)
{
    const ManifestProof *proof = &client->runes.proof;
    if (proof->text == NULL) {
        return false;
    }
    *out = (ClientProof){.version = proof->version,
                         .text = proof->text,
                         .text_bytes = proof->text_bytes,
                         .signature = proof->signature};
    return true;
}

void client_verified(Client *client, uint32_t version, bool good)
{
    if (client->runes.proof.text == NULL || client->runes.proof.version != version) {
        return; // another manifest has come meanwhile
    }
    manifest_proof_free(client);
    rune_cache_verified(client, good);
}
