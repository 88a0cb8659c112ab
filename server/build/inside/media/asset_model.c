// glTF 2.0, as a GLB or as .gltf with its .bin: the container, the JSON (by our own parser, with
// its limits), buffers and pictures. Nothing outside the package can be named. See asset_model.h.
#include "server/build/inside/media/asset_model.h"

#include "core/base/base64.h"
#include "core/base/check.h"

#include <stdlib.h>
#include <string.h>

#define GLB_HEAD_BYTES  12
#define GLB_CHUNK_BYTES 8
#define CHUNK_JSON      0x4e4f534au
#define CHUNK_BIN       0x004e4942u
#define TEXT_BYTES_MAX  (16u << 20)
#define VALUES_MAX      (1u << 18)
#define BUFFERS_MAX     64
#define IMAGES_MAX      256
_Static_assert(BUFFERS_MAX + IMAGES_MAX <= ASSET_MODEL_FILES_MAX, "each may be a file");

static uint32_t u32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

// --- reading the JSON ---------------------------------------------------------------------------

const JsonNode *model_list(Model *model, const char *name, uint32_t count_max, uint32_t *count)
{
    const JsonNode *list = json_find(model->root, name);
    *count = 0;
    if (list == NULL || !model_is_ok(model)) {
        return NULL;
    }
    const JsonNode *first = json_read_array(list, 0, count_max, &model->error);
    *count = model_is_ok(model) ? list->count : 0;
    return first;
}

uint64_t model_number(Model *model, const JsonNode *object, const char *name, uint64_t low,
                      uint64_t high, uint64_t otherwise)
{
    const JsonNode *node = json_find(object, name);
    if (node == NULL) {
        return otherwise;
    }
    return (uint64_t)json_read_integer(node, (int64_t)low, (int64_t)high, &model->error);
}

uint32_t model_item(Model *model, const JsonNode *node, uint32_t count)
{
    if (count == 0 && model_is_ok(model)) {
        json_fail(&model->error, STATUS_RANGE, node, "points to something that is not there");
    }
    return (uint32_t)json_read_integer(node, 0, count == 0 ? 0 : (int64_t)count - 1, &model->error);
}

uint32_t model_index(Model *model, const JsonNode *object, const char *name, uint32_t count)
{
    const JsonNode *node = json_find(object, name);
    return node == NULL ? UINT32_MAX : model_item(model, node, count);
}

// --- other files --------------------------------------------------------------------------------

