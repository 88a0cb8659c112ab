// See http_bundle.h. Nothing is copied: the answer is read from the place's own memory while it is
// sent, and the place is held until then.
#include "server/serve/http/http_bundle.h"

#include "core/base/limits.h"
#include "server/serve/http/body.h"
#include "server/serve/http/http_asset.h"
#include "server/serve/place/places.h"
#include "server/store/place/blob.h"

#include <stdlib.h>
#include <string.h>

typedef struct BundleEntry {
    uint64_t at; // of its head in the answer
    uint8_t head[BUNDLE_ENTRY_BYTES];
    const uint8_t *bytes; // of the place
} BundleEntry;

typedef struct Bundle {
    ServePlace *place; // a reference
    uint32_t count;
    BundleEntry entries[BUNDLE_RUNES_MAX + 1]; // the last one is the end
} Bundle;

typedef struct BundleWanted {
    uint32_t packing; // 0: as they are
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
        while (done < bytes && from < BUNDLE_ENTRY_BYTES) {
            to[done++] = entry->head[from++];
        }
        const uint64_t left = bundle->entries[i + 1].at - entry->at - from;
        const size_t part = left < bytes - done ? (size_t)left : bytes - done;
        if (part > 0) {
            memcpy(to + done, entry->bytes + (from - BUNDLE_ENTRY_BYTES), part);
            done += part;
        }
    }
    return (int64_t)done;
}

static void end_bundle(void *user)
{
    Bundle *bundle = user;
    serve_place_release(bundle->place);
    free(bundle);
}

// Only what the manifest of clients names: a rune of the server's own services is "not here".
static size_t fill_entry(BundleEntry *entry, const HostPlace *place, const BundleWanted *wanted,
                         uint32_t index)
{
    const uint32_t number = host_place_rune(place, wanted->hashes[index]);
    BundleForm form = BUNDLE_NOT_HERE;
    size_t bytes = 0;
    if (number != UINT32_MAX) {
        const BuildRune *rune = &place->built.runes[number];
        const bool is_packed = wanted->packing != 0 && rune->packed != NULL;
        form = is_packed ? BUNDLE_PACKED : BUNDLE_PLAIN;
        bytes = is_packed ? rune->packed_count : rune->count;
        entry->bytes = is_packed ? rune->packed : rune->bytes;
    }
    bundle_entry(entry->head, form, bytes);
    return BUNDLE_ENTRY_BYTES + bytes;
}

// The reference becomes the answer's.
static void answer_bundle(ServePlace *place, const BundleWanted *wanted, HttpRequest *request,
                          HttpResponse *response)
{
    Bundle *bundle = calloc(1, sizeof *bundle);
    if (bundle == NULL) {
        serve_place_release(place);
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    uint64_t at = 0;
    for (uint32_t i = 0; i < wanted->count; i++) {
        bundle->entries[i].at = at;
        at += fill_entry(&bundle->entries[i], place->place, wanted, i);
    }
    bundle->place = place;
    bundle->count = wanted->count;
    bundle->entries[wanted->count].at = at;
    response->content_type = "application/octet-stream";
    response->content_security_policy = "sandbox";
    response->bytes = (size_t)at;
    response->stream = (HttpStream){.read = read_bundle, .end = end_bundle, .user = bundle};
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

// All runes of a bundle are of one place: the one that has the first of them.
static bool has_bundle(void *user, const ServePlace *place)
{
    const BundleWanted *wanted = user;
    return (wanted->packing == 0 || place->place->built.packing == wanted->packing) &&
           host_place_rune(place->place, wanted->hashes[0]) != UINT32_MAX;
}

static ServePlace *find_place(Serve *serve, const HttpRequest *request, BundleWanted *wanted)
{
    ServePlace *place = places_find(serve, has_bundle, wanted);
    if (place != NULL && atomic_load(&place->is_private) &&
        !serve_may_play(serve, request, place->place->place_id)) {
        serve_place_release(place);
        place = NULL;
    }
    return place;
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
    ServePlace *place = read_number(http_path_part(request, 0), &wanted->packing)
                            ? find_place(user, request, wanted)
                            : NULL;
    if (place == NULL) {
        http_fail(request, response, 404, "not_found", "there is no such rune, packed like this");
        return;
    }
    answer_bundle(place, wanted, request, response);
}
