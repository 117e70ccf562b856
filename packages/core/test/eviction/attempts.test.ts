// One namespace whose evictions are answered late holds up no other.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine, type Event, type Outcome, type Pod, parseTaint } from '@taintmgr/core';

const failed: Outcome = { kind: 'failed', status: 500, message: 'timeout', retryAfter: null };
const seconds = 1_000;

interface Gone {
  readonly namespace: string;
  readonly at: number;
}

/** Plays up to `end`: requests for pods of `calm` are answered after 10 ms, all others fail after 29 s. */
function play(
  pods: readonly Pod[],
  config: Parameters<typeof createEngine>[0],
  end: number,
): { readonly gone: readonly Gone[]; readonly underWayMax: number; readonly ticks: number } {
  const engine = createEngine({ mode: 'evict', ...config });
  const answers: { readonly at: number; readonly event: Event; readonly pod: Pod }[] = [];
  const gone: Gone[] = [];
  let underWayMax = 0;
  let ticks = 0;
  const byUid = new Map(pods.map((pod) => [pod.uid, pod]));
  const take = (now: number, event: Event): void => {
    for (const command of engine.handle(now, event)) {
      if (command.kind !== 'evictPod') continue;
      const pod = byUid.get(command.pod.uid) ?? assert.fail();
      const isCalm = pod.namespace === 'calm';
      const [at, outcome] = isCalm
        ? [now + 10, { kind: 'done' } as const]
        : [now + 29 * seconds, failed];
      answers.push({ at, event: { kind: 'result', id: command.id, outcome }, pod });
      underWayMax = Math.max(underWayMax, answers.length);
    }
  };
  const taint = parseTaint('a:NoExecute');
  take(0, {
    kind: 'nodeUpsert',
    node: { name: 'n', uid: 'n', taints: [{ ...taint, timeAdded: 0 }] },
  });
  for (const pod of pods) take(0, { kind: 'podUpsert', pod });
  take(0, { kind: 'synced' });
  for (let now = 0; now <= end; ) {
    take(now, { kind: 'tick' });
    ticks += 1;
    answers.sort((a, b) => a.at - b.at);
    const [next] = answers;
    const wake = Math.max(now, engine.nextWake() ?? Number.POSITIVE_INFINITY);
    now = Math.min(next?.at ?? Number.POSITIVE_INFINITY, wake);
    if (!next || next.at > now) continue;
    answers.shift();
    take(now, next.event);
    if (next.pod.namespace !== 'calm') continue;
    gone.push({ namespace: 'calm', at: now });
    take(now, { kind: 'podDelete', uid: next.pod.uid });
  }
  return { gone, underWayMax, ticks };
}

function podsOf(namespace: string, count: number, tolerationSeconds: number): readonly Pod[] {
  return Array.from({ length: count }, (_, index) => ({
    namespace,
    name: `p${index}`,
    uid: `${namespace}-${index}`,
    nodeName: 'n',
    phase: 'Running',
    generation: 1,
    boundAt: null,
    owner: null,
    hasEmptyDir: false,
    deletionTimestamp: null,
    mirror: false,
    tolerations: [
      { key: 'a', operator: 'Exists', value: '', effect: 'NoExecute', tolerationSeconds },
    ],
  }));
}

describe('a namespace whose evictions are answered late', () => {
  const limit = { per: 'total', podsPerSecond: 1_000, burst: 1_000, onLimit: 'queue' } as const;
  const hangs = podsOf('hang', 100, 0);
  const cases: readonly (readonly [string, readonly Pod[], Parameters<typeof createEngine>[0]])[] =
    [
      ['alone', hangs, {}],
      ['with limits', hangs, { limits: [limit] }],
      [
        'beside three of its kind',
        ['hang', 'b', 'c', 'd'].flatMap((one) => podsOf(one, 100, 0)),
        {},
      ],
    ];
  for (const [name, pods, config] of cases) {
    for (const due of [3, 29, 58, 61]) {
      it(`${name} keeps no other from going within a second, due at ${due} s`, () => {
        const calm = podsOf('calm', 5, due);
        const { gone, underWayMax, ticks } = play([...pods, ...calm], config, 70 * seconds);
        assert.equal(gone.length, 5);
        // The second in which the taint was put on counts from its end.
        for (const { at } of gone) assert.ok(at <= (due + 2) * seconds, `gone at ${at}`);
        assert.ok(underWayMax <= 50, `${underWayMax} under way`);
        assert.ok(ticks < 3_000, `${ticks} ticks`);
      });
    }
  }

  it('takes all places where no other waits', () => {
    assert.equal(play(hangs, {}, 20 * seconds).underWayMax, 16);
  });
});
