// The flat interface of studio.wasm: a place as a document (core/edit), as the Studio calls it. As
// in exports.c handles are addresses, texts and bytes are an address and a length, and a result is
// at the returned address, its length at resultBytes(), until the next call. It contains no rules.
#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/base/limits.h"
#include "core/client/terrain_mesh.h"
#include "core/edit/clip.h"
#include "core/edit/compile.h"
#include "core/edit/draw_list.h"
#include "core/edit/ground.h"
#include "core/edit/op_json.h"
#include "core/edit/pending.h"
#include "core/edit/problem.h"
#include "core/edit/text.h"
#include "core/edit/words.h"
#include "core/wasm/exports_edit_inside.h"
#include "core/wasm/packed_files.h"

#include <stdio.h>
#include <string.h>

#define HEAP_BYTES_MAX   (1ull << 30)
#define RESULT_BYTES_MAX (64u << 20)
#define PROBLEMS_MAX     200

typedef struct ChunkFile {
    struct ChunkFile *next;
    uint8_t *data;
    size_t bytes;
    char path[64];
} ChunkFile;

// What was pasted, for as long as the session has not confirmed it.
typedef struct Clip {
    struct Clip *next;
    uint8_t hash[SHA256_BYTES];
    size_t bytes;
    uint8_t data[];
} Clip;

// One document that is edited.
typedef struct Studio {
    EditPending *pending;
    EditDoc *doc;
    EditDrawList *list;
    EditGround ground;
    ChunkFile *chunks;
    uint32_t *skipped; // by rays
    uint32_t skipped_count;
    Clip *clips;
    Rng rng;
} Studio;

// A module instance is one process: this is its only state.
static struct {
    Heap heap;
    bool is_ready;
    EditBuffer result;
    size_t result_bytes;
    char error[JSON_ERROR_TEXT_BYTES + 160];
    PackedFiles packed;
    _Alignas(8) uint8_t quads[TERRAIN_QUADS_MAX * sizeof(TerrainQuad)];
} module;

Heap *edit_exports_heap(void)
{
    if (!module.is_ready) {
        module.heap = heap_make(HEAP_BYTES_MAX);
        module.result = edit_buffer(&module.heap, RESULT_BYTES_MAX);
        module.is_ready = true;
    }
    return &module.heap;
}

const void *edit_exports_give(const void *data, size_t bytes)
{
    module.result_bytes = bytes;
    return data != NULL ? data : module.error; // something that is not 0: the result is empty
}

void edit_exports_fail(const char *text)
{
    (void)snprintf(module.error, sizeof module.error, "%s", text);
}

EditBuffer *edit_exports_result(void)
{
    (void)edit_exports_heap();
    // A result of many megabytes, as a whole document, does not stay.
    if (module.result.capacity > (8u << 20)) {
        edit_buffer_free(&module.result);
    }
    edit_buffer_clear(&module.result);
    module.result.status = STATUS_OK;
    return &module.result;
}

static const void *give_result(void)
{
    if (module.result.status != STATUS_OK) {
        edit_exports_fail("the result does not fit");
        return NULL;
    }
    return edit_exports_give(module.result.data, module.result.bytes);
}

EXPORT("alloc") void *export_alloc(uint32_t bytes)
{
    return heap_alloc(edit_exports_heap(), bytes);
}

EXPORT("release") void export_release(void *block)
{
    heap_free(edit_exports_heap(), block);
}

EXPORT("resultBytes") uint32_t export_result_bytes(void)
{
    return (uint32_t)module.result_bytes;
}

// Why the last failed call failed.
EXPORT("errorText") const void *export_error_text(void)
{
    return edit_exports_give(module.error, strlen(module.error));
}

// --- a document ---------------------------------------------------------------------------------

static const uint8_t *find_clip(void *user, const uint8_t hash[SHA256_BYTES], size_t *bytes)
{
    const Studio *studio = user;
    for (const Clip *clip = studio->clips; clip != NULL; clip = clip->next) {
        if (memcmp(clip->hash, hash, SHA256_BYTES) == 0) {
            *bytes = clip->bytes;
            return clip->data;
        }
    }
    return NULL;
}

