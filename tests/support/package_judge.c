// Reads packages with one build worker and prints the result for each, for tests/flow:
//
//   package_judge FILE…      pid of the worker, status, reason; tab-separated, a line each
#include "server/build/inside/worker_op.h"
#include "server/build/package/package.h"
#include "server/sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void judge(Worker *worker, const char *path)
{
    uint8_t *bytes = NULL;
    size_t count = 0;
    char reason[WORKER_REASON_BYTES] = "";
    PackageInfo info;
    DiagnosticList warnings = {0};
    Status status = file_read(path, PACKAGE_BYTES_MAX + 1, &bytes, &count);
    if (status == STATUS_OK) {
        status = package_open(
            &(BuildContext){.worker = worker, .diagnostics = &warnings, .reason = reason}, bytes,
            count, true, &info);
    }
    printf("%d\t%s\t", (int)worker_pid(worker), status_name(status));
    if (status == STATUS_OK) {
        printf("%u files", info.folder.file_count);
        for (uint32_t i = 0; i < warnings.count; i++) {
            printf(" %s", warnings.items[i].code);
        }
        package_info_free(&info);
    } else {
        printf("%s", reason);
    }
    printf("\n");
    fflush(stdout);
    diagnostic_list_free(&warnings);
    free(bytes);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "build-worker") == 0) {
        return worker_main();
    }
    Worker *worker = NULL;
    WorkerConfig config = worker_config_default();
    config.allow_weak_jail = true;
    if (worker_create(&config, &worker) != STATUS_OK) {
        return 1;
    }
    for (int i = 1; i < argc; i++) {
        judge(worker, argv[i]);
    }
    worker_destroy(worker);
    return 0;
}
