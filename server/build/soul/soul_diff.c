// See soul_diff.h. Myers' greedy algorithm on lines: for each number of edits d the furthest point
// on every diagonal, all of them stored to walk the path back. Memory and time are at most
// SOUL_DIFF_EDITS_MAX squared.
#include "server/build/soul/soul_diff.h"

#include "core/base/check.h"
#include "core/base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Line {
    const char *text;
    uint32_t bytes; // without its end
} Line;

typedef struct Lines {
    Line *items;
    uint32_t count;
} Lines;

typedef enum Mark { MARK_SAME = ' ', MARK_OUT = '-', MARK_IN = '+' } Mark;

typedef struct Edit {
    Mark mark;
    uint32_t before, after; // places of the line, from 0
} Edit;

typedef struct Diff {
    Lines before, after;
    Edit *edits; // in order; before.count + after.count at most
    uint32_t edit_count;
    Buffer *out;
    uint32_t line_count, dropped_count;
} Diff;

// --- lines --------------------------------------------------------------------------------------

static Status split(const char *text, size_t bytes, Lines *out)
{
    uint32_t count = 0;
    for (size_t i = 0; i < bytes; i++) {
        count += text[i] == '\n' || i + 1 == bytes;
    }
    Line *items = calloc((size_t)count + 1, sizeof *items);
    if (items == NULL) {
        return STATUS_LIMIT;
    }
    size_t from = 0;
    uint32_t at = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] != '\n' && i + 1 < bytes) {
            continue;
        }
        size_t end = text[i] == '\n' ? i : i + 1;
        end -= end > from && text[end - 1] == '\r';
        items[at++] = (Line){text + from, (uint32_t)(end - from)};
        from = i + 1;
    }
    ASSERT(at == count);
    *out = (Lines){items, count};
    return STATUS_OK;
}

static bool is_same(const Diff *diff, uint32_t before, uint32_t after)
{
    const Line *a = &diff->before.items[before], *b = &diff->after.items[after];
    return a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0;
}

// --- the shortest way ---------------------------------------------------------------------------

static void push(Diff *diff, Mark mark, uint32_t before, uint32_t after)
{
    ASSERT(diff->edit_count < diff->before.count + diff->after.count);
    diff->edits[diff->edit_count++] = (Edit){mark, before, after};
}

static void take_all(Diff *diff)
{
    diff->edit_count = 0;
    for (uint32_t i = 0; i < diff->before.count; i++) {
        push(diff, MARK_OUT, i, 0);
    }
    for (uint32_t i = 0; i < diff->after.count; i++) {
        push(diff, MARK_IN, diff->before.count, i);
    }
}

typedef struct Myers {
    int32_t *rows; // row d holds x for diagonals -d … d, at d * d + d + k
    int32_t edits; // the number of edits
} Myers;

static int32_t *cell(const Myers *myers, int32_t d, int32_t k)
{
    return &myers->rows[(size_t)d * (size_t)d + (size_t)(d + k)];
}

// Where diagonal k is entered with d edits, from the row before.
static int32_t enter(const Myers *myers, int32_t d, int32_t k)
{
    if (d == 0) {
        return 0;
    }
    const bool down =
        k == -d || (k != d && *cell(myers, d - 1, k - 1) < *cell(myers, d - 1, k + 1));
    return down ? *cell(myers, d - 1, k + 1) : *cell(myers, d - 1, k - 1) + 1;
}

static bool search(const Diff *diff, Myers *myers)
{
    const int32_t n = (int32_t)diff->before.count, m = (int32_t)diff->after.count;
    for (int32_t d = 0; d <= SOUL_DIFF_EDITS_MAX; d++) {
        for (int32_t k = -d; k <= d; k += 2) {
            int32_t x = enter(myers, d, k);
            while (x >= 0 && x < n && x - k >= 0 && x - k < m &&
                   is_same(diff, (uint32_t)x, (uint32_t)(x - k))) {
                x += 1;
            }
            *cell(myers, d, k) = x;
            if (x >= n && x - k >= m) {
                myers->edits = d;
                return true;
            }
        }
    }
    return false;
}

static void walk_back(Diff *diff, const Myers *myers)
{
    int32_t x = (int32_t)diff->before.count, y = (int32_t)diff->after.count;
    for (int32_t d = myers->edits; d >= 0; d--) {
        const int32_t k = x - y, begin = enter(myers, d, k);
        while (x > begin) {
            push(diff, MARK_SAME, (uint32_t)--x, (uint32_t)--y);
        }
        if (d > 0) {
            const bool down =
                k == -d || (k != d && *cell(myers, d - 1, k - 1) < *cell(myers, d - 1, k + 1));
            if (down) {
                push(diff, MARK_IN, (uint32_t)x, (uint32_t)--y);
            } else {
                push(diff, MARK_OUT, (uint32_t)--x, (uint32_t)y);
            }
        }
    }
    for (uint32_t i = 0, j = diff->edit_count; i + 1 < j; i++) {
        const Edit edit = diff->edits[i];
        diff->edits[i] = diff->edits[--j];
        diff->edits[j] = edit;
    }
}