static void drop_clips(Studio *studio)
{
    for (Clip *clip = studio->clips; clip != NULL;) {
        Clip *next = clip->next;
        heap_free(edit_exports_heap(), clip);
        clip = next;
    }
    studio->clips = NULL;
}

static Studio *studio_open(EditDoc *doc, uint32_t editor, uint64_t seq, double seed)
{
    Heap *heap = edit_exports_heap();
    Studio *studio = heap_alloc(heap, sizeof *studio);
    if (studio == NULL || edit_draw_list_create(heap, &studio->list) != STATUS_OK ||
        edit_pending_create(heap, doc, editor, seq, &studio->pending) != STATUS_OK) {
        edit_exports_fail("there is not enough memory");
        edit_draw_list_destroy(studio != NULL ? studio->list : NULL);
        heap_free(heap, studio);
        edit_doc_destroy(doc);
        return NULL;
    }
    studio->doc = doc;
    edit_doc_set_blobs(doc, (EditBlobs){studio, find_clip});
    studio->rng = rng_make((uint64_t)(seed >= 0 && seed < 9e15 ? seed : 0), 1);
    return studio;
}

// A whole document as edit_doc_write gives it, and the number of the last transaction in it. 0 on
// failure.
EXPORT("editOpen")
Studio *export_edit_open(const uint8_t *bytes, uint32_t count, uint32_t editor, double seq,
                         double seed)
{
    EditDoc *doc = NULL;
    const Status status = edit_doc_open(edit_exports_heap(), (EditBlobs){0}, bytes, count, &doc);
    if (status != STATUS_OK) {
        edit_exports_fail(status_text(status));
        return NULL;
    }
    return studio_open(doc, editor, (uint64_t)seq, seed);
}

// The same from the texts of place.json and scene.json. 0: see errorText.
EXPORT("editOpenTexts")
Studio *export_edit_open_texts(const char *settings, uint32_t settings_bytes, const char *scene,
                               uint32_t scene_bytes, uint32_t editor, double seed)
{
    Heap *heap = edit_exports_heap();
    EditText *text = NULL;
    EditDoc *doc = NULL;
    PlaceError error;
    const EditTexts texts = {{settings, settings_bytes}, {scene, scene_bytes}};
    if (edit_text_open(heap, (EditBlobs){0}, texts, &text, &doc, &error) != STATUS_OK) {
        place_error_text(&error, module.error, sizeof module.error);
        return NULL;
    }
    edit_text_close(text);
    return studio_open(doc, editor, 0, seed);
}

// Another document takes the place of this one; what was not confirmed is applied on top. False: it
// cannot be read.
EXPORT("editReset")
int32_t export_edit_reset(Studio *studio, const uint8_t *bytes, uint32_t count, double seq)
{
    EditDoc *doc = NULL;
    const Status status =
        edit_doc_open(edit_exports_heap(), (EditBlobs){studio, find_clip}, bytes, count, &doc);
    if (status != STATUS_OK) {
        edit_exports_fail(status_text(status));
        return 0;
    }
    edit_pending_reset(studio->pending, doc, (uint64_t)seq);
    edit_doc_destroy(studio->doc);
    studio->doc = doc;
    edit_draw_list_forget(studio->list);
    return 1;
}

EXPORT("editClose") void export_edit_close(Studio *studio)
{
    Heap *heap = edit_exports_heap();
    edit_pending_destroy(studio->pending);
    edit_draw_list_destroy(studio->list);
    edit_ground_free(heap, &studio->ground);
    for (ChunkFile *file = studio->chunks; file != NULL;) {
        ChunkFile *next = file->next;
        heap_free(heap, file->data);
        heap_free(heap, file);
        file = next;
    }
    heap_free(heap, studio->skipped);
    drop_clips(studio);
    edit_doc_destroy(studio->doc);
    heap_free(heap, studio);
}

// The number of this editor, which may be another one after a connection was lost.
EXPORT("editSetEditor") void export_edit_set_editor(Studio *studio, uint32_t editor)
{
    edit_pending_set_editor(studio->pending, editor);
}

EXPORT("editHash") uint64_t export_edit_hash(const Studio *studio)
{
    return edit_doc_hash(studio->doc);
}

EXPORT("editMark") uint32_t export_edit_mark(void)
{
    return edit_member_mark();
}

