import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '@taintmgr/core';
import type { LimitRecord } from '@taintmgr/core/policy';
import { readSettings } from '../../src/evictors/settings.ts';
import type { NodeAnswer } from '../../src/explain/answers.ts';
import { explainSurvey } from '../../src/explain/explained.ts';
import { type LimitedCluster, LimitForecast } from '../../src/explain/limit-forecast.ts';
import { readQuestion } from '../../src/explain/question.ts';
import { nodeSubject } from '../../src/explain/subjects.ts';
import { policyApiVersion } from '../../src/kinds/kinds.ts';
import { readManifest } from '../../src/kinds/manifest.ts';
import { policyEvent } from '../../src/manifests/followed.ts';
import { noPolicies } from '../../src/survey/policies.ts';
import type { ForecastSurvey } from '../../src/survey/survey.ts';
import {
  budgetOf,
  node,
  nodeFactsOf,
  now,
  pod,
  podFactsOf,
  surveyOf,
  taint,
  tolerates,
} from '../world/values.ts';

// When pods go that limits hold back: the engine of the controller is played forward.

const seconds = (count: number): number => count * 1000;

/** The policy `p`, which only limits. */
function limiting(...limits: readonly object[]): LimitedCluster['events'] {
  const manifest = {
    ...{ apiVersion: policyApiVersion, kind: 'EvictionPolicy', metadata: { name: 'p', uid: 'u' } },
    spec: { match: {}, limits },
  };
  const judged = readManifest(manifest, now);
  assert.equal(judged.kind, 'allowed');
  const event = judged.kind === 'allowed' ? policyEvent(judged.value) : null;
  assert.ok(event);
  return [event];
}

/** Pods without toleration on n1, which was tainted 10 s ago, and what else is given. */
function forecast(
  names: readonly string[],
  limits: readonly object[],
  fields: Partial<LimitedCluster> & { readonly others?: readonly Pod[] } = {},
): readonly string[] {
  const { others = [], ...given } = fields;
  const pods = [...names.map((name) => pod(name)), ...others];
  const played = new LimitForecast({
    ...{ now, config: { mode: 'delete' }, events: limiting(...limits), rates: [], record: null },
    nodes: [node('n1', taint('a:NoExecute', 10)), node('n2')],
    pods: pods.map((one) => podFactsOf(one)),
    isBlocked: () => false,
    ...given,
  });
  return pods.map(({ name, uid }) => {
    const limit = played.of(uid);
    if (!limit) return `${name}: -`;
    const { id, tripped, goesAt, notBefore } = limit;
    const when = goesAt === null ? `not before ${notBefore - now} ms` : `in ${goesAt - now} ms`;
    return `${name}: ${id} ${tripped ? 'tripped' : when}`;
  });
}

/** When the rate lets the next one go. */
const oneAt = (inSeconds: number): LimitedCluster['rates'][number] => ({
  id: 'total policy=p',
  oneAt: now + seconds(inSeconds),
});

const one = { per: 'Total', pods: 1, window: '1m' };
const counted = (fields: Partial<LimitRecord[string]>): LimitRecord => ({
  'total policy=p@60s': { evicted: [], of: 3, tripped: null, ...fields },
});

/** The answer of `explain node` about n1. */
function explain(survey: ForecastSurvey) {
  return explainSurvey(survey, nodeSubject('n1'), readQuestion({}));
}

/** The limits and budgets that hold each pod, and until when. */
function leavingOf({ pods = [] }: NodeAnswer): readonly string[] {
  const inSeconds = (at: string | undefined): string =>
    `in ${(Date.parse(at ?? '') - now) / 1000} s`;
  return pods.map(({ name, limit, blockers, deletedAt }) => {
    const budgets = blockers.flatMap((blocker) => blocker.budgets ?? []);
    const held = [
      ...(limit ? [`limit ${limit.id}`, inSeconds(limit.expectedAt)] : []),
      ...budgets.map((budget) => `PDB ${budget.name}`),
      ...(deletedAt ? [`deleted ${inSeconds(deletedAt)}`] : []),
    ];
    return `${name}: ${held.join(', ')}`;
  });
}

