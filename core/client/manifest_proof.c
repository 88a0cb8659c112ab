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

static bool is_sorted(const ManifestList *list)
{
    for (uint32_t i = 1; i < list->row_count; i++) {
        if (manifest_path_order(list->rows[i - 1].path, list->rows[i].path) >= 0) {
            return false;
        }
    }
    return true;
}

static Status write_text(Client *client, const ManifestList *list)
{
    if (!is_sorted(list)) {
        return STATUS_MALFORMED; // never so in what was signed
    }
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

// --- the verdict --------------------------------------------------------------------------------

ProofState manifest_proof_begin(Client *client, const ManifestList *list, const uint8_t *signature)
{
    ManifestProof *proof = &client->runes.proof;
    manifest_proof_free(client);
    if (!wants_proof(client)) {
        return PROOF_GOOD;
    }
    if (signature == NULL) {
        client_fail(client, "the manifest of the scripts is not signed");
        return PROOF_BAD;
    }
    const Status status = write_text(client, list);
    if (status != STATUS_OK) {
        manifest_proof_free(client);
        client_fail(client, "the manifest of the scripts cannot be verified: %s",
                    status_text(status));
        return PROOF_BAD;
    }
    memcpy(proof->signature, signature, sizeof proof->signature);
    proof->version = list->version;
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