EXPORT("editSeq") double export_edit_seq(const Studio *studio)
{
    return (double)edit_pending_seq(studio->pending);
}

// All of it as bytes, for a copy that is opened elsewhere.
EXPORT("editBytes") const void *export_edit_bytes(const Studio *studio)
{
    EditBuffer *out = edit_exports_result();
    edit_doc_write(studio->doc, out);
    return give_result();
}

EXPORT("editNewId") uint32_t export_edit_new_id(Studio *studio, uint32_t kind)
{
    return edit_doc_new_id(studio->doc, kind == EDIT_TERRAIN ? EDIT_TERRAIN : EDIT_ENTITY,
                           &studio->rng);
}

// --- changes ------------------------------------------------------------------------------------

// Operations as JSON (core/edit/op_json.h), applied at once. The result is the message to send. 0:
// see errorText, and nothing has changed.
EXPORT("editEdit")
const void *export_edit_edit(Studio *studio, const char *label, uint32_t label_bytes,
                             const char *json, uint32_t json_bytes)
{
    Heap *heap = edit_exports_heap();
    EditBuffer ops = edit_buffer(heap, EDIT_TRANSACTION_BYTES_MAX);
    EditBuffer *message = edit_exports_result();
    JsonError where;
    EditError error;
    Status status = edit_ops_from_json(heap, json, json_bytes, &ops, &where);
    if (status != STATUS_OK) {
        json_error_words(&where, module.error);
    } else {
        status = edit_pending_edit(studio->pending, (Text){label, label_bytes}, ops.data, ops.bytes,
                                   message, &error);
        if (status != STATUS_OK) {
            edit_exports_fail(error.message[0] != '\0' ? error.message : status_text(status));
        }
    }
    edit_buffer_free(&ops);
    return status == STATUS_OK ? give_result() : NULL;
}

// Entities with everything below them as a clip (core/edit/clip.h). 0: one of them is not there.
EXPORT("editCopy")
const void *export_edit_copy(Studio *studio, const uint32_t *ids, uint32_t count)
{
    EditBuffer *out = edit_exports_result();
    const Status status = edit_clip_write(studio->doc, ids, count, out);
    if (status != STATUS_OK) {
        edit_exports_fail(status_text(status));
        return NULL;
    }
    return give_result();
}

static bool keep_clip(Studio *studio, const uint8_t *data, size_t bytes, uint8_t hash[SHA256_BYTES])
{
    size_t known;
    if (edit_pending_count(studio->pending) == 0) {
        drop_clips(studio); // all that was pasted is confirmed
    }
    sha256_of(data, bytes, hash);
    if (find_clip(studio, hash, &known) != NULL) {
        return true;
    }
    Clip *clip = heap_alloc(edit_exports_heap(), sizeof *clip + bytes);
    if (clip == NULL) {
        return false;
    }
    memcpy(clip->hash, hash, SHA256_BYTES);
    memcpy(clip->data, data, bytes);
    clip->bytes = bytes;
    clip->next = studio->clips;
    studio->clips = clip;
    return true;
}

// Pastes a clip, which the caller has uploaded, below nobody and where it was. The result is the
// message to send. 0: see errorText, and nothing has changed.
EXPORT("editPaste")
const void *export_edit_paste(Studio *studio, const char *label, uint32_t label_bytes,
                              const uint8_t *data, uint32_t bytes)
{
    uint8_t hash[SHA256_BYTES];
    EditError error = {0};
    EditBuffer *message = edit_exports_result();
    if (bytes > EDIT_CLIP_BYTES_MAX || !keep_clip(studio, data, bytes, hash)) {
        edit_exports_fail("is too much at once; copy it in smaller pieces");
        return NULL;
    }
    EditBuffer ops = edit_buffer(edit_exports_heap(), EDIT_TRANSACTION_BYTES_MAX);
    edit_ops_begin(&ops);
    edit_op_paste(&ops, hash, rng_u32(&studio->rng), 0, VEC3_ZERO);
    Status status = ops.status;
    if (status == STATUS_OK) {
        status = edit_pending_edit(studio->pending, (Text){label, label_bytes}, ops.data, ops.bytes,
                                   message, &error);
    }
    if (status != STATUS_OK) {
        edit_exports_fail(error.message[0] != '\0' ? error.message : status_text(status));
    }
    edit_buffer_free(&ops);
    return status == STATUS_OK ? give_result() : NULL;
}

