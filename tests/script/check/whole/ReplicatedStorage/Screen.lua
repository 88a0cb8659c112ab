return {wide = true}
