// A glTF 2.0 model while it is being checked: asset_model.c has the container, buffers and
// pictures; asset_mesh.c has what is inside them (views, accessors, meshes, nodes).
#pragma once

#include "core/base/json_read.h"
#include "server/build/inside/media/asset.h"

typedef struct ModelBuffer {
    const uint8_t *data;
    size_t bytes;
    uint8_t *own; // decoded from a data: address; to be freed
} ModelBuffer;

typedef struct ModelView {
    const uint8_t *data;
    size_t bytes;
    uint32_t stride; // 0: tightly packed
} ModelView;

typedef struct ModelAccessor {
    const uint8_t *data; // NULL: all zero, or sparse over zeros
    uint32_t count, stride;
    uint32_t component, component_count; // GL's number of the type; 1 for SCALAR …
} ModelAccessor;

typedef struct Model {
    const AssetJob *job;
    const JsonNode *root;
    JsonError error; // what is wrong in the JSON, with its path
    Status status;   // another rejection; its reason is written already
    Arena arena;
    const uint8_t *bin; // of a GLB; NULL: none
    size_t bin_bytes;
    ModelBuffer *buffers;
    ModelView *views;
    ModelAccessor *accessors;
    uint64_t *mesh_triangles;
    uint32_t buffer_count, view_count, accessor_count, mesh_count, node_count;
    uint32_t image_count, texture_count, material_count, sampler_count, skin_count, camera_count;
    uint64_t triangle_count, sparse_count;
} Model;

static inline bool model_is_ok(const Model *model)
{
    return model->error.status == STATUS_OK && model->status == STATUS_OK;
}

// The first of a list of the root, and how many; NULL: it has none.
const JsonNode *model_list(Model *model, const char *name, uint32_t count_max, uint32_t *count);
// A whole number that may be left out.
uint64_t model_number(Model *model, const JsonNode *object, const char *name, uint64_t low,
                      uint64_t high, uint64_t otherwise);
// An index into a list of `count`.
uint32_t model_item(Model *model, const JsonNode *node, uint32_t count);
// The same as a member; UINT32_MAX when it is left out.
uint32_t model_index(Model *model, const JsonNode *object, const char *name, uint32_t count);

void model_read_views(Model *model);
void model_read_accessors(Model *model);
void model_read_meshes(Model *model);
void model_read_nodes(Model *model);
void model_read_rest(Model *model); // skins, animations, textures, materials, scenes
