import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Recording } from '@taintmgr/page';
import fc from 'fast-check';
import { type Result, withSummary } from '../../../../src/commands/simulate/result/documents.ts';
import { simulationTable } from '../../../../src/commands/simulate/result/table.ts';
import { plain } from '../../../../src/render/style.ts';
import { run } from '../../../world/run.ts';
import { temporaryFiles, topology } from '../../../world/simulate-files.ts';

const untilMs = 600_000;
const usual = { wide: false, headers: true, width: null, paint: plain };

/** The number of items of each kind in an answer. */
interface Sizes {
  readonly workloads: number;
  readonly namespaces: number;
  readonly budgets: number;
  readonly jobs: number;
  readonly unplaced: number;
  readonly loops: number;
  readonly runs: number;
  /** Left out: none. */
  readonly notes?: number;
}

const few: Sizes = {
  workloads: 5,
  namespaces: 2,
  budgets: 2,
  jobs: 1,
  unplaced: 1,
  loops: 1,
  runs: 2,
};
const many: Sizes = {
  ...{
    workloads: 1400,
    namespaces: 60,
    budgets: 700,
    jobs: 100,
    unplaced: 300,
    loops: 50,
    runs: 2,
  },
};

function upTo<Item>(count: number, make: (index: number) => Item): readonly Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Of workload w9 a pod is down for 2 s, and so on: the last is harmed most. */
function recordingOf(sizes: Sizes): Recording {
  const namespaceOf = (index: number): string => `ns${index % sizes.namespaces}`;
  const podOf = (index: number) => ({
    ...{ namespace: namespaceOf(index), pod: `p${index}`, node: `n${index % 3}` },
    workload: `Deployment ${namespaceOf(index)}/w${index % Math.max(1, sizes.workloads)}`,
  });
  const dropped = (name: string, index: number) => ({
    ...{ namespace: namespaceOf(index), name, kind: 'Deployment', workloads: [] },
    serving: [1, 0, 1].map((pods, at) => ({ at: (at * (index + 1)) / 5, pods })),
  });
  return {
    ...{ zones: [], pods: [], deadlines: [], holds: [], refusals: [], failures: [] },
    nodes: upTo(3, (index) => ({ name: `n${index}`, zone: `z${index}`, states: [], pods: [] })),
    workloads: upTo(sizes.workloads, (index) => ({
      ...dropped(`w${index}`, index),
      states: [{ at: 0, wanted: 1, ready: 1 }],
    })),
    budgets: upTo(sizes.budgets, (index) => ({
      ...dropped(`b${index}`, index),
      states: [0, 1].map((at) => ({ at: at * (index + 1), healthy: at, desired: 1 })),
    })),
    jobs: upTo(sizes.jobs, (index) => ({
      ...{ namespace: namespaceOf(index), name: `j${index}`, pods: [] },
      states: [0, 1].map((at) => ({ at, active: 1, succeeded: 0, failed: at * index, end: null })),
    })),
    unplaced: upTo(sizes.unplaced, (index) => ({
      ...podOf(index),
      ...{
        from: index,
        until: null,
        message: `no room for p${index} on any of the nodes there are`,
      },
    })),
    evictions: upTo(sizes.loops, (index) =>
      upTo(3, (at) => ({
        ...podOf(index),
        ...({
          at: at + 1,
          arrivedAt: at,
          how: 'delete',
          because: [`reason ${index}`],
          reasons: [],
        } as const),
      })),
    ).flat(),
  };
}

function resultOf(sizes: Sizes): Result {
  const recording = recordingOf(sizes);
  const range = { leastSeconds: 0, mostSeconds: 1, from: 'observed' } as const;
  const assumptions = recording.workloads.map(({ namespace, name }, index) => ({
    workload: `Deployment ${namespace}/${name}`,
    start: { ...range, mostSeconds: 1 + index },
    stop: range,
  }));
  const unknowns = new Map(
    recording.workloads.map(({ namespace, name }) => [`${namespace}/${name}`, ['affinity']]),
  );
  const runs = upTo(sizes.runs, (index) => {
    const run = { semantics: 'precise', startsAt: 0, assumptions, playedEvents: [] } as const;
    return withSummary({ ...run, recording, unknowns }, untilMs, `variant-${index}`);
  });
  return {
    source: { name: 'test.json', startsAt: 0, missing: [], notes: upTo(sizes.notes ?? 0, String) },
    ...{ script: null, seed: 1, seeds: 1, until: untilMs, runs, limits: [], manager: null },
  };
}

function linesOf(text: string): readonly string[] {
  return text.split('\n');
}

/** The first words of the rows of a table. */
function namesIn(text: string, head: string): readonly string[] {
  const part = text.split('\n\n').find((one) => one.startsWith(`${head} `)) ?? assert.fail(head);
  return linesOf(part)
    .slice(1)
    .filter((line) => !line.startsWith(' '))
    .map((line) => line.replace(/ {2,}.*/, ''));
}