// Asks for a transaction to be taken back; the result is the message to send.
EXPORT("editUndo") const void *export_edit_undo(Studio *studio, double seq)
{
    EditBuffer *message = edit_exports_result();
    const Status status = edit_pending_undo(studio->pending, (uint64_t)seq, message);
    if (status != STATUS_OK) {
        edit_exports_fail(status_text(status));
        return NULL;
    }
    return give_result();
}

static void write_news(JsonWriter *json, const EditNews *news)
{
    const EditDown *down = &news->down;
    json_write_object_begin(json);
    json_write_name(json, "type");
    json_write_integer(json, down->type);
    json_write_name(json, "own");
    json_write_bool(json, news->is_own);
    json_write_name(json, "stale");
    json_write_bool(json, news->is_stale);
    json_write_name(json, "seq");
    json_write_integer(json, (int64_t)down->seq);
    json_write_name(json, "n");
    json_write_integer(json, (int64_t)down->n);
    json_write_name(json, "editor");
    json_write_integer(json, down->editor);
    json_write_name(json, "undone");
    json_write_integer(json, (int64_t)down->undone);
    json_write_name(json, "text");
    json_write_text_bytes(json, down->text.data != NULL ? down->text.data : "", down->text.bytes);
    json_write_object_end(json);
}

// A message of the session. The result is what it was, as JSON {"type","own","stale","seq","n",
// "editor","undone","text"}. 0: the bytes cannot be read.
EXPORT("editReceive")
const void *export_edit_receive(Studio *studio, const uint8_t *bytes, uint32_t count)
{
    EditNews news;
    const Status status = edit_pending_receive(studio->pending, bytes, count, &news);
    if (status != STATUS_OK) {
        edit_exports_fail(status_text(status));
        return NULL;
    }
    static char text[1024];
    ByteWriter writer = byte_writer(text, sizeof text);
    JsonWriter json = json_writer(&writer, 0);
    write_news(&json, &news);
    return json_writer_finish(&json) == STATUS_OK ? edit_exports_give(text, writer.at) : NULL;
}

EXPORT("editPendingCount") uint32_t export_edit_pending_count(const Studio *studio)
{
    return edit_pending_count(studio->pending);
}

EXPORT("editPendingMessage")
const void *export_edit_pending_message(const Studio *studio, uint32_t index)
{
    EditBuffer *message = edit_exports_result();
    if (index < edit_pending_count(studio->pending)) {
        edit_pending_message(studio->pending, index, message);
    }
    return give_result();
}

// --- reading ------------------------------------------------------------------------------------

typedef struct ObjectJson {
    EditKind kind;
    const EditObject *object;
    PlaceScratch *scratch;
} ObjectJson;

static void write_object(const void *user, ByteWriter *writer)
{
    const ObjectJson *json = user;
    JsonWriter out = json_writer(writer, 0);
    place_table_to_json(edit_kind_table(json->kind), json->object, json->scratch, &out);
}

// An object as in the files of a place, as JSON. Of the scene without terrain and entities. 0: it
// is not there.
EXPORT("editObject")
const void *export_edit_object(const Studio *studio, uint32_t kind, uint32_t id)
{
    if (kind >= EDIT_KIND_COUNT || !edit_doc_has(studio->doc, (EditKind)kind, id)) {
        edit_exports_fail("is not there");
        return NULL;
    }
    PlaceScratch scratch = {.heap = edit_exports_heap()};
    EditObject object;
    EditBuffer *out = edit_exports_result();
    const Status status = edit_doc_read(studio->doc, (EditKind)kind, id, &scratch, &object);
    if (status == STATUS_OK) {
        const ObjectJson json = {(EditKind)kind, &object, &scratch};
        edit_buffer_write(out, write_object, &json);
    }
    place_scratch_free(&scratch);
    return status == STATUS_OK ? give_result() : NULL;
}

