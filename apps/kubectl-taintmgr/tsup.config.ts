import { cp } from 'node:fs/promises';
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
  esbuildOptions: (options) => {
    options.conditions = ['@taintmgr/source'];
  },
  // The page of `simulate --report` is put together when it is written.
  onSuccess: () =>
    cp('src/commands/simulate/result/page/assets', 'dist/assets', { recursive: true }),
  // Some of the bundled libraries are CommonJS and call require for Node's own modules.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