static int hex(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// %20 and the like. False: it cannot be a path.
static bool unescape(const char *uri, char *out, size_t out_bytes)
{
    size_t used = 0;
    for (; *uri != '\0'; uri++) {
        char c = *uri;
        if (c == '%') {
            const int high = hex(uri[1]), low = high < 0 ? -1 : hex(uri[2]);
            if (low < 0) {
                return false;
            }
            c = (char)(high << 4 | low);
            uri += 2;
        } else if (c == ':' || c == '?' || c == '#' || c == '\\') {
            return false; // a scheme, a query: an address, not a file
        }
        if (used + 1 >= out_bytes || c == '\0') {
            return false;
        }
        out[used++] = c;
    }
    out[used] = '\0';
    return used > 0 && out[0] != '/';
}

// From the folder of the model; "." and ".." are resolved, and never lead out of the package.
static bool resolve(const char *model_path, const char *relative, char *out, size_t out_bytes)
{
    const char *slash = strrchr(model_path, '/');
    size_t used = slash == NULL ? 0 : (size_t)(slash - model_path);
    if (used >= out_bytes) {
        return false;
    }
    memcpy(out, model_path, used);
    while (*relative != '\0') {
        const size_t length = strcspn(relative, "/");
        if (length == 2 && memcmp(relative, "..", 2) == 0) {
            if (used == 0) {
                return false;
            }
            while (used > 0 && out[used - 1] != '/') {
                used -= 1;
            }
            used -= used > 0;
        } else if (length > 0 && !(length == 1 && relative[0] == '.')) {
            if (used + length + 2 > out_bytes) {
                return false;
            }
            if (used > 0) {
                out[used++] = '/';
            }
            memcpy(out + used, relative, length);
            used += length;
        }
        relative += length + (relative[length] == '/');
    }
    out[used] = '\0';
    return used > 0;
}

// The file of the package at that address; NULL: there is none, and the model has failed.
static const PackageItem *find_file(Model *model, const JsonNode *node, const char *uri)
{
    char relative[PACKAGE_NAME_BYTES], path[PACKAGE_PATH_BYTES];
    const AssetPackage *package = model->job->package;
    if (!unescape(uri, relative, sizeof relative) ||
        !resolve(model->job->path, relative, path, sizeof path)) {
        json_fail(&model->error, STATUS_DENIED, node,
                  "must name a file of the package, not an address elsewhere");
        return NULL;
    }
    const bool is_alone = package == NULL || package->list == NULL;
    const PackageItem *item = is_alone ? NULL : package_list_find(package->list, path);
    if (item == NULL) {
        json_fail(&model->error, STATUS_NOT_FOUND, node,
                  is_alone ? "names another file; upload a .glb, which holds everything"
                           : "names a file that is not in the package");
        return NULL;
    }
    if (package->used != NULL) {
        package->used[item - package->list->items] = true;
    }
    return item;
}

// data:…;base64,… into a block of its own. False: the model has failed.
static bool decode_data(Model *model, const JsonNode *node, const char *uri, uint8_t **out,
                        size_t *bytes)
{
    const char *comma = strstr(uri, ";base64,");
    const size_t text_bytes = comma == NULL ? 0 : strlen(comma + 8);
    uint8_t *data = malloc(text_bytes / 4 * 3 + 4);
    if (data == NULL) {
        model->status = asset_refuse(model->job, RULE_MEMORY, "out of memory");
        return false;
    }
    if (comma == NULL ||
        base64_decode(comma + 8, text_bytes, data, text_bytes / 4 * 3 + 3, bytes) != STATUS_OK) {
        free(data);
        json_fail(&model->error, STATUS_MALFORMED, node, "must be a file or data in base64");
        return false;
    }
    *out = data;
    return true;
}

// --- buffers and pictures -----------------------------------------------------------------------

static void read_buffer(Model *model, const JsonNode *node, ModelBuffer *out)
{
    const uint64_t said =
        (uint64_t)json_read_integer(json_read_member(node, "byteLength", &model->error), 1,
                                    (int64_t)package_kind_bytes_max(KIND_BIN), &model->error);
    const JsonNode *uri_node = json_find(node, "uri");
    size_t have = 0;
    if (uri_node == NULL) {
        if (node->index != 0 || model->bin == NULL) {
            json_fail_member(&model->error, STATUS_MALFORMED, node, "uri", "is missing");
            return;
        }
        out->data = model->bin;
        have = model->bin_bytes;
    } else {
        const char *uri = json_read_text(uri_node, TEXT_BYTES_MAX, &model->error);
        if (!model_is_ok(model)) {
            return;
        }
        if (strncmp(uri, "data:", 5) == 0) {
            if (!decode_data(model, uri_node, uri, &out->own, &have)) {
                return;
            }
            out->data = out->own;
        } else {
            const PackageItem *item = find_file(model, uri_node, uri);
            if (item == NULL) {
                return;
            }
            if (item->kind != KIND_BIN) {
                json_fail(&model->error, STATUS_MALFORMED, uri_node, "must name a .bin");
                return;
            }
            out->data = item->data;
            have = item->bytes;
        }
    }
    // A GLB's chunk is padded to four bytes; others are exactly what they say.
    if (model_is_ok(model) && (have < said || have - said > 3)) {
        json_fail(&model->error, STATUS_RANGE, node, "says %llu bytes, but its data has %zu",
                  (unsigned long long)said, have);
    }
    out->bytes = (size_t)said;
}

static void read_buffers(Model *model)
{
    const JsonNode *node = model_list(model, "buffers", BUFFERS_MAX, &model->buffer_count);
    for (uint32_t i = 0; node != NULL && model_is_ok(model); node = node->next, i++) {
        read_buffer(model, node, &model->buffers[i]);
    }
}

static void check_picture(Model *model, const uint8_t *data, size_t bytes)
{
    const AssetJob job = {.path = model->job->path,
                          .data = data,
                          .bytes = bytes,
                          .package = model->job->package,
                          .reason = model->job->reason};
    AssetInfo info;
    model->status = bytes >= 2 && data[0] == 0xff ? asset_jpeg(&job, &info, NULL)
                                                  : asset_png(&job, &info, NULL);
}

static void read_image(Model *model, const JsonNode *node)
{
    const JsonNode *uri_node = json_find(node, "uri");
    if (uri_node == NULL) {
        const uint32_t view = model_index(model, node, "bufferView", model->view_count);
        const JsonNode *kind = json_read_member(node, "mimeType", &model->error);
        const char *const kinds[] = {"image/png", "image/jpeg"};
        json_read_choice(kind, kinds, 2, &model->error);
        if (model_is_ok(model) && view == UINT32_MAX) {
            json_fail(&model->error, STATUS_MALFORMED, node, "has neither uri nor bufferView");
        }
        if (model_is_ok(model)) {
            check_picture(model, model->views[view].data, model->views[view].bytes);
        }
        return;
    }
    const char *uri = json_read_text(uri_node, TEXT_BYTES_MAX, &model->error);
    if (!model_is_ok(model)) {
        return;
    }
    if (strncmp(uri, "data:", 5) == 0) {
        uint8_t *data;
        size_t bytes;
        if (decode_data(model, uri_node, uri, &data, &bytes)) {
            check_picture(model, data, bytes);
            free(data);
        }
        return;
    }
    const PackageItem *item = find_file(model, uri_node, uri);
    if (item != NULL && item->kind != KIND_PNG && item->kind != KIND_JPEG) {
        json_fail(&model->error, STATUS_MALFORMED, uri_node, "must name a PNG or a JPEG");
    }
}

static void read_images(Model *model)
{
    const JsonNode *node = model_list(model, "images", IMAGES_MAX, &model->image_count);
    for (; node != NULL && model_is_ok(model); node = node->next) {
        read_image(model, node);
    }
}

// --- the whole ----------------------------------------------------------------------------------

// Extensions that a reader must support to show the model. Of the optional ones only those matter
// that compress geometry, because we do not unpack it.
static void check_extensions(Model *model)
{
    static const char *const known[] = {
        "KHR_materials_unlit",        "KHR_materials_emissive_strength", "KHR_materials_specular",
        "KHR_materials_ior",          "KHR_materials_clearcoat",         "KHR_materials_sheen",
        "KHR_materials_transmission", "KHR_texture_transform",           "KHR_mesh_quantization",
        "KHR_lights_punctual"};
    static const char *const packed[] = {"KHR_draco_mesh_compression", "EXT_meshopt_compression",
                                         "KHR_meshopt_compression"};
    uint32_t count;
    const JsonNode *node = model_list(model, "extensionsRequired", 64, &count);
    for (; node != NULL && model_is_ok(model); node = node->next) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            is_known = is_known || (node->kind == JSON_STRING && json_text_equal(node, known[i]));
        }
        if (!is_known) {
            json_fail(&model->error, STATUS_UNSUPPORTED, node, "is an extension that is not known");
        }
    }
    node = model_list(model, "extensionsUsed", 64, &count);
    for (; node != NULL && model_is_ok(model); node = node->next) {
        for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
            if (node->kind == JSON_STRING && json_text_equal(node, packed[i])) {
                json_fail(&model->error, STATUS_UNSUPPORTED, node,
                          "packs the geometry; export it without compression");
            }
        }
    }
}

