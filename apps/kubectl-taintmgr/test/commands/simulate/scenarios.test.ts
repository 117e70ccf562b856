import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createEngine, type Event, type Pod, parseTaint } from '@taintmgr/core';
import { type FlightStep, flightApiVersion, flightLine } from '@taintmgr/k8s-adapter';
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
  const topologies = ['spot-pool.yaml', 'three-zones.yaml'];
  const scripts = readdirSync(directory).filter((name) => name.endsWith('.yaml'));
  assert.deepEqual([...played, ...topologies].sort(), scripts.sort());
});

const mistakes = `events:
- at: soon
  taint: {zone: zone-a, taint: 'maintenance=kernel:NoExecute'}
- {at: 5m, stopKubelet: {zones: zone-b}}
`;

const startedAt = '2026-05-04T12:00:00.000Z';
const pod: Pod = {
  ...{ namespace: 'shop', name: 'web-0', uid: 'p1', nodeName: 'zone-a-1', phase: 'Running' },
  ...{ tolerations: [], boundAt: null, deletionTimestamp: null, generation: 1, mirror: false },
  ...{ owner: null, hasEmptyDir: false },
};
const taints = [parseTaint('maintenance=kernel:NoExecute')];
const story: readonly Event[] = [
  { kind: 'nodeUpsert', node: { name: 'zone-a-1', uid: 'n1', taints: [] } },
  { kind: 'podUpsert', pod },
  { kind: 'synced' },
  { kind: 'nodeUpsert', node: { name: 'zone-a-1', uid: 'n1', taints } },
  { kind: 'tick' },
];

/** What a recorder writes of these events, given to an engine that evicts in this way. */
function flightOf(mode: 'delete' | 'evict', version: string): string {
  const kind = 'FlightRecord';
  const head = { apiVersion: flightApiVersion, kind, version, startedAt, engine: {} } as const;
  const engine = createEngine({ mode });
  const steps = story.map((event, index): FlightStep => {
    const at = Date.parse(startedAt) + index * 20_000;
    const commands = engine.handle(at, event);
    return { step: index + 1, at, event, ...(commands.length > 0 && { commands }) };
  });
  return [head, ...steps, { end: 'stopped' } as const].map(flightLine).join('');
}

/** Each release has another version. */
const steady = (text: string): string => text.replace(/(; this is )\S+/, '$1VERSION');

it('the page of the command shows what it prints', async () => {
  writeFileSync('mistakes.yaml', mistakes);
  writeFileSync('flight.jsonl', flightOf('delete', '0.1.0'));
  writeFileSync('flight-of-another-build.jsonl', flightOf('evict', '0.0.9'));
  await playTranscript(page, play, steady);
});
