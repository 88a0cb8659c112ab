// The files that the compiler can see: all of them in memory. A place's sources come with each
// request; the language's own libraries and our declarations are read once, before the first. What
// is not in these maps does not exist: a place's tsconfig, its plugins, @types, `/// <reference>`
// and imports of anything but the place's scripts reach nothing.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { tellAlive } from "./frame.mjs";

const require = createRequire(import.meta.url);
tellAlive(); // ten megabytes are read now
export const ts = require("typescript");
tellAlive();

export const ROOT = "/place/";
const LIBRARY_ROOT = "/lib/";
const DECLARATIONS = "/sandlot/sandlot.d.ts";
const EXTENSIONS_ROOT = "/sandlot/language-extensions/";
const EXTENSIONS = "@typescript-to-lua/language-extensions";

// Of the libraries only those of the language itself: scripts have no document and no window.
const LIBRARY_NAME = /^lib\.(es|decorators)[a-z0-9.]*\.d\.ts$/;

export const OPTIONS = {
    strict: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    moduleDetection: ts.ModuleDetectionKind.Force, // scripts do not share their globals
    lib: ["lib.esnext.d.ts"],
    types: [],
    typeRoots: [],
    skipLibCheck: true,
    sourceMap: true,
    newLine: ts.NewLineKind.LineFeed,
    luaTarget: "5.4",
    luaLibImport: "require",
    noImplicitSelf: true,
    noHeader: true,
};

export function makeSourceFile(name, text) {
    const file = ts.createSourceFile(
        name,
        text,
        {
            languageVersion: OPTIONS.target,
            setExternalModuleIndicator: ts.getSetExternalModuleIndicator(OPTIONS),
            jsDocParsingMode: ts.JSDocParsingMode.ParseAll, // TypeScriptToLua reads annotations
        },
        true,
    );
    file.version = createHash("sha256").update(text).digest("base64");
    return file;
}

/** Everything that is the same for all places. */
export class Libraries {
    constructor(declarations) {
        this.texts = new Map();
        this.parsed = new Map();
        const folder = path.dirname(require.resolve("typescript"));
        for (const name of readdirSync(folder)) {
            if (LIBRARY_NAME.test(name)) {
                this.texts.set(LIBRARY_ROOT + name, readFileSync(path.join(folder, name), "utf8"));
            }
        }
        const extensions = path.dirname(require.resolve(EXTENSIONS + "/package.json"));
        for (const name of readdirSync(extensions)) {
            if (name.endsWith(".d.ts")) {
                const text = readFileSync(path.join(extensions, name), "utf8");
                this.texts.set(EXTENSIONS_ROOT + name, text);
            }
        }
        this.texts.set(DECLARATIONS, declarations);
    }
    has(name) {
        return this.texts.has(name);
    }
    sourceFile(name) {
        let file = this.parsed.get(name);
        const text = this.texts.get(name);
        if (file === undefined && text !== undefined) {
            tellAlive();
            file = makeSourceFile(name, text);
            this.parsed.set(name, file);
        }
        return file;
    }
}

/** The sources of a place as they were in the last request, parsed when they are first asked for. */
export class PlaceHost {
    constructor(libraries) {
        this.libraries = libraries;
        this.texts = new Map(); // "/place/Workspace/Door.ts" → text
        this.parsed = new Map();
        this.untyped = new Set(); // "/place/ReplicatedStorage/Util": a script in another language
    }

    /** files: {path, text} of TypeScript; others: paths of the place's other scripts. */
    update(files, others) {
        const texts = new Map(files.map(({ path: name, text }) => [`${ROOT}${name}.ts`, text]));
        for (const name of this.parsed.keys()) {
            if (this.texts.get(name) !== texts.get(name)) {
                this.parsed.delete(name);
            }
        }
        this.texts = texts;
        this.untyped = new Set(others.map((name) => ROOT + name));
    }