static void check_version(Model *model)
{
    const JsonNode *asset = json_read_member(model->root, "asset", &model->error);
    const JsonNode *version = json_read_member(asset, "version", &model->error);
    const char *text = json_read_text(version, 16, &model->error);
    if (model_is_ok(model) && strncmp(text, "2.", 2) != 0) {
        json_fail(&model->error, STATUS_UNSUPPORTED, version, "must be 2.0");
    }
}

static void read_model(Model *model)
{
    check_version(model);
    check_extensions(model);
    read_buffers(model);
    model_read_views(model);
    model_read_accessors(model);
    read_images(model);
    model_read_rest(model);
    model_read_meshes(model);
    model_read_nodes(model);
}

static Status finish_model(Model *model, AssetInfo *info)
{
    if (model->status != STATUS_OK) {
        return model->status;
    }
    if (model->error.status != STATUS_OK) {
        char text[JSON_ERROR_TEXT_BYTES];
        json_error_text(&model->error, text);
        return asset_refuse(model->job, RULE_CONTENT, "%s", text);
    }
    info->triangle_count = (uint32_t)model->triangle_count;
    return STATUS_OK;
}

// Parses the JSON; a syntax error becomes the model's error. Free *block.
static Status parse_json(Model *model, const char *text, size_t bytes, void **block)
{
    const AssetJob *job = model->job;
    if (bytes > TEXT_BYTES_MAX) {
        return asset_refuse(job, RULE_SIZE, "its JSON has more than %u MiB", TEXT_BYTES_MAX >> 20);
    }
    // The tree, the strings, and a table entry for each thing in the lists. No value is shorter
    // than a byte.
    const size_t values = bytes < VALUES_MAX ? bytes + 1 : VALUES_MAX;
    const size_t arena_bytes = values * (sizeof(JsonNode) + 64) + 2 * bytes + (1u << 16);
    *block = calloc(1, arena_bytes);
    if (*block == NULL) {
        return asset_refuse(job, RULE_MEMORY, "out of memory");
    }
    arena_init_zeroed(&model->arena, *block, arena_bytes);
    JsonConfig config = json_config_default(&model->arena);
    config.node_count_max = VALUES_MAX;
    status_ignore(json_parse(&config, text, bytes, &model->root,
                             &model->error)); // the status is in model->error
    return STATUS_OK;
}