describe('the forecast of limits', () => {
  it('is what the document of a node and its summary say', () => {
    const settings = {
      ...readSettings({ mode: 'delete' }),
      mode: 'delete',
      watchesNodes: false,
      allowsOverlap: false,
    } as const;
    const nodes = [nodeFactsOf(node('n1', taint('a:NoExecute', 10)))];
    const pods = ['a', 'b'].map((name) => podFactsOf(pod(name)));
    const [event] = limiting({ per: 'Total', podsPerSecond: 0.1 });
    assert.ok(event?.kind === 'policyUpsert');
    const objects = [{ kind: 'EvictionPolicy', value: event.policy } as const];
    const read = surveyOf(nodes, pods, {
      crowd: { nodes, pods },
      policies: { ...noPolicies, objects },
    });
    const rates = [{ id: 'total policy=p', oneAt: now + seconds(4) }];
    const evictor = { ...read.evictor, settings: { ...settings, policies: [] }, rates };
    const {
      document,
      notes: { notes },
    } = explain({ ...read, evictor });
    assert.ok(!notes.some((note) => note.includes('kube-controller-manager')), notes.join('\n'));
    assert.deepEqual(leavingOf(document), [
      'a: limit total policy=p, in 4 s',
      'b: limit total policy=p, in 14 s',
    ]);
    const { evict, nextSeconds, lastSeconds } = document.summary ?? assert.fail();
    assert.deepEqual([evict, nextSeconds, lastSeconds], [2, 4, 14]);
  });

  it('says when pods are deleted that budgets hold back: when limits let them', () => {
    const mode = 'evict-then-delete';
    const read = readSettings({ mode, 'delete-after': '20s' });
    const settings = {
      ...read,
      mode,
      watchesNodes: false,
      allowsOverlap: false,
      policies: [],
    } as const;
    const nodes = [nodeFactsOf(node('n1', taint('a:NoExecute', 10)))];
    const pods = ['a', 'b'].map((name) => podFactsOf(pod(name, { labels: {}, ready: 'True' })));
    const [event] = limiting(one);
    assert.ok(event?.kind === 'policyUpsert');
    const objects = [{ kind: 'EvictionPolicy', value: event.policy } as const];
    const survey = surveyOf(nodes, pods, {
      crowd: { nodes, pods },
      policies: { ...noPolicies, objects },
      budgets: [budgetOf('web')],
    });
    const { document } = explain({ ...survey, evictor: { ...survey.evictor, settings } });
    assert.deepEqual(leavingOf(document), [
      'a: PDB web, deleted in 10 s',
      'b: limit total policy=p, in 70 s, PDB web, deleted in 70 s',
    ]);
  });

  it('lets pods go one by one at a rate, from when it lets the next one go', () => {
    const rate = { per: 'Total', podsPerSecond: 0.1 };
    const rates = [{ id: 'total policy=p', oneAt: now - seconds(7) }];
    assert.deepEqual(forecast(['a', 'b', 'c'], [rate], { rates }), [
      'a: total policy=p in 3000 ms',
      'b: total policy=p in 13000 ms',
      'c: total policy=p in 23000 ms',
    ]);
  });

  it('takes a rate of which nothing is published to be used up since pods have waited', () => {
    const rate = { per: 'Total', podsPerSecond: 0.08 };
    // They were due 10 s ago, and one may go every 12.5 s.
    assert.deepEqual(forecast(['a', 'b'], [rate]), [
      'a: total policy=p in 2500 ms',
      'b: total policy=p in 15000 ms',
    ]);
  });

  it('goes on from what is written of a window', () => {
    const record = counted({ evicted: [[now - seconds(20), 1]] });
    assert.deepEqual(forecast(['a', 'b'], [one], { record }), [
      'a: total policy=p in 40000 ms',
      'b: total policy=p in 100000 ms',
    ]);
  });

  it('counts what was written before it began from then, and not where the pod is still there', () => {
    const gone = counted({ evicted: [[now + seconds(55), 1]], begun: ['uid-x'] });
    assert.deepEqual(forecast(['a'], [one], { record: gone }), ['a: total policy=p in 55000 ms']);
    const there = counted({ evicted: [[now + seconds(55), 1]], begun: ['uid-a'] });
    assert.deepEqual(forecast(['a'], [one], { record: there }), ['a: -']);
  });

  it('does not count a pod that ends twice', () => {
    const record = counted({ evicted: [[now - seconds(20), 1]] });
    const disruption = { reason: 'DeletionByTaintManager', manager: 'taintmgr-controller' };
    const ending = { gracePeriodSeconds: 30, deletionTimestamp: now + seconds(10), disruption };
    const others = [pod('x', ending)];
    assert.deepEqual(forecast(['a'], [{ ...one, pods: 2 }], { record, others }), ['a: -', 'x: -']);
  });

  it('says that a limit has tripped, which nobody can foretell the end of', () => {
    const tripped = { since: now - seconds(30), limit: 'pods' as const, count: null };
    const limits = [{ ...one, onLimit: 'Trip' }];
    assert.deepEqual(forecast(['a'], limits, { record: counted({ tripped }) }), [
      'a: total policy=p tripped',
    ]);
  });

  it('foretells that a limit trips by what it lets through', () => {
    assert.deepEqual(forecast(['a', 'b'], [{ ...one, onLimit: 'Trip' }]), [
      'a: -',
      'b: total policy=p tripped',
    ]);
  });

  it('cannot tell when pods become ready that a limit waits for', () => {
    const others = [pod('down', { nodeName: 'n2', ready: 'False' })];
    assert.deepEqual(forecast(['a'], [one], { others }), [
      'a: total policy=p not before 0 ms',
      'down: -',
    ]);
  });

  it('does not take what comes hours later for what it waits for', () => {
    const others = [
      pod('down', { nodeName: 'n2', ready: 'False' }),
      pod('patient', tolerates('a', 10 * 3600)),
    ];
    assert.deepEqual(forecast(['a'], [one], { others }).slice(0, 1), [
      'a: total policy=p not before 0 ms',
    ]);
  });

  it('takes pods that have just begun to start for ready, and those that end for gone', () => {
    const record = counted({ evicted: [[now - seconds(1), 1]] });
    const starting = { ...podFactsOf(pod('b', { nodeName: 'n2', ready: 'False' })) };
    const pods = [
      podFactsOf(pod('a')),
      { ...starting, createdAt: now - seconds(1) },
      podFactsOf(pod('ends', { nodeName: 'n2', deletionTimestamp: now + seconds(20) })),
    ];
    const without = forecast(['a'], [one], { record });
    assert.deepEqual(without, ['a: total policy=p in 59000 ms']);
    assert.deepEqual(forecast(['a'], [one], { record, pods }), without);
    const old = [...pods.slice(0, 1), { ...starting, createdAt: now - seconds(600) }];
    const unknown = ['a: total policy=p not before 0 ms'];
    assert.deepEqual(forecast(['a'], [one], { record, pods: old }), unknown);
    const stuck = pod('stuck', { nodeName: 'n2', deletionTimestamp: now - seconds(600) });
    assert.deepEqual(
      forecast(['a'], [one], { record, pods: [podFactsOf(pod('a')), podFactsOf(stuck)] }),
      unknown,
    );
  });

  it('lets nobody wait for a pod that budgets hold back', () => {
    const rate = { per: 'Total', podsPerSecond: 0.1 };
    const isBlocked: LimitedCluster['isBlocked'] = ({ pod: { name } }) => name === 'held';
    const config = { mode: 'evict' } as const;
    const others = [pod('a', tolerates('a', 2)), pod('b', tolerates('a', 2))];
    const given = { rates: [oneAt(1)], isBlocked, config, others };
    assert.deepEqual(forecast(['held'], [rate], given), [
      'held: -',
      'a: total policy=p in 1000 ms',
      'b: total policy=p in 11000 ms',
    ]);
  });

  it('gives a pod that budgets hold back its turn where others were due before it', () => {
    const rate = { per: 'Total', podsPerSecond: 0.1 };
    const rates = [oneAt(4)];
    const isBlocked: LimitedCluster['isBlocked'] = ({ pod: { name } }) => name === 'held';
    const config = { mode: 'evict' } as const;
    // Who was due 10 s ago goes first, then the held one, which was due 8 s ago, asks and is refused.
    const others = [pod('held', tolerates('a', 2)), pod('c', tolerates('a', 4))];
    const given = { rates, isBlocked, config, others };
    assert.deepEqual(forecast(['a'], [rate], given), [
      'a: total policy=p in 4000 ms',
      'held: -',
      'c: total policy=p in 24000 ms',
    ]);
    // Who was due first, and after the last one went, has not asked either.
    const alone = { ...given, others: [...others.slice(0, 1), pod('d', tolerates('a', 7))] };
    assert.deepEqual(forecast([], [rate], { ...alone, rates: [oneAt(1)] }), [
      'held: -',
      'd: total policy=p in 11000 ms',
    ]);
    assert.deepEqual(forecast([], [rate], { ...alone, rates: [oneAt(6)] }), [
      'held: -',
      'd: total policy=p in 6000 ms',
    ]);
  });

  describe('with EvictThenDelete', () => {
    const isBlocked: LimitedCluster['isBlocked'] = ({ pod: { name } }) => /^held/.test(name);
    const counts = counted({ evicted: [[now - seconds(20), 1]] });
    const rate = { per: 'Total', podsPerSecond: 0.1 };
    const later = [pod('a', tolerates('a', 2)), pod('b', tolerates('a', 2))];
    // On a node that was tainted 10 s ago.
    const cases: readonly (readonly [
      name: string,
      names: readonly string[],
      limit: object,
      deleteAfterSeconds: number,
      given: Parameters<typeof forecast>[2],
      expected: readonly string[],
    ])[] = [
      [
        'is deleted when there is room again, and takes the place of who comes after it',
        ['held'],
        one,
        20,
        { record: counts, others: later.slice(0, 1) },
        ['held: total policy=p in 40000 ms', 'a: total policy=p in 100000 ms'],
      ],
      [
        'is deleted on time where there is room, and the next one waits',
        ['held-1', 'held-2'],
        one,
        20,
        {},
        ['held-1: -', 'held-2: total policy=p in 70000 ms'],
      ],
      [
        'is held by the limit alone once budgets are asked no more',
        ['held'],
        one,
        5,
        { record: counts },
        ['held: total policy=p in 40000 ms'],
      ],
      [
        'is not deleted while the limit has tripped',
        ['held'],
        { ...one, onLimit: 'Trip' },
        5,
        { record: counted({ tripped: { since: now, limit: 'pods', count: null } }) },
        ['held: total policy=p tripped'],
      ],
      [
        'takes its turn in a rate',
        ['held'],
        rate,
        20,
        { rates: [oneAt(1)], others: later },
        [
          'held: total policy=p in 11000 ms',
          'a: total policy=p in 1000 ms',
          'b: total policy=p in 21000 ms',
        ],
      ],
    ];
    for (const [name, names, limit, deleteAfterSeconds, given, expected] of cases) {
      it(`a pod that budgets hold back ${name}`, () => {
        const deleteAfterMs = seconds(deleteAfterSeconds);
        const config = { mode: 'evict-then-delete', deleteAfterMs } as const;
        assert.deepEqual(forecast(names, [limit], { ...given, config, isBlocked }), expected);
      });
    }
  });

  it('takes the instant of a rate that is now for over: who acts was there', () => {
    const rate = { per: 'Total', podsPerSecond: 0.1 };
    const rates = [{ id: 'total policy=p', oneAt: now }];
    assert.deepEqual(forecast(['a', 'b'], [rate], { rates }), [
      'a: total policy=p in 10000 ms',
      'b: total policy=p in 20000 ms',
    ]);
  });

  it('looks no further ahead than six hours', () => {
    const rate = { per: 'Total', podsPerSecond: 0.0001 };
    const rates = [{ id: 'total policy=p', oneAt: now + seconds(1000) }];
    assert.deepEqual(forecast(['a', 'b', 'c', 'd'], [rate], { rates }), [
      'a: total policy=p in 1000000 ms',
      'b: total policy=p in 11000000 ms',
      'c: total policy=p in 21000000 ms',
      'd: total policy=p not before 21600000 ms',
    ]);
  });
});
