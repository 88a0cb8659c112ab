// See http_bundle.h. Nothing is copied: the answer is read from the memory of the places while it
// is sent, and they are held until then.
#include "server/serve/http/http_bundle.h"

#include "core/base/limits.h"
#include "server/serve/http/body.h"
#include "server/serve/http/http_asset.h"
#include "server/serve/place/places.h"
#include "server/store/place/blob.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES_MAX (SHA256_BYTES + BUNDLE_ENTRY_BYTES)

typedef struct BundleEntry {
    uint64_t at; // of its head in the answer
    uint8_t head[HEAD_BYTES_MAX];
    const uint8_t *bytes; // of a place
} BundleEntry;

typedef struct Bundle {
    ServePlace *places[SERVE_LOADED_MAX]; // that its entries are of, each with a reference
    uint32_t place_count;
    uint32_t head_bytes;
    uint32_t count;
    BundleEntry entries[]; // one more is the end
} Bundle;

typedef struct BundleWanted {
    uint32_t packing;     // 0: as they are
    const char *place_id; // that they play; NULL: not said
    uint32_t count;
    uint8_t hashes[BUNDLE_RUNES_MAX][SHA256_BYTES];
} BundleWanted;

void bundle_entry(uint8_t out[BUNDLE_ENTRY_BYTES], BundleForm form, size_t bytes)
{
    out[0] = (uint8_t)form;
    for (uint32_t i = 0; i < 4; i++) {
        out[1 + i] = (uint8_t)(bytes >> (8 * i));
    }
}

// --- the answer ---------------------------------------------------------------------------------

static uint32_t entry_at(const Bundle *bundle, uint64_t at)
{
    uint32_t low = 0, high = bundle->count;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (bundle->entries[middle].at <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static int64_t read_bundle(void *user, uint64_t at, void *out, size_t bytes)
{
    const Bundle *bundle = user;
    uint8_t *to = out;
    size_t done = 0;
    for (uint32_t i = entry_at(bundle, at); i < bundle->count && done < bytes; i++) {
        const BundleEntry *entry = &bundle->entries[i];
        uint64_t from = at + done - entry->at;
        while (done < bytes && from < bundle->head_bytes) {
            to[done++] = entry->head[from++];
        }
        const uint64_t left = bundle->entries[i + 1].at - entry->at - from;
        const size_t part = left < bytes - done ? (size_t)left : bytes - done;
        if (part > 0) {
            memcpy(to + done, entry->bytes + (from - bundle->head_bytes), part);
            done += part;
        }
    }
    return (int64_t)done;
}

static void end_bundle(void *user)
{
    Bundle *bundle = user;
    for (uint32_t i = 0; i < bundle->place_count; i++) {
        serve_place_release(bundle->places[i]);
    }
    free(bundle);
}

static Bundle *make_bundle(uint32_t count, bool has_hashes)
{
    Bundle *bundle = calloc(1, sizeof *bundle + ((size_t)count + 1) * sizeof bundle->entries[0]);
    if (bundle != NULL) {
        bundle->head_bytes = BUNDLE_ENTRY_BYTES + (has_hashes ? SHA256_BYTES : 0);
    }
    return bundle;
}

// The next one; NULL: it is not here.
static void put_entry(Bundle *bundle, const uint8_t hash[SHA256_BYTES], const BuildRune *rune,
                      bool wants_packed)
{
    BundleEntry *entry = &bundle->entries[bundle->count++];
    BundleForm form = BUNDLE_NOT_HERE;
    size_t bytes = 0;
    if (rune != NULL) {
        const bool is_packed = wants_packed && rune->packed != NULL;
        form = is_packed ? BUNDLE_PACKED : BUNDLE_PLAIN;
        bytes = is_packed ? rune->packed_count : rune->count;
        entry->bytes = is_packed ? rune->packed : rune->bytes;
    }
    memcpy(entry->head, hash, SHA256_BYTES); // is written over if it is not to be there
    bundle_entry(entry->head + bundle->head_bytes - BUNDLE_ENTRY_BYTES, form, bytes);
    entry[1].at = entry->at + bundle->head_bytes + bytes;
}

static void send_bundle(Bundle *bundle, HttpResponse *response)
{
    response->content_type = "application/octet-stream";
    response->content_security_policy = "sandbox";
    response->bytes = (size_t)bundle->entries[bundle->count].at;
    response->stream = (HttpStream){.read = read_bundle, .end = end_bundle, .user = bundle};
}

void serve_send_set(ServePlace *place, HttpResponse *response)
{
    const HostPlace *host = place->place;
    Bundle *bundle = make_bundle(host->rune_order_count, true);
    if (bundle == NULL) {
        serve_place_release(place);
        response->status = 503;
        return;
    }
    const uint8_t *before = NULL;
    for (uint32_t i = 0; i < host->rune_order_count; i++) {
        const BuildRune *rune = &host->built.runes[host->rune_order[i]];
        if (before == NULL || memcmp(before, rune->hash, SHA256_BYTES) != 0) {
            put_entry(bundle, rune->hash, rune, true); // scripts of equal bytes are one rune
        }
        before = rune->hash;
    }
    bundle->places[bundle->place_count++] = place;
    send_bundle(bundle, response);
}

// --- the question -------------------------------------------------------------------------------

static bool read_number(const char *text, uint32_t *out)
{
    char *end = NULL;
    const unsigned long number = strtoul(text, &end, 10);
    *out = (uint32_t)number;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && number <= UINT32_MAX;
}

static bool read_hashes(const JsonNode *list, BundleWanted *out)
{
    if (list == NULL || list->kind != JSON_ARRAY) {
        return false;
    }
    for (const JsonNode *item = list->first; item != NULL; item = item->next) {
        if (out->count == BUNDLE_RUNES_MAX || item->kind != JSON_STRING ||
            blob_parse(item->text, item->count, out->hashes[out->count]) != STATUS_OK) {
            return false;
        }
        out->count += 1;
    }
    return out->count > 0;
}

// Only what the manifest of clients names: a rune of the server's own services is "not here".
static const BuildRune *find_rune(const HostPlace *place, const BundleWanted *wanted,
                                  uint32_t index)
{
    if (wanted->packing != 0 && place->built.packing != wanted->packing) {
        return NULL;
    }
    const uint32_t number = host_place_rune(place, wanted->hashes[index]);
    return number == UINT32_MAX ? NULL : &place->built.runes[number];
}

// How many are not in any of these places.
static uint32_t find_in(ServePlace *const *places, uint32_t place_count, const bool *is_usable,
                        const BundleWanted *wanted, const BuildRune **runes)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < wanted->count; i++) {
        for (uint32_t p = 0; p < place_count && runes[i] == NULL; p++) {
            runes[i] = is_usable[p] ? find_rune(places[p]->place, wanted, i) : NULL;
        }
        missing += runes[i] == NULL;
    }
    return missing;
}