// The ids of entities (3) or terrain (2) in order, u32 each; of entities each with its parent.
EXPORT("editOrder") const void *export_edit_order(const Studio *studio, uint32_t kind)
{
    EditBuffer *out = edit_exports_result();
    const EditKind list = kind == EDIT_TERRAIN ? EDIT_TERRAIN : EDIT_ENTITY;
    for (uint32_t id = edit_doc_first(studio->doc, list); id != 0;
         id = edit_doc_next(studio->doc, list, id)) {
        const uint32_t row[2] = {id, edit_doc_parent(studio->doc, id)};
        edit_buffer_append(out, row, list == EDIT_ENTITY ? sizeof row : sizeof row[0]);
    }
    return give_result();
}

// A number that differs when settings (0), terrain (2) or the table of files (4) do.
EXPORT("editState") uint64_t export_edit_state(const Studio *studio, uint32_t which)
{
    Hash64 hash = HASH64_INIT;
    const EditDoc *doc = studio->doc;
    if (which == EDIT_SETTINGS) {
        hash_u32(&hash, edit_doc_version(doc, EDIT_SETTINGS, 0));
    }
    for (uint32_t id = which == EDIT_TERRAIN ? edit_doc_first(doc, EDIT_TERRAIN) : 0; id != 0;
         id = edit_doc_next(doc, EDIT_TERRAIN, id)) {
        hash_u32(&hash, id);
        hash_u32(&hash, edit_doc_version(doc, EDIT_TERRAIN, id));
    }
    for (uint32_t i = 0; which == EDIT_KIND_COUNT && i < edit_doc_file_count(doc); i++) {
        const EditFile *file = edit_doc_file_at(doc, i);
        hash_bytes(&hash, file->path.data, file->path.bytes);
        hash_bytes(&hash, file->hash, sizeof file->hash);
    }
    return hash.state;
}

// The name of an entity; empty if it has none.
EXPORT("editName") const void *export_edit_name(const Studio *studio, uint32_t id)
{
    PlaceScratch scratch = {.heap = edit_exports_heap()};
    EditObject object;
    EditBuffer *out = edit_exports_result();
    if (edit_doc_has(studio->doc, EDIT_ENTITY, id) &&
        edit_doc_read(studio->doc, EDIT_ENTITY, id, &scratch, &object) == STATUS_OK) {
        edit_buffer_append(out, object.entity.name.data, object.entity.name.bytes);
    }
    place_scratch_free(&scratch);
    return give_result();
}

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter + ('a' - 'A')) : letter;
}

static bool contains(Text text, const char *part, uint32_t bytes)
{
    for (size_t at = 0; at + bytes <= text.bytes; at++) {
        uint32_t same = 0;
        while (same < bytes && lower(text.data[at + same]) == lower(part[same])) {
            same += 1;
        }
        if (same == bytes) {
            return true;
        }
    }
    return false;
}

static bool is_found(const PlaceEntityDoc *entity, const char *part, uint32_t bytes)
{
    static const char *const types[] = {"part", "prop", "npc", "spawn", "group"};
    const Text *tags = entity->body.tags.items;
    bool found = contains(entity->name, part, bytes) ||
                 (entity->name.bytes == 0 && entity->type < 5 &&
                  contains(text_from(types[entity->type]), part, bytes)) ||
                 contains(place_script(&entity->body), part, bytes);
    for (uint32_t i = 0; i < entity->body.tags.count && !found; i++) {
        found = contains(tags[i], part, bytes);
    }
    return found;
}

// The ids of entities whose name, tag or script contains that text, in order, u32 each.
EXPORT("editFind")
const void *export_edit_find(const Studio *studio, const char *part, uint32_t bytes)
{
    EditBuffer *out = edit_exports_result();
    for (uint32_t id = edit_doc_first(studio->doc, EDIT_ENTITY); id != 0;
         id = edit_doc_next(studio->doc, EDIT_ENTITY, id)) {
        PlaceScratch scratch = {.heap = edit_exports_heap()};
        EditObject object;
        if (edit_doc_read(studio->doc, EDIT_ENTITY, id, &scratch, &object) == STATUS_OK &&
            is_found(&object.entity, part, bytes)) {
            edit_buffer_append(out, &id, sizeof id);
        }
        place_scratch_free(&scratch);
    }
    return give_result();
}

