// See words.h. Each thing that changed gives one phrase of all its changed members; things with the
// same phrase become one line.
#include "core/edit/words.h"

#include "core/base/hash.h"
#include "core/base/json_read.h"
#include "core/base/limits.h"
#include "core/edit/apply.h"
#include "core/edit/text.h"

#include <stdio.h>
#include <string.h>

#define GROUPS_MAX  64
#define NAMES_MAX   4
#define VALUE_MAX   40  // bytes of a value that is shown
#define PHRASE_MAX  400 // bytes of what changed about one thing
#define LINES_CELLS (4u << 20)
#define ARROW       " → "
#define TIMES       " ×"

typedef struct Group {
    size_t phrase, phrase_bytes; // in Words.phrases
    uint32_t count;
    uint32_t type;  // PlaceType, if all have it
    uint32_t first; // id
    bool is_mixed;  // types differ
} Group;

typedef struct Words {
    const EditDoc *before, *after;
    PlaceScratch scratch;
    EditBuffer phrases;
    EditBuffer value[2];
    Group groups[GROUPS_MAX];
    uint32_t group_count, ungrouped;
    EditBuffer *out;
    uint32_t lines, left_out;
} Words;

static const char *const one_of[] = {"part", "prop", "npc", "spawn", "group"};
static const char *const many_of[] = {"parts", "props", "npcs", "spawns", "groups"};

static const char *noun(uint32_t type, bool is_mixed, uint32_t count)
{
    if (is_mixed || type > PLACE_TYPE_GROUP) {
        return count == 1 ? "thing" : "things";
    }
    return count == 1 ? one_of[type] : many_of[type];
}

// False: no more lines are shown, and it is counted.
static bool begin_line(Words *words, uint32_t count)
{
    if (words->lines == EDIT_WORDS_LINES_MAX - 1) {
        words->left_out += count;
        return false;
    }
    words->lines += 1;
    return true;
}

static void end_line(Words *words)
{
    edit_buffer_u8(words->out, '\n');
}

static void put_number(EditBuffer *out, uint64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    edit_buffer_text(out, text);
}

// At most so many bytes, cut between characters.
static void put_cut(EditBuffer *out, const void *text, size_t bytes, size_t most)
{
    const uint8_t *data = text;
    size_t shown = bytes < most ? bytes : most;
    while (shown < bytes && shown > 0 && (data[shown] & 0xc0) == 0x80) {
        shown -= 1;
    }
    edit_buffer_append(out, data, shown);
    if (shown < bytes) {
        edit_buffer_text(out, "…");
    }
}

// --- values -------------------------------------------------------------------------------------

typedef struct ValueJson {
    const PlaceField *field;
    const void *value;
    PlaceScratch *scratch;
} ValueJson;

static void write_value(const void *user, ByteWriter *writer)
{
    const ValueJson *json = user;
    JsonWriter out = json_writer(writer, 0);
    place_field_to_json(json->field, json->value, json->scratch, &out);
}

static bool is_shown(const PlaceField *field)
{
    return field->type <= PLACE_ROTATION;
}

// As JSON has it, but words without quotes.
static void put_value(Words *words, EditBuffer *out, const EditMember *member, const void *object)
{
    EditBuffer *text = &words->value[0];
    edit_buffer_clear(text);
    const ValueJson json = {member->field, (const uint8_t *)object + member->offset,
                            &words->scratch};
    edit_buffer_write(text, write_value, &json);
    if (text->status != STATUS_OK || text->bytes == 0) {
        edit_buffer_text(out, "?");
    } else if (text->bytes >= 2 && text->data[0] == '"') {
        put_cut(out, text->bytes > 2 ? text->data + 1 : (const uint8_t *)"nothing",
                text->bytes > 2 ? text->bytes - 2 : 7, VALUE_MAX);
    } else {
        put_cut(out, text->data, text->bytes, VALUE_MAX);
    }
}

