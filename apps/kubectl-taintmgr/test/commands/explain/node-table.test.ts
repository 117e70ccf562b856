import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Labels, Node, Pod, Taint } from '@taintmgr/core';
import { policyApiVersion, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { nodeFacts, noPolicies } from '@taintmgr/k8s-adapter/survey';
import { acts, by, explain, may, survey, withUpstream } from '../../world/explained.ts';
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

const bad = 'bad=disk:NoExecute';
const lines = (text: string): string => text.replace(/^\n/, '').replace(/^ {6}/gm, '').trimEnd();

describe('the answer to explain node', () => {
  const cases: readonly (readonly [name: string, node: Node, pods: readonly Pod[], string])[] = [
    [
      'a node without a NoExecute taint',
      node('n1', taint('quiet:NoSchedule')),
      [pod('web')],
      `
      Name:         n1
      Pods:         0 of 1 to evict, 1 to keep
      Evicted by:   taintmgr-controller
      Taints:       no NoExecute taints
      Ready:        True for 1h

      NAMESPACE   POD   DECISION   IN    BLOCKED BY   BECAUSE
      shop        web   Keep       -     -            its node has no NoExecute taint`,
    ],
    [
      'a node without pods',
      node('n1', taint(bad, 41)),
      [],
      `
      Name:         n1
      Pods:         <none>
      Empty:        now
      Evicted by:   taintmgr-controller
      Taints:       bad=disk:NoExecute   added 41s ago
      Ready:        True for 1h`,
    ],
    [
      'a taint whose time is yet to come',
      {
        ...node('n1', { ...taint(bad), timeAdded: Date.UTC(2030, 0, 1) }),
        taintsWrittenAt: now - 181_000,
      },
      [pod('late'), pod('soon', tolerates('', 200))],
      `
      Name:         n1
      Pods:         2 of 2 to evict (first overdue by 3m, last in 20s)
      Empty:        in 50s at most: the last eviction in 20s, then up to 30s to stop
      Evicted by:   taintmgr-controller
      Taints:       bad=disk:NoExecute   seen 3m ago (timeAdded 2030-01-01T00:00:00Z was yet to come then)
      Ready:        True for 1h

      NAMESPACE   POD    DECISION   IN              BLOCKED BY   BECAUSE
      shop        late   Evict      overdue by 3m   <none>       no toleration for bad=disk:NoExecute
      shop        soon   Evict      20s             <none>       tolerates bad=disk:NoExecute for 3m20s`,
    ],
    [
      'all decisions, the next to go first',
      node('n1', taint(bad, 41), taint('other.example/loss:NoExecute')),
      [
        pod('static', { mirror: true }),
        pod('forever', tolerates('')),
        pod('soon', tolerates('', 63)),
        pod('going', { deletionTimestamp: now }),
        pod('late'),
        pod('later', tolerates('', 3600)),
      ],
      `
      Name:         n1
      Pods:         3 of 6 to evict (first overdue by 41s, last in 59m20s), 1 terminating, 2 to keep
      Empty:        never: shop/forever stays: tolerates bad=disk:NoExecute without limit; the others end in 59m50s at most
      Evicted by:   taintmgr-controller
      Taints:       bad=disk:NoExecute             added 41s ago
                    other.example/loss:NoExecute   time unknown
      Ready:        True for 1h

      NAMESPACE   POD       DECISION      IN               BLOCKED BY   BECAUSE
      shop        late      Evict         overdue by 41s   <none>       no toleration for bad=disk:NoExecute; no toleration for other.example/loss:NoExecute
      shop        soon      Evict         23s              <none>       tolerates bad=disk:NoExecute for 1m3s; tolerates other.example/loss:NoExecute for 1m3s
      shop        later     Evict         59m20s           <none>       tolerates bad=disk:NoExecute for 1h; tolerates other.example/loss:NoExecute for 1h
      shop        forever   Keep          -                -            tolerates bad=disk:NoExecute without limit; tolerates other.example/loss:NoExecute without limit
      shop        going     Terminating   -                <none>       already terminating
      shop        static    Keep          -                -            static pod: deleting it through the API does not stop it`,
    ],
    [
      'a taint that is new, by a clock ahead of ours',
      node('n1', taint(bad, -0.5)),
      [pod('web')],
      `
      Name:         n1
      Pods:         1 of 1 to evict (now)
      Empty:        in 30s at most: the last eviction now, then up to 30s to stop
      Evicted by:   taintmgr-controller
      Taints:       bad=disk:NoExecute   added 0s ago
      Ready:        True for 1h

      NAMESPACE   POD   DECISION   IN    BLOCKED BY   BECAUSE
      shop        web   Evict      now   <none>       no toleration for bad=disk:NoExecute`,
    ],
  ];
  for (const [name, one, pods, expected] of cases) {
    it(name, () => assert.equal(explain(survey(one, ...pods)).text, lines(expected)));
  }

  it('makes names harmless that would steer a terminal', () => {
    const { text } = explain(survey(node('n1', taint(bad, 1)), pod('web\u001b[2J')));
    assert.match(text, /^shop +web\^\[\[2J +Evict/m);
  });

  it('says what is true of a node that does not answer', () => {
    const facts = nodeFactsOf(node('n1', taint(bad, 1)), {
      ready: { status: 'Unknown', since: now - 126_000, reason: 'NodeStatusUnknown' },
      cordoned: true,
    });
    const { text } = explain(surveyOf([facts], [podFactsOf(pod('web'))]));
    assert.match(text, /^Ready: {8}Unknown for 2m6s \(NodeStatusUnknown\)\nCordoned: {5}yes$/m);
    assert.match(text, /^shop +web +Evict +overdue by 1s +node unreachable \(needs time\) +/m);
  });
});

describe('a cordoned node that no taint empties', () => {
  const budget = (name: string, allowed: number) =>
    budgetOf(name, { selector: { matchLabels: { app: name } }, allowed });
  const of = (app: string): Partial<Pod> => ({ labels: { app }, ready: 'True' });
  const cordonWritten = { by: 'kubectl-drain', at: now - 300_000 };
  const facts = nodeFactsOf(node('n1'), { cordoned: true, cordonWritten });
  const pods = [
    pod('db-0', of('db')),
    pod('agent-x', { ...of('db'), ...ofDaemonSet }),
    pod('gone', { ...of('db'), deletionTimestamp: now }),
    pod('web-0', of('web')),
  ].map((one) => podFactsOf(one));
  const budgets = [budget('db', 0), budget('web', 1)];

  it('says who cordoned it, and which budgets kubectl drain would wait for', () => {
    const { text, notes } = explain(surveyOf([facts], pods, { budgets }));
    assert.equal(
      text.split('\n\n')[0],
      lines(`
      Name:         n1
      Pods:         0 of 4 to evict, 1 terminating, 3 to keep
      Evicted by:   taintmgr-controller
      Taints:       no NoExecute taints
      Ready:        True for 1h
      Cordoned:     yes, by kubectl-drain 5m ago`),
    );
    assert.deepEqual(notes, [
      'n1 is cordoned and has no NoExecute taint, so no taint evicts; kubectl drain would wait for PDB shop/db (db-0)',
    ]);
  });

  const tainted = { ...facts, node: node('n1', taint(bad, 1)) };
  for (const [name, one, read] of [
    ['budgets that may not be read', facts, null],
    ['budgets that let all go', facts, [budget('db', 1)]],
    ['a node that is not cordoned', { ...facts, cordoned: false }, budgets],
    ['a node that a taint empties', tainted, budgets],
  ] as const) {
    it(`says nothing of ${name}`, () => {
      const { notes } = explain(surveyOf([one], pods, { budgets: read }));
      assert.doesNotMatch(notes.join('\n'), /kubectl drain/);
    });
  }
});

describe('the health of a node', () => {
  const zoneNode = (name: string, status: string, ...taints: readonly Taint[]): Node => {
    const times = { heartbeatAt: now - 60_000, transitionAt: now - 60_000 };
    const conditions = [{ type: 'Ready', status, reason: '', message: '', ...times }];
    return { ...node(name, ...taints), zone: 'r/a', conditions };
  };
  const unreachable = 'node.kubernetes.io/unreachable:NoExecute';
  const others = (ready: number): readonly Node[] =>
    Array.from({ length: ready }, (_, index) => zoneNode(`ok${index}`, 'True'));
  const cases: readonly (readonly [
    name: string,
    zone: readonly Node[],
    lease: number | 'hidden' | null,
    RegExp | null,
  ])[] = [
    ['its kubelet is alive', [zoneNode('n1', 'True')], 15, null],
    [
      'its kubelet has been quiet for a while',
      [zoneNode('n1', 'True')],
      28,
      /^Health: {7}Unknown in 22s without a heartbeat$/m,
    ],
    [
      'its kubelet sends no heartbeats',
      [zoneNode('n1', 'True')],
      58,
      /^Health: {7}no heartbeat for 58s \(grace period 50s\)$/m,
    ],
    [
      'its kubelet has no lease',
      [zoneNode('n1', 'True')],
      null,
      /^Health: {7}no heartbeat for 1m \(grace period 50s\)$/m,
    ],
    [
      'its lease may not be read',
      [zoneNode('n1', 'True')],
      'hidden',
      /^Health: {7}unknown \(no permission to read leases\)$/m,
    ],
    [
      'it waits for its turn, whether its lease may be read or not',
      [zoneNode('n1', 'Unknown'), zoneNode('n2', 'Unknown', taint(unreachable, 3)), ...others(9)],
      'hidden',
      /^Health: {7}queued for its NoExecute taint, position 1, in about 7s$/m,
    ],
    [
      'its zone is stopped',
      [...['n1', 'n2', 'n3'].map((name) => zoneNode(name, 'Unknown')), ...others(1)],
      15,
      /^Health: {7}queued for its NoExecute taint, position 1: stopped: 3 of 4 nodes .* not ready$/m,
    ],
    [
      'everything is down',
      [zoneNode('n1', 'Unknown'), zoneNode('n2', 'Unknown')],
      15,
      /^Health: {7}all zones are down: the controller itself may be cut off$/m,
    ],
  ];
  for (const [name, zone, lease, expected] of cases) {
    it(name, () => {
      const facts = zone.map((one) => nodeFactsOf(one, { zone: 'a' }));
      const renewed = typeof lease === 'number' ? { at: now - lease * 1000, clockAhead: 0 } : lease;
      const leases = new Map([['n1', renewed]]);
      const read = { ...surveyOf(facts.slice(0, 1), []), zoneNodes: facts, leases };
      const { text } = explain(read);
      if (expected) assert.match(text, expected);
      else assert.doesNotMatch(text, /Health/);
    });
  }
});

describe('what a reader should know first', () => {
  it('which taints do not say since when, and what is known instead', () => {
    const both = node('n1', taint(bad, 41), taint('loss:NoExecute'));
    const counts =
      'taint loss:NoExecute has no timeAdded; times are estimates, and pods may be due sooner';
    assert.deepEqual(explain(survey(both)).notes, [counts]);
    const written = { by: 'kubectl-taint', at: now - 90_000 };
    const known = surveyOf([nodeFactsOf(both, { taintsWritten: written })], []);
    assert.deepEqual(explain(known).notes, [
      `${counts} (the taints of n1 were last changed 1m30s ago by kubectl-taint)`,
    ]);
  });

  const going = survey(node('n1', taint(bad, 41)), pod('web'));
  const waiting = survey(node('n1', taint(bad, 41)), pod('web', tolerates('bad', 63)));
  const whyEstimates =
    'kube-controller-manager keeps its timers in memory, and they are counted from when taints and ' +
    'tolerations were written';

  it('that kube-controller-manager evicts in its own way, or may', () => {
    assert.deepEqual(explain(by(withUpstream(acts), waiting)).notes, [
      `times with ~ are estimates: ${whyEstimates}`,
    ]);
    const [doubt] = explain(by(withUpstream(may), waiting)).notes;
    assert.match(doubt ?? '', /^kube-controller-manager \(x\) may evict /);
    assert.deepEqual(explain(going, { compare: 'kcm-1.36' }).notes, [
      `times of KUBE-CONTROLLER-MANAGER are estimates: ${whyEstimates}`,
    ]);
  });

  it('that nobody evicts', () => {
    assert.deepEqual(explain(by(nobody, going)).notes, [
      'no controller here evicts for NoExecute taints: pods stay until a controller does',
    ]);
    const ours = { ...nobody, taintmgr: acts };
    assert.deepEqual(explain(by(ours, going)).notes, []);
    const staying = survey(node('n1'), pod('web'));
    assert.deepEqual(explain(by(nobody, staying)).notes, []);
  });

  it('the zone by the labels that count for the controller, old ones too', () => {
    const cases: readonly (readonly [labels: Labels, zone: string])[] = [
      [{ 'topology.kubernetes.io/zone': 'a' }, 'a, 0 of 1 node not ready'],
      [{ 'failure-domain.beta.kubernetes.io/zone': 'a' }, 'a, 0 of 1 node not ready'],
      [{ kind: 'none' }, ''],
    ];
    for (const [labels, zone] of cases) {
      const status = { conditions: [{ type: 'Ready', status: 'True' }] };
      const facts = nodeFacts({ metadata: { name: 'n1', uid: 'u1', labels }, status });
      const { text } = explain(surveyOf([facts], [], { zoneNodes: [facts] }));
      const line = /^Zone: +(.*)$/m.exec(text)?.[1] ?? '';
      assert.equal(line.replace(/:.*/, ''), zone);
    }
  });

  it('what we have no right to see', () => {
    const { text, warnings } = explain({
      ...survey(node('n1', taint(bad, 41)), pod('web')),
      budgets: null,
      refused: ['pdb is forbidden'],
    });
    assert.deepEqual(warnings, ['not everything could be read: pdb is forbidden']);
    assert.match(text, /^shop +web +Evict +overdue by 41s +\? +no toleration/m);
  });
});

describe('beside kube-controller-manager', () => {
  const upstream = (one: Node, ...pods: readonly Pod[]): readonly string[] => {
    const { text } = explain(survey(one, ...pods), { compare: 'kcm-1.36' });
    return text
      .split('\n')
      .filter((line) => line.startsWith('shop'))
      .map((line) => line.split(/ {3,}/).slice(1, 6).join(' | '));
  };

  it('it would have begun to count when the taint came, had it been there', () => {
    const cases = [pod('db', tolerates('bad', 63)), pod('web')];
    assert.deepEqual(upstream(node('n1', taint(bad, 41)), ...cases), [
      'web | Evict | overdue by 41s | Evict, overdue by 40s | <none>',
      'db | Evict | 23s | Evict 23s | <none>',
    ]);
  });

  it('a timer that is set stays when a shorter one comes', () => {
    const both = node('n1', taint('slow:NoExecute', 100), taint(bad, 41));
    const tolerations = [
      ...tolerates('slow', 600).tolerations,
      ...tolerates('bad', 63).tolerations,
    ];
    assert.deepEqual(upstream(both, pod('db', { tolerations })), [
      'db | Evict | 23s | Evict 8m21s | first-timer-kept',
    ]);
  });

  it('a pod that came late is given its whole time', () => {
    const late = pod('db', { ...tolerates('bad', 63), boundAt: now - 10_000 });
    assert.deepEqual(upstream(node('n1', taint(bad, 41)), late), [
      'db | Evict | 54s | Evict 54s | <none>',
    ]);
  });
});

it('names the limit that a pod waits for, and the rest of its time', () => {
  const spec = { match: {}, limits: [{ per: 'Total', podsPerSecond: 0.1 }] };
  const metadata = { name: 'p', uid: 'u' };
  const judged = readManifest(
    { apiVersion: policyApiVersion, kind: 'EvictionPolicy', metadata, spec },
    now,
  );
  assert.ok(judged.kind === 'allowed');
  const nodes = [nodeFactsOf(node('n1', taint(bad, 10)))];
  const pods = ['a', 'b'].map((name) => podFactsOf(pod(name)));
  const policies = { ...noPolicies, objects: [judged.value] };
  const read = surveyOf(nodes, pods, { crowd: { nodes, pods }, policies });
  const rates = [{ id: 'total policy=p', oneAt: now + 4000 }];
  const { text } = explain({ ...read, evictor: { ...read.evictor, rates } });
  assert.deepEqual(
    text
      .split('\n')
      .slice(-2)
      .map((line) => line.split(/ {2,}/).slice(0, 5).join(' | ')),
    [
      'shop | a | Evict | ~4s | limit total policy=p',
      'shop | b | Evict | ~14s | limit total policy=p',
    ],
  );
});
