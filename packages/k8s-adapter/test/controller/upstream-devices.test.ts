// The device-taint-eviction-controller in a loop, against a simulated API server: its requests, their bodies and
// times are those that kube-controller-manager 1.36.2 was recorded with.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { asRecord, type JsonRecord } from '../../src/proto/json.ts';
import {
  type ClaimingPod,
  claimsPath,
  driverName,
  group,
  podsPath,
  rulesPath,
  type Sent,
  second,
  World,
} from './upstream-device-stage.ts';

const folder = new URL('../testdata/controller/device-taints/', import.meta.url);

interface Step extends Sent {
  readonly action?: string;
  readonly from?: string;
}

interface Recorded {
  readonly steps: readonly Step[];
}

function recorded(name: string): Recorded {
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'));
}

/** Latencies of the real programs, in seconds, and in which turns two pods share what their client may send. */
const slack = 0.3;

/** The name of an Event ends with its time. */
function plainPath({ path }: Pick<Sent, 'path'>): string {
  return path.replace(/\.(?:[0-9a-f]{16}|<hex-nanoseconds>)$/, '');
}

/** The requests about each object, in their order; those about several pods due at once come in any order. */
function byTarget(sent: readonly Sent[]): ReadonlyMap<string, readonly Sent[]> {
  const targets = new Map<string, Sent[]>();
  for (const one of sent) {
    const subject = asRecord(one.body?.involvedObject).name ?? '';
    const key = `${one.method} ${plainPath(one)} ${String(subject)}`;
    targets.set(key, [...(targets.get(key) ?? []), one]);
  }
  return targets;
}

/** What the two must have in common of a request. */
function content(
  { method, path, query, body: given, status }: Sent,
  shown: (value: unknown) => unknown,
): object {
  const body = asRecord(given);
  const isEvent = path.includes('/events');
  const { reason, message, type, source, reportingComponent, count } = body;
  const told: JsonRecord = isEvent
    ? { reason, message, type, source, reportingComponent, count }
    : { ...body, ...(method === 'DELETE' && { apiVersion: 'v1' }) };
  const text = JSON.stringify(told, (key, value) => (key === 'uid' ? 'uid' : shown(value)));
  return { method, path: plainPath({ path }), query: query ?? {}, body: JSON.parse(text), status };
}

/** The query of each stream by its path, without the random times after which a stream ends. */
function streams(sent: readonly Sent[]): Map<string, JsonRecord> {
  const queries = sent.map(({ path, query }) => {
    const { timeout: _, timeoutSeconds, ...rest } = query ?? {};
    return [path, { ...rest, ends: timeoutSeconds !== undefined }] as const;
  });
  return new Map(queries);
}

function compare(world: World, name: string): void {
  const isOurs = ({ action, from }: Step): boolean =>
    action === undefined && from === 'device-taint-eviction-controller';
  const theirs = byTarget(recorded(name).steps.filter(isOurs));
  const ours = byTarget(world.sent.filter(({ query }) => query?.watch === undefined));
  assert.deepEqual([...ours.keys()].sort(), [...theirs.keys()].sort());
  for (const [key, wanted] of theirs) {
    const found = ours.get(key) ?? [];
    assert.equal(found.length, wanted.length, `${key}: ${found.map(({ t }) => t)}`);
    // A time of the request itself differs with the latencies.
    const sinceSent = (value: unknown, { t }: Sent): unknown =>
      value === world.secondAt(t) ? '<now>' : value;
    for (const [index, one] of wanted.entries()) {
      const other = found[index] ?? assert.fail();
      assert.ok(Math.abs(one.t - other.t) <= slack, `${key} at ${other.t}, recorded at ${one.t}`);
      assert.deepEqual(
        content(other, (value) => sinceSent(world.shown(value), other)),
        content(one, (value) => sinceSent(value, one)),
      );
      const type = one.headers['content-type'] ?? '';
      if (one.method === 'PATCH') assert.equal(other.headers['content-type'], type);
    }
  }
}

interface Story {
  readonly offset: number;
  readonly pods: readonly ClaimingPod[];
  readonly withRules?: boolean;
  /** taintmgr's policies are in force, and its heartbeat is fresh. */
  readonly takenOver?: true;
  readonly tell: (world: World) => void;
  readonly ends: number;
}