// "moved", "turned", "size 2 → 3", "parameters changed".
static void put_change(Words *words, EditBuffer *out, const EditMember *member, const void *a,
                       const void *b)
{
    char name[EDIT_MEMBER_NAME_BYTES];
    edit_member_name(member, name);
    if (strcmp(name, "transform.position") == 0 || strcmp(name, "transform.rotation") == 0) {
        edit_buffer_text(out, strcmp(name, "transform.position") == 0 ? "moved" : "turned");
        return;
    }
    const char *dot = strrchr(name, '.');
    edit_buffer_text(out, dot != NULL && strncmp(name, "shape.", 6) == 0 ? dot + 1 : name);
    if (!is_shown(member->field)) {
        edit_buffer_text(out, " changed");
        return;
    }
    edit_buffer_u8(out, ' ');
    put_value(words, out, member, a);
    edit_buffer_text(out, ARROW);
    put_value(words, out, member, b);
}

static bool differs(Words *words, const EditMember *member, const void *a, const void *b)
{
    EditBuffer *old = &words->value[0], *now = &words->value[1];
    edit_buffer_clear(old);
    edit_buffer_clear(now);
    edit_value_write(member, a, old);
    edit_value_write(member, b, now);
    return old->bytes != now->bytes || memcmp(old->data, now->data, old->bytes) != 0;
}

// All members that differ, and what is said beside them, as one phrase.
static void put_changes(Words *words, EditBuffer *out, EditKind kind, const EditObject *a,
                        const EditObject *b)
{
    const size_t begin = out->bytes;
    EditMember member;
    for (uint32_t i = 0; edit_member_at(edit_kind_table(kind), i, &member); i++) {
        if (!edit_member_can_set(kind, &member) || !differs(words, &member, a, b)) {
            continue;
        }
        if (out->bytes - begin > PHRASE_MAX) {
            edit_buffer_text(out, ", …");
            return;
        }
        edit_buffer_text(out, out->bytes > begin ? ", " : "");
        put_change(words, out, &member, a, b);
    }
}

static Status read_both(Words *words, EditKind kind, uint32_t id, EditObject *a, EditObject *b)
{
    const Status status = edit_doc_read(words->before, kind, id, &words->scratch, a);
    return status != STATUS_OK ? status : edit_doc_read(words->after, kind, id, &words->scratch, b);
}

static Status say_settings(Words *words, EditKind kind, const char *what)
{
    EditObject a, b;
    if (edit_doc_same(words->before, words->after, kind, 0)) {
        return STATUS_OK;
    }
    const Status status = read_both(words, kind, 0, &a, &b);
    if (status == STATUS_OK && begin_line(words, 1)) {
        edit_buffer_text(words->out, what);
        edit_buffer_text(words->out, ": ");
        put_changes(words, words->out, kind, &a, &b);
        end_line(words);
    }
    return status;
}

// --- entities -----------------------------------------------------------------------------------

static void put_name(Words *words, const EditDoc *doc, uint32_t id)
{
    EditObject object;
    if (edit_doc_read(doc, EDIT_ENTITY, id, &words->scratch, &object) != STATUS_OK) {
        return;
    }
    if (object.entity.name.bytes > 0) {
        put_cut(words->out, object.entity.name.data, object.entity.name.bytes, VALUE_MAX);
    } else {
        edit_buffer_text(words->out, one_of[object.entity.type]);
        edit_buffer_u8(words->out, ' ');
        put_number(words->out, id);
    }
}

static void group_entity(Words *words, uint32_t id, const PlaceEntityDoc *entity, size_t phrase)
{
    const size_t bytes = words->phrases.bytes - phrase;
    for (uint32_t i = 0; i < words->group_count; i++) {
        Group *group = &words->groups[i];
        if (group->phrase_bytes == bytes &&
            memcmp(words->phrases.data + group->phrase, words->phrases.data + phrase, bytes) == 0) {
            group->count += 1;
            group->is_mixed = group->is_mixed || group->type != entity->type;
            words->phrases.bytes = phrase;
            return;
        }
    }
    if (words->group_count == GROUPS_MAX) {
        words->ungrouped += 1;
        words->phrases.bytes = phrase;
        return;
    }
    words->groups[words->group_count++] = (Group){phrase, bytes, 1, entity->type, id, false};
}

