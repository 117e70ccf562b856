// The imports among source files, including types and lazy imports, and the check that none form a
// circle.
import { posix } from 'node:path';
import { type Fault, sourcesOf, type Tree, withoutComments } from './tree.ts';

/** The imports of each file from its own package, by paths from the root. */
export type Imports = ReadonlyMap<string, readonly string[]>;

const specifier = /\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;

export function importsOf(tree: Tree): Imports {
  const sources = sourcesOf(tree);
  const known = new Set(sources);
  return new Map(
    sources.map((file) => {
      const found = Array.from(withoutComments(tree.read(file)).matchAll(specifier), ([, path]) =>
        posix.join(posix.dirname(file), path ?? ''),
      );
      return [file, [...new Set(found)].filter((path) => known.has(path))];
    }),
  );
}

/** Circles outside of tests, one for each file at which the walk came back. */
export function circles(tree: Tree): readonly Fault[] {
  const imports = importsOf(tree);
  const done = new Set<string>();
  const faults: Fault[] = [];
  const walk = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) {
      if (faults.some((fault) => fault.file === file)) return;
      const circle = [...path.slice(start + 1), file].join(' -> ');
      faults.push({ file, text: `imports itself in a circle: ${circle}` });
      return;
    }
    if (done.has(file)) return;
    for (const next of imports.get(file) ?? []) if (!isTest(next)) walk(next, [...path, file]);
    done.add(file);
  };
  for (const file of imports.keys()) if (!isTest(file)) walk(file, []);
  return faults;
}

function isTest(file: string): boolean {
  return file.includes('/test/');
}