static void write_hash(JsonWriter *json, const uint8_t hash[SHA256_BYTES])
{
    char text[2 * SHA256_BYTES + 1];
    for (uint32_t i = 0; i < SHA256_BYTES; i++) {
        (void)snprintf(text + 2 * i, 3, "%02x", hash[i]);
    }
    json_write_text(json, text);
}

static void write_files(const void *user, ByteWriter *writer)
{
    const EditDoc *doc = user;
    JsonWriter json = json_writer(writer, 0);
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < edit_doc_file_count(doc); i++) {
        const EditFile *file = edit_doc_file_at(doc, i);
        json_write_object_begin(&json);
        json_write_name(&json, "path");
        json_write_text_bytes(&json, file->path.data, file->path.bytes);
        json_write_name(&json, "hash");
        write_hash(&json, file->hash);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
}

// [{"path","hash"}, …], by path.
EXPORT("editFiles") const void *export_edit_files(const Studio *studio)
{
    EditBuffer *out = edit_exports_result();
    edit_buffer_write(out, write_files, studio->doc);
    return give_result();
}

typedef struct Problems {
    EditProblem items[PROBLEMS_MAX];
    uint32_t count;
} Problems;

static void keep_problem(void *user, const EditProblem *problem)
{
    Problems *problems = user;
    if (problems->count < PROBLEMS_MAX) {
        problems->items[problems->count++] = *problem;
    }
}

static void write_problem(JsonWriter *json, const EditProblem *problem)
{
    json_write_object_begin(json);
    json_write_name(json, "kind");
    json_write_integer(json, problem->kind);
    json_write_name(json, "id");
    json_write_integer(json, problem->id);
    json_write_name(json, "list");
    json_write_text(json, problem->list != NULL ? problem->list : "");
    json_write_name(json, "index");
    json_write_integer(json, problem->index);
    json_write_name(json, "member");
    json_write_text(json, problem->member != NULL ? problem->member : "");
    json_write_name(json, "message");
    json_write_text(json, problem->message);
    json_write_object_end(json);
}

static void write_problems(const void *user, ByteWriter *writer)
{
    const Problems *problems = user;
    JsonWriter json = json_writer(writer, 0);
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < problems->count; i++) {
        write_problem(&json, &problems->items[i]);
    }
    json_write_array_end(&json);
}

// What keeps the place from being played, the first PROBLEMS_MAX: [{"kind","id","list","index",
// "member","message"}, …]. 0: no memory.
EXPORT("editProblems") const void *export_edit_problems(const Studio *studio)
{
    static Problems problems;
    problems.count = 0;
    if (edit_problems(studio->doc, keep_problem, &problems) != STATUS_OK) {
        edit_exports_fail("there is not enough memory");
        return NULL;
    }
    EditBuffer *out = edit_exports_result();
    edit_buffer_write(out, write_problems, &problems);
    return give_result();
}

// The texts of place.json (0) and scene.json (1), printed anew.
EXPORT("editText") const void *export_edit_text(Studio *studio, uint32_t which)
{
    static const char settings[] = "{\n  \"format\": 1,\n  \"name\": \"x\"\n}\n";
    static const char scene[] = "{\n  \"format\": 1\n}\n";
    Heap *heap = edit_exports_heap();
    EditText *text = NULL;
    EditDoc *empty = NULL;
    PlaceError error;
    const EditTexts texts = {text_from(settings), text_from(scene)};
    Status status = edit_text_open(heap, (EditBlobs){0}, texts, &text, &empty, &error);
    if (status != STATUS_OK) {
        edit_exports_fail(status_text(status));
        return NULL;
    }
    edit_text_rebind(text);
    status = edit_text_write(text, studio->doc);
    EditBuffer *out = edit_exports_result();
    const EditTexts now = edit_text_now(text);
    const Text wanted = which == 0 ? now.settings : now.scene;
    edit_buffer_append(out, wanted.data, wanted.bytes);
    edit_text_close(text);
    edit_doc_destroy(empty);
    if (status != STATUS_OK) {
        edit_exports_fail(status_text(status));
        return NULL;
    }
    return give_result();
}

