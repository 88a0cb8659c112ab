// The server's TypeScript compiler (server/build/typescript) in a browser: the same files, with the few
// things they ask of Node taken from web/src/studio/script/compiler. So both make the same bytes.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

import { readApi } from './api_table.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const require = createRequire(import.meta.url);
const LIBRARY_NAME = /^lib\.(es|decorators)[a-z0-9.]*\.d\.ts$/; // as host.mjs has it
const LUALIB = /^universal\/.*\.(?:lua|json)$/;

const SHIMS: Record<string, string> = {
    assert: 'node_assert.ts', fs: 'node_fs.ts', path: 'node_path.ts', crypto: 'node_crypto.ts', module: 'node_module.cjs',
};
const UNUSED = new Set(['inspector', 'os', 'perf_hooks', 'picomatch', 'resolve', 'enhanced-resolve',
    'url', 'util', 'source-map-support']);
const shim = (name: string): string => path(`src/studio/script/compiler/${name}`);

function readAll(folder: string, as: string, isWanted: (name: string) => boolean): [string, string][] {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isWanted)
        .map((name) => [`${as}/${name}`, readFileSync(join(folder, name), 'utf8')]);
}

function compilerFiles(): Record<string, string> {
    const lua = join(dirname(require.resolve('typescript-to-lua')), 'lualib');
    return Object.fromEntries([
        ...readAll(dirname(require.resolve('typescript')), '/typescript/lib', (name) => LIBRARY_NAME.test(name)),
        ...readAll(dirname(require.resolve('@typescript-to-lua/language-extensions/package.json')), '/language-extensions',
            (name) => name.endsWith('.d.ts')),
        ...readAll(lua, '/typescript-to-lua/dist/lualib', (name) => LUALIB.test(name)),
    ]);
}

// api.wasm writes them from the rows of api.def.
function declarations(): string {
    const module = new WebAssembly.Module(readFileSync(path('../build/wasm/api.wasm')));
    const imports: WebAssembly.Imports = {};
    for (const { module: space, name } of WebAssembly.Module.imports(module)) {
        (imports[space] ??= {})[name] = () => 8; // it asks nothing of a system
    }
    const { memory, _initialize, writeDeclarations, textAddress } =
        new WebAssembly.Instance(module, imports).exports as unknown as {
            memory: WebAssembly.Memory; _initialize(): void; writeDeclarations(): number; textAddress(): number;
        };
    _initialize();
    const bytes = writeDeclarations();
    return new TextDecoder().decode(new Uint8Array(memory.buffer, textAddress(), bytes));
}

const VIRTUAL: Record<string, () => unknown> = {
    'virtual:script-api': () => readApi(readFileSync(path('../core/script/api.def'), 'utf8')),
    'virtual:compiler-files': compilerFiles,
    'virtual:script-declarations': declarations,
};

export function scriptModules(): Plugin {
    const isCompiler = (importer: string): boolean =>
        /\/server\/build\/typescript\/|\/node_modules\/(?:typescript|typescript-to-lua|source-map|@typescript-to-lua)\/|\/studio\/script\/compiler\//
            .test(importer);
    return {
        name: 'script-modules',
        enforce: 'pre',
        resolveId(source, importer) {
            if (source in VIRTUAL) {
                return `\0${source}`;
            }
            if (importer === undefined || !isCompiler(importer)) {
                return null;
            }
            const name = source.replace(/^node:/, '');
            return source === './frame.mjs' ? shim('frame.ts')
                : name in SHIMS ? shim(SHIMS[name] ?? '')
                : UNUSED.has(name) ? shim('nothing.ts') : null;
        },
        load(id) {
            const make = id.startsWith('\0') ? VIRTUAL[id.slice(1)] : undefined;
            return make === undefined ? null : `export default JSON.parse(${JSON.stringify(JSON.stringify(make()))});`;
        },
        transform(code, id) {
            const inside = /\/node_modules\/(typescript-to-lua\/dist)\/(.*)$/.exec(id);
            if (inside === null || !/\b(?:__dirname|process\.)/.test(code)) {
                return null;
            }
            const folder = dirname(`/${inside[1] ?? ''}/${inside[2] ?? ''}`);
            return code.replace(/\b__dirname\b/g, JSON.stringify(folder)).replace(/\bprocess\.cwd\(\)/g, '"/"')
                .replace(/\bprocess\.platform\b/g, '"linux"');
        },
    };
}
