// Modules of Node and npm that the compiler asks for and does not use here: nothing is looked for on a
// disk.
export const ResolverFactory = { createResolver: (): object => ({}) }; // of enhanced-resolve, made at the start
export class CachedInputFileSystem {} // of the same
export default {};