static Status group_changed(Words *words, uint32_t id)
{
    EditObject a, b;
    const size_t phrase = words->phrases.bytes;
    const bool has_parent = edit_doc_parent(words->before, id) != edit_doc_parent(words->after, id);
    const Status status = read_both(words, EDIT_ENTITY, id, &a, &b);
    if (status != STATUS_OK) {
        return status;
    }
    edit_forget_built(&a);
    edit_forget_built(&b);
    put_changes(words, &words->phrases, EDIT_ENTITY, &a, &b);
    if (has_parent) {
        edit_buffer_text(&words->phrases, words->phrases.bytes > phrase ? ", " : "");
        edit_buffer_text(&words->phrases, "below another thing");
    }
    if (words->phrases.bytes > phrase) {
        group_entity(words, id, &b.entity, phrase);
    }
    return words->phrases.status;
}

static void say_groups(Words *words)
{
    for (uint32_t i = 0; i < words->group_count; i++) {
        const Group *group = &words->groups[i];
        const char *phrase = (const char *)words->phrases.data + group->phrase;
        if (!begin_line(words, group->count)) {
            continue;
        }
        if (group->count == 1) {
            put_name(words, words->after, group->first);
            edit_buffer_text(words->out, ": ");
        } else {
            const bool is_done =
                memcmp(phrase, "moved", 5) == 0 || memcmp(phrase, "turned", 6) == 0;
            put_number(words->out, group->count);
            edit_buffer_u8(words->out, ' ');
            edit_buffer_text(words->out, noun(group->type, group->is_mixed, group->count));
            edit_buffer_text(words->out, is_done ? " " : ": ");
        }
        edit_buffer_append(words->out, phrase, group->phrase_bytes);
        end_line(words);
    }
    if (words->ungrouped > 0 && begin_line(words, words->ungrouped)) {
        put_number(words->out, words->ungrouped);
        edit_buffer_text(words->out, " more things changed, each in another way");
        end_line(words);
    }
}

typedef struct NameCount {
    uint32_t id, count;
    Text name;
} NameCount;

// The things of one type that are in one document and not in the other: "3 parts added (Block ×2,
// Coin)".
static Status say_listed(Words *words, const EditDoc *here, const EditDoc *there, uint32_t type,
                         const char *verb)
{
    NameCount names[NAMES_MAX] = {{0}};
    uint32_t name_count = 0, total = 0, others = 0;
    for (uint32_t id = edit_doc_first(here, EDIT_ENTITY); id != 0;
         id = edit_doc_next(here, EDIT_ENTITY, id)) {
        EditObject object;
        if (edit_doc_has(there, EDIT_ENTITY, id)) {
            continue;
        }
        const Status status = edit_doc_read(here, EDIT_ENTITY, id, &words->scratch, &object);
        if (status != STATUS_OK) {
            return status;
        }
        if (object.entity.type != type) {
            continue;
        }
        total += 1;
        uint32_t at = 0;
        while (at < name_count && !text_equal(names[at].name, object.entity.name)) {
            at += 1;
        }
        if (at == NAMES_MAX || object.entity.name.bytes == 0) {
            others += 1;
        } else if (at == name_count) {
            names[name_count++] = (NameCount){id, 1, object.entity.name};
        } else {
            names[at].count += 1;
        }
    }
    if (total == 0 || !begin_line(words, total)) {
        return STATUS_OK;
    }
    put_number(words->out, total);
    edit_buffer_u8(words->out, ' ');
    edit_buffer_text(words->out, noun(type, false, total));
    edit_buffer_u8(words->out, ' ');
    edit_buffer_text(words->out, verb);
    for (uint32_t i = 0; i < name_count; i++) {
        edit_buffer_text(words->out, i == 0 ? " (" : ", ");
        put_cut(words->out, names[i].name.data, names[i].name.bytes, VALUE_MAX);
        if (names[i].count > 1) {
            edit_buffer_text(words->out, TIMES);
            put_number(words->out, names[i].count);
        }
    }
    if (name_count > 0 && others > 0) {
        edit_buffer_text(words->out, ", ");
        put_number(words->out, others);
        edit_buffer_text(words->out, " more");
    }
    edit_buffer_text(words->out, name_count > 0 ? ")" : "");
    end_line(words);
    return STATUS_OK;
}

