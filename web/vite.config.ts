import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** Puts a `.br` beside every file worth compressing; the server sends those as they are. */
function brotli(): Plugin {
  return {
    name: 'weft-brotli',
    apply: 'build',
    closeBundle() {
      const out = join(import.meta.dirname, 'dist');
      for (const name of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(js|css|html|svg|json|webmanifest)$/.test(name)) continue;
        const bytes = readFileSync(join(out, name));
        // The app's page is filled in by the server, so it is sent as it is.
        if (name === 'index.html' || bytes.length < 1024) continue;
        const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
        writeFileSync(join(out, `${name}.br`), brotliCompressSync(bytes, { params }));
      }
    },
  };
}

/** The script that the first view needs, compressed, may not be larger than this. */
const FIRST_VIEW_BYTES = 250 * 1024;

function budget(): Plugin {
  return {
    name: 'weft-budget',
    apply: 'build',
    generateBundle(_options, bundle) {
      const needed = new Set<string>();
      const add = (name: string) => {
        const file = bundle[name];
        if (file?.type !== 'chunk' || needed.has(name)) return;
        needed.add(name);
        file.imports.forEach(add);
      };
      for (const file of Object.values(bundle)) if (file.type === 'chunk' && file.isEntry) add(file.fileName);
      let bytes = 0;
      for (const name of needed) {
        const file = bundle[name];
        if (file?.type === 'chunk') bytes += brotliCompressSync(file.code, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }).length;
      }
      this.info(`first view: ${(bytes / 1024).toFixed(0)} KB of compressed script`);
      if (bytes > FIRST_VIEW_BYTES) this.error(`The first view needs ${bytes} bytes of compressed script; the budget is ${FIRST_VIEW_BYTES}.`);
    },
  };
}

export default defineConfig({
  plugins: [react(), budget(), brotli()],
  build: {
    target: 'es2022',
    // Lazily loaded diagrams are large; the first view is held to its budget by a test.
    chunkSizeWarningLimit: 1500,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  test: { include: ['tests/**/*.test.{ts,tsx}'], environment: 'node' },
});