// The compiled scene, for a world that is played beside the document (loadCompiled of core.wasm).
// Of the files it needs prefabs, chunks and the paths of assets. 0: see errorText.
EXPORT("editCompile")
const void *export_edit_compile(const Studio *studio, const uint8_t *packed, uint32_t bytes)
{
    const char *wrong = packed_files_read(packed, bytes, &module.packed);
    if (wrong != NULL) {
        edit_exports_fail(wrong);
        return NULL;
    }
    EditBuffer *out = edit_exports_result();
    PlaceError error;
    if (edit_compile(studio->doc, module.packed.files, module.packed.count, out, &error) !=
        STATUS_OK) {
        place_error_text(&error, module.error, sizeof module.error);
        return NULL;
    }
    return give_result();
}

// What differs between two states of a place, in words (core/edit/words.h). 0: see errorText.
EXPORT("editWords") const void *export_edit_words(const char *json, uint32_t bytes)
{
    EditBuffer *out = edit_exports_result();
    PlaceError error;
    const Status status = edit_words_json(edit_exports_heap(), json, bytes, out, &error);
    if (status != STATUS_OK) {
        place_error_text(&error, module.error, sizeof module.error);
        return NULL;
    }
    return give_result();
}

// --- drawing ------------------------------------------------------------------------------------

// What changed since the last call: u32 rows, u32 gone, u32 whether the order changed, u32 0; then
// the rows (EditDrawRow, 84 bytes each), then the ids that are gone. 0: no memory.
EXPORT("editChanges") const void *export_edit_changes(Studio *studio)
{
    EditDrawChanges changes;
    if (edit_draw_list_update(studio->list, studio->doc, &changes) != STATUS_OK) {
        edit_exports_fail("there is not enough memory");
        return NULL;
    }
    EditBuffer *out = edit_exports_result();
    const uint32_t head[4] = {changes.row_count, changes.gone_count, changes.has_order, 0};
    edit_buffer_append(out, head, sizeof head);
    edit_buffer_append(out, changes.rows, changes.row_count * sizeof changes.rows[0]);
    edit_buffer_append(out, changes.gone, changes.gone_count * sizeof changes.gone[0]);
    return give_result();
}

static bool read_ray(double dx, double dy, double dz, Vec3 *direction)
{
    const Vec3 way = vec3((float)dx, (float)dy, (float)dz);
    const float length = vec3_length(way);
    *direction = vec3_scale(way, 1 / length);
    return length > 0.5f && length < 2;
}

// What a ray meets first of the solids as of the last editChanges, and of the terrain: 8 doubles:
// the id (0: terrain), distance, point, normal. 0: nothing.
EXPORT("editPick")
const void *export_edit_pick(const Studio *studio, double x, double y, double z, double dx,
                             double dy, double dz, double distance)
{
    static double row[8];
    const Vec3 origin = vec3((float)x, (float)y, (float)z);
    Vec3 direction;
    if (!read_ray(dx, dy, dz, &direction) || !vec3_is_finite(origin)) {
        return NULL;
    }
    uint32_t count;
    const EditSolid *solids = edit_draw_list_solids(studio->list, &count);
    const EditRay ray = {origin, direction, studio->skipped, studio->skipped_count};
    EditPick pick = {.distance = (float)distance};
    bool is_hit = edit_pick(solids, count, &ray, &pick) && pick.distance <= (float)distance;
    TerrainHit hit;
    const float most = is_hit ? pick.distance : (float)distance;
    if (studio->ground.terrain != NULL &&
        terrain_ray(studio->ground.terrain, origin, direction, most, &hit)) {
        pick = (EditPick){0, hit.distance, hit.point, hit.normal};
        is_hit = true;
    }
    const double values[8] = {pick.id,      pick.distance, pick.point.x,  pick.point.y,
                              pick.point.z, pick.normal.x, pick.normal.y, pick.normal.z};
    memcpy(row, values, sizeof row);
    return is_hit ? edit_exports_give(row, sizeof row) : NULL;
}

// Rays go through these from now on.
EXPORT("editPickSkip")
void export_edit_pick_skip(Studio *studio, const uint32_t *ids, uint32_t count)
{
    Heap *heap = edit_exports_heap();
    heap_free(heap, studio->skipped);
    studio->skipped = count != 0 ? heap_alloc(heap, heap_array_bytes(count, sizeof *ids)) : NULL;
    studio->skipped_count = studio->skipped != NULL ? count : 0;
    if (studio->skipped != NULL) {
        memcpy(studio->skipped, ids, count * sizeof *ids);
    }
}

