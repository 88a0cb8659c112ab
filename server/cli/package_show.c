// See package_show.h.
#include "server/cli/package_show.h"

#include "core/base/json_member.h"
#include "server/cli/command_json.h"

#include <string.h>

#define ABOUT_BYTES 96
#define LINE_BYTES  1200

void package_show_bytes(uint64_t bytes, char out[16])
{
    if (bytes < 1024) {
        snprintf(out, 16, "%u B", (unsigned)bytes);
    } else if (bytes < 1024 * 1024) {
        snprintf(out, 16, "%.1f KiB", (double)bytes / 1024);
    } else {
        snprintf(out, 16, "%.1f MiB", (double)bytes / (1024 * 1024));
    }
}

// A folder was packed only to inspect it.
static const char *format_name(const PackageShown *shown)
{
    return shown->is_folder ? "folder" : package_format_name(shown->info->format);
}

static const Soul *find_soul(const SoulList *souls, const char *path)
{
    for (uint32_t i = 0; i < souls->count; i++) {
        if (strcmp(souls->items[i].file->path, path) == 0) {
            return &souls->items[i];
        }
    }
    return NULL;
}

// What else is shown of a file, after its size.
static void about(const PackageFile *file, const Soul *soul, char out[ABOUT_BYTES])
{
    const AssetInfo *asset = &file->asset;
    out[0] = '\0';
    if (soul != NULL) {
        snprintf(out, ABOUT_BYTES, "%s%s", soul_context_name(soul->context),
                 soul->replicate ? ", sent to players" : "");
    } else if (asset->width > 0) {
        snprintf(out, ABOUT_BYTES, "%u × %u", asset->width, asset->height);
    } else if (asset->rate > 0) {
        snprintf(out, ABOUT_BYTES, "%u.%u s, %u Hz, %u channel%s", asset->duration_ms / 1000,
                 asset->duration_ms / 100 % 10, asset->rate, asset->channel_count,
                 asset->channel_count == 1 ? "" : "s");
    } else if (file->kind == KIND_GLB || file->kind == KIND_GLTF) {
        snprintf(out, ABOUT_BYTES, "%u triangles", asset->triangle_count);
    }
}

// --- for people ---------------------------------------------------------------------------------

static void print_row(const PackageShown *shown, uint32_t i, FILE *out)
{
    const PackageFile *file = &shown->info->files[i];
    const char *path = shown->info->folder.files[i].path;
    char size[16], packed[16] = "-", what[ABOUT_BYTES], hex[2 * SHA256_BYTES + 1];
    package_show_bytes(file->bytes, size);
    if (file->packed_bytes > 0 || file->bytes == 0) {
        package_show_bytes(file->packed_bytes, packed);
    }
    about(file, find_soul(shown->souls, path), what);
    sha256_hex(file->hash, hex);
    diagnostic_print(out, "%-6s %10s %10s  %.12s  %s%s%s%s", package_kind_name(file->kind), size,
                     packed, hex, path, what[0] != '\0' ? "  (" : "", what,
                     what[0] != '\0' ? ")" : "");
}

void package_show_table(const PackageShown *shown, FILE *out)
{
    const PackageInfo *info = shown->info;
    char size[16], packed[16], line[LINE_BYTES];
    diagnostic_print(out, "%s: %s%s%s", shown->path, format_name(shown),
                     info->name[0] != '\0' ? ", " : "", info->name);
    fprintf(out, "\n%-6s %10s %10s  %-12s  %s\n", "kind", "size", "packed", "sha256", "file");
    for (uint32_t i = 0; i < info->folder.file_count; i++) {
        print_row(shown, i, out);
    }
    package_show_bytes(info->folder.bytes, size);
    package_show_bytes(shown->archive_bytes, packed);
    const DiagnosticList *list = shown->diagnostics;
    const uint32_t scripts = shown->souls->count;
    fprintf(out, "\n%u files, %s, packed %s; %u script%s, %u error%s, %u warning%s\n",
            info->folder.file_count, size, packed, scripts, scripts == 1 ? "" : "s",
            list->error_count, list->error_count == 1 ? "" : "s", list->warning_count,
            list->warning_count == 1 ? "" : "s");
    for (uint32_t i = 0; i < list->count; i++) {
        const bool is_whole = list->items[i].file[0] == '\0'; // of the place
        diagnostic_text(&list->items[i], is_whole ? shown->path : "", line, sizeof line);
        fprintf(out, "%s\n", line);
    }
}

// --- for programs -------------------------------------------------------------------------------

static void put_asset(JsonWriter *json, const AssetInfo *asset)
{
    if (asset->width > 0) {
        json_member_count(json, "width", asset->width);
        json_member_count(json, "height", asset->height);
    }
    if (asset->rate > 0) {
        json_member_count(json, "sampleRate", asset->rate);
        json_member_count(json, "channels", asset->channel_count);
        json_member_count(json, "durationMs", asset->duration_ms);
    }
    if (asset->kind == KIND_GLB || asset->kind == KIND_GLTF) {
        json_member_count(json, "triangles", asset->triangle_count);
    }
}

static void put_file(JsonWriter *json, const PackageShown *shown, uint32_t i)
{
    const PackageFile *file = &shown->info->files[i];
    const char *path = shown->info->folder.files[i].path;
    const Soul *soul = find_soul(shown->souls, path);
    json_write_object_begin(json);
    command_json_text(json, "path", path);
    command_json_text(json, "kind", package_kind_name(file->kind));
    json_member_count(json, "bytes", file->bytes);
    json_member_count(json, "packedBytes", file->packed_bytes);
    command_json_hash(json, "sha256", file->hash);
    json_member_bool(json, "asset", package_kind_is_asset(file->kind));
    if (soul != NULL) {
        command_json_text(json, "context", soul_context_name(soul->context));
        json_member_bool(json, "sentToPlayers", soul->replicate);
    }
    put_asset(json, &file->asset);
    json_write_object_end(json);
}

static void write_shown(JsonWriter *json, const void *what)
{
    const PackageShown *shown = what;
    json_member_bool(json, "ok", true);
    command_json_text(json, "format", format_name(shown));
    command_json_text(json, "name", shown->info->name);
    json_member_count(json, "bytes", shown->info->folder.bytes);
    json_member_count(json, "packedBytes", shown->archive_bytes);
    json_member_count(json, "thumbnailBytes", shown->info->thumbnail_bytes);
    json_write_name(json, "files");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < shown->info->folder.file_count; i++) {
        put_file(json, shown, i);
    }
    json_write_array_end(json);
    command_json_diagnostics(json, shown->diagnostics);
}

bool package_show_json(const PackageShown *shown)
{
    return command_json_print(write_shown, shown);
}
