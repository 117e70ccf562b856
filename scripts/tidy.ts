// What the linter cannot say about this repository. Prints one line per fault and exits 1 if any.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { replaced } from './wording.ts';

interface Fault {
  readonly file: string;
  readonly text: string;
}

const maxLines = 400;
/** Files that are longer than the fence today: they may shrink, never grow. */
const knownLong: Readonly<Record<string, number>> = {};

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  // Git still knows a file that is deleted and not yet committed.
  .filter((file) => existsSync(file));
const sources = files.filter((file) => /\.(ts|mjs)$/.test(file));
const read = (file: string): string => readFileSync(file, 'utf8');

const faults: readonly Fault[] = [
  ...sources.flatMap(tooLong),
  ...sources.filter(isCore).flatMap(impure),
  ...sources.filter(isAdapterSource).flatMap(importsTheCluster),
  ...['packages/core', 'packages/sim-cluster'].flatMap(hasDependencies),
  ...files.filter(isProse).flatMap(namesAMachine),
  ...files.filter(isShown).flatMap(saysWhatWasReplaced),
];

for (const { file, text } of faults) process.stdout.write(`${file}: ${text}\n`);
process.stdout.write(`tidy: ${sources.length} source files, ${faults.length} faults\n`);
process.exitCode = faults.length > 0 ? 1 : 0;

function isCore(file: string): boolean {
  return file.startsWith('packages/core/src/');
}

function isAdapterSource(file: string): boolean {
  return file.startsWith('packages/k8s-adapter/src/');
}

function isProse(file: string): boolean {
  return /\.(ts|mjs|md|json|yaml|yml)$/.test(file) && !file.includes('testdata');
}

/** What people see: sources, documents, manifests and transcripts. */
function isShown(file: string): boolean {
  if (/\/test\//.test(file) && !file.includes('/testdata')) return false;
  return /^(apps|packages|docs|deploy)\/.*\.(ts|js|html|md|yaml|txt)$|^[^/]+\.md$/.test(file);
}

function tooLong(file: string): readonly Fault[] {
  const lines = read(file).split('\n').length - 1;
  const allowed = knownLong[file] ?? maxLines;
  return lines > allowed ? [{ file, text: `${lines} lines, at most ${allowed}` }] : [];
}

/** The core is synchronous, deterministic and free of locales. Comments may say what they like. */
function impure(file: string): readonly Fault[] {
  const code = read(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const banned = /\b(async|await|Promise|localeCompare|Math\.random|crypto)\b/g;
  return Array.from(code.matchAll(banned), ([word]) => ({ file, text: `"${word}" in the core` }));
}

/** The adapter may test against the simulated cluster, never build on it. */
function importsTheCluster(file: string): readonly Fault[] {
  const found = read(file).includes("'@taintmgr/sim-cluster'");
  return found ? [{ file, text: 'the adapter is built without the simulated cluster' }] : [];
}

function hasDependencies(folder: string): readonly Fault[] {
  const file = `${folder}/package.json`;
  const { dependencies = {} } = JSON.parse(read(file));
  return Object.keys(dependencies).map((name) => ({ file, text: `depends on ${name}` }));
}

/** Nobody else has this machine's home folders or an internal registry. */
function namesAMachine(file: string): readonly Fault[] {
  const found = /(?:^|[\s"'(=])(\/(?:work|home|root|Users)\/[\w.-]+)/m.exec(read(file));
  return found ? [{ file, text: `names a path of somebody's machine: ${found[1]}` }] : [];
}

/** Words that readers stumbled over do not come back. */
function saysWhatWasReplaced(file: string): readonly Fault[] {
  const text = read(file);
  const shown = /\.(ts|js)$/.test(file) ? withoutComments(text) : text;
  // A sentence goes on in the next line, and in the next part of a text.
  const line = shown.replace(/['`] \+\s*['`]/g, '').replace(/\s+/g, ' ');
  return replaced.flatMap(({ phrase, instead }) => {
    const found = phrase.exec(line);
    return found
      ? [{ file, text: `says "${found[0]}"; say "${instead}" (scripts/wording.ts)` }]
      : [];
  });
}

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}