static Status check_text(const AssetJob *job, const char *text, size_t bytes, const uint8_t *bin,
                         size_t bin_bytes, AssetInfo *info)
{
    Model model = {.job = job, .bin = bin, .bin_bytes = bin_bytes};
    ModelBuffer buffers[BUFFERS_MAX] = {0};
    model.buffers = buffers;
    void *block = NULL;
    Status status = parse_json(&model, text, bytes, &block);
    if (status != STATUS_OK) {
        return status;
    }
    if (model_is_ok(&model)) {
        read_model(&model);
    }
    status = finish_model(&model, info);
    for (uint32_t i = 0; i < BUFFERS_MAX; i++) {
        free(buffers[i].own);
    }
    free(block);
    return status;
}

// Addresses that are not files of the place are rejected by the check.
static void list_files(Model *model, const char *list, uint32_t count_max, Buffer *out)
{
    uint32_t count;
    const JsonNode *node = model_list(model, list, count_max, &count);
    for (; node != NULL && model_is_ok(model); node = node->next) {
        char relative[PACKAGE_NAME_BYTES], path[PACKAGE_PATH_BYTES];
        const JsonNode *uri = json_find(node, "uri");
        if (uri != NULL && uri->kind == JSON_STRING && strncmp(uri->text, "data:", 5) != 0 &&
            unescape(uri->text, relative, sizeof relative) &&
            resolve(model->job->path, relative, path, sizeof path)) {
            buffer_put_block(out, path, strlen(path));
        }
    }
}

Status asset_gltf_files(const AssetJob *job, Buffer *out)
{
    Model model = {.job = job};
    void *block = NULL;
    AssetInfo unused;
    Status status = parse_json(&model, (const char *)job->data, job->bytes, &block);
    if (status != STATUS_OK) {
        return status;
    }
    if (model_is_ok(&model)) {
        list_files(&model, "buffers", BUFFERS_MAX, out);
        list_files(&model, "images", IMAGES_MAX, out);
    }
    status = finish_model(&model, &unused);
    free(block);
    return status == STATUS_OK ? out->status : status;
}

Status asset_gltf(const AssetJob *job, AssetInfo *out)
{
    AssetInfo info = {.kind = KIND_GLTF};
    const Status status = check_text(job, (const char *)job->data, job->bytes, NULL, 0, &info);
    if (status == STATUS_OK) {
        *out = info;
    }
    return status;
}

Status asset_glb(const AssetJob *job, AssetInfo *out)
{
    AssetInfo info = {.kind = KIND_GLB};
    const uint8_t *data = job->data;
    const size_t heads = GLB_HEAD_BYTES + GLB_CHUNK_BYTES;
    if (job->bytes < heads || memcmp(data, "glTF", 4) != 0 || u32(data + 4) != 2) {
        return asset_refuse(job, RULE_CONTENT, "is no GLB of version 2");
    }
    if (u32(data + 8) != job->bytes) {
        const bool is_short = u32(data + 8) > job->bytes;
        return asset_refuse(job, is_short ? RULE_TRUNCATED : RULE_TRAILING, "%s",
                            is_short ? "the GLB ends too early"
                                     : "something stands behind the GLB");
    }
    const size_t text_bytes = u32(data + GLB_HEAD_BYTES);
    if (u32(data + GLB_HEAD_BYTES + 4) != CHUNK_JSON || text_bytes > job->bytes - heads) {
        return asset_refuse(job, RULE_CONTENT, "its first chunk is no JSON");
    }
    const uint8_t *bin = NULL;
    size_t bin_bytes = 0;
    const size_t at = heads + text_bytes;
    if (at < job->bytes) {
        if (job->bytes - at < GLB_CHUNK_BYTES || u32(data + at + 4) != CHUNK_BIN ||
            u32(data + at) != job->bytes - at - GLB_CHUNK_BYTES) {
            return asset_refuse(job, RULE_CONTENT, "its second chunk is not the rest of the file");
        }
        bin = data + at + GLB_CHUNK_BYTES;
        bin_bytes = job->bytes - at - GLB_CHUNK_BYTES;
    }
    const Status status =
        check_text(job, (const char *)data + heads, text_bytes, bin, bin_bytes, &info);
    if (status == STATUS_OK) {
        *out = info;
    }
    return status;
}