const ofDriver = { driver: driverName };
const gpu = (index: number): object => ({ ...ofDriver, device: `gpu-${index}` });
const preempted = {
  ...{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' },
  lastTransitionTime: new Date(second - 300_000).toISOString(),
};
const scheduled = { type: 'PodScheduled', status: 'True' };
const tainted = [{ key: 'health', value: 'bad', effect: 'NoExecute' }];

const stories: Readonly<Record<string, Story>> = {
  '01-rule-noexecute': {
    offset: 100,
    pods: [
      { name: 'bare', devices: [0] },
      { name: 'forever', devices: [0], tolerated: [null] },
    ],
    tell: (world) => world.at(0, () => world.rule('r1', gpu(0))),
    ends: 15,
  },
  '02-toleration-seconds': {
    offset: 440,
    pods: [
      { name: 't20', devices: [0], tolerated: [20] },
      { name: 't5', devices: [0], tolerated: [[{ seconds: 20 }, { seconds: 5 }]] },
    ],
    tell: (world) => world.at(0, () => world.rule('r1', gpu(0))),
    ends: 35,
  },
  '03-two-rules': {
    offset: 450,
    pods: [
      {
        name: 'two',
        devices: [0],
        tolerated: [
          [
            { key: 'a', seconds: 8 },
            { key: 'b', seconds: 4 },
          ],
        ],
      },
      {
        name: 'three',
        devices: [1],
        tolerated: [
          [
            { key: 'a', seconds: 20 },
            { key: 'b', seconds: 6 },
          ],
        ],
      },
    ],
    tell: (world) => {
      world.at(0, () => world.rule('ra', ofDriver, { key: 'a' }));
      world.at(1.511, () => world.rule('rb', ofDriver, { key: 'b' }));
      world.at(6.038, () => world.send('DELETE', `${rulesPath}/rb`, {}));
    },
    ends: 20,
  },
  '04-slice-taint': {
    offset: 570,
    pods: [
      { name: 'now', devices: [0] },
      { name: 's6', devices: [1], tolerated: [6] },
      { name: 's9', devices: [2], tolerated: [9] },
    ],
    tell: (world) => {
      world.at(0, () => world.slice([tainted, tainted, tainted]));
      world.at(4.028, () => world.slice([tainted, tainted, tainted]));
      world.at(11.571, () => world.slice([[]]));
    },
    ends: 15,
  },
  '05-effect-none': {
    offset: 160,
    pods: [
      { name: 'n1', devices: [0] },
      { name: 'n2', devices: [1], tolerated: [5] },
      { name: 'n3', devices: [2], tolerated: [null] },
    ],
    tell: (world) => {
      world.at(0.001, () => world.rule('r1', ofDriver, { effect: 'None' }));
      world.at(3.019, () => world.use({ name: 'n4', devices: [3] }));
      world.at(12.045, () =>
        world.patch(`${rulesPath}/r1`, { spec: { taint: { effect: 'NoExecute' } } }),
      );
    },
    ends: 25,
  },
  '06-rule-deleted-in-time': {
    offset: 340,
    pods: [
      { name: 'c6', devices: [0], tolerated: [6] },
      { name: 'd6', devices: [1], tolerated: [6] },
    ],
    tell: (world) => {
      world.at(0.001, () => {
        world.rule('r1', gpu(0));
        world.rule('r2', gpu(1));
      });
      world.at(3.024, () => world.send('DELETE', `${rulesPath}/r1`, {}));
      world.at(3.028, () =>
        world.patch(`${rulesPath}/r2`, { spec: { taint: { effect: 'None' } } }),
      );
      world.at(8.055, () => world.rule('r1', gpu(0)));
    },
    ends: 22,
  },
  '07-two-claims-and-shared': {
    offset: 940,
    pods: [{ name: 'both', devices: [0, 1], tolerated: [8, 4] }],
    tell: (world) => {
      world.at(0, () => world.rule('r1', ofDriver));
      world.at(11.06, () => {
        const target = { apiVersion: 'v1', kind: 'Node', name: 'n1' };
        const binding = {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'unbound' },
          target,
        };
        world.send('POST', `${podsPath}/unbound/binding`, binding);
      });
    },
    ends: 15,
  },
  '08-manager-restart': {
    offset: 30,
    pods: [
      { name: 'r5', devices: [0], tolerated: [5] },
      { name: 'r12', devices: [1], tolerated: [12] },
    ],
    tell: (world) => {
      world.at(0, () => world.rule('r1', ofDriver));
      world.at(3.017, () => world.stopManager());
      world.at(8.026, () => world.startManager());
    },
    ends: 25,
  },
  '09-policy-refuses': {
    offset: 650,
    takenOver: true,
    pods: [{ name: 'held', devices: [0] }],
    tell: (world) => {
      const annotate = (value: string): void =>
        world.patch(`${claimsPath}/held-0`, { metadata: { annotations: { touched: value } } });
      world.at(0, () => world.rule('r1', gpu(0)));
      world.at(45.03, () => annotate('once'));
      world.at(46.546, () => world.beat(90_000));
      world.at(47.558, () => annotate('twice'));
    },
    ends: 49,
  },
  '10-finished-terminating-absent': {
    offset: 160,
    pods: ['term', 'done', 'gone'].map((name, index) => ({
      ...{ name, devices: [index], tolerated: [4] },
    })),
    tell: (world) => {
      world.patch(`${podsPath}/done/status`, { status: { phase: 'Succeeded' } });
      world.at(0, () => world.rule('r1', ofDriver));
      world.at(1.512, () => world.send('DELETE', `${podsPath}/term`, {}));
      world.at(1.518, () => {
        world.send('DELETE', `${podsPath}/gone`, { gracePeriodSeconds: 0 });
        world.pod('gone', ['gone-0']);
      });
    },
    ends: 13.5,
  },
  '11-rule-spec-changes': {
    offset: 30,
    pods: [
      { name: 'e1', devices: [0], tolerated: [30] },
      { name: 'e2', devices: [1], tolerated: [[{ key: 'health', seconds: 30 }]] },
      { name: 'e3', devices: [2], tolerated: [[{ key: 'health', seconds: 8 }]] },
    ],
    tell: (world) => {
      world.at(0, () => {
        for (const index of [0, 1, 2]) world.rule(`r${index + 1}`, gpu(index));
      });
      world.at(1.517, () => world.patch(`${rulesPath}/r3`, { spec: { deviceSelector: null } }));
      world.at(1.521, () => {
        const timeAdded = new Date(second - 25_000).toISOString();
        world.patch(`${rulesPath}/r1`, { spec: { taint: { timeAdded } } });
      });
      world.at(7.553, () => world.patch(`${rulesPath}/r2`, { spec: { taint: { key: 'other' } } }));
      world.at(9.564, () => world.patch(`${rulesPath}/r3`, { spec: { deviceSelector: {} } }));
    },
    ends: 11.2,
  },
  '12-policy-stale-and-deleted': {
    offset: 310,
    takenOver: true,
    pods: [
      { name: 'h1', devices: [0] },
      { name: 'h2', devices: [1] },
    ],
    tell: (world) => {
      world.at(0.001, () => world.beat(90_000));
      world.at(0.008, () => world.rule('r1', gpu(0)));
      world.at(1.521, () => world.beat());
      world.at(1.524, () => world.rule('r2', gpu(1)));
      world.at(10.55, () => world.unbindPolicy());
    },
    ends: 11.983,
  },
  '13-one-policy-for-both': {
    offset: 40,
    takenOver: true,
    pods: [
      { name: 'x1', devices: [0] },
      { name: 'x2', devices: [] },
      { name: 'x3', devices: [1], conditions: [preempted] },
    ],
    tell: (world) => {
      world.at(1.517, () => world.rule('r1', ofDriver));
      world.at(6.526, () => world.optIn(null));
    },
    ends: 18.546,
  },
  '15-scheduler-and-templates': {
    offset: 280,
    pods: [],
    tell: tellOfTemplates,
    ends: 22.489,
  },
  '16-default-gates': {
    offset: 300,
    withRules: false,
    pods: [
      { name: 'byrule', devices: [0] },
      { name: 'byslice', devices: [1] },
    ],
    tell: (world) => {
      world.at(0.001, () => world.rule('r1', gpu(0)));
      world.at(5.029, () => world.slice([[], tainted]));
    },
    ends: 8,
  },
  '17-held-restart-stale': {
    offset: 350,
    takenOver: true,
    pods: [
      { name: 'a', devices: [0] },
      { name: 'b', devices: [1] },
    ],
    tell: (world) => {
      world.at(0, () => world.rule('r1', ofDriver));
      world.at(4.013, () => world.stopManager());
      world.at(5.09, () => world.startManager());
      world.at(17.055, () => world.evict('b'));
      world.at(17.062, () => world.beat(90_000));
    },
    ends: 26,
  },
};