static Status say_entities(Words *words)
{
    Status status = STATUS_OK;
    for (uint32_t type = 0; type <= PLACE_TYPE_GROUP && status == STATUS_OK; type++) {
        status = say_listed(words, words->after, words->before, type, "added");
        if (status == STATUS_OK) {
            status = say_listed(words, words->before, words->after, type, "removed");
        }
    }
    for (uint32_t id = edit_doc_first(words->after, EDIT_ENTITY); id != 0 && status == STATUS_OK;
         id = edit_doc_next(words->after, EDIT_ENTITY, id)) {
        if (edit_doc_has(words->before, EDIT_ENTITY, id) &&
            !edit_doc_same(words->before, words->after, EDIT_ENTITY, id)) {
            status = group_changed(words, id);
        }
    }
    if (status == STATUS_OK) {
        say_groups(words);
    }
    return status;
}

// --- terrain ------------------------------------------------------------------------------------

// The file has no ids of terrain, so boxes are compared in order: what both begin and end with is
// the same, and between are those that went and those that came.
static void say_terrain(Words *words)
{
    const EditDoc *docs[2] = {words->before, words->after};
    uint32_t counts[2], first[2], last[2] = {0};
    for (uint32_t i = 0; i < 2; i++) {
        counts[i] = edit_doc_count(docs[i], EDIT_TERRAIN);
        first[i] = edit_doc_first(docs[i], EDIT_TERRAIN);
        for (uint32_t id = first[i]; id != 0; id = edit_doc_next(docs[i], EDIT_TERRAIN, id)) {
            last[i] = id;
        }
    }
    for (uint32_t end = 0; end < 2; end++) {
        uint32_t *at = end == 0 ? first : last;
        while (counts[0] > 0 && counts[1] > 0) {
            size_t bytes[2];
            const uint8_t *a = edit_doc_record(docs[0], EDIT_TERRAIN, at[0], &bytes[0]);
            const uint8_t *b = edit_doc_record(docs[1], EDIT_TERRAIN, at[1], &bytes[1]);
            if (bytes[0] != bytes[1] || memcmp(a, b, bytes[0]) != 0) {
                break;
            }
            for (uint32_t i = 0; i < 2; i++) {
                at[i] = end == 0 ? edit_doc_next(docs[i], EDIT_TERRAIN, at[i])
                                 : edit_doc_before(docs[i], EDIT_TERRAIN, at[i]);
                counts[i] -= 1;
            }
        }
    }
    if ((counts[0] > 0 || counts[1] > 0) && begin_line(words, counts[0] + counts[1])) {
        edit_buffer_text(words->out, "Terrain: ");
        for (uint32_t i = 2; i-- > 0;) {
            if (counts[i] > 0) {
                put_number(words->out, counts[i]);
                edit_buffer_text(words->out, counts[i] == 1 ? " box " : " boxes ");
                edit_buffer_text(words->out, i == 1 ? "added" : "removed");
                edit_buffer_text(words->out, i == 1 && counts[0] > 0 ? ", " : "");
            }
        }
        end_line(words);
    }
}

// --- files --------------------------------------------------------------------------------------

typedef struct Lines {
    uint64_t *hashes;
    uint32_t count;
} Lines;

static Lines lines_of(PlaceScratch *scratch, Text text)
{
    Lines lines = {0};
    for (size_t i = 0; i < text.bytes; i++) {
        lines.count += text.data[i] == '\n' || i + 1 == text.bytes;
    }
    lines.hashes = place_scratch_take(scratch, lines.count + 1u, sizeof lines.hashes[0]);
    size_t begin = 0;
    uint32_t at = 0;
    for (size_t i = 0; lines.hashes != NULL && i < text.bytes; i++) {
        if (text.data[i] == '\n' || i + 1 == text.bytes) {
            const size_t end = text.data[i] == '\n' ? i : i + 1;
            Hash64 hash = HASH64_INIT;
            hash_bytes(&hash, text.data + begin, end - begin);
            lines.hashes[at++] = hash.state;
            begin = i + 1;
        }
    }
    return lines;
}

