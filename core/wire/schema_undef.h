// Takes back every macro of schema.def, its own limits too. No include guard: it stands at
// the end of schema.def.
#undef STRUCT
#undef END_STRUCT
#undef MESSAGE
#undef END_MESSAGE
#undef UINT
#undef SINT
#undef BOOL
#undef F32
#undef TEXT
#undef BYTES
#undef HASH
#undef VEC3
#undef COORD
#undef LIST
#undef LIMIT_U8
#undef LIMIT_U16
#undef LIMIT_U32
#undef LIMIT_ID
#undef LIMIT_TICK
