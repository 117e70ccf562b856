import { builtPage } from '@taintmgr/page/bundled';
import { defineConfig } from 'tsup';

// A bundle with everything in it: what is published needs no dependencies and starts fast.
export default defineConfig({
  entry: ['src/main.ts'],
  format: 'esm',
  target: 'node22',
  platform: 'node',
  dts: false,
  clean: true,
  minify: true,
  noExternal: [/.*/],
  esbuildPlugins: [builtPage],
  // Some of the bundled libraries are CommonJS and call require for Node's own modules.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
