// What is inside a model's buffers: every view lies in its buffer, every accessor in its view,
// every index in its vertices, every node has one parent at most, and the triangles, each instance
// counted, are no more than a place can show. See asset_model.h.
#include "server/build/inside/media/asset_model.h"

#include "core/base/check.h"

#include <string.h>

#define VIEWS_MAX      4096
#define ACCESSORS_MAX  8192
#define MESHES_MAX     4096
#define NODES_MAX      16384
#define NODE_DEPTH_MAX 256
#define ELEMENTS_MAX   4000000

enum { BYTE = 5120, UNSIGNED_BYTE, SHORT, UNSIGNED_SHORT, UNSIGNED_INT = 5125, FLOAT };
enum { POINTS, LINES, LINE_LOOP, LINE_STRIP, TRIANGLES, TRIANGLE_STRIP, TRIANGLE_FAN };

static uint32_t component_bytes(uint32_t component)
{
    switch (component) {
    case BYTE:
    case UNSIGNED_BYTE:
        return 1;
    case SHORT:
    case UNSIGNED_SHORT:
        return 2;
    case UNSIGNED_INT:
    case FLOAT:
        return 4;
    default:
        return 0;
    }
}

static void *table(Model *model, size_t count, size_t item_bytes)
{
    void *block = arena_array(&model->arena, count + 1, item_bytes);
    if (block == NULL && model_is_ok(model)) {
        model->status = asset_refuse(model->job, RULE_MEMORY, "out of memory");
    }
    return block;
}

// --- views and accessors ------------------------------------------------------------------------

static void read_view(Model *model, const JsonNode *node, ModelView *out)
{
    json_read_member(node, "buffer", &model->error);
    json_read_member(node, "byteLength", &model->error);
    const uint32_t buffer = model_index(model, node, "buffer", model->buffer_count);
    const uint64_t offset = model_number(model, node, "byteOffset", 0, UINT32_MAX, 0);
    const uint64_t bytes = model_number(model, node, "byteLength", 1, UINT32_MAX, 0);
    out->stride = (uint32_t)model_number(model, node, "byteStride", 4, 252, 0);
    if (!model_is_ok(model)) {
        return;
    }
    if (offset + bytes > model->buffers[buffer].bytes) {
        json_fail(&model->error, STATUS_RANGE, node, "reaches past its buffer of %zu bytes",
                  model->buffers[buffer].bytes);
        return;
    }
    out->data = model->buffers[buffer].data + offset;
    out->bytes = (size_t)bytes;
}

void model_read_views(Model *model)
{
    const JsonNode *node = model_list(model, "bufferViews", VIEWS_MAX, &model->view_count);
    model->views = table(model, model->view_count, sizeof *model->views);
    for (uint32_t i = 0; node != NULL && model_is_ok(model); node = node->next, i++) {
        read_view(model, node, &model->views[i]);
    }
}

// Bytes of one element; columns of matrices begin at multiples of four.
static uint32_t element_bytes(const ModelAccessor *accessor, uint32_t rows)
{
    const uint32_t size = component_bytes(accessor->component);
    if (rows == 0) {
        return size * accessor->component_count;
    }
    return ((size * rows + 3) & ~3u) * rows;
}

// `count` elements of `size` bytes, one every `stride`, from `offset` on in a view.
static const uint8_t *in_view(Model *model, const JsonNode *node, const ModelView *view,
                              uint64_t offset, uint64_t count, uint64_t stride, uint64_t size)
{
    if (offset + stride * (count - 1) + size > view->bytes) {
        json_fail(&model->error, STATUS_RANGE, node, "reaches past its view of %zu bytes",
                  view->bytes);
        return NULL;
    }
    return view->data + offset;
}

static uint32_t index_at(const uint8_t *data, uint32_t component, uint32_t stride, uint32_t i)
{
    const uint8_t *at = data + (size_t)i * stride;
    uint32_t value = 0;
    for (uint32_t byte = 0; byte < component_bytes(component); byte++) {
        value |= (uint32_t)at[byte] << (8 * byte);
    }
    return value;
}

static bool is_index_type(uint32_t component)
{
    return component == UNSIGNED_BYTE || component == UNSIGNED_SHORT || component == UNSIGNED_INT;
}

