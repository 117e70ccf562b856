import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/index.ts', 'src/doors/*.ts'],
  format: 'esm',
  target: 'es2023',
  platform: 'neutral',
  dts: false,
  clean: true,
  // Names stay, for stack traces.
  esbuildOptions: (options) => {
    options.minifySyntax = true;
    options.minifyWhitespace = true;
  },
});