    /** "/place/ReplicatedStorage/Util" of what a script imports, or undefined. */
    find(specifier, from) {
        const isRelative = /^\.\.?\//.test(specifier);
        const joined = isRelative
            ? path.posix.join(path.posix.dirname(from), specifier)
            : path.posix.join(ROOT, specifier);
        if (!joined.startsWith(ROOT) || specifier.startsWith("/")) {
            return undefined;
        }
        const plain = joined.replace(/\.(ts|js|lua)$/, "");
        return [joined, plain, `${joined}/index`].find(
            (name) => this.texts.has(`${name}.ts`) || this.untyped.has(name),
        );
    }

    resolve(specifier, from) {
        const name = from.startsWith(ROOT) ? this.find(specifier, from) : undefined;
        if (name === undefined) {
            return { resolvedModule: undefined };
        }
        // What is written in another language has no types: all that comes from it is `any`.
        const isTyped = this.texts.has(`${name}.ts`);
        return {
            resolvedModule: {
                resolvedFileName: name + (isTyped ? ".ts" : ".js"),
                extension: isTyped ? ts.Extension.Ts : ts.Extension.Js,
                isExternalLibraryImport: false,
            },
        };
    }

    sourceFile(name) {
        let file = this.parsed.get(name);
        const text = this.texts.get(name);
        if (file === undefined && text !== undefined) {
            file = makeSourceFile(name, text);
            this.parsed.set(name, file);
        }
        return file ?? this.libraries.sourceFile(name);
    }

    /** By file: what its meaning depends on, as one hash. That is its text, the text of everything it
     *  imports, and of every file that adds to what all of them see. */
    dependencyKeys() {
        const reach = new Map(); // file → what it imports, or how an import failed
        const common = [];
        for (const name of this.texts.keys()) {
            const file = this.sourceFile(name);
            const imports = file.imports.map(({ text }) => {
                const found = this.find(text, name);
                return found === undefined || this.untyped.has(found) ? `${text} ${found}` : `${found}.ts`;
            });
            reach.set(name, imports);
            if (file.moduleAugmentations?.length > 0 || file.ambientModuleNames?.length > 0) {
                common.push(name);
            }
        }
        const keys = new Map();
        for (const name of this.texts.keys()) {
            const seen = new Set([name, ...common]);
            for (const one of seen) { // grows while it is walked
                reach.get(one)?.forEach((next) => seen.add(next));
            }
            const hash = createHash("sha256");
            for (const one of [...seen].sort()) {
                hash.update(`${one}\n${this.texts.has(one) ? this.sourceFile(one).version : ""}\n`);
            }
            keys.set(name, hash.digest("base64"));
        }
        return keys;
    }

    rootNames() {
        return [DECLARATIONS, `${EXTENSIONS_ROOT}index.d.ts`, ...this.texts.keys()];
    }

    compilerHost() {
        const known = (name) => this.texts.has(name) || this.libraries.has(name);
        return {
            fileExists: known,
            readFile: (name) => this.texts.get(name) ?? this.libraries.texts.get(name),
            getSourceFile: (name) => this.sourceFile(name),
            getDefaultLibFileName: () => `${LIBRARY_ROOT}lib.esnext.d.ts`,
            getDefaultLibLocation: () => LIBRARY_ROOT,
            getCurrentDirectory: () => ROOT,
            getDirectories: () => [],
            directoryExists: () => false,
            readDirectory: () => [],
            realpath: (name) => name,
            getCanonicalFileName: (name) => name,
            useCaseSensitiveFileNames: () => true,
            getNewLine: () => "\n",
            writeFile: () => {},
            getEnvironmentVariable: () => undefined,
            trace: () => {},
            resolveModuleNameLiterals: (literals, from) =>
                literals.map((literal) => this.resolve(literal.text, from)),
            resolveTypeReferenceDirectiveReferences: (references, from) =>
                references.map(() => ({
                    resolvedTypeReferenceDirective:
                        from === DECLARATIONS
                            ? {
                                  primary: true,
                                  resolvedFileName: `${EXTENSIONS_ROOT}index.d.ts`,
                                  isExternalLibraryImport: false,
                              }
                            : undefined,
                })),
        };
    }
}