// Lines that came and that went. False: there are too many to compare.
static bool count_lines(PlaceScratch *scratch, Text before, Text after, uint32_t *added,
                        uint32_t *removed)
{
    Lines a = lines_of(scratch, before), b = lines_of(scratch, after);
    if (a.hashes == NULL || b.hashes == NULL) {
        return false;
    }
    while (a.count > 0 && b.count > 0 && a.hashes[0] == b.hashes[0]) {
        a = (Lines){a.hashes + 1, a.count - 1};
        b = (Lines){b.hashes + 1, b.count - 1};
    }
    while (a.count > 0 && b.count > 0 && a.hashes[a.count - 1] == b.hashes[b.count - 1]) {
        a.count -= 1;
        b.count -= 1;
    }
    if ((uint64_t)a.count * b.count > LINES_CELLS) {
        return false;
    }
    // The longest common run, row by row.
    uint32_t *row = place_scratch_take(scratch, b.count + 1u, sizeof *row);
    if (row == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < a.count; i++) {
        uint32_t diagonal = 0;
        for (uint32_t j = 0; j < b.count; j++) {
            const uint32_t above = row[j + 1];
            row[j + 1] = a.hashes[i] == b.hashes[j] ? diagonal + 1
                         : above > row[j]           ? above
                                                    : row[j];
            diagonal = above;
        }
    }
    *added = b.count - row[b.count];
    *removed = a.count - row[b.count];
    return true;
}

static void say_file(Words *words, const EditFileChange *file)
{
    uint32_t added = 0, removed = 0;
    if (!begin_line(words, 1)) {
        return;
    }
    put_cut(words->out, file->path.data, file->path.bytes, 128);
    if (!file->was_there || !file->is_there) {
        edit_buffer_text(words->out, file->is_there ? " added" : " removed");
    } else if (file->has_texts &&
               count_lines(&words->scratch, file->before, file->after, &added, &removed)) {
        char text[48];
        (void)snprintf(text, sizeof text, " +%u −%u lines", (unsigned)added, (unsigned)removed);
        edit_buffer_text(words->out, text);
    } else {
        edit_buffer_text(words->out, " changed");
    }
    end_line(words);
}

// --- the whole ----------------------------------------------------------------------------------

static Status say_all(Words *words, const EditFileChange *files, uint32_t file_count)
{
    Status status = say_settings(words, EDIT_SETTINGS, "Place");
    if (status == STATUS_OK) {
        status = say_settings(words, EDIT_SCENE, "Scene");
    }
    if (status == STATUS_OK) {
        status = say_entities(words);
    }
    if (status != STATUS_OK) {
        return status;
    }
    say_terrain(words);
    for (uint32_t i = 0; i < file_count; i++) {
        say_file(words, &files[i]);
    }
    if (words->left_out > 0) {
        edit_buffer_text(words->out, "and ");
        put_number(words->out, words->left_out);
        edit_buffer_text(words->out, " more changes\n");
    }
    return words->out->status;
}

Status edit_words(const EditDoc *before, const EditDoc *after, const EditFileChange *files,
                  uint32_t file_count, EditBuffer *out)
{
    Heap *heap = edit_doc_heap(after);
    Words *words = heap_alloc(heap, sizeof *words);
    if (words == NULL) {
        return STATUS_LIMIT;
    }
    *words = (Words){.before = before,
                     .after = after,
                     .scratch = {.heap = heap},
                     .phrases = edit_buffer(heap, 16u << 20),
                     .value = {edit_buffer(heap, 16u << 20), edit_buffer(heap, 16u << 20)},
                     .out = out};
    const Status status = say_all(words, files, file_count);
    edit_buffer_free(&words->phrases);
    edit_buffer_free(&words->value[0]);
    edit_buffer_free(&words->value[1]);
    place_scratch_free(&words->scratch);
    heap_free(heap, words);
    return status;
}

// --- as a page asks for it ----------------------------------------------------------------------

