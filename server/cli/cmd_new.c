// `sandlot new`: creates a place from a template.
#define _GNU_SOURCE
#include "core/base/nearest.h"
#include "server/build/base/diagnostic.h"
#include "server/build/place/editor_files.h"
#include "server/build/place/template.h"
#include "server/cli/command.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

typedef struct NewOptions {
    const char *folder, *name;
    bool typescript;
    bool types; // write only the types, into an existing place
} NewOptions;

static void print_usage(FILE *out)
{
    fprintf(out,
            "usage: sandlot new DIR [--template NAME] [--typescript]   create a place\n"
            "       sandlot new DIR --types   write the files for editors into a place again\n\n"
            "  DIR              a new folder, an empty one, or a new git repository\n"
            "  --template NAME  the template to copy (default blank):");
    for (uint32_t i = 0; template_name(i) != NULL; i++) {
        fprintf(out, "%s %s", i > 0 ? "," : "", template_name(i));
    }
    fprintf(
        out,
        "\n"
        "  --typescript     write the scripts in TypeScript instead of Lua; building them\n"
        "                   needs Node 20 or later\n"
        "  --types          only write .sandlot/types and .luarc.json, and tsconfig.json if the\n"
        "                   place has TypeScript scripts or --typescript is given\n\n"
        "With these files an editor with a language server for Lua or TypeScript completes\n"
        "everything that a script can call.\n"
        "Exit codes: 0 success, 1 failed, 2 invalid arguments.\n");
}

static int usage_error(const char *what, const char *value)
{
    diagnostic_print(stderr, "sandlot new: %s%s%s", what, value != NULL ? " " : "",
                     value != NULL ? value : "");
    fprintf(stderr, "\n");
    print_usage(stderr);
    return EXIT_USAGE;
}

static int no_template(const char *name)
{
    char what[200];
    Nearest nearest = nearest_begin(name, strlen(name));
    for (uint32_t i = 0; template_name(i) != NULL; i++) {
        (void)nearest_consider(&nearest, template_name(i), strlen(template_name(i)));
    }
    snprintf(what, sizeof what, "%.100s%s%s%s", name,
             nearest.found != NULL ? "; did you mean " : "",
             nearest.found != NULL ? nearest.found : "", nearest.found != NULL ? "?" : "");
    return usage_error("there is no template", what);
}

static void print_next(const NewOptions *options, uint32_t file_count)
{
    char folder[4096];
    command_quote(options->folder, folder, sizeof folder);
    diagnostic_print(stdout, "created %s from the template %s (%u files)", options->folder,
                     options->name, file_count);
    printf("\n");
    if (options->typescript) {
        diagnostic_print(
            stdout, "it needs:    Node 20 or later, which compiles TypeScript: run tools/setup, "
                    "or set SANDLOT_NODE to its path");
    }
    diagnostic_print(stdout, "play it:     sandlot dev %s", folder);
    diagnostic_print(stdout,
                     "change it:   edit the scripts in its folders, and %s/scene.json: what you "
                     "save runs at once",
                     options->folder);
    diagnostic_print(stdout, "check it:    sandlot build %s", folder);
    diagnostic_print(stdout, "share it:    sandlot publish %s, or as one file: sandlot pack %s",
                     folder, folder);
}

static Status write_types(const NewOptions *options, uint32_t *file_count,
                          char reason[WORKER_REASON_BYTES])
{
    bool written = false;
    Status status = template_write_types(options->folder, file_count, reason);
    if (status == STATUS_OK) {
        status =
            editor_files_write_settings(options->folder, options->typescript, &written, reason);
    }
    *file_count += written ? 1 : 0;
    return status;
}

static int run(const NewOptions *options)
{
    char reason[WORKER_REASON_BYTES] = "";
    uint32_t file_count = 0;
    const Status status = options->types
                              ? write_types(options, &file_count, reason)
                              : template_write(options->folder, options->name, options->typescript,
                                               &command_cancelled, &file_count, reason);
    if (status != STATUS_OK) {
        diagnostic_print(stderr, "sandlot new: %s", reason);
        return EXIT_FAILED;
    }
    if (options->types) {
        diagnostic_print(stdout, "wrote %u files for editors into %s", file_count, options->folder);
    } else {
        print_next(options, file_count);
    }
    return EXIT_OK;
}

int cmd_new(int argc, char **argv)
{
    NewOptions options = {.name = "blank"};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_usage(stdout);
            return EXIT_OK;
        }
        if (strcmp(argv[i], "--typescript") == 0) {
            options.typescript = true;
        } else if (strcmp(argv[i], "--types") == 0) {
            options.types = true;
        } else if (strcmp(argv[i], "--template") == 0 && i + 1 < argc) {
            options.name = argv[++i];
        } else if (argv[i][0] == '-') {
            char why[512];
            command_option_error(argv[i], print_usage, why, sizeof why);
            return usage_error(why, NULL);
        } else if (options.folder != NULL) {
            return usage_error("give only one folder at a time; this is a second one:", argv[i]);
        } else {
            options.folder = argv[i];
        }
    }
    if (options.folder == NULL || options.folder[0] == '\0') {
        return usage_error("no folder given", NULL);
    }
    if (!template_exists(options.name)) {
        return no_template(options.name);
    }
    if (!options.types) {
        command_on_signals(command_cancel);
    }
    return run(&options);
}
