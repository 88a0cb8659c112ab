// Pictures, sounds, models and thumbnails of the places that are served.
#pragma once

#include "server/serve/serve_inside.h"

MUST_USE Status serve_assets_create(const HostPlace *place, ServeAssets **out);
void serve_assets_destroy(ServeAssets *assets); // NULL is allowed

// GET /blob/<name> of an asset or a thumbnail; 404 for all others. On the pool: it reads files.
void serve_asset_blob(void *user, HttpRequest *request, HttpResponse *response);
// May they have what players of the place get? By the id that the Host has it under.
bool serve_may_play(const Serve *serve, const HttpRequest *request, const char *place_id);
// GET /api/assets
void serve_asset_list(void *user, HttpRequest *request, HttpResponse *response);
