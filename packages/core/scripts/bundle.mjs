// Writes dist: for each entry point a bundle, and one file of types, with what these need and nothing
// else. The compiler alone would write types for each source, two thirds of which nobody could import.
// Run it in the folder of the package.
import { readFileSync, rmSync } from 'node:fs';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Sources by the names of the files that they become. */
const input = Object.fromEntries(
  Object.values(exports).flatMap(({ '@taintmgr/source': source, default: file }) =>
    source ? [[file.replace(/^\.\/dist\//, '').replace(/\.js$/, ''), source]] : [],
  ),
);
// Functions and methods that are not private keep their names, for stack traces.
const keepNames = { function: true, class: true };

rmSync('dist', { recursive: true, force: true });
const code = await rolldown({ input, platform: 'neutral', transform: { target: 'es2023' } });
await code.write({
  dir: 'dist',
  comments: false,
  chunkFileNames: 'chunks/[name]-[hash].js',
  minify: { compress: { target: 'es2023', keepNames }, mangle: { keepNames } },
});
// The compiler writes the types that are bundled: it alone keeps the comments of unions.
const types = await rolldown({
  input,
  plugins: [
    dts({
      tsgo: { path: '../../node_modules/.bin/tsc' },
      emitDtsOnly: true,
      sourcemap: false,
      tsconfig: 'tsconfig.json',
    }),
  ],
});
await types.write({ dir: 'dist', chunkFileNames: 'types/[name]-[hash].js' });
