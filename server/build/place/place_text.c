// See place_text.h.
#include "server/build/place/place_text.h"

#include <stdbool.h>

static bool is_text(const PlaceFile *file)
{
    return !place_path_ends(file->path, ".chunk");
}

uint32_t place_text_check(const PlaceFolder *folder, DiagnosticList *diagnostics)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < folder->file_count; i++) {
        const PlaceFile *file = &folder->files[i];
        uint32_t line = 0;
        const TextProblem problem =
            is_text(file) ? text_problem(file->data, file->bytes, &line) : TEXT_GOOD;
        if (problem != TEXT_GOOD) {
            diagnostic_addf(diagnostics, DIAGNOSTIC_ERROR, file->path, line, 0, "file", "%s",
                            text_problem_words(problem));
            found += 1;
        }
    }
    return found;
}
