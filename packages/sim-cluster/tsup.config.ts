import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/index.ts', 'src/https/certificate.ts'],
  format: 'esm',
  target: 'es2023',
  platform: 'node',
  dts: false,
  sourcemap: true,
  clean: true,
});
