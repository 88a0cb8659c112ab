// The pages (index.html is the game, studio.html makes places, site.html everything around them) become build/web, which the host
// serves. Everything is a file of its own origin: the host's content security policy allows no inline
// script, and only its own inline styles.
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Plugin, defineConfig } from 'vite';

import { scriptModules } from './compiler_plugin.ts';
import { drawIcon } from './icon.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const SERVICE_WORKER = 'service-worker.js';
const ICON_SIZES = [192, 512];
const MANIFEST = {
    name: 'Sandlot',
    short_name: 'Sandlot',
    description: 'Multiplayer games that players make themselves.',
    id: '/',
    start_url: '/',
    display: 'standalone',
    background_color: '#10151c',
    theme_color: '#1f6a9b',
    icons: [
        { src: '/icon.svg', sizes: 'any', type: 'image/svg+xml' },
        ...ICON_SIZES.map((size) => ({
            src: `/icon-${size}.png`, sizes: `${size}x${size}`, type: 'image/png',
        })),
    ],
};

// What a browser needs to install the page, and the list of files that the service worker keeps.
const installable: Plugin = {
    name: 'installable',
    enforce: 'post',
    generateBundle(_options, bundle) {
        const emit = (fileName: string, source: string | Uint8Array): void =>
            void this.emitFile({ type: 'asset', fileName, source });
        emit('manifest.webmanifest', JSON.stringify(MANIFEST));
        emit('icon.svg', readFileSync(path('src/ui/icon.svg'), 'utf8'));
        ICON_SIZES.forEach((size) => emit(`icon-${size}.png`, drawIcon(size)));
        // The Studio's document compares revisions on the pages of creators: nobody needs it to play.
        const names = Object.keys(bundle).filter((name) => name.startsWith('assets/') && !/\/(?:studio|words_tool)-/.test(name)).sort()
            .map((name) => `/${name}`);
        const worker = bundle[SERVICE_WORKER];
        if (worker?.type !== 'chunk' || !/["'`]__FILES__["'`]/.test(worker.code)) {
            throw new Error('there is no service worker that wants the list of files');
        }
        worker.code = worker.code.replace(/["'`]__FILES__["'`]/,
            () => JSON.stringify(JSON.stringify(names)));
    },
};

// The worker is fetched beside the page's script, not after it.
const preloadWorker: Plugin = {
    name: 'preload-worker',
    transformIndexHtml: {
        order: 'post',
        handler: (_html, { bundle, path: page }) => Object.keys(bundle ?? {})
            .filter((name) => page === '/index.html' && /^assets\/worker-[^/]*\.js$/.test(name))
            .map((name) => ({
                tag: 'link', attrs: { rel: 'modulepreload', href: `/${name}` }, injectTo: 'head',
            })),
    },
};

// three's shaders, without the comments and blank space that its own build removes as well.
const shortShaders = {
    name: 'short-shaders',
    transform(code: string, id: string): string | null {
        return !/three\/src\/renderers\/shaders\/.*\.glsl\.js$/.test(id) ? null
            : code.replace(/\/\* glsl \*\/`(.*?)`/gs, (_, shader: string) => JSON.stringify(shader
                .trim().replace(/\r/g, '').replace(/[ \t]*\/\/.*\n/g, '')
                .replace(/[ \t]*\/\*[\s\S]*?\*\//g, '').replace(/\n{2,}/g, '\n')));
    },
};

// The Studio (`--mode studio`) is built after the others and shares no file with them: what it needs of
// three would otherwise cut the game's scripts into many small ones, which weigh more together.
export default defineConfig(({ mode }) => ({
    root: path('.'),
    base: '/',
    publicDir: false,
    plugins: [shortShaders, ...(mode === 'studio' ? [scriptModules()] : [installable, preloadWorker])],
    // Its sources and not the one file they are built into: so what only models need (animations,
    // skeletons, physical materials) is loaded with them and not before the first picture.
    resolve: {
        alias: [
            { find: /^three$/, replacement: 'three/src/Three.js' },
            { find: /^.*\/webxr\/WebXRManager\.js$/, replacement: path('src/left_out/headset.ts') },
            { find: /^.*\/extras\/PMREMGenerator\.js$/, replacement: path('src/left_out/environment.ts') },
        ],
    },
    define: { CORE_BYTES: statSync(path('../build/wasm/core.wasm')).size },
    build: {
        outDir: path('../build/web'),
        emptyOutDir: mode !== 'studio',
        target: 'es2022',
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        chunkSizeWarningLimit: 1000,
        rollupOptions: {
            input: mode === 'studio' ? { studio: path('studio.html') } : {
                index: path('index.html'), site: path('site.html'), service: path('src/service_worker.ts'),
            },
            output: {
                entryFileNames: ({ name }) =>
                    name === 'service' ? SERVICE_WORKER : 'assets/[name]-[hash].js',
            },
        },
    },
    worker: { format: 'es', plugins: () => [scriptModules()] },
    server: { fs: { allow: ['..'] } },
}));
