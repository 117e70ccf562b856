// Writes the code in dist: a bundle for each entry point. Run it in the folder of the package.
import { readFileSync, rmSync } from 'node:fs';
import { rolldown } from 'rolldown';

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
const bundle = await rolldown({ input, platform: 'neutral', transform: { target: 'es2023' } });
await bundle.write({
  dir: 'dist',
  comments: false,
  chunkFileNames: 'chunks/[name]-[hash].js',
  minify: { compress: { target: 'es2023', keepNames }, mangle: { keepNames } },
});