// Elements that replace some: where they are, and by what.
static void read_sparse(Model *model, const JsonNode *sparse, const ModelAccessor *accessor,
                        uint32_t size)
{
    const JsonNode *indices = json_read_member(sparse, "indices", &model->error);
    const JsonNode *values = json_read_member(sparse, "values", &model->error);
    const uint64_t count = model_number(model, sparse, "count", 1, accessor->count, 0);
    const uint32_t component =
        (uint32_t)model_number(model, indices, "componentType", BYTE, FLOAT, 0);
    const uint32_t index_view = model_index(model, indices, "bufferView", model->view_count);
    const uint32_t value_view = model_index(model, values, "bufferView", model->view_count);
    const uint64_t index_offset = model_number(model, indices, "byteOffset", 0, UINT32_MAX, 0);
    const uint64_t value_offset = model_number(model, values, "byteOffset", 0, UINT32_MAX, 0);
    if (!model_is_ok(model)) {
        return;
    }
    if (count == 0 || index_view == UINT32_MAX || value_view == UINT32_MAX ||
        !is_index_type(component)) {
        json_fail(&model->error, STATUS_MALFORMED, sparse, "is not complete");
        return;
    }
    model->sparse_count += count;
    if (model->sparse_count > ELEMENTS_MAX) { // many views may share the same bytes
        json_fail(&model->error, STATUS_LIMIT, sparse, "is one too many");
        return;
    }
    const uint32_t step = component_bytes(component);
    const uint8_t *data =
        in_view(model, indices, &model->views[index_view], index_offset, count, step, step);
    in_view(model, values, &model->views[value_view], value_offset, count, size, size);
    for (uint32_t i = 0; model_is_ok(model) && i < count; i++) {
        if (index_at(data, component, step, i) >= accessor->count) {
            json_fail(&model->error, STATUS_RANGE, indices, "points past the accessor's end");
        }
    }
}

static void read_accessor(Model *model, const JsonNode *node, ModelAccessor *out)
{
    static const char *const types[] = {"SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4"};
    static const uint8_t components[] = {1, 2, 3, 4, 4, 9, 16}, rows[] = {0, 0, 0, 0, 2, 3, 4};
    json_read_member(node, "componentType", &model->error);
    json_read_member(node, "count", &model->error);
    const uint32_t type =
        json_read_choice(json_read_member(node, "type", &model->error), types, 7, &model->error);
    out->component = (uint32_t)model_number(model, node, "componentType", BYTE, FLOAT, 0);
    out->count = (uint32_t)model_number(model, node, "count", 1, ELEMENTS_MAX, 0);
    const uint32_t view = model_index(model, node, "bufferView", model->view_count);
    const uint64_t offset = model_number(model, node, "byteOffset", 0, UINT32_MAX, 0);
    if (!model_is_ok(model)) {
        return;
    }
    out->component_count = components[type];
    const uint32_t size = element_bytes(out, rows[type]);
    if (size == 0) {
        json_fail_member(&model->error, STATUS_RANGE, node, "componentType", "is not known");
        return;
    }
    out->stride = size;
    if (view != UINT32_MAX) {
        out->stride = model->views[view].stride != 0 ? model->views[view].stride : size;
        if (offset % component_bytes(out->component) != 0 || out->stride < size) {
            json_fail(&model->error, STATUS_RANGE, node, "is not aligned to its components");
            return;
        }
        out->data =
            in_view(model, node, &model->views[view], offset, out->count, out->stride, size);
    }
    const JsonNode *sparse = json_find(node, "sparse");
    if (sparse != NULL && model_is_ok(model)) {
        read_sparse(model, sparse, out, size);
    }
}

void model_read_accessors(Model *model)
{
    const JsonNode *node = model_list(model, "accessors", ACCESSORS_MAX, &model->accessor_count);
    model->accessors = table(model, model->accessor_count, sizeof *model->accessors);
    for (uint32_t i = 0; node != NULL && model_is_ok(model); node = node->next, i++) {
        read_accessor(model, node, &model->accessors[i]);
    }
}

// --- meshes -------------------------------------------------------------------------------------

static uint64_t triangles_of(uint32_t mode, uint64_t count)
{
    switch (mode) {
    case TRIANGLES:
        return count / 3;
    case TRIANGLE_STRIP:
    case TRIANGLE_FAN:
        return count > 2 ? count - 2 : 0;
    default:
        return count; // points and lines cost about as much as triangles
    }
}

// Accessors by name, all with as many elements as the positions.
static void check_attributes(Model *model, const JsonNode *attributes, uint32_t vertex_count)
{
    const JsonNode *node = json_read_object(attributes, &model->error);
    for (; node != NULL && model_is_ok(model); node = node->next) {
        const uint32_t index = model_item(model, node, model->accessor_count);
        if (model_is_ok(model) && model->accessors[index].count != vertex_count) {
            json_fail(&model->error, STATUS_RANGE, node, "has %u elements for %u vertices",
                      model->accessors[index].count, vertex_count);
        }
    }
}

