// Gives every macro of schema.def that has no meaning yet an empty one. No include guard: it
// stands at the top of schema.def.
#ifndef STRUCT
#define STRUCT(name)
#endif
#ifndef END_STRUCT
#define END_STRUCT(name)
#endif
#ifndef MESSAGE
#define MESSAGE(number_name, name, number, direction, kind, feature, action, text)
#endif
#ifndef END_MESSAGE
#define END_MESSAGE(name)
#endif
#ifndef UINT
#define UINT(name, json, limit, text)
#endif
#ifndef SINT
#define SINT(name, json, limit, text)
#endif
#ifndef BOOL
#define BOOL(name, json, limit, text)
#endif
#ifndef F32
#define F32(name, json, limit, text)
#endif
#ifndef TEXT
#define TEXT(name, json, limit, text)
#endif
#ifndef BYTES
#define BYTES(name, json, limit, text)
#endif
#ifndef HASH
#define HASH(name, json, limit, text)
#endif
#ifndef VEC3
#define VEC3(name, json, limit, text)
#endif
#ifndef COORD
#define COORD(name, json, limit, text)
#endif
#ifndef LIST
#define LIST(name, json, item, limit, text)
#endif
