// Takes back every macro of schema.def. No include guard: see schema_empty.h.