/** Claims of templates, as the resourceclaim controller and the scheduler make them and take them away. */
function tellOfTemplates(world: World): void {
  const all = [tainted, tainted, tainted, tainted];
  world.at(0, () => world.slice(all));
  world.at(1.53, () => {
    const noEffect = [{ key: 'health', seconds: null, effect: '' as const }];
    for (const [index, [name, tolerance]] of [
      ['noeffect', noEffect] as const,
      ['sec8', 8] as const,
      ['finish', 10] as const,
      ['forever', null] as const,
    ].entries()) {
      world.use({ name, devices: [index], tolerated: [tolerance], conditions: [scheduled] });
    }
  });
  world.at(4.55, () => {
    world.patch(`${podsPath}/finish/status`, { status: { phase: 'Succeeded' } });
    world.patch(`${claimsPath}/finish-0/status`, {
      status: { reservedFor: null, allocation: null },
    });
    world.send('DELETE', `${claimsPath}/finish-0`, {});
  });
  world.at(13.604, () => world.slice([[]]));
  // The claim of an extended resource is in the status of its pod alone.
  world.at(14.426, () => {
    world.pod('ext', []);
    world.claim('ext-extended-resources', 2, undefined, ['ext']);
  });
  world.at(18.461, () => world.rule('r1', ofDriver));
}

