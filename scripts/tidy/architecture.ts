// Checks that the guides are true: the things they name exist, and their floors are those that tidy
// enforces.
import { posix } from 'node:path';
import { houses } from './floors.ts';
import type { Fault, Tree } from './tree.ts';

const guides = ['ARCHITECTURE.md', 'CONTRIBUTING.md'];

export function guideFaults(tree: Tree): readonly Fault[] {
  return [...guides.flatMap((file) => missingPaths(tree, file)), ...brokenLinks(tree)];
}

/** `core/src/store.ts` stands for packages/core/src/store.ts, `tidy.ts` for a file of that name. */
function missingPaths(tree: Tree, file: string): readonly Fault[] {
  if (!tree.files.includes(file)) return [];
  const named = tree.read(file).matchAll(/`([\w@.{},*/-]+)`/g);
  const paths = new Set(Array.from(named, ([, path]) => path ?? ''));
  return [...paths]
    .filter((path) => isPath(path) && !exists(tree, path))
    .map((path) => ({ file, text: `names ${path}, which is not there` }));
}

const topFolders = 'packages|apps|tools|docs|scripts|bench|deploy|\\.ci|\\.changeset';
const packageNames = 'core|k8s-adapter|sim-cluster|api-server|controller|kubectl-taintmgr';

function isPath(text: string): boolean {
  return (
    new RegExp(`^(${topFolders}|${packageNames})/`).test(text) ||
    /^[\w@.*/-]+\.(ts|mjs|json|md)$/.test(text)
  );
}

function exists(tree: Tree, path: string): boolean {
  const pattern = path
    .replace(/\/$/, '')
    .replace(/[.\\+?^${}()|[\]]/g, '\\$&')
    .replaceAll('*', '[^/]+');
  const found = new RegExp(`^((packages|apps|tools)/)?${pattern}(/|$)`);
  const byName = path.includes('/') ? found : new RegExp(`(^|/)${pattern}$`);
  return tree.files.some((file) => found.test(file) || byName.test(file));
}

/** Links from one document to another, and to files. */
function brokenLinks(tree: Tree): readonly Fault[] {
  const documents = tree.files.filter((file) => /^[^/]+\.md$|^docs\/.*\.md$/.test(file));
  return documents.flatMap((file) => {
    const links = tree.read(file).matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g);
    const targets = new Set(Array.from(links, ([, link]) => link ?? ''));
    return [...targets]
      .filter((link) => !exists(tree, posix.join(posix.dirname(file), link)))
      .map((link) => ({ file, text: `links to ${link}, which is not there` }));
  });
}

const floorsOpening = '```text\n';

const columnsMax = 100;

/** The floors as ARCHITECTURE.md shows them: the first block of its kind. */
export function withFloors(text: string, all: typeof houses = houses): string {
  const blocks = Object.entries(all).map(([folder, { floors }]) =>
    [folder, ...linesOf(floors), ''].join('\n'),
  );
  const [before, rest = ''] = splitAt(text, floorsOpening);
  return before + floorsOpening + blocks.join('') + rest.slice(rest.indexOf('```'));
}

/** Puts as many floors on a line as fit; each arrow points to a floor that may be imported. */
function linesOf(floors: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const [index, floor] of floors.entries()) {
    const arrow = index < floors.length - 1 ? ' →' : '';
    const longer = `${lines.at(-1) ?? ' '} ${floor}${arrow}`;
    if (lines.length > 0 && longer.length <= columnsMax) lines[lines.length - 1] = longer;
    else lines.push(`  ${floor}${arrow}`);
  }
  return lines;
}

function splitAt(text: string, mark: string): readonly [string, string?] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

export function floorsFaults(tree: Tree, all: typeof houses = houses): readonly Fault[] {
  const file = 'ARCHITECTURE.md';
  const text = tree.files.includes(file) ? tree.read(file) : '';
  const fault = 'shows other floors than scripts/tidy/floors.ts: run `npm run tidy -- --write`';
  return withFloors(text, all) === text ? [] : [{ file, text: fault }];
}