static Status compare(Diff *diff)
{
    const size_t most = SOUL_DIFF_EDITS_MAX + 1;
    Myers myers = {.rows = malloc(most * most * sizeof(int32_t))};
    diff->edits = calloc((size_t)diff->before.count + diff->after.count + 1, sizeof *diff->edits);
    if (myers.rows == NULL || diff->edits == NULL) {
        free(myers.rows);
        return STATUS_LIMIT;
    }
    if (search(diff, &myers)) {
        walk_back(diff, &myers);
    } else {
        take_all(diff);
    }
    free(myers.rows);
    return STATUS_OK;
}

// --- as text ------------------------------------------------------------------------------------

// Invisible characters are shown as a question mark.
static void put_visible(Buffer *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes;) {
        const uint8_t *at = (const uint8_t *)text + i;
        const size_t length = utf8_length(at, bytes - i);
        const bool is_plain = at[0] == '\t' || at[0] == '\n';
        const bool is_hidden =
            length == 0 || (!is_plain && utf8_is_hidden(utf8_code_point(at, length)));
        buffer_put(out, is_hidden ? "?" : (const char *)at, is_hidden ? 1 : length);
        i += length > 0 ? length : 1;
    }
}

static void put_line(Diff *diff, char mark, Line line)
{
    if (diff->line_count == SOUL_DIFF_LINES_MAX) {
        diff->dropped_count += 1;
        return;
    }
    diff->line_count += 1;
    buffer_put_u8(diff->out, (uint8_t)mark);
    put_visible(diff->out, line.text, line.bytes);
    buffer_put_u8(diff->out, '\n');
}

// The end of the hunk that begins at `at`: changes near each other share one.
static uint32_t hunk_end(const Diff *diff, uint32_t at)
{
    uint32_t end = at, same = 0;
    for (uint32_t i = at; i < diff->edit_count && same <= 2 * SOUL_DIFF_CONTEXT; i++) {
        same = diff->edits[i].mark == MARK_SAME ? same + 1 : 0;
        end = same == 0 ? i + 1 : end;
    }
    const uint32_t left = diff->edit_count - end;
    return end + (left < SOUL_DIFF_CONTEXT ? left : SOUL_DIFF_CONTEXT);
}

static void put_hunk(Diff *diff, uint32_t from, uint32_t to)
{
    uint32_t before = 0, after = 0;
    for (uint32_t i = from; i < to; i++) {
        before += diff->edits[i].mark != MARK_IN;
        after += diff->edits[i].mark != MARK_OUT;
    }
    const Edit *first = &diff->edits[from];
    if (diff->line_count < SOUL_DIFF_LINES_MAX) {
        buffer_print(diff->out, "@@ -%u,%u +%u,%u @@\n", first->before + (before > 0), before,
                     first->after + (after > 0), after);
    }
    for (uint32_t i = from; i < to; i++) {
        const Edit *edit = &diff->edits[i];
        put_line(diff, (char)edit->mark,
                 edit->mark == MARK_IN ? diff->after.items[edit->after]
                                       : diff->before.items[edit->before]);
    }
}

static void put_all(Diff *diff, const char *before, const char *after)
{
    bool is_open = false;
    for (uint32_t i = 0; i < diff->edit_count; i++) {
        if (diff->edits[i].mark == MARK_SAME) {
            continue;
        }
        if (!is_open) {
            buffer_print(diff->out, "--- %s\n+++ %s\n", before, after);
            is_open = true;
        }
        const uint32_t from = i < SOUL_DIFF_CONTEXT ? 0 : i - SOUL_DIFF_CONTEXT;
        const uint32_t to = hunk_end(diff, i);
        put_hunk(diff, from, to);
        i = to - 1;
    }
    if (diff->dropped_count > 0) {
        buffer_print(diff->out, "(and %u more lines)\n", diff->dropped_count);
    }
}

Status soul_diff_write(const SoulDiffText *before, const SoulDiffText *after, Buffer *out)
{
    Diff diff = {.out = out};
    Status status = split(before->text, before->bytes, &diff.before);
    if (status == STATUS_OK) {
        status = split(after->text, after->bytes, &diff.after);
    }
    if (status == STATUS_OK) {
        status = compare(&diff);
    }
    if (status == STATUS_OK) {
        put_all(&diff, before->name, after->name);
        status = out->status;
    }
    free(diff.before.items);
    free(diff.after.items);
    free(diff.edits);
    return status;
}
