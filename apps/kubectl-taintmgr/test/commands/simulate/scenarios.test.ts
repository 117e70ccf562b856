import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Result, run } from '../../world/run.ts';
import { playTranscript } from '../../world/transcript.ts';

// What docs/scenarios and the page of the command show is what the commands print; pages for browsers
// are written beside copies of the files, so that nothing is left in the documentation.

const scenarios = new URL('../../../../../docs/scenarios/', import.meta.url);
const page = new URL('../../../../../docs/commands/simulate.md', import.meta.url);
const folder = process.cwd();
let directory = '';

before(() => {
  directory = mkdtempSync(join(tmpdir(), 'scenarios-'));
  cpSync(fileURLToPath(scenarios), directory, { recursive: true });
  process.chdir(directory);
});
after(() => {
  process.chdir(folder);
  rmSync(directory, { recursive: true });
});

/** Runs `kubectl taintmgr ARGS`, of which some may stand in quotes, or `... | head -N`. */
async function play(line: string): Promise<Result> {
  const [command = '', shown] = line.split(' | head -');
  const words = command.match(/'[^']*'|\S+/g) ?? [];
  const result = await run(...words.slice(2).map((word) => word.replace(/^'(.*)'$/, '$1')));
  if (shown === undefined) return result;
  const out = result.out.split('\n').slice(0, Number(shown));
  return { code: result.code, out: `${out.join('\n')}\n`, err: '' };
}

it('every scenario says what happens, and makes its page', async () => {
  const played: string[] = [];
  const texts = readdirSync(scenarios).filter((name) => name.endsWith('.txt'));
  const playScenario = async (line: string): Promise<Result> => {
    const args = line.split(' ');
    const report = args.at(args.indexOf('--report') + 1) ?? '';
    const result = await play(line);
    assert.ok(existsSync(report), report);
    for (const text of result.out.split('\n')) assert.ok(text.length <= 100, text);
    played.push(args.at(args.indexOf('--script') + 1) ?? '');
    return result;
  };
  for (const file of ['README.md', ...texts]) {
    await playTranscript(new URL(file, scenarios), playScenario);
  }
  const others = ['mistakes.yaml', 'spot-pool.yaml', 'three-zones.yaml'];
  const scripts = readdirSync(directory).filter((name) => name.endsWith('.yaml'));
  assert.deepEqual([...played, ...others].sort(), scripts.sort());
});

/** Each release has another version. */
const steady = (text: string): string => text.replace(/(; this is )\S+/, '$1VERSION');

it('the page of the command shows what it prints', async () => {
  await playTranscript(page, play, steady);
});
