// The document of a place with 10,000 parts: a move of 1,000 of them, its undo, the hash, the text,
// and the memory of it. Every time is the median of several rounds of the processor's time.
// `--count N` does the move and its undo N times and nothing else, for a tool that counts
// instructions.
#include "bench/bench_report.h"
#include "core/base/check.h"
#include "core/edit/diff.h"
#include "core/edit/problem.h"
#include "core/edit/text.h"
#include "core/edit/undo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS      10000
#define MOVED      1000
#define ROUNDS     15
#define HEAP_BYTES (1024ull << 20)

typedef struct Bench {
    Heap heap;
    EditDoc *doc;
    EditText *text;
    uint64_t bytes_doc; // of the heap
    uint64_t bytes_text;
} Bench;

static void append_part(EditBuffer *scene, uint32_t id)
{
    char line[256];
    const int bytes = snprintf(
        line, sizeof line,
        ",\n    {\"id\": %u, \"name\": \"Part%u\", \"transform\": {\"position\": [%u, %u.5, %u]}, "
        "\"shape\": {\"size\": [4, 0.5, 2]}, \"material\": \"wood\", \"colour\": \"#%06x\"}",
        (unsigned)id, (unsigned)id, (unsigned)(id % 100), (unsigned)(id / 1000),
        (unsigned)(id / 100 % 100), (unsigned)(id & 0xffffff));
    edit_buffer_append(scene, line, (size_t)bytes);
}

static void open_bench(Bench *bench)
{
    *bench = (Bench){.heap = heap_make(HEAP_BYTES)};
    EditBuffer scene = edit_buffer(&bench->heap, 16u << 20);
    edit_buffer_text(&scene, "{\n  \"format\": 1,\n  \"entities\": [\n"
                             "    {\"id\": 1, \"type\": \"spawn\"}");
    for (uint32_t i = 0; i < PARTS; i++) {
        append_part(&scene, 2 + i);
    }
    edit_buffer_text(&scene, "\n  ]\n}\n");
    const EditTexts texts = {text_from("{\"format\": 1, \"name\": \"Bench\"}\n"),
                             {(const char *)scene.data, scene.bytes}};
    PlaceError error;
    const Status status =
        edit_text_open(&bench->heap, (EditBlobs){0}, texts, &bench->text, &bench->doc, &error);
    ASSERT(status == STATUS_OK);
    edit_buffer_free(&scene);
    const uint64_t both = bench->heap.bytes_now;
    EditBuffer bytes = edit_buffer(&bench->heap, 64u << 20);
    edit_doc_write(bench->doc, &bytes);
    const uint64_t before = bench->heap.bytes_now;
    EditDoc *again = NULL;
    const Status opened =
        edit_doc_open(&bench->heap, (EditBlobs){0}, bytes.data, bytes.bytes, &again);
    ASSERT(opened == STATUS_OK);
    bench->bytes_doc = bench->heap.bytes_now - before;
    bench->bytes_text = both - bench->bytes_doc;
    edit_doc_destroy(again);
    edit_buffer_free(&bytes);
}

// Every tenth part, each to a position of its own.
static EditBuffer make_move(Bench *bench, uint32_t round)
{
    EditBuffer ops = edit_buffer(&bench->heap, 1u << 20);
    EditBuffer value = edit_buffer(&bench->heap, 64);
    uint32_t number = 0;
    EditMember member;
    const bool is_found = edit_member_named(&place_table_entity, "transform.position", &number) &&
                          edit_member_at(&place_table_entity, number, &member);
    ASSERT(is_found);
    edit_ops_begin(&ops);
    edit_op_set(&ops, EDIT_ENTITY, number, MOVED);
    for (uint32_t i = 0; i < MOVED; i++) {
        EditObject object = {0};
        object.entity.transform.position = vec3((float)i, (float)round, 0.25f);
        edit_buffer_clear(&value);
        edit_value_write(&member, &object, &value);
        edit_op_set_target(&ops, 2 + i * (PARTS / MOVED), value.data, value.bytes);
    }
    edit_buffer_free(&value);
    return ops;
}

static double ms_since(double start)
{
    return (bench_processor_seconds() - start) * 1e3;
}

