import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Engine, type Event, makePod, type Taint } from '@taintmgr/core';
import type { ShadowVerdict } from '@taintmgr/core/shadow';
import { fc } from '../fast-check.ts';
import { pauseOf } from '../policy/objects.ts';
import { rehearsing, Stage } from './stage.ts';

// Random histories against a twin that lets the engine play each of them alone, without anybody who
// deletes pods, from the beginning for each moment that it wants to know of.

const numRuns = 400;
const config = { sameMsMax: 2_000, settleMs: 3_000, followMs: 60_000, recentMax: 100 };
/** Nothing happens later, and the run is over before a pod could be judged twice. */
const lastChangeAt = 50_000;
const endsAt = 119_000;

interface Change {
  readonly at: number;
  readonly event: Event;
}
/** What becomes of a pod in the cluster. */
type Fate =
  | { readonly kind: 'stays' }
  | { readonly kind: 'deleted'; readonly at: number; readonly lasts: number }
  | { readonly kind: 'marked'; readonly at: number }
  | { readonly kind: 'removed'; readonly at: number };
interface History {
  readonly changes: readonly Change[];
  readonly fates: readonly Fate[];
}

const time = fc.integer({ min: 1, max: lastChangeAt });
const taints: fc.Arbitrary<readonly Taint[]> = fc
  .subarray(['a', 'b'])
  .map((keys) =>
    keys.map((key): Taint => ({ key, value: '', effect: 'NoExecute', timeAdded: null })),
  );
const change: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: taints.map((all): Event => {
      return { kind: 'nodeUpsert', node: { name: 'n1', uid: 'n1', taints: all } };
    }),
  },
  fc.constantFrom<Event>(
    { kind: 'pauseUpsert', pause: pauseOf('p', { scope: { taintKeys: ['a'] } }) },
    { kind: 'pauseDelete', name: 'p' },
  ),
);
const fate: fc.Arbitrary<Fate> = fc.oneof(
  fc.constant<Fate>({ kind: 'stays' }),
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('deleted' as const),
      at: time,
      lasts: fc.integer({ min: 0, max: 20_000 }),
    }),
  },
  fc.record({ kind: fc.constant('marked' as const), at: time }),
  fc.record({ kind: fc.constant('removed' as const), at: time }),
);
/** Pods tolerate taint a for as long as their number says; taint b not at all, or for ever. */
const seconds = [null, 0, 5, 20, 40, 90];
const history: fc.Arbitrary<History> = fc.record({
  changes: fc
    .array(fc.record({ at: time, event: change }), { maxLength: 12 })
    .map((all) => all.toSorted((a, b) => a.at - b.at)),
  fates: fc.array(fate, { minLength: seconds.length, maxLength: seconds.length }),
});

const beginning: readonly Event[] = [
  { kind: 'nodeUpsert', node: { name: 'n1', uid: 'n1', taints: [] } },
  ...seconds.map((tolerationSeconds, index): Event => {
    const operator = 'Exists';
    const tolerations = [
      { key: 'a', operator, tolerationSeconds },
      ...(index % 2 === 0 ? [{ key: 'b', operator }] : []),
    ];
    const name = `p${index}`;
    return { kind: 'podUpsert', pod: makePod({ name, uid: name, nodeName: 'n1', tolerations }) };
  }),
  { kind: 'synced' },
];

/** The history with the shadow looking on. */
function shadowed({ changes, fates }: History): Stage {
  const stage = new Stage({}, config);
  for (const event of beginning) stage.hear(event);
  const deeds = [
    ...changes.map(({ at, event }) => ({ at, act: () => stage.hear(event) })),
    ...fates.flatMap((one, index) => {
      const uid = `p${index}`;
      if (one.kind === 'stays') return [];
      const { at } = one;
      if (one.kind === 'marked') return [{ at, act: () => stage.mark(uid) }];
      if (one.kind === 'removed') return [{ at, act: () => stage.gone(uid) }];
      const gone = { at: at + one.lasts, act: () => stage.gone(uid) };
      return [{ at, act: () => stage.deletedByManager(uid) }, gone];
    }),
  ].toSorted((a, b) => a.at - b.at);
  for (const { at, act } of deeds) {
    stage.until(at - 0.5);
    stage.now = at;
    act();
  }
  stage.until(endsAt);
  return stage;
}

interface Alone {
  readonly engine: Engine;
  readonly evicted: ReadonlyMap<string, number>;
}

