// A temporary folder for a test, with files in it, removed at the end.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct TestFolder {
    char path[64];
} TestFolder;

TestFolder test_folder_make(void);
void test_folder_remove(const TestFolder *folder);
// Makes the folders on the way. Dies when the disk refuses.
void test_folder_write(const TestFolder *folder, const char *path, const char *text);
void test_folder_write_bytes(const TestFolder *folder, const char *path, const void *data,
                             size_t bytes);
// The text of a file in a buffer of the function's own; "" without one.
const char *test_folder_read(const TestFolder *folder, const char *path);
bool test_folder_has(const TestFolder *folder, const char *path);
// Files and folders in a folder, dot files too.
unsigned test_folder_count(const TestFolder *folder, const char *path);