static void move_and_undo(Bench *bench, uint32_t round, double *move_ms, double *undo_ms)
{
    EditBuffer ops = make_move(bench, round);
    EditBuffer out = edit_buffer(&bench->heap, 8u << 20);
    EditInverse moved = edit_inverse(&bench->heap);
    EditInverse undone = edit_inverse(&bench->heap);
    EditError error;
    EditUndone counts;
    double start = bench_processor_seconds();
    Status status = edit_apply(bench->doc, ops.data, ops.bytes, &moved, &error);
    *move_ms = ms_since(start);
    ASSERT(status == STATUS_OK);
    start = bench_processor_seconds();
    status = edit_undo(bench->doc, &moved, &out, &undone, &counts);
    *undo_ms = ms_since(start);
    ASSERT(status == STATUS_OK && counts.changed == MOVED);
    edit_inverse_free(&moved);
    edit_inverse_free(&undone);
    edit_buffer_free(&ops);
    edit_buffer_free(&out);
}

static void ignore_problem(void *user, const EditProblem *problem)
{
    (void)problem;
    *(uint32_t *)user += 1;
}

static double write_ms(Bench *bench, uint32_t round)
{
    EditBuffer ops = make_move(bench, round);
    EditInverse inverse = edit_inverse(&bench->heap);
    EditError error;
    Status status = edit_apply(bench->doc, ops.data, ops.bytes, &inverse, &error);
    ASSERT(status == STATUS_OK);
    const double start = bench_processor_seconds();
    status = edit_text_write(bench->text, bench->doc);
    const double ms = ms_since(start);
    ASSERT(status == STATUS_OK);
    edit_inverse_free(&inverse);
    edit_buffer_free(&ops);
    return ms;
}

static void bench_rows(BenchReport *report, Bench *bench)
{
    double move[ROUNDS];
    double undo[ROUNDS];
    double hash[ROUNDS];
    double write[ROUNDS];
    double problems[ROUNDS];
    uint32_t found = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        move_and_undo(bench, i, &move[i], &undo[i]);
        double start = bench_processor_seconds();
        (void)edit_doc_hash(bench->doc);
        hash[i] = ms_since(start);
        write[i] = write_ms(bench, i);
        start = bench_processor_seconds();
        const Status status = edit_problems(bench->doc, ignore_problem, &found);
        problems[i] = ms_since(start);
        ASSERT(status == STATUS_OK);
    }
    bench_row(report, "edit.move_1000", bench_median(move, ROUNDS), "ms", BENCH_NO_GOAL);
    bench_row(report, "edit.undo_1000", bench_median(undo, ROUNDS), "ms", 16);
    bench_row(report, "edit.hash", bench_median(hash, ROUNDS), "ms", BENCH_NO_GOAL);
    bench_row(report, "edit.write_1000", bench_median(write, ROUNDS), "ms", BENCH_NO_GOAL);
    bench_row(report, "edit.problems", bench_median(problems, ROUNDS), "ms", BENCH_NO_GOAL);
    bench_row(report, "edit.memory", (double)bench->bytes_doc / 1048576, "MiB, document",
              BENCH_NO_GOAL);
    bench_row(report, "edit.memory_text", (double)bench->bytes_text / 1048576, "MiB, texts",
              BENCH_NO_GOAL);
}

int main(int argc, char **argv)
{
    BenchReport report = {0};
    uint32_t count = 0;
    for (int i = 1; i < argc; i++) {
        report.json |= strcmp(argv[i], "--json") == 0;
        if (strcmp(argv[i], "--count") == 0 && i + 1 < argc) {
            count = (uint32_t)strtoul(argv[++i], NULL, 10);
        }
    }
    static Bench bench;
    open_bench(&bench);
    if (count != 0) {
        for (uint32_t i = 0; i < count; i++) {
            double ignored[2];
            move_and_undo(&bench, i, &ignored[0], &ignored[1]);
        }
    } else {
        bench_machine_rows(&report);
        bench_rows(&report, &bench);
    }
    edit_text_close(bench.text);
    edit_doc_destroy(bench.doc);
    return report.missed_count == 0 ? 0 : 1;
}
