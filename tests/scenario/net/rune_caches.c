// What players keep of scripts between two visits, in the scenario where scripts change. Half of
// the clients have a cache of runes, as pages and bots have; some load their page anew in the
// middle of the game, and come with nothing but that cache. What is in it may be damaged: a bit is
// wrong, the end is missing, or it is another rune.
//
// Always: a client takes whole runes and refuses damaged ones, fetches those once more from the
// world, and in the end refuses no script.
#include "core/base/sha256.h"
#include "tests/scenario/net/net_inside.h"

#include <stdio.h>
#include <string.h>

#define KEPT_RUNES      16
#define KEPT_RUNE_BYTES 4096
#define WANTS_MAX       16
#define DAMAGED_ONE_OF  4

typedef struct KeptRune {
    uint8_t hash[SHA256_BYTES];
    uint8_t bytes[KEPT_RUNE_BYTES];
    uint32_t count; // 0: nothing is kept here
} KeptRune;

struct NetKept {
    KeptRune runes[KEPT_RUNES];
    uint32_t next;    // that is overwritten
    uint32_t version; // of the manifest whose runes are kept
};

void rune_caches_open(Net *net, NetClient *client)
{
    if (client->index % 2 == 1) {
        client->kept = heap_alloc(&net->heap, sizeof *client->kept);
        ASSERT(client->kept != NULL);
        memset(client->kept, 0, sizeof *client->kept);
    }
}

void rune_caches_close(Net *net, NetClient *client)
{
    heap_free(&net->heap, client->kept);
    client->kept = NULL;
}

static KeptRune *find(NetKept *kept, const uint8_t hash[SHA256_BYTES])
{
    for (uint32_t i = 0; i < KEPT_RUNES; i++) {
        if (kept->runes[i].count > 0 && memcmp(kept->runes[i].hash, hash, SHA256_BYTES) == 0) {
            return &kept->runes[i];
        }
    }
    return NULL;
}

static void keep_runes(NetKept *kept, const Client *client)
{
    ClientRuneBytes rune;
    for (uint32_t i = 0; client_rune(client, i, &rune); i++) {
        if (rune.bytes == NULL || find(kept, rune.hash) != NULL) {
            continue;
        }
        ASSERT(rune.count <= KEPT_RUNE_BYTES);
        KeptRune *slot = &kept->runes[kept->next++ % KEPT_RUNES];
        memcpy(slot->hash, rune.hash, SHA256_BYTES);
        memcpy(slot->bytes, rune.bytes, rune.count);
        slot->count = rune.count;
    }
}

static void damage(Rng *rng, const NetKept *kept, KeptRune *rune)
{
    const KeptRune *other = &kept->runes[rng_below(rng, KEPT_RUNES)];
    const uint32_t kind = rng_below(rng, 3);
    if (kind == 0 && other->count > 0 && memcmp(other->hash, rune->hash, SHA256_BYTES) != 0) {
        memcpy(rune->bytes, other->bytes, other->count);
        rune->count = other->count;
    } else if (kind == 1) {
        rune->count -= 1 + rng_below(rng, rune->count);
    } else {
        rune->bytes[rng_below(rng, rune->count)] ^= (uint8_t)(1u << rng_below(rng, 8));
    }
}

static void give(Net *net, NetClient *client, const KeptRune *rune)
{
    static KeptRune given;
    const bool is_damaged = rng_below(&client->bot.rng, DAMAGED_ONE_OF) == 0;
    given = *rune;
    if (is_damaged) {
        damage(&client->bot.rng, client->kept, &given);
    }
    const Status status = client_give_for(client->client, rune->hash, given.bytes, given.count);
    if (status != (is_damaged ? STATUS_MISMATCH : STATUS_OK)) {
        net_fail(net, "client %u is given a %s rune from its cache and says %s", client->index,
                 is_damaged ? "damaged" : "whole", status_name(status));
    }
    *(is_damaged ? &net->reload.kept_damaged : &net->reload.kept_given) += 1;
}

void rune_caches_update(Net *net, NetClient *client)
{
    NetKept *kept = client->kept;
    if (kept == NULL) {
        return;
    }
    ClientWant wants[WANTS_MAX];
    const uint32_t count = client_wants(client->client, wants, WANTS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        KeptRune *rune = wants[i].kind == CLIENT_WANT_RUNE && !wants[i].from_host
                             ? find(kept, wants[i].hash)
                             : NULL;
        if (rune != NULL) {
            give(net, client, rune);
        }
    }
    const uint32_t version = client_stats(client->client).manifest_version;
    if (version != kept->version) {
        kept->version = version;
        keep_runes(kept, client->client);
    }
}

void rune_caches_check(Net *net)
{
    const NetReload *reload = &net->reload;
    if (net->verbose && reload->vm != NULL) {
        printf(
            "%u switches, %u roll-backs, %u pages loaded anew; %u whole and %u damaged runes from "
            "caches\n",
            reload->switched, reload->restored, reload->anew, reload->kept_given,
            reload->kept_damaged);
    }
    for (uint32_t i = 0; i < net->client_count; i++) {
        const Client *client = net->clients[i].client;
        const uint32_t refused = client != NULL ? client_fetch_progress(client).scripts_refused : 0;
        if (refused > 0) {
            net_fail(net, "client %u has refused %u scripts that the world has whole", i, refused);
        }
    }
}