/** The same without anybody who evicts, as it is at an instant. */
function alone({ changes, fates }: History, instant: number): Alone {
  const engine = rehearsing();
  const evicted = new Map<string, number>();
  let now = 0;
  const hear = (event: Event): void => {
    for (const command of engine.handle(now, event)) {
      if (command.kind !== 'deletePod') continue;
      evicted.set(command.pod.uid, now);
      hear({ kind: 'result', id: command.id, outcome: { kind: 'done' } });
    }
  };
  const until = (end: number): void => {
    for (let wake = engine.nextWake(); wake !== null && wake <= end; wake = engine.nextWake()) {
      now = Math.max(now, wake);
      hear({ kind: 'tick' });
    }
    now = end;
  };
  const removals = fates.flatMap((one, index): Change[] => {
    if (one.kind !== 'removed') return [];
    return [{ at: one.at, event: { kind: 'podDelete', uid: `p${index}` } }];
  });
  for (const event of beginning) hear(event);
  for (const { at, event } of [...changes, ...removals].toSorted((a, b) => a.at - b.at)) {
    if (at > instant) break;
    until(at - 0.5);
    now = at;
    hear(event);
  }
  until(instant);
  return { engine, evicted };
}

type Expected =
  | { readonly verdict: ShadowVerdict; readonly byMs: number | null }
  | 'following'
  | 'leftOtherwise'
  | 'notDeleted'
  | 'nothing';

function expected(all: History, uid: string, fate: Fate): Expected {
  const ours = alone(all, endsAt).evicted.get(uid) ?? null;
  const isOurs = (end: number): boolean => ours !== null && ours <= end;
  if (fate.kind === 'removed') return isOurs(fate.at) ? 'leftOtherwise' : 'nothing';
  if (fate.kind === 'marked') return 'notDeleted';
  if (fate.kind === 'deleted') return expectedOf(all, uid, fate.at);
  if (ours === null) return 'nothing';
  const isOver = ours + config.followMs <= endsAt;
  return isOver ? { verdict: 'onlyTaintmgr', byMs: null } : 'following';
}

function expectedOf(all: History, uid: string, theirs: number): Expected {
  let look = theirs + config.settleMs;
  while (look <= endsAt) {
    const { engine, evicted } = alone(all, look);
    const ours = evicted.get(uid);
    if (ours !== undefined) return timed(ours - theirs);
    const explained = engine.explain(look, { kind: 'pod', namespace: '', name: '', uid });
    assert.ok(explained?.kind === 'pod');
    const { decision } = explained;
    if (decision.kind === 'keep') return { verdict: 'kept', byMs: null };
    const due = decision.kind === 'evict' ? decision.deadline : look;
    const isFar = due > theirs + config.followMs;
    if (due > look && isFar) return { verdict: 'later', byMs: due - theirs };
    if (due > look) look = due + config.settleMs;
    else if (look < theirs + config.followMs) look = theirs + config.followMs;
    else return { verdict: 'later', byMs: null };
  }
  const ours = alone(all, endsAt).evicted.get(uid);
  return ours === undefined ? 'following' : timed(ours - theirs);
}

function timed(byMs: number): Expected {
  if (Math.abs(byMs) <= config.sameMsMax) return { verdict: 'same', byMs };
  return { verdict: byMs < 0 ? 'earlier' : 'later', byMs };
}

describe('the shadow against its twin', () => {
  it('says what comes of two clusters: one of kube-controller-manager, one of the engine', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(history, (all) => {
        const { score } = shadowed(all);
        const report = score.report();
        const wanted = all.fates.map((one, index) => expected(all, `p${index}`, one));
        for (const one of wanted) seen.add(typeof one === 'string' ? one : one.verdict);
        const said = report.recent
          .map(({ pod, verdict, byMs }) => ({ uid: pod.uid, verdict, byMs }))
          .toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
        const judged = wanted.flatMap((one, index) => {
          return typeof one === 'string' ? [] : [{ uid: `p${index}`, ...one }];
        });
        assert.deepEqual(said, judged);
        const count = (what: Expected): number => wanted.filter((one) => one === what).length;
        const { following, leftOtherwise, notDeleted, givenUp } = report;
        assert.deepEqual(
          [following, leftOtherwise, notDeleted, givenUp],
          [count('following'), count('leftOtherwise'), count('notDeleted'), 0],
        );
      }),
      { numRuns },
    );
    const verdicts = ['same', 'earlier', 'later', 'kept', 'onlyTaintmgr'];
    const others = ['following', 'leftOtherwise', 'notDeleted', 'nothing'];
    assert.deepEqual([...seen].toSorted(), [...verdicts, ...others].toSorted());
  });
});
