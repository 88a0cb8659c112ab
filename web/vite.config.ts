// The pages become build/web, which the host serves. Everything is a file of its own origin: the
// host's content security policy allows no inline script or style.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

export default defineConfig({
    root: path('.'),
    base: '/',
    publicDir: false,
    build: {
        outDir: path('../build/web'),
        emptyOutDir: true,
        target: 'es2022',
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        chunkSizeWarningLimit: 1000,
    },
    worker: { format: 'es' },
    server: { fs: { allow: ['..'] } },
});
