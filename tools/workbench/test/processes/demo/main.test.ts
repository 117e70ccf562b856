import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readScript } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/script/script.ts';
import { recording } from '../../../src/demo/recording.ts';
import { type Played, scoresOf } from '../../../src/demo/scoreboard.ts';
import { frameLines, headline } from '../../../src/demo/screen.ts';
import { type SideView, startSides } from '../../../src/demo/side.ts';
import { chapters, hour } from '../../../src/demo/story.ts';

// The output of the demo is the same each time; on a terminal it shows two sides.

const main = fileURLToPath(new URL('../../../src/demo/main.ts', import.meta.url));
const root = new URL('../../../../../', import.meta.url);
const transcripts = new URL('../../testdata/demo/', import.meta.url);

// Transcripts have no colours, whatever the machine asks for.
delete process.env.FORCE_COLOR;

function same(printed: string, file: string): void {
  const transcript = new URL(file, transcripts);
  if (process.env.REWRITE === '1') writeFileSync(transcript, printed);
  assert.equal(printed, readFileSync(transcript, 'utf8'));
}

/** Runs the demo as a program; without a terminal it prints lines. */
async function demo(...args: readonly string[]): Promise<string> {
  const program = ['-C', '@taintmgr/source', main, ...args];
  const options = { cwd: fileURLToPath(root), env: { ...process.env, NO_COLOR: '1' } };
  const { stdout } = await promisify(execFile)(process.execPath, program, options);
  return stdout;
}

describe('npm run demo', () => {
  it('says what one sees, plays the hour on both sides, and ends with one command', async () => {
    const printed = await demo();
    assert.ok(printed.startsWith(`${headline}\n`));
    const [next = '', ...others] = printed
      .split('\n')
      .filter((line) => /npm run|kubectl/.test(line));
    assert.deepEqual(others, []);
    assert.ok(next.length <= 80, next);
    same(printed, 'plain.txt');
    const scores = printed.split('\n').filter((line) => line.endsWith(' ok'));
    assert.equal(scores.length, 6);
    const readme = readFileSync(new URL('README.md', root), 'utf8');
    for (const line of scores) {
      assert.ok(line.length <= 80, line);
      assert.ok(readme.includes(`\n${line}\n`), `README.md shows another line than: ${line}`);
    }
    const page = readFileSync(new URL('reports/demo.html', root), 'utf8');
    assert.match(page, /^<!doctype html>/i);
  });

  it('has the figures that are expected with another seed too', async () => {
    const printed = await demo('--seed', '7');
    assert.match(printed, /^All figures as expected\. Report: /m);
    assert.doesNotMatch(printed, /WRONG/);
  });

  it('moves in the README as it does on a terminal', async () => {
    const drawn = recording(await startSides(1));
    const shown = readFileSync(new URL('docs/demo.svg', root), 'utf8');
    assert.ok(drawn === shown, 'docs/demo.svg is old: npm run pictures');
  });

  for (const [args, said] of [
    [['--speed', '0'], '--speed: got "0", want a number from 1 to 10000, or max'],
    [['--seed', 'x'], '--seed: got "x", want a whole number'],
  ] as const) {
    it(`refuses ${args.join(' ')}`, async () => {
      await assert.rejects(demo(...args), { code: 1, stderr: `error: ${said}\n` });
    });
  }
});

it('each scene is something that the scenario does', () => {
  const text = readFileSync(new URL('docs/scenarios/demo.yaml', root), 'utf8');
  const { events } = readScript('demo.yaml', text, hour);
  const minutes = new Set(events.flatMap(({ at, lasts }) => [at, at + (lasts ?? 0)]));
  for (const { minute } of chapters.flatMap(({ scenes }) => scenes)) {
    assert.ok(minutes.has(minute * 60_000), `minute ${minute}`);
  }
});

describe('the scoreboard', () => {
  const none = { evictions: 0, refusals: 0, workloads: [], budgets: [] };
  const played: Played = { summaries: Array(chapters.length + 1).fill(none), deadlines: [] };

  it('shows what is not as expected', () => {
    const scores = scoresOf(played, played);
    assert.equal(scores.length, 6);
    assert.deepEqual(
      scores.map(({ isKept }) => isKept),
      Array(6).fill(false),
    );
  });

  it('needs all chapters', () => {
    assert.throws(() => scoresOf(played, { ...played, summaries: [] }), /was not played/);
  });
});

describe('the board', () => {
  const left: SideView = {
    now: 450,
    zones: [
      { name: 'zone-a', nodes: ['ready', 'ready'] },
      { name: 'zone-b', nodes: ['down', 'tainted'] },
    ],
    workloads: [
      { name: 'shop/web', wanted: 30, serving: 20, needed: 29 },
      { name: 'shop/db', wanted: 3, serving: 0, needed: 2 },
    ],
    deadlines: [
      { workload: 'shop/web', node: 'zone-b-1', pods: 2, left: 155, given: 300 },
      { workload: 'shop/db', node: 'zone-b-2', pods: 1, left: 300, given: 300 },
      { workload: 'shop/web', node: 'zone-b-2', pods: 3, left: 300, given: 300 },
      { workload: 'shop/web', node: 'zone-b-3', pods: 4, left: 300, given: 300 },
    ],
    down: [
      { at: 0, pods: 0 },
      { at: 120, pods: 33 },
      { at: 300, pods: 13 },
    ],
    evicted: 3,
    held: 0,
    refused: 0,
  };
  const right = { ...left, deadlines: [], evicted: 0, held: 30, refused: 12 };
  const said = [
    { at: 120_000, text: 'shop/web below budget: 20 of 29' },
    { at: 400_000, text: 'evicts shop/web: no toleration for health.example/gpu=failed' },
    { at: 440_000, text: 'limit trips: pods are held' },
  ];
  const play = {
    scene: 'Both controllers restart',
    shown: () => [
      { title: 'kube-controller-manager', view: left, said },
      { title: 'taintmgr', view: right, said },
    ],
  };

  for (const [columns, rows] of [
    [80, 23],
    [100, 29],
    [140, 39],
  ] as const) {
    it(`fills a terminal of ${columns} columns and ${rows + 1} rows`, () => {
      const lines = frameLines(450_000, play, columns, rows).map((line) =>
        line.map(([text]) => text).join(''),
      );
      assert.equal(lines.length, rows);
      for (const line of lines) assert.ok(line.length <= columns, line);
      const shown = lines.map((line) => line.trimEnd()).join('\n');
      if (columns === 80) same(`${shown}\n`, 'board.txt');
      for (const text of ['at most 33', 'needs: the minimum of a budget', 'limit trips'])
        assert.ok(shown.includes(text), text);
    });
  }
});