// Each rune may be of another place: several have the same spell, and a world may run with an older
// revision than the newest. Anybody may have those of public places. Of private ones only the place
// is looked at that the request names, and only for who may play it: neither the answer nor the
// work for it tells whether somebody else's place has them.
static uint32_t find_runes(const Serve *serve, const HttpRequest *request, ServePlace **places,
                           uint32_t place_count, const BundleWanted *wanted,
                           const BuildRune **runes)
{
    bool is_usable[SERVE_LOADED_MAX];
    const bool may_play =
        wanted->place_id != NULL && serve_may_play(serve, request, wanted->place_id);
    for (uint32_t p = 0; p < place_count; p++) {
        is_usable[p] = !atomic_load(&places[p]->is_private) ||
                       (may_play && strcmp(places[p]->place->place_id, wanted->place_id) == 0);
    }
    return find_in(places, place_count, is_usable, wanted, runes);
}

// False: there is none of them, and the bundle is gone.
static bool fill_bundle(const Serve *serve, const HttpRequest *request, Bundle *bundle,
                        const BundleWanted *wanted)
{
    const BuildRune *runes[BUNDLE_RUNES_MAX] = {NULL};
    bundle->place_count = places_hold_all(serve, bundle->places);
    const uint32_t missing =
        find_runes(serve, request, bundle->places, bundle->place_count, wanted, runes);
    if (missing == wanted->count) {
        end_bundle(bundle);
        return false;
    }
    for (uint32_t i = 0; i < wanted->count; i++) {
        put_entry(bundle, wanted->hashes[i], runes[i], wanted->packing != 0);
    }
    return true;
}

void serve_post_bundle(void *user, HttpRequest *request, HttpResponse *response)
{
    const JsonNode *body = serve_body_object(request, response);
    BundleWanted *wanted = arena_alloc(http_arena(request), sizeof *wanted);
    if (body == NULL || wanted == NULL) {
        if (body != NULL) {
            http_fail(request, response, 503, "busy", "out of memory; try again");
        }
        return;
    }
    *wanted = (BundleWanted){0};
    if (!read_hashes(json_find(body, "runes"), wanted)) {
        http_fail(request, response, 400, "malformed",
                  "runes must be a list of 1 to 256 hashes, each of 64 hexadecimal digits");
        return;
    }
    const JsonNode *place = json_find(body, "place_id");
    if (place != NULL && place->kind == JSON_STRING && place->count < PLACE_KEY_BYTES) {
        wanted->place_id = place->text;
    }
    Bundle *bundle = make_bundle(wanted->count, false);
    if (bundle == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    if (!read_number(http_path_part(request, 0), &wanted->packing)) {
        wanted->packing = UINT32_MAX; // no place packs like this
    }
    if (fill_bundle(user, request, bundle, wanted)) {
        send_bundle(bundle, response);
    } else {
        http_fail(request, response, 404, "not_found", "there is no such rune, packed like this");
    }
}
