// Writes the types of a library: for each of its exports one file, with what these need and nothing else.
// The compiler writes one for each source, two thirds of which nobody could import. Run it in the
// folder of the package, after what empties dist.
import { readFileSync } from 'node:fs';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Sources by the names of the files of types that they become. */
const input = Object.fromEntries(
  Object.values(exports).flatMap(({ '@taintmgr/source': source, types }) =>
    types ? [[types.replace(/^\.\/dist\//, '').replace(/\.d\.ts$/, ''), source]] : [],
  ),
);
const bundle = await rolldown({
  input,
  // Types stand at the sources: every export has its own (isolatedDeclarations).
  plugins: [dts({ oxc: true, emitDtsOnly: true, sourcemap: false, tsconfig: 'tsconfig.json' })],
});
await bundle.write({ dir: 'dist', format: 'es', chunkFileNames: 'types/[name]-[hash].js' });
