import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Node } from '@taintmgr/core';
import { formatDeadline } from '@taintmgr/core/time';
import { actorOf, type Evictors } from '@taintmgr/k8s-adapter';
import { policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import { type ForecastSurvey, followed, noPolicies } from '@taintmgr/k8s-adapter/survey';
import { type Json, node as nodeObject, pod as podObject, toleration } from '@taintmgr/sim-cluster';
import { taintView } from '../../../src/commands/explain/taint.ts';
import { zoneView } from '../../../src/commands/explain/zone.ts';
import { acts, answerOf, by, explain, may, survey, withUpstream } from '../../world/explained.ts';
import { run } from '../../world/run.ts';
import { ago } from '../../world/shop-cluster.ts';
import { startTestCluster, type TestCluster } from '../../world/test-cluster.ts';
import {
  budgetOf,
  nobody,
  node,
  nodeFactsOf,
  now,
  ofDaemonSet,
  pod,
  podFactsOf,
  surveyOf,
  taint,
  tolerates,
} from '../../world/values.ts';

// Whose rules an answer follows, and how it says so.

const bad = 'bad=disk:NoExecute';

describe('by the rules of the one who evicts', () => {
  const budget = budgetOf('web');
  const budgets = [budget];
  const ready = { labels: {}, ready: 'True' };
  const pods = [pod('due', ready), pod('later', { ...ready, ...tolerates('bad', 63) })];
  const read = { ...survey(node('n1', taint(bad, 41)), ...pods), budgets };
  /** Who evicts, and DECISION, IN and BLOCKED BY of each pod. */
  const shown = (from: ForecastSurvey): readonly string[] =>
    explain(from)
      .text.split('\n')
      .filter((line) => /^(shop|Evicted)/.test(line))
      .map((line) =>
        line
          .replace(/^shop +/, '')
          .split(/ {3,}/)
          .slice(0, 4)
          .join(' | '),
      );
  const both: Evictors = { ...withUpstream(acts), taintmgr: acts };
  const certain = { kind: 'doesNotAct', evidence: [{ kind: 'noPod' }] } as const;

  const cases: readonly (readonly [string, ForecastSurvey, readonly string[]])[] = [
    [
      'kube-controller-manager asks no budgets',
      by(withUpstream(acts), read),
      [
        'Evicted by: | kube-controller-manager',
        'due | Evict | overdue by 40s | <none>',
        'later | Evict | ~23s | <none>',
      ],
    ],
    [
      'it may be the one',
      by(withUpstream(may), read),
      [
        'Evicted by: | kube-controller-manager, most likely (leases and pods)',
        'due | Evict | overdue by 40s | <none>',
        'later | Evict | ~23s | <none>',
      ],
    ],
    [
      'of both the one who comes first',
      by(both, { ...read, past: null }),
      [
        'Evicted by: | kube-controller-manager and taintmgr-controller, whichever comes first',
        'due | Evict | overdue by 40s | <none>',
        'later | Evict | ~23s | <none>',
      ],
    ],
    [
      'ours may ask budgets, where its mode is not to be seen',
      read,
      [
        'Evicted by: | taintmgr-controller',
        'due | Evict | overdue by 41s | PDB web (needs action)',
        'later | Evict | 23s | PDB web (needs action)',
      ],
    ],
    [
      'ours with --mode=delete asks none',
      { ...read, evictor: { ...read.evictor, asksBudgets: false } },
      [
        'Evicted by: | taintmgr-controller',
        'due | Evict | overdue by 41s | <none>',
        'later | Evict | 23s | <none>',
      ],
    ],
    [
      'nobody',
      { ...by(nobody, read), evictor: { ...actorOf(nobody), asksBudgets: false } },
      [
        'Evicted by: | no controller',
        'due | Evict | overdue by 41s | <none>',
        'later | Evict | 23s | <none>',
      ],
    ],
    [
      'a lease that was given back is as good as none',
      { ...by(withUpstream(certain), read), evictor: { ...actorOf(nobody), asksBudgets: false } },
      [
        'Evicted by: | no controller',
        'due | Evict | overdue by 41s | <none>',
        'later | Evict | 23s | <none>',
      ],
    ],
  ];
  for (const [name, from, expected] of cases) {
    it(name, () => assert.deepEqual(shown(from), expected));
  }

  it('names the budgets that are broken, and no others', () => {
    const warned = (from: ForecastSurvey): readonly string[] => explain(from).warnings;
    const theirs = by(withUpstream(acts), read);
    assert.deepEqual(warned(theirs), [
      'PDB shop/web allows 0 of these 2 evictions (due, later): kube-controller-manager does not ask budgets here',
    ]);
    const { unaskedBudgets } = Object(explain(theirs).document);
    assert.deepEqual(unaskedBudgets, [
      {
        ...{ namespace: 'shop', name: 'web', allowed: 0, healthy: 2, desired: 2, expected: 2 },
        ...{ evictor: 'kube-controller-manager', pods: ['due', 'later'] },
      },
    ]);
    const ours = { ...read, evictor: { ...read.evictor, asksBudgets: false } };
    assert.deepEqual(warned({ ...ours, pods: ours.pods.slice(0, 1) }), [
      'PDB shop/web does not allow this eviction (due): taintmgr-controller does not ask budgets here',
    ]);
    const wide = { ...theirs, budgets: [{ ...budget, allowed: 2 }] };
    const unready = theirs.pods.map((facts) => ({
      ...facts,
      pod: { ...facts.pod, ready: 'False' },
    }));
    const spares = { ...budget, alwaysEvictUnhealthy: true };
    for (const from of [
      wide,
      { ...theirs, budgets: null },
      { ...theirs, pods: unready, budgets: [spares] },
      { ...by(nobody, ours), evictor: { ...actorOf(nobody), asksBudgets: false } },
    ]) {
      assert.deepEqual(warned(from), []);
    }
  });

  describe('a drain by a taint for which no other controller evicts', () => {
    const agent = pod('agent', ofDaemonSet);
    /** A node with the mark of such a drain, ten seconds old, beside kube-controller-manager. */
    const drained = (mark: object = {}, fields: Partial<ForecastSurvey> = {}): ForecastSurvey => {
      const quiet = taint('bad=disk:NoSchedule', 41);
      const work = { run: 'r', heartbeat: new Date(now - 10_000).toISOString() };
      const set = { id: 'drain-1', taint: 'bad=disk:NoSchedule', tainted: true, cordoned: true };
      const annotations = { 'taintmgr.dev/drain': JSON.stringify([{ ...set, ...work, ...mark }]) };
      const facts = nodeFactsOf(node('n1', quiet), { annotations });
      const there = [...pods, agent].map((one) => podFactsOf(one));
      return by(withUpstream(acts), surveyOf([facts], there, { budgets, ...fields }));
    };

    it('is the one who acts', () => {
      const { text, notes } = explain(drained());
      assert.match(text, /^Taints: +bad=disk:NoSchedule +added 41s ago$/m);
      assert.deepEqual(shown(drained()), [
        'Evicted by: | drain-by-taint (drain-1), as long as it runs',
        'due | Evict | overdue by 41s | PDB web (needs action)',
        'later | Evict | 23s | PDB web (needs action)',
        'agent | Keep | - | -',
      ]);
      assert.deepEqual(notes, []);
    });

    it('heeds pauses', () => {
      const metadata = { name: 'p', uid: 'u', creationTimestamp: ago31() };
      const pause = { apiVersion: policyApiVersion, kind: 'EvictionPause', metadata };
      const { objects } = followed('EvictionPause', { ...pause, spec: { reason: 'a test' } });
      assert.deepEqual(shown(drained({}, { policies: { ...noPolicies, objects } })), [
        'Evicted by: | drain-by-taint (drain-1), as long as it runs',
        'due | Held | overdue by 10s | pause p, PDB web (needs action)',
        'later | Held | 54s | pause p, PDB web (needs action)',
        'agent | Keep | - | -',
      ]);
    });

    for (const [how, mark] of [
      ['has ended', { ended: true }],
      ['has lost its taint', { taint: 'gone=x:NoSchedule' }],
      ['gives no sign of life', { heartbeat: new Date(now - 100_000).toISOString() }],
    ] as const) {
      it(`acts no more when it ${how}`, () => {
        assert.deepEqual(shown(drained(mark)), [
          'Evicted by: | kube-controller-manager',
          ...['agent | Keep | - | -', 'due | Keep | - | -', 'later | Keep | - | -'],
        ]);
      });
    }
  });
});

/** When what is now 31 s old was made. */
function ago31(): string {
  return new Date(now - 31_000).toISOString();
}

describe('a drain by a NoExecute taint, at work', () => {
  const pods = [
    pod('due'),
    pod('later', tolerates('bad', 63)),
    pod('stays', tolerates('bad')),
    pod('agent', ofDaemonSet),
  ].map((one) => podFactsOf(one));
  /** Its last sign of life is so old. */
  const drained = (
    seconds: number,
    fields: Partial<ForecastSurvey> = {},
    ...others: readonly Node[]
  ): ForecastSurvey => {
    const heartbeat = new Date(now - seconds * 1000).toISOString();
    const drain = { id: 'd1', taint: bad, by: 'ann', heartbeat };
    const mark = { ...drain, tainted: true, cordoned: true, run: 'r' };
    const annotations = { 'taintmgr.dev/drain': JSON.stringify([mark]) };
    const one = { ...node('n1', taint(bad, 41)), drains: [drain] };
    const nodes = [nodeFactsOf(one, { annotations }), ...others.map((other) => nodeFactsOf(other))];
    return surveyOf(nodes, pods, fields);
  };
  const heeding = (from: ForecastSurvey): ForecastSurvey => {
    return { ...from, evictor: { ...from.evictor, heedsDrains: true } };
  };
  /** Who evicts, and DECISION and IN of each pod. */
  const lines = (from: ForecastSurvey): readonly string[] =>
    explain(from)
      .text.split('\n')
      .filter((line) => /^(shop|Evicted)/.test(line))
      .map((line) =>
        line
          .replace(/^shop +/, '')
          .split(/ {2,}/)
          .slice(0, 3)
          .join(' | '),
      );
  const byDrain = [
    'Evicted by: | drain-by-taint (d1), as long as it runs',
    'due | Evict | overdue by 41s',
    'later | Evict | 23s',
    'agent | Keep | -',
    'stays | Keep | -',
  ];

  it('is the one who acts where the controller leaves pods to it', () => {
    const { document } = explain(heeding(drained(10)));
    assert.deepEqual(lines(heeding(drained(10))), byDrain);
    const { evictor, pods: found } = Object(document);
    const source = 'the mark of drain d1 by ann on the node';
    assert.deepEqual(evictor, { name: 'drain-by-taint', source, sure: false });
    const evictedBy = found.map((one: { readonly evictedBy?: string }) => one.evictedBy);
    assert.deepEqual(evictedBy, ['drain-by-taint', 'drain-by-taint', undefined, undefined]);
  });

  it('is named for its nodes where the question is about a taint or a zone', async () => {
    const evictedBy = (text: string): string | undefined => /Evicted by: +(.*)/.exec(text)?.[1];
    const more = ['n2', 'n3'].map((name) => node(name, taint(bad, 41)));
    for (const view of [taintView('bad'), zoneView('z1')]) {
      const alone = answerOf(view, heeding(drained(10, {}, node('n9'))));
      assert.equal(evictedBy(alone.text), 'drain-by-taint (d1), as long as it runs');
      assert.equal(Object(alone.document).evictor.name, 'drain-by-taint');
      const both = answerOf(view, heeding(drained(10, {}, ...more)));
      assert.equal(
        evictedBy(both.text),
        'drain-by-taint (d1), as long as it runs, on n1; taintmgr-controller on the others',
      );
      const { evictor, nodes } = Object(both.document);
      assert.equal(evictor.name, 'taintmgr-controller');
      const names = nodes.map((one: { evictor?: { name: string } }) => one.evictor?.name);
      assert.deepEqual(names, ['drain-by-taint', undefined, undefined]);
      const nobodyDrains = answerOf(view, drained(10, {}, ...more));
      assert.equal(evictedBy(nobodyDrains.text), 'taintmgr-controller');
    }
  });

  it('is the one whose end is told', () => {
    const { text, document } = explain(heeding(drained(10)));
    assert.equal(
      /^Drained: +(.*)$/m.exec(text)?.[1],
      'in 53s at most: the last eviction in 23s, then up to 30s to stop; 1 DaemonSet pod stays; ' +
        'shop/stays stays: tolerates bad=disk:NoExecute without limit',
    );
    assert.deepEqual(Object(document).drained, {
      state: 'leaving',
      by: formatDeadline(now + 53_000),
      lastEvictionAt: formatDeadline(now + 23_000),
      left: [{ pod: 'shop/stays', because: 'tolerates bad=disk:NoExecute without limit' }],
      staying: { daemonSetPods: 1, staticPods: 0, finishedPods: 0 },
    });
  });

  it('is the one who acts where nobody else does', () => {
    const alone = { evictors: nobody, evictor: { ...actorOf(nobody), asksBudgets: false } };
    assert.deepEqual(lines(drained(10, alone)), byDrain);
  });

  it('is not when it has reported no progress for long, or nobody heeds it', () => {
    for (const from of [heeding(drained(100)), drained(10)]) {
      const [evictedBy, agent, due] = lines(from);
      assert.equal(evictedBy, 'Evicted by: | taintmgr-controller');
      assert.equal(agent, 'agent | Evict | overdue by 41s');
      assert.equal(due, 'due | Evict | overdue by 41s');
    }
  });

  it('heeds pauses and what keeps pods, and no times of policies', () => {
    const ruled = (kind: 'EvictionPolicy' | 'EvictionPause', spec: object): ForecastSurvey => {
      const metadata = { name: 'p', uid: 'u', creationTimestamp: ago31() };
      const { objects } = followed(kind, { apiVersion: policyApiVersion, kind, metadata, spec });
      return heeding(drained(10, { policies: { ...noPolicies, objects } }));
    };
    const slow = { match: {}, action: 'Delete', minTaintAge: '10m', defaultTolerationSeconds: 300 };
    assert.deepEqual(lines(ruled('EvictionPolicy', slow)), byDrain);
    const kept = lines(ruled('EvictionPolicy', { match: {}, action: 'Keep' }));
    assert.ok(kept.includes('due | Keep | -'), kept.join('\n'));
    const held = lines(ruled('EvictionPause', { reason: 'a test' }));
    assert.ok(held.includes('due | Held | overdue by 10s'), held.join('\n'));
  });
});

describe('beside a living kube-controller-manager', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster(null);
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => cluster.stop());

  it('remembers what a pod tolerated before somebody edited it', async () => {
    const { api } = cluster;
    const now = new Date().toISOString().replace('Z', '000Z');
    const holder = { holderIdentity: 'cp_1', leaseDurationSeconds: 15 };
    const began = new Date(Date.now() - 3_600_000).toISOString().replace('Z', '000Z');
    api.create('leases', {
      metadata: { name: 'kube-controller-manager', namespace: 'kube-system' },
      spec: { ...holder, acquireTime: began, renewTime: now },
    });
    api.create('nodes', nodeObject('n1'));
    const tolerating = (seconds: number): Json[] => [toleration('k:NoExecute', seconds)] as Json[];
    const spec = { nodeName: 'n1', tolerations: tolerating(600) };
    const made = api.create('pods', podObject('default', 'db', { spec }));
    // What is created is new, what is loaded is as old as it says; times are kept in whole seconds, and what
    // is edited in its first second cannot be told from what is new.
    api.delete('pods', 'default', 'db', { gracePeriodSeconds: 0 });
    const metadata = { ...made.metadata, creationTimestamp: ago(3600) };
    api.load([{ ...made, metadata }]);
    const one = api.get('nodes', '', 'n1');
    const db = api.get('pods', 'default', 'db');
    assert.ok(one && db);
    const taints = [{ key: 'k', effect: 'NoExecute' }];
    api.as('kubectl-taint').update('nodes', { ...one, spec: { taints } });
    const [, ...others] = db.spec.tolerations ?? [];
    const edited = { ...db.spec, tolerations: [...tolerating(5), ...others] };
    api.as('kubectl-patch').update('pods', { ...db, spec: edited });
    const { code, out, err } = await run('explain', 'node', 'n1', '-o', 'json');
    assert.equal(code, 0, err);
    const { evictor, pods } = JSON.parse(out);
    assert.deepEqual(evictor, {
      name: 'kube-controller-manager',
      source: 'lease kube-system/kube-controller-manager',
      sure: false,
    });
    const [{ remainingSeconds, evictedBy, estimate }] = pods;
    assert.deepEqual([evictedBy, estimate], ['kube-controller-manager', true]);
    assert.ok(remainingSeconds > 590, `not ${remainingSeconds}: the first timer stays`);
  });
});