static void check_indices(Model *model, const JsonNode *primitive, const ModelAccessor *indices,
                          uint32_t vertex_count)
{
    if (!is_index_type(indices->component) || indices->component_count != 1) {
        json_fail_member(&model->error, STATUS_MALFORMED, primitive, "indices",
                         "must be unsigned numbers");
        return;
    }
    for (uint32_t i = 0; indices->data != NULL && i < indices->count; i++) {
        if (index_at(indices->data, indices->component, indices->stride, i) >= vertex_count) {
            json_fail_member(&model->error, STATUS_RANGE, primitive, "indices",
                             "number %u points past the %u vertices", i, vertex_count);
            return;
        }
    }
}

static void count_triangles(Model *model, uint64_t more)
{
    model->triangle_count += more;
    if (model_is_ok(model) && model->triangle_count > ASSET_TRIANGLES_MAX) {
        model->status =
            asset_refuse(model->job, RULE_TRIANGLES,
                         "has more than %d triangles, each instance counted", ASSET_TRIANGLES_MAX);
    }
}

static uint64_t read_primitive(Model *model, const JsonNode *node)
{
    const JsonNode *attributes = json_read_member(node, "attributes", &model->error);
    const uint32_t mode =
        (uint32_t)model_number(model, node, "mode", POINTS, TRIANGLE_FAN, TRIANGLES);
    const uint32_t positions = model_index(model, attributes, "POSITION", model->accessor_count);
    const uint32_t indices = model_index(model, node, "indices", model->accessor_count);
    model_index(model, node, "material", model->material_count);
    if (!model_is_ok(model)) {
        return 0;
    }
    if (positions == UINT32_MAX) {
        json_fail(&model->error, STATUS_MALFORMED, attributes, "must have POSITION");
        return 0;
    }
    const uint32_t vertex_count = model->accessors[positions].count;
    check_attributes(model, attributes, vertex_count);
    const JsonNode *targets = json_find(node, "targets");
    const JsonNode *target =
        targets != NULL ? json_read_array(targets, 0, 256, &model->error) : NULL;
    for (; target != NULL && model_is_ok(model); target = target->next) {
        check_attributes(model, target, vertex_count);
    }
    const uint64_t triangles =
        triangles_of(mode, indices == UINT32_MAX ? vertex_count : model->accessors[indices].count);
    // Before the indices are read, because many primitives may share the same bytes.
    count_triangles(model, triangles);
    if (indices != UINT32_MAX && model_is_ok(model)) {
        check_indices(model, node, &model->accessors[indices], vertex_count);
    }
    return triangles;
}

void model_read_meshes(Model *model)
{
    const JsonNode *node = model_list(model, "meshes", MESHES_MAX, &model->mesh_count);
    model->mesh_triangles = table(model, model->mesh_count, sizeof *model->mesh_triangles);
    for (uint32_t i = 0; node != NULL && model_is_ok(model); node = node->next, i++) {
        const JsonNode *primitives = json_read_member(node, "primitives", &model->error);
        const JsonNode *primitive = json_read_array(primitives, 1, 4096, &model->error);
        for (; primitive != NULL && model_is_ok(model); primitive = primitive->next) {
            model->mesh_triangles[i] += read_primitive(model, primitive);
        }
    }
}

// --- nodes --------------------------------------------------------------------------------------

static void read_children(Model *model, const JsonNode *node, uint32_t parent, uint32_t *parents)
{
    const JsonNode *children = json_find(node, "children");
    const JsonNode *child =
        children != NULL ? json_read_array(children, 1, NODES_MAX, &model->error) : NULL;
    for (; child != NULL && model_is_ok(model); child = child->next) {
        const uint32_t index = model_item(model, child, model->node_count);
        if (model_is_ok(model) && parents[index] != 0) {
            json_fail(&model->error, STATUS_MALFORMED, child, "has two parents");
        } else if (model_is_ok(model)) {
            parents[index] = parent + 1;
        }
    }
}

// Walks up from each node: this detects cycles and chains that are too deep.
static void check_depth(Model *model, const uint32_t *parents)
{
    for (uint32_t i = 0; i < model->node_count && model_is_ok(model); i++) {
        uint32_t depth = 0;
        for (uint32_t at = i + 1; at != 0 && depth <= NODE_DEPTH_MAX; at = parents[at - 1]) {
            depth += 1;
        }
        if (depth > NODE_DEPTH_MAX) {
            model->status = asset_refuse(model->job, RULE_CONTENT,
                                         "its nodes are in a circle, or nested more than %d deep",
                                         NODE_DEPTH_MAX);
        }
    }
}

