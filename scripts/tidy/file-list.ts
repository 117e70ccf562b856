// Lists what each source file says at its head that it is for: npm run tidy -- --files [FOLDER]
import { head } from './heads.ts';
import { type Fault, sourcesOf, type Tree } from './tree.ts';

/** What is listed, and has to say what it is for: no tests, no test data, no settings of tools. */
function listed(tree: Tree): readonly string[] {
  const rooms = /^(packages|apps|tools)\/[^/]+\/(src|scripts)\/|^(scripts|bench)\//;
  return sourcesOf(tree).filter((file) => rooms.test(file) && !file.includes('/test/'));
}

export function withoutHead(tree: Tree): readonly Fault[] {
  return listed(tree)
    .filter((file) => head(file, tree.read(file)) === null)
    .map((file) => ({
      file,
      text: 'does not say at its head what it is for (a comment, one sentence)',
    }));
}

/** A line a file: its path and the first sentence of its first comment. `under`: the folder to list, '' for all. */
export function fileList(tree: Tree, under = ''): string {
  return listed(tree)
    .filter((file) => file.startsWith(under))
    .map((file) => `${file}: ${head(file, tree.read(file)) ?? ''}\n`)
    .join('');
}
