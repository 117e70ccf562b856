// docs/files.md, made of what each source file says at its head that it is for.
import { posix } from 'node:path';
import { head } from './heads.ts';
import { type Fault, sourcesOf, type Tree } from './tree.ts';

export const listFile = 'docs/files.md';
const howTo = 'run `npm run tidy -- --write`';

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

export function staleList(tree: Tree): readonly Fault[] {
  const isFresh = tree.files.includes(listFile) && tree.read(listFile) === fileList(tree);
  return isFresh ? [] : [{ file: listFile, text: `is stale: ${howTo}` }];
}

export function fileList(tree: Tree): string {
  const folders = new Map<string, string[]>();
  for (const file of listed(tree)) {
    const folder = posix.dirname(file);
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  const tables = Array.from(folders, ([folder, files]) => {
    const rows = files.map((file) => {
      const text = head(file, tree.read(file)) ?? '';
      return `| \`${posix.basename(file)}\` | ${text.replaceAll('|', '\\|')} |`;
    });
    return [`## \`${folder}\``, '', '| file | what it is for |', '|---|---|', ...rows, ''].join(
      '\n',
    );
  });
  const opening = `# Files

What each source file is for, as it says itself at its head. This page is generated: to change a line,
change the first sentence of the file's first comment and ${howTo}. Which room may import which,
and where something new goes, is in [ARCHITECTURE.md](../ARCHITECTURE.md).
`;
  return [opening, ...tables].join('\n');
}
