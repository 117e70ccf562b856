// Writes the types of a library: for each of its entry points one file, with what these need and nothing
// else. The compiler alone writes one for each source, most of which nobody could import. Run it in the
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
  // The types of other packages stay there.
  external: /^[@a-z]/,
  // The compiler writes what is bundled: it alone keeps the comments of unions.
  plugins: [
    dts({
      tsgo: { path: '../../node_modules/.bin/tsc' },
      emitDtsOnly: true,
      sourcemap: false,
      tsconfig: 'tsconfig.json',
    }),
  ],
});
await bundle.write({ dir: 'dist', chunkFileNames: 'types/[name]-[hash].js' });
