import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/index.ts', 'src/doors/*.ts'],
  format: 'esm',
  target: 'es2023',
  platform: 'neutral',
  dts: false,
  clean: true,
  // Functions and methods that are not private keep their names, for stack traces.
  esbuildOptions: (options) => {
    options.minify = true;
    options.keepNames = true;
  },
});
