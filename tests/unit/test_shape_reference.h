// A slow second opinion on shapes, in double precision and by other means than core/sim: polytopes
// are meshes of triangles, distances of cores come from searches along the core, depths from
// searches over directions. Also the random shapes, poses and capsules that the shape tests share;
// their numbers come from this file alone, so that a golden hash rests on nothing else.
#pragma once

#include "core/sim/shape.h"

typedef struct Double3 {
    double x, y, z;
} Double3;

typedef struct Reference {
    ShapeKind kind;
    Double3 half;
    Double3 position;
    Double3 axes[3];
    int vertex_count;
    Double3 vertices[8];
    int triangle_count;
    int triangles[12][3]; // counter-clockwise from outside
} Reference;

Double3 double3_from(Vec3 v);
Double3 double3_mad(Double3 a, Double3 b, double s);
double double3_dot(Double3 a, Double3 b);
double double3_length(Double3 a);

Reference reference_make(Shape shape, Pose pose);
// Signed distance of a point.
double reference_point(const Reference *reference, Double3 point);
// The least signed distance of a core's points: the distance where the core is outside.
double reference_core(const Reference *reference, Double3 base, double height);
// How far the core must go along unit n to be out; negative: how far it could come back. For every
// n this is at least minus the signed distance, and equal for the best n.
double reference_depth(const Reference *reference, Double3 base, double height, Double3 n);
// The least reference_depth that a search finds; never less than the true one.
double reference_depth_least(const Reference *reference, Double3 base, double height);
// Distance from a point to a core.
double reference_core_to_point(Double3 base, double height, Double3 point);

// --- random content -----------------------------------------------------------------------------
typedef struct Dice {
    uint64_t state;
} Dice;

uint32_t dice_below(Dice *dice, uint32_t bound);
float dice_range(Dice *dice, float low, float high);
Vec3 dice_direction(Dice *dice); // unit

typedef enum TurnKind {
    TURN_NONE,
    TURN_QUARTER_YAW,
    TURN_YAW,
    TURN_QUARTERS,   // any of the 24 ways to set down a cube
    TURN_NEARLY_YAW, // tilted by 1e-8 .. 1e-3
    TURN_STOOD_YAW,  // tipped by quarter turns, then yawed
    TURN_FREE,
    TURN_KIND_COUNT
} TurnKind;

Quat dice_rotation(Dice *dice, TurnKind turn);
// Extents log-uniform in [low, high].
Shape dice_shape(Dice *dice, ShapeKind kind, float low, float high);
// A point at or around a shape: anywhere within twice its size, or exactly at its centre, corners,
// edges, faces as far as float32 allows.
Vec3 dice_point(Dice *dice, const Reference *reference);
// Heights 0, tiny and man-sized; radius 0 to 0.5.
Capsule dice_capsule(Dice *dice, const Reference *reference);

// One placed shape with its reference.
typedef struct ShapeCase {
    Shape shape;
    Pose pose;
    PlacedShape placed;
    Reference reference;
} ShapeCase;

ShapeCase shape_case_make(Shape shape, Pose pose);
// Extents up to extent_max, at most `world` from the origin along each axis.
ShapeCase shape_case_roll(Dice *dice, ShapeKind kind, TurnKind turn, float extent_max, float world);
// The i-th of a series that goes through all kinds and turns.
ShapeCase shape_case_at(Dice *dice, int i, float extent_max, float world);
