// The main program of a fuzz target outside the fuzz preset: gives every file of the corpus folder
// to LLVMFuzzerTestOneInput, in the order of their names. If a target fails, the process dies, and
// the last printed name is the file that caused it.
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat facts;
    if (file == NULL || fstat(fileno(file), &facts) != 0 || !S_ISREG(facts.st_mode)) {
        printf("%s: cannot be read\n", path);
        return false;
    }
    // Exactly as large as the input, so that the sanitizer sees a read past its end.
    const size_t count = (size_t)facts.st_size;
    uint8_t *bytes = malloc(count > 0 ? count : 1);
    const bool whole = bytes != NULL && fread(bytes, 1, count, file) == count;
    fclose(file);
    if (whole) {
        LLVMFuzzerTestOneInput(bytes, count);
    }
    free(bytes);
    return whole;
}

int main(int argc, char **argv)
{
    struct dirent **entries = NULL;
    const int count = argc == 2 ? scandir(argv[1], &entries, is_input, alphasort) : -1;
    if (count < 0) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    int passed = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        const int length = snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);
        fprintf(stderr, "%s\n", path);
        passed += length > 0 && (size_t)length < sizeof path && replay_file(path);
        free(entries[i]);
    }
    free(entries);
    printf("%d passed, %d failed\n", passed, count - passed);
    return passed != count || count == 0;
}
