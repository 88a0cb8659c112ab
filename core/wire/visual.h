// What scripts add to the picture beside shapes and bodies: moments (a burst of particles, a beam)
// and visuals, which stay with an entity (a trail, a light, an emitter of particles).
//
// A visual is replicated as an attribute of its entity whose name begins with '$', a letter that
// scripts cannot use there. So late joiners get it, it is sent to those who see the entity, it is
// charged to the script that set it, and it goes with the entity. Its value is a text of four whole
// numbers: effect, colour, and two measures in hundredths.
#pragma once

#include "core/base/math.h"
#include "core/base/text.h"

#include <stdbool.h>
#include <stdint.h>

#define VISUAL_TEXT_BYTES 48
#define VISUAL_COLOUR_MAX 0x1000000u // 1 + red, green, blue; 0: as the effect has it

typedef enum VisualKind { VISUAL_EMITTER, VISUAL_LIGHT, VISUAL_TRAIL, VISUAL_KINDS } VisualKind;

typedef struct Visual {
    uint32_t effect; // of an emitter: which, by its number among the EffectName of api.def
    uint32_t colour; // up to VISUAL_COLOUR_MAX
    float first;     // emitter: size; light: brightness; trail: width in metres
    float second;    // emitter: how many, 1 as usual; light: range in metres; trail: seconds
} Visual;

// The two measures of a kind.
typedef struct VisualRange {
    float min, max, normal;
} VisualRange;
VisualRange visual_range(VisualKind kind, bool second);

Text visual_attribute(VisualKind kind);
static inline bool visual_is_reserved(Text name) // the name of an attribute
{
    return name.bytes > 0 && name.data[0] == '$';
}
Text visual_write(const Visual *visual, char out[VISUAL_TEXT_BYTES]);
bool visual_read(VisualKind kind, Text text, Visual *out); // false: not what visual_write writes

// "#ff8800" as 0xff8800; false: it is not such a text.
bool visual_colour_read(Text text, uint32_t *out);

typedef enum MomentKind { MOMENT_BURST, MOMENT_BEAM, MOMENT_SHAKE, MOMENT_KINDS } MomentKind;

typedef struct Moment {
    MomentKind kind; // a shake of the camera is a client's own and is never sent
    uint32_t effect; // of a burst
    Vec3 position, to;
    uint32_t colour;
    float size;    // burst: 1 as usual; beam: width in metres; shake: strength
    float seconds; // beam and shake
} Moment;
bool moment_is_valid(const Moment *moment);