void model_read_nodes(Model *model)
{
    const JsonNode *node = model_list(model, "nodes", NODES_MAX, &model->node_count);
    uint32_t *parents = table(model, model->node_count, sizeof *parents);
    uint64_t instances = 0;
    for (uint32_t i = 0; node != NULL && model_is_ok(model); node = node->next, i++) {
        const uint32_t mesh = model_index(model, node, "mesh", model->mesh_count);
        model_index(model, node, "skin", model->skin_count);
        model_index(model, node, "camera", model->camera_count);
        read_children(model, node, i, parents);
        instances += mesh != UINT32_MAX && model_is_ok(model) ? model->mesh_triangles[mesh] : 0;
    }
    if (!model_is_ok(model)) {
        return;
    }
    check_depth(model, parents);
    if (instances > model->triangle_count) {
        count_triangles(model, instances - model->triangle_count);
    }
}

// --- the rest -----------------------------------------------------------------------------------

// Checks indices into lists of the root that nothing else needs.
static void check_list(Model *model, const JsonNode *owner, const char *name, uint32_t count)
{
    const JsonNode *list = json_find(owner, name);
    const JsonNode *item = list != NULL ? json_read_array(list, 0, NODES_MAX, &model->error) : NULL;
    for (; item != NULL && model_is_ok(model); item = item->next) {
        model_item(model, item, count);
    }
}

static void read_textures(Model *model)
{
    const JsonNode *node = model_list(model, "textures", 4096, &model->texture_count);
    for (; node != NULL && model_is_ok(model); node = node->next) {
        model_index(model, node, "source", model->image_count);
        model_index(model, node, "sampler", model->sampler_count);
    }
}

static void read_materials(Model *model)
{
    static const char *const names[] = {"normalTexture", "occlusionTexture", "emissiveTexture"};
    static const char *const inside[] = {"baseColorTexture", "metallicRoughnessTexture"};
    const JsonNode *node = model_list(model, "materials", 4096, &model->material_count);
    for (; node != NULL && model_is_ok(model); node = node->next) {
        const JsonNode *pbr = json_find(node, "pbrMetallicRoughness");
        for (size_t i = 0; i < 3; i++) {
            model_index(model, json_find(node, names[i]), "index", model->texture_count);
        }
        for (size_t i = 0; i < 2; i++) {
            model_index(model, json_find(pbr, inside[i]), "index", model->texture_count);
        }
    }
}

static void read_skins(Model *model, uint32_t node_count)
{
    const JsonNode *node = model_list(model, "skins", 1024, &model->skin_count);
    for (; node != NULL && model_is_ok(model); node = node->next) {
        check_list(model, node, "joints", node_count);
        model_index(model, node, "skeleton", node_count);
        const uint32_t poses =
            model_index(model, node, "inverseBindMatrices", model->accessor_count);
        const JsonNode *joints = json_read_member(node, "joints", &model->error);
        if (model_is_ok(model) && poses != UINT32_MAX &&
            (model->accessors[poses].component_count != 16 ||
             model->accessors[poses].count < joints->count)) {
            json_fail_member(&model->error, STATUS_RANGE, node, "inverseBindMatrices",
                             "has not a matrix for each joint");
        }
    }
}

static void read_animations(Model *model, uint32_t node_count)
{
    uint32_t count;
    const JsonNode *node = model_list(model, "animations", 1024, &count);
    for (; node != NULL && model_is_ok(model); node = node->next) {
        const JsonNode *samplers = json_read_member(node, "samplers", &model->error);
        const JsonNode *sampler = json_read_array(samplers, 0, NODES_MAX, &model->error);
        for (; sampler != NULL && model_is_ok(model); sampler = sampler->next) {
            model_index(model, sampler, "input", model->accessor_count);
            model_index(model, sampler, "output", model->accessor_count);
        }
        const JsonNode *channels = json_read_member(node, "channels", &model->error);
        const JsonNode *channel = json_read_array(channels, 0, NODES_MAX, &model->error);
        for (; channel != NULL && model_is_ok(model); channel = channel->next) {
            model_index(model, channel, "sampler", samplers->count);
            model_index(model, json_find(channel, "target"), "node", node_count);
        }
    }
}

void model_read_rest(Model *model)
{
    uint32_t node_count, scene_count;
    model_list(model, "samplers", 4096, &model->sampler_count);
    model_list(model, "cameras", 1024, &model->camera_count);
    model_list(model, "nodes", NODES_MAX, &node_count);
    read_textures(model);
    read_materials(model);
    read_skins(model, node_count);
    read_animations(model, node_count);
    const JsonNode *scene = model_list(model, "scenes", 1024, &scene_count);
    for (; scene != NULL && model_is_ok(model); scene = scene->next) {
        check_list(model, scene, "nodes", node_count);
    }
    model_index(model, model->root, "scene", scene_count);
}
