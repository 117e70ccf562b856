import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A runtime that is installed. */
export interface Runtime {
  readonly name: 'Node' | 'Bun' | 'Deno';
  readonly binary: string;
  /** What comes before a program of ours, or before the files of tests. */
  readonly run: readonly string[];
  readonly test: readonly string[];
}

const tool = (name: string): string =>
  fileURLToPath(new URL(`../../../../tools/runtimes/node_modules/.bin/${name}`, import.meta.url));
const source = ['--conditions', '@taintmgr/source'];

const known: readonly Runtime[] = [
  { name: 'Node', binary: process.execPath, run: source, test: [...source, '--test'] },
  { name: 'Bun', binary: tool('bun'), run: source, test: ['test', '--timeout=180000', ...source] },
  {
    name: 'Deno',
    binary: tool('deno'),
    run: ['run', '-A', '--quiet', '--no-check', ...source],
    test: ['test', '-A', '--quiet', '--no-check', ...source],
  },
];

/** The runtimes on which everything of the wire is tested; this one is among them. */
export const runtimes: readonly Runtime[] = known.filter(({ binary }) => existsSync(binary));