describe('the answer of a simulation', () => {
  it('has at most a hundred lines, however much happened', () => {
    const some = fc.nat({ max: 60 });
    const sizes = fc.record({
      ...{ workloads: some, budgets: some, jobs: some, unplaced: some, loops: some },
      ...{ notes: fc.nat({ max: 12 }), namespaces: fc.integer({ min: 1, max: 20 }) },
      ...{ runs: fc.integer({ min: 1, max: 2 }) },
    });
    const isShort = (one: Sizes): void => {
      const lines = linesOf(simulationTable(resultOf(one), usual)).length + (one.notes ?? 0);
      assert.ok(lines <= 100, `${lines} lines`);
    };
    fc.assert(fc.property(sizes, isShort), { numRuns: 40 });
    isShort(many);
    isShort({ ...many, runs: 1 });
  });

  it('is as it was where it is short: in the order of names, without sums', () => {
    const text = simulationTable(resultOf(few), usual);
    assert.equal(text, simulationTable(resultOf(few), usual, 'all'));
    assert.deepEqual(namesIn(text, 'WORKLOAD'), [
      'ns0/w0 ?',
      'ns1/w1 ?',
      'ns0/w2 ?',
      'ns1/w3 ?',
      'ns0/w4 ?',
    ]);
    assert.doesNotMatch(text, /TOTAL|NAMESPACE|ZONE|The worst are shown/);
  });

  it('shows the worst of each table where it would be long, and what else there is in sums', () => {
    const text = simulationTable(resultOf(many), usual);
    const worst = ['ns19/w1399 ?', 'ns18/w1398 ?', 'ns17/w1397 ?', 'and 1397 more'];
    assert.deepEqual(namesIn(text, 'WORKLOAD'), worst);
    assert.deepEqual(namesIn(text, 'TOTAL'), ['1400 workloads']);
    assert.deepEqual(namesIn(text, 'NAMESPACE'), ['ns19', 'and 59 more']);
    assert.deepEqual(namesIn(text, 'ZONE'), ['<none>', 'z0', 'z1', 'and 1 more']);
  });

  it('shows what differs between runs before what is worse and does not', () => {
    const whole = resultOf({ ...few, workloads: 9 });
    const [before, after] = whole.runs;
    assert.ok(before && after);
    const workloads = after.summary.workloads.map((one) => {
      return one.name === 'w2' ? { ...one, podMinutesLost: one.podMinutesLost + 1 } : one;
    });
    const summary = { ...after.summary, workloads };
    const result = { ...whole, runs: [before, { ...after, summary, draws: [summary] }] };
    const text = simulationTable(result, usual, 3);
    assert.deepEqual(namesIn(text, 'WORKLOAD'), ['ns0/w2 ?', 'ns0/w8 ?', 'ns1/w7 ?', 'and 6 more']);
    assert.match(text, /^What differs and the worst are shown; /m);
  });

  it('shows as many as are asked for', () => {
    const text = simulationTable(resultOf({ ...few, budgets: 3, runs: 1 }), usual, 2);
    assert.deepEqual(namesIn(text, 'WORKLOAD'), ['ns0/w4 ?', 'ns1/w3 ?', 'and 3 more']);
    assert.deepEqual(namesIn(text, 'PDB'), ['ns0/b2', 'ns1/b1', 'and 1 more']);
    assert.match(text, /The worst are shown; --top 50 .*--top all everything\.$/);
  });

  it('shows every row with all, and with -o wide', () => {
    const all = simulationTable(resultOf(many), usual, 'all');
    const wide = simulationTable(resultOf(many), { ...usual, wide: true });
    for (const text of [all, wide]) {
      for (const name of ['w1399', 'b699', 'j99', 'p299'])
        assert.match(text, new RegExp(`\\b${name}\\b`));
      assert.doesNotMatch(text, /The worst are shown|and \d+ more/);
    }
  });
});

describe('--top', () => {
  const { write } = temporaryFiles();
  for (const value of ['0', '-1', '1.5', 'many', '1000001']) {
    it(`refuses ${value}`, async () => {
      const { code, err } = await run('simulate', '-f', 'x.yaml', `--top=${value}`);
      assert.deepEqual([code, /from 1 to 1000000, or all\.$/m.test(err)], [1, true], err);
    });
  }

  it('shows the worst of what was played, and is nothing to the JSON', async () => {
    const source = write('topology.yaml', topology);
    const event = '{at: 10s, taint: {nodes: all, taint: "x=y:NoExecute"}}';
    const played = ['simulate', '-f', source, '--event', event, '--until', '1m', '--top', '1'];
    const { out } = await run(...played);
    assert.deepEqual(namesIn(out, 'WORKLOAD').slice(0, 2), ['shop/web', 'and 1 more']);
    const { out: json } = await run(...played, '-o', 'json');
    const { summary } = JSON.parse(json).runs[0];
    assert.equal(summary.workloads.length, 3);
    assert.equal(summary.totals.evictions, summary.evictions);
  });
});