/** Beside pod `both`: two that share a claim, one that it is not reserved for, and one without a node. */
function shareClaims(world: World): void {
  for (const name of ['sh1', 'sh2', 'other']) world.pod(name, ['shared']);
  world.claim('shared', 2, 8, ['sh1', 'sh2']);
  world.use({ name: 'unbound', devices: [3], isBound: false });
}

describe('the requests of kube-controller-manager 1.36.2 for device taints', () => {
  it('00-startup: the streams with which it begins', () => {
    const { steps } = recorded('00-startup');
    const isStream = ({ query }: Partial<Sent>): boolean => query?.watch === 'true';
    assert.deepEqual(
      steps.filter((step) => !isStream(step)).map(({ action, path }) => action ?? path),
      ['start kube-controller-manager', '/healthz'],
    );
    const theirs = streams(steps.filter(isStream));
    // Upstream reads classes too, although since 1.35 no rule selects devices by their class.
    assert.equal(theirs.delete(`${group}/deviceclasses`), true);
    const world = new World(0);
    world.startManager();
    assert.deepEqual(streams(world.sent), theirs);
  });

  for (const [name, story] of Object.entries(stories)) {
    it(name, () => {
      const { offset, pods, withRules = true, takenOver = false, tell, ends } = story;
      const world = new World(offset, withRules);
      for (const pod of pods) world.use(pod);
      if (name === '07-two-claims-and-shared') shareClaims(world);
      if (takenOver) world.takeOver();
      world.begin();
      tell(world);
      world.at(ends);
      compare(world, name);
    });
  }

  it('14-rate: so many a second as its client may send', () => {
    const world = new World(100);
    for (let index = 0; index < 100; index++) {
      world.use({ name: `p${String(index).padStart(3, '0')}`, devices: [0] });
    }
    world.begin();
    world.at(0, () => world.rule('r1', gpu(0)));
    world.at(20);
    const rate = JSON.parse(readFileSync(new URL('14-rate.json', folder), 'utf8'));
    const times = world.sent.filter(({ method }) => method === 'DELETE').map(({ t }) => t);
    const [most, last] = [times.filter((t) => t < 1).length, times.at(-1) ?? 0];
    assert.equal(times.length, rate.requests['delete pods']);
    assert.ok(Math.abs(most - rate.perSecond[0]) <= 3, `${most} in the first second`);
    assert.ok(Math.abs(last - rate.last.t) <= 1, `the last after ${last} s`);
  });
});