static Status open_side(Heap *heap, const JsonNode *root, const char *side, EditDoc **out,
                        PlaceError *error)
{
    const JsonNode *node = json_find(root, side);
    const JsonNode *place = node != NULL ? json_find(node, "place") : NULL;
    const JsonNode *scene = node != NULL ? json_find(node, "scene") : NULL;
    EditText *text = NULL;
    if (place == NULL || scene == NULL || place->kind != JSON_STRING ||
        scene->kind != JSON_STRING) {
        json_fail(&error->where, STATUS_MALFORMED, root, "must have place and scene of %s", side);
        return STATUS_MALFORMED;
    }
    const EditTexts texts = {{place->text, place->count}, {scene->text, scene->count}};
    const Status status = edit_text_open(heap, (EditBlobs){0}, texts, &text, out, error);
    if (status == STATUS_OK) {
        edit_text_close(text);
    }
    return status;
}

static void read_change(const JsonNode *row, EditFileChange *out, JsonError *error)
{
    const JsonNode *path = json_find(row, "path");
    const JsonNode *sides[2] = {json_find(row, "before"), json_find(row, "after")};
    Text texts[2] = {{"", 0}, {"", 0}};
    if (path == NULL || path->kind != JSON_STRING || sides[0] == NULL || sides[1] == NULL) {
        json_fail(error, STATUS_MALFORMED, row, "must have path, before and after");
        return;
    }
    out->path = (Text){path->text, path->count};
    out->was_there = sides[0]->kind != JSON_NULL;
    out->is_there = sides[1]->kind != JSON_NULL;
    out->has_texts = sides[0]->kind == JSON_STRING && sides[1]->kind == JSON_STRING;
    for (uint32_t i = 0; i < 2 && out->has_texts; i++) {
        texts[i] = (Text){sides[i]->text, sides[i]->count};
    }
    out->before = texts[0];
    out->after = texts[1];
}

static Status read_changes(const JsonNode *root, PlaceScratch *scratch, EditFileChange **out,
                           uint32_t *count, JsonError *error)
{
    const JsonNode *list = json_find(root, "files");
    *count = 0;
    if (list == NULL) {
        return STATUS_OK;
    }
    const JsonNode *row = json_read_array(list, 0, PLACE_FILES_MAX, error);
    *out = place_scratch_take(scratch, list->count + 1u, sizeof **out);
    if (*out == NULL) {
        return STATUS_LIMIT;
    }
    for (; row != NULL && error->status == STATUS_OK; row = row->next) {
        read_change(row, &(*out)[(*count)++], error);
    }
    return error->status;
}

static void write_lines(const void *user, ByteWriter *writer)
{
    const EditBuffer *lines = user;
    JsonWriter json = json_writer(writer, 0);
    size_t begin = 0;
    json_write_array_begin(&json);
    for (size_t i = 0; i < lines->bytes; i++) {
        if (lines->data[i] == '\n') {
            json_write_text_bytes(&json, (const char *)lines->data + begin, i - begin);
            begin = i + 1;
        }
    }
    json_write_array_end(&json);
}

Status edit_words_json(Heap *heap, const char *json, size_t bytes, EditBuffer *out,
                       PlaceError *error)
{
    PlaceScratch scratch = {.heap = heap};
    EditBuffer lines = edit_buffer(heap, 1u << 20);
    EditDoc *before = NULL, *after = NULL;
    EditFileChange *files = NULL;
    uint32_t file_count = 0;
    const JsonNode *root = NULL;
    *error = (PlaceError){0};
    Status status = place_json_parse(&scratch, json, bytes, &root, &error->where);
    if (status == STATUS_OK) {
        status = open_side(heap, root, "before", &before, error);
    }
    if (status == STATUS_OK) {
        status = open_side(heap, root, "after", &after, error);
    }
    if (status == STATUS_OK) {
        status = read_changes(root, &scratch, &files, &file_count, &error->where);
    }
    if (status == STATUS_OK) {
        status = edit_words(before, after, files, file_count, &lines);
    }
    if (status == STATUS_OK) {
        edit_buffer_write(out, write_lines, &lines);
        status = out->status;
    }
    edit_doc_destroy(before);
    edit_doc_destroy(after);
    edit_buffer_free(&lines);
    place_scratch_free(&scratch);
    error->status = status;
    return status;
}
