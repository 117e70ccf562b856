// Files that are too long, and paths that exist on one machine only.
import { type Fault, sourcesOf, type Tree } from './tree.ts';

const maxLines = 600;

export function tooLong(tree: Tree): readonly Fault[] {
  return sourcesOf(tree).flatMap((file) => {
    const lines = tree.read(file).split('\n').length - 1;
    return lines > maxLines ? [{ file, text: `${lines} lines, at most ${maxLines}` }] : [];
  });
}

/** Nobody else has the home folders of the machine on which something was written. */
export function namesAMachine(tree: Tree): readonly Fault[] {
  const isProse = /\.(ts|mjs|md|json|yaml|yml)$/;
  return tree.files
    .filter((file) => isProse.test(file) && !file.includes('testdata'))
    .flatMap((file) => {
      const found = /(?:^|[\s"'(=])(\/(?:work|home|root|Users)\/[\w.-]+)/m.exec(tree.read(file));
      return found ? [{ file, text: `names a path of somebody's machine: ${found[1]}` }] : [];
    });
}
