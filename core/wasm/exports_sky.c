// What a page draws besides the place and what moves: the sky, effects, and the camera as scripts
// want it. See exports.c for how results are given back.
#include "core/wasm/exports_inside.h"

#include <string.h>

#define VISUAL_ROW 9
#define MOMENT_ROW 11

// The sky now, 7 doubles: hour, fog in metres (0: as far as the place shows), weather (0 clear, 1
// rain, 2 snow), and the colours of the top, the horizon and the sun (1 + red, green, blue; 0: as
// the hour has it), and hours per second.
EXPORT("clientSky") const void *export_client_sky(Client *client)
{
    double *numbers = exports_numbers();
    const View *view = client_script_view(client);
    const Place *place = client_place(client);
    const Sky sky = view == NULL ? sky_default() : view_sky(view);
    const uint64_t tick = client_view_tick(client);
    const double row[7] = {place == NULL ? sky.hour : sky_hour(&sky, tick, place->tick_rate),
                           sky.fog_m,
                           sky.weather,
                           sky.colours[SKY_TOP],
                           sky.colours[SKY_HORIZON],
                           sky.colours[SKY_SUN],
                           sky.hours_per_second};
    memcpy(numbers, row, sizeof row);
    return exports_result(numbers, sizeof row);
}

// Trails, lights and emitters, 9 doubles each: net id, kind (0 emitter, 1 light, 2 trail), effect,
// colour, the two measures of visual.h, position.
EXPORT("clientVisuals") const void *export_client_visuals(const Client *client)
{
    _Static_assert(VISUALS_DRAWN_MAX * sizeof(ViewVisual) <= EXPORTS_SCRATCH_BYTES, "they fit");
    _Static_assert(VISUALS_DRAWN_MAX * VISUAL_ROW <= EXPORTS_NUMBERS_MAX, "and their rows");
    ViewVisual *found = exports_scratch();
    const uint32_t count = client_visuals(client, found, VISUALS_DRAWN_MAX);
    double *numbers = exports_numbers();
    for (uint32_t i = 0; i < count; i++) {
        const ViewVisual *one = &found[i];
        const double row[VISUAL_ROW] = {(double)one->net_id, one->kind,         one->visual.effect,
                                        one->visual.colour,  one->visual.first, one->visual.second,
                                        one->position.x,     one->position.y,   one->position.z};
        memcpy(&numbers[i * VISUAL_ROW], row, sizeof row);
    }
    return exports_result(numbers, count * VISUAL_ROW * sizeof numbers[0]);
}

// Bursts, beams and shakes of scripts here since the last call, 11 doubles each: kind (0 burst, 1
// beam, 2 shake), effect, colour, size, seconds, position, the other end.
EXPORT("clientMoments") const void *export_client_moments(Client *client)
{
    double *numbers = exports_numbers();
    View *view = client_script_view(client);
    uint32_t count = 0;
    Moment moment;
    for (; view != NULL && count < VIEW_MOMENTS_MAX && view_moment_take(view, &moment); count++) {
        const double row[MOMENT_ROW] = {moment.kind,       moment.effect,     moment.colour,
                                        moment.size,       moment.seconds,    moment.position.x,
                                        moment.position.y, moment.position.z, moment.to.x,
                                        moment.to.y,       moment.to.z};
        memcpy(&numbers[(size_t)count * MOMENT_ROW], row, sizeof row);
    }
    return exports_result(numbers, count * MOMENT_ROW * sizeof numbers[0]);
}

// What scripts want of the camera, 12 doubles: version (another one whenever it changes), mode (0
// as the player has chosen, 1 first, 2 third, 3 top, 4 fixed), 1 if it was moved, position, 1 if it
// looks at something, at what, seconds, field of view.
EXPORT("clientCameraWanted") const void *export_client_camera_wanted(Client *client)
{
    double *numbers = exports_numbers();
    const View *view = client_script_view(client);
    const ViewCamera none = {.wanted = {.field_of_view = CAMERA_FIELD_NORMAL}};
    const ViewCamera *camera = view == NULL ? &none : view_camera(view);
    const ScriptCamera *wanted = &camera->wanted;
    const double row[12] = {camera->version,    wanted->mode,       wanted->is_moved,
                            wanted->position.x, wanted->position.y, wanted->position.z,
                            wanted->has_target, wanted->target.x,   wanted->target.y,
                            wanted->target.z,   wanted->seconds,    wanted->field_of_view};
    memcpy(numbers, row, sizeof row);
    return exports_result(numbers, sizeof row);
}
