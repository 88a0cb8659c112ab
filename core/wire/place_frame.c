// A place without its scripts; see place.h. Net ids of entities follow those of anchored parts, in
// the order of the scene (place_check.c), so equal frames have equal net ids.
#include "core/base/sha256.h"
#include "core/wire/place.h"
#include "core/wire/place_doc.h"

static void take_body(PlaceBodyDoc *body, uint64_t net_id, Text prefab, PlaceScriptedSink sink,
                      void *user)
{
    const PlaceScripted scripted = {
        .net_id = net_id, .prefab = prefab, .parameters = body->parameters};
    if (place_script(body).bytes > 0 && (net_id != 0 || prefab.bytes > 0)) {
        sink(user, &scripted);
        body->parameters = PLACE_TEXT_NONE;
    }
    body->script_ref.code_hash = PLACE_TEXT_NONE;
}

static void take_scripts(PlaceDoc *doc, PlaceScriptedSink sink, void *user)
{
    for (uint32_t i = 0; i < doc->scene.entities.count; i++) {
        PlaceEntityDoc *entity = place_entity(doc, i);
        take_body(&entity->body, entity->net_id, PLACE_TEXT_NONE, sink, user);
    }
    for (uint32_t i = 0; i < doc->prefab_count; i++) {
        PlacePrefabDoc *prefab = &doc->prefabs[i];
        take_body(&prefab->body, 0, prefab->name, sink, user);
    }
    doc->settings.spells = PLACE_TEXT_NONE;
}

static Status hash_doc(const PlaceDoc *doc, size_t bytes_max, PlaceScratch *scratch,
                       uint8_t hash[32])
{
    uint8_t *bytes = place_scratch_take(scratch, bytes_max, 1);
    if (bytes == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter writer = byte_writer(bytes, bytes_max);
    place_doc_write(doc, &writer);
    if (writer.status == STATUS_OK) {
        sha256_of(bytes, writer.at, hash);
    }
    return writer.status;
}

Status place_frame(Heap *heap, const uint8_t *whole, size_t bytes, uint8_t hash[32],
                   PlaceScriptedSink sink, void *user)
{
    PlaceScratch scratch = {.heap = heap};
    PlaceDoc doc;
    Status status = place_doc_read(whole, bytes, &scratch, &doc);
    if (status == STATUS_OK) {
        take_scripts(&doc, sink, user);
        status = hash_doc(&doc, bytes + 64, &scratch, hash);
    }
    place_scratch_free(&scratch);
    return status;
}
