// Draws a Demo by casting rays into its sim, so the picture shows what sim_ray returns. Sun,
// shadows, the sea and the glow of shots are added on top.
#pragma once

#include "tools/demo_png.h"
#include "tools/demo_scene.h"

typedef struct Camera {
    Vec3 position;
    Vec3 target;
    float view_angle; // vertical, radians
} Camera;

// Slowly to and fro around the island; seconds since the start.
Camera camera_at(float seconds);

// `samples` is the edge of the grid of rays in each pixel: 1 is quick, 2 is smooth.
void render(const Demo *demo, const Camera *camera, uint32_t samples, Image *image);
