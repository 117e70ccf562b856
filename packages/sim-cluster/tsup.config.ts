import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/index.ts', 'src/server.ts'],
  format: 'esm',
  target: 'es2023',
  platform: 'node',
  dts: false,
  clean: true,
});
