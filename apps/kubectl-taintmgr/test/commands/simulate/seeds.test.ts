import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Random, seededRandom } from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import { temporaryFiles, topology } from '../../world/simulate-files.ts';

// Scripts drawn from seeds: whatever happens, what is reported of it holds together, and is reported again in
// the same bytes.

const { write } = temporaryFiles();
const seeds = 8;
const untilSeconds = 900;
const nodes = ['zone-a-1', 'zone-a-2', 'zone-b-1', 'zone-b-2', 'zone-c-1', 'zone-c-2'];

function pick<T>(random: Random, all: readonly T[]): T {
  return all[Math.floor(random() * all.length)] ?? assert.fail();
}

/** An event that is possible at any time. */
function drawEvent(random: Random, hasOutages: boolean): object {
  const seconds = (most: number): string => `${Math.floor(random() * most)}s`;
  const where = pick(random, [
    { node: pick(random, nodes) },
    { zone: pick(random, ['zone-a', 'zone-b', 'zone-c']) },
    { nodes: 'all' },
  ]);
  const taint = pick(random, ['a=b:NoExecute', 'a:NoSchedule', 'node.kubernetes.io/x:NoExecute']);
  const machines = [{ stopKubelet: where }, { loseNetwork: where }];
  const writes = [
    { taint: { ...where, taint } },
    { cordon: where },
    {
      setCondition: { ...where, condition: pick(random, ['Ready', 'DiskPressure']), status: false },
    },
  ];
  // Nobody can write while the API server is out of reach.
  const what = pick<object>(random, [...machines, ...(hasOutages ? [{ apiOutage: {} }] : writes)]);
  const scale = { scale: { workload: 'shop/web', replicas: Math.floor(random() * 12) } };
  if (!hasOutages && random() < 0.15) return { at: seconds(untilSeconds), ...scale };
  return {
    at: seconds(untilSeconds),
    ...what,
    lasts: seconds(400),
    stagger: pick(random, ['0s', '7s']),
  };
}

interface Step {
  readonly at: number;
}

interface Reported {
  readonly summary: {
    readonly evictions: number;
    readonly refusals: number;
    readonly workloads: readonly {
      readonly unavailableMax: number;
      readonly unavailableSeconds: number;
    }[];
  };
  readonly evictions: readonly {
    readonly at: number;
    readonly pod: string;
    readonly because: readonly string[];
  }[];
  readonly refusals: readonly { readonly count: number }[];
  readonly deadlines: readonly {
    readonly pod: string;
    readonly setAt: number;
    readonly endedAt: number | null;
    readonly dueAt: number;
    readonly end: string;
  }[];
  readonly workloads: readonly {
    readonly states: readonly (Step & { readonly wanted: number; readonly ready: number })[];
  }[];
  readonly nodes: readonly {
    readonly states: readonly Step[];
    readonly pods: readonly (Step & { readonly count: number })[];
  }[];
}

function check({ summary, evictions, refusals, deadlines, workloads, nodes: all }: Reported): void {
  const tracks: readonly (readonly Step[])[] = [
    evictions,
    ...workloads.map(({ states }) => states),
    ...all.flatMap(({ states, pods }) => [states, pods]),
  ];
  for (const track of tracks) {
    assert.ok(
      track.every(({ at }, index) => at >= (track[index - 1]?.at ?? 0) && at <= untilSeconds),
    );
  }
  assert.equal(summary.evictions, evictions.length);
  assert.equal(
    summary.refusals,
    refusals.reduce((sum, { count }) => sum + count, 0),
  );
  assert.ok(all.every(({ pods }) => pods.every(({ count }) => count >= 0)));
  for (const [index, { states }] of workloads.entries()) {
    assert.ok(states.every(({ ready }) => ready >= 0));
    // A plain count of seconds beside the sums: no more than a second apart for each change.
    const missing = (second: number): number => {
      const state = states.findLast(({ at }) => at <= second);
      return Math.max(0, (state?.wanted ?? 0) - (state?.ready ?? 0));
    };
    const seconds = Array.from({ length: untilSeconds }, (_, second) => missing(second));
    const reported = summary.workloads[index] ?? assert.fail();
    assert.ok(Math.max(...seconds) <= reported.unavailableMax);
    const counted = seconds.filter((pods) => pods > 0).length;
    assert.ok(Math.abs(counted - reported.unavailableSeconds) <= states.length);
  }
  for (const { pod, setAt, dueAt, endedAt, end } of deadlines) {
    assert.equal(endedAt === null, end === 'pending');
    assert.ok((endedAt ?? untilSeconds) >= setAt);
    if (end === 'evicted') assert.ok((endedAt ?? 0) >= dueAt, `early: ${endedAt} before ${dueAt}`);
    // Before its time a pod goes only for a taint that it does not tolerate at all.
    const early = evictions.find((one) => end === 'moved' && one.pod === pod && one.at === endedAt);
    if (early) assert.match(early.because.join(), /no toleration for /);
  }
}

for (let seed = 1; seed <= seeds; seed++) {
  it(`seed ${seed}`, async () => {
    const random = seededRandom(seed);
    const events = Array.from({ length: 8 }, () => drawEvent(random, seed % 3 === 0));
    const script = write('drawn.yaml', JSON.stringify({ events }, null, 1));
    const files = ['-f', write('topology.yaml', topology), '--script', script];
    const args = ['simulate', ...files, '--until', `${untilSeconds}s`, '--seed', String(seed)];
    const [one, again] = [
      await run(...args, '--compare', '-o', 'json'),
      await run(...args, '--compare', '-o', 'json'),
    ];
    assert.equal(one.code, 0, `${one.err}\n${JSON.stringify(events)}`);
    assert.equal(one.out, again.out);
    for (const reported of JSON.parse(one.out).runs) check(reported);
  });
}
