import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Downtime, WorkloadTrack } from '@taintmgr/page';
import { seededRandom } from '@taintmgr/sim-cluster';
import { downtimeOf } from '../../../../src/commands/simulate/result/downtime.ts';

// How long pods were down: against a twin that looks at each second, and by hand.

const end = 60;
const web = { kind: 'Deployment', namespace: 'shop', name: 'web' };

interface Steps {
  readonly wanted: readonly (readonly [at: number, wanted: number])[];
  readonly serving: readonly (readonly [at: number, pods: number])[];
}

function trackOf({ wanted, serving }: Steps): WorkloadTrack {
  return {
    ...web,
    states: wanted.map(([at, count]) => ({ at, wanted: count, ready: count })),
    serving: serving.map(([at, pods]) => ({ at, pods })),
  };
}

/** The last that was said until then. */
function lastAt(steps: readonly (readonly [at: number, count: number])[], second: number): number {
  return steps.filter(([at]) => at <= second).at(-1)?.[1] ?? 0;
}

/** The same for tracks that change at whole seconds, second by second. */
function dumbTwin({ wanted, serving }: Steps): Downtime {
  const seconds = Array.from({ length: end }, (_, at) => {
    const wants = lastAt(wanted, at);
    return { at, wanted: wants, down: Math.max(0, wants - lastAt(serving, at)) };
  });
  const most = Math.max(...seconds.map(({ down }) => down));
  const worst = seconds.find(({ down }) => down === most && down > 0);
  const isDown = seconds.filter(({ down }) => down > 0);
  const shares = isDown.map((one) => (100 * one.down) / one.wanted);
  const gaps: { from: number; seconds: number }[] = [];
  for (const { at } of isDown) {
    const last = gaps.at(-1);
    if (last && last.from + last.seconds === at) last.seconds++;
    else gaps.push({ from: at, seconds: 1 });
  }
  const longest = Math.max(...gaps.map((gap) => gap.seconds));
  const last = gaps.at(-1);
  const downAtEnd = seconds.at(-1)?.down ?? 0;
  return {
    downMax: most,
    downPercentMax: Math.round(10 * Math.max(0, ...shares)) / 10,
    downWorstAt: worst?.at ?? null,
    downWorstWanted: worst?.wanted ?? 0,
    downSeconds: isDown.length,
    outageSeconds: isDown.filter(({ down, wanted: wants }) => down >= wants).length,
    podMinutesLost:
      Math.round((1000 * isDown.reduce((sum, { down }) => sum + down, 0)) / 60) / 1000,
    longestGap: gaps.find((gap) => gap.seconds === longest) ?? null,
    overAt: last && downAtEnd === 0 ? last.from + last.seconds : null,
    downAtEnd,
  };
}

describe('how long pods of a workload were down', () => {
  it('is what a twin counts second by second, whatever happens', () => {
    const random = seededRandom(1);
    const upTo = (max: number): number => Math.floor(random() * (max + 1));
    const counts = (max: number): readonly (readonly [number, number])[] => {
      const instants = new Set(Array.from({ length: 6 }, () => 1 + upTo(end + 9)));
      const sorted = [...instants].sort((a, b) => a - b);
      return [0, ...sorted].map((at) => [at, upTo(max)] as const);
    };
    for (let round = 0; round < 500; round++) {
      const steps = { wanted: counts(3), serving: counts(4) };
      const found = downtimeOf(trackOf(steps), end);
      assert.deepEqual(found, dumbTwin(steps), `round ${round}: ${JSON.stringify(steps)}`);
    }
  });

  it('does not count the moment until a controller has seen that nobody misses them', () => {
    const downFor = (seconds: number): number => {
      const serving = [
        [0, 2],
        [10, 1],
        [10 + seconds, 2],
      ] as const;
      return downtimeOf(trackOf({ wanted: [[0, 2]], serving }), end).downSeconds;
    };
    assert.deepEqual([downFor(0.05), downFor(0.2)], [0, 0.2]);
  });
});