// The ids of those whose middle is inside of planes, 4 f32 each (normal, offset); u32 each.
EXPORT("editPickInside")
const void *export_edit_pick_inside(const Studio *studio, const float *planes, uint32_t count)
{
    EditPlane inside[8];
    const uint32_t plane_count = count > 8 ? 8 : count;
    for (uint32_t i = 0; i < plane_count; i++) {
        inside[i] = (EditPlane){vec3(planes[4 * i], planes[4 * i + 1], planes[4 * i + 2]),
                                planes[4 * i + 3]};
    }
    uint32_t solid_count;
    const EditSolid *solids = edit_draw_list_solids(studio->list, &solid_count);
    Heap *heap = edit_exports_heap();
    uint32_t *ids = heap_alloc(heap, heap_array_bytes(solid_count + 1u, sizeof *ids));
    if (ids == NULL) {
        return NULL;
    }
    EditBuffer *out = edit_exports_result();
    const uint32_t found =
        edit_pick_inside(solids, solid_count, inside, plane_count, ids, solid_count);
    edit_buffer_append(out, ids, found * sizeof *ids);
    heap_free(heap, ids);
    return give_result();
}

// --- terrain ------------------------------------------------------------------------------------

static const uint8_t *find_chunk(void *user, Text path, size_t *bytes)
{
    for (const ChunkFile *file = user; file != NULL; file = file->next) {
        if (text_is(path, file->path)) {
            *bytes = file->bytes;
            return file->data;
        }
    }
    return NULL;
}

// The contents of a file chunks/….chunk, which are copied.
EXPORT("editGiveChunk")
int32_t export_edit_give_chunk(Studio *studio, const char *path, uint32_t path_bytes,
                               const uint8_t *data, uint32_t bytes)
{
    Heap *heap = edit_exports_heap();
    ChunkFile *file = heap_alloc(heap, sizeof *file);
    uint8_t *copy = bytes <= CHUNK_BYTES_MAX ? heap_alloc(heap, bytes + 1u) : NULL;
    if (file == NULL || copy == NULL || path_bytes >= sizeof file->path) {
        heap_free(heap, file);
        heap_free(heap, copy);
        return 0;
    }
    memcpy(copy, data, bytes);
    memcpy(file->path, path, path_bytes);
    file->data = copy;
    file->bytes = bytes;
    file->next = studio->chunks;
    studio->chunks = file;
    return 1;
}

// Makes the terrain anew. The chunks that there are, 3 i32 each; 0: no memory.
EXPORT("editGround") const void *export_edit_ground(Studio *studio)
{
    Heap *heap = edit_exports_heap();
    edit_ground_free(heap, &studio->ground);
    const EditChunkFiles files = {studio->chunks, find_chunk};
    if (edit_ground_make(heap, studio->doc, files, &studio->ground) != STATUS_OK) {
        edit_exports_fail("there is not enough memory for this terrain");
        return NULL;
    }
    EditBuffer *out = edit_exports_result();
    const ChunkStore *store = studio->ground.store;
    for (uint32_t i = 0; i < chunk_store_chunk_count(store); i++) {
        const ChunkCoord at = chunk_store_coord(store, i);
        edit_buffer_append(out, &at, sizeof at);
    }
    return give_result();
}

// The faces of a chunk: TerrainQuad, 8 bytes each (core/client/terrain_mesh.h).
EXPORT("editChunkMesh")
const void *export_edit_chunk_mesh(const Studio *studio, int32_t x, int32_t y, int32_t z)
{
    if (studio->ground.terrain == NULL) {
        return edit_exports_give(module.quads, 0);
    }
    const uint32_t count =
        terrain_mesh(studio->ground.terrain, chunk_store_kinds(studio->ground.store),
                     (ChunkCoord){x, y, z}, (TerrainQuad *)module.quads, TERRAIN_QUADS_MAX);
    return edit_exports_give(module.quads, count * sizeof(TerrainQuad));
}
