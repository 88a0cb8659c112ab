// A vector as bytes: three floats. Whoever reads one checks its range.
#pragma once

#include "core/base/bytes.h"
#include "core/base/math.h"

static inline void vec3_write(ByteWriter *writer, Vec3 v)
{
    byte_write_f32(writer, v.x);
    byte_write_f32(writer, v.y);
    byte_write_f32(writer, v.z);
}

static inline Vec3 vec3_read(ByteReader *reader)
{
    Vec3 v;
    v.x = byte_read_f32(reader);
    v.y = byte_read_f32(reader);
    v.z = byte_read_f32(reader);
    return v;
}
