// Gives every macro of schema.def that has no meaning yet an empty one. No include guard: it is
// included once for each reading of the schema.
