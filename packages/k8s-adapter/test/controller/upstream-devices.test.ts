// The device-taint-eviction-controller in a loop, against a simulated API server: its requests, their bodies and
// times are those that kube-controller-manager 1.36.2 was recorded with.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import {
  type UpstreamDeviceHeard,
  UpstreamDeviceLoop,
  type UpstreamDeviceNotice,
} from '../../src/controller/upstream-devices.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';
import { asRecord, type JsonRecord } from '../../src/proto/json.ts';
import type { ApiRequest } from '../../src/proto/requests.ts';
import { answerOf } from '../world/answer-of.ts';

const folder = new URL('../testdata/controller/device-taints/', import.meta.url);
const namespace = 'wire-devtaint';
const driverName = 'gpu.example.com';
const group = '/apis/resource.k8s.io/v1';
const rulesPath = '/apis/resource.k8s.io/v1beta2/devicetaintrules';
const podsPath = `/api/v1/namespaces/${namespace}/pods`;
const claimsPath = `${group}/namespaces/${namespace}/resourceclaims`;
const second = Date.parse('2026-11-29T00:00:00Z');

/** A request of the controller: when, in seconds, and as the recording has it. */
interface Sent {
  readonly t: number;
  readonly method: string;
  readonly path: string;
  readonly query?: JsonRecord;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonRecord;
}

interface Step extends Sent {
  readonly action?: string;
  readonly from?: string;
}

/** Seconds that its toleration of any NoExecute taint has; null: without limit; left out: it tolerates none. */
type Tolerance =
  | number
  | null
  | readonly { readonly key?: string; readonly seconds: number | null }[];

interface ClaimingPod {
  readonly name: string;
  /** The devices of its claims, a claim each. */
  readonly devices: readonly number[];
  readonly tolerated?: readonly (Tolerance | undefined)[];
  readonly isReserved?: boolean;
  readonly isBound?: boolean;
}

class World {
  readonly clock: VirtualClock;
  readonly api: ApiServer;
  readonly sent: Sent[] = [];
  readonly #start: number;
  #driver: VirtualDriver<UpstreamDeviceHeard, UpstreamDeviceNotice> | null = null;
  readonly #withRules: boolean;
  /** Refuses the marks of pods, as a policy does. */
  isRefusing = false;

  /** `offset`: milliseconds of the second in which the story begins. */
  constructor(offset: number, withRules = true) {
    this.#start = second + offset;
    this.#withRules = withRules;
    this.clock = new VirtualClock(second - 60_000);
    this.api = new ApiServer({ clock: this.clock, random: seededRandom(7) });
    this.api.create('namespaces', { metadata: { name: namespace } });
    this.slice([]);
  }

  /** Everything has been there for a while when the story begins. */
  begin(): void {
    this.clock.advanceTo(this.#start - 1000);
    this.startManager();
    this.#driver?.runUntil(this.#start);
    this.sent.length = 0;
  }

  startManager(): void {
    const loop = new UpstreamDeviceLoop({
      random: seededRandom(8),
      paths: {
        resourceslices: `${group}/resourceslices`,
        resourceclaims: `${group}/resourceclaims`,
        devicetaintrules: this.#withRules ? rulesPath : null,
      },
    });
    this.#driver = new VirtualDriver({
      ...{ loop, clock: this.clock, onNotice: () => {} },
      exchange: (request, sink) => {
        const isRead = request.method === 'GET' && !request.path.includes(`${podsPath}/`);
        if (!isRead) this.#note(request);
        const isMark = request.method === 'PATCH' && request.path.includes('/pods/');
        if (!this.isRefusing || !isMark) return this.api.exchange(request, sink);
        sink.head(403, {});
        sink.data('{"kind":"Status","code":403,"reason":"Forbidden"}');
        sink.end();
        return () => {};
      },
    });
    this.#driver.feed({ kind: 'start' });
  }

  stopManager(): void {
    this.#driver?.feed({ kind: 'stop' });
    this.#driver = null;
  }

  at(t: number, act: () => void = () => {}): void {
    const until = this.#start + t * 1000;
    if (this.#driver) this.#driver.runUntil(until);
    else this.clock.advanceTo(until);
    act();
  }

  send(
    method: ApiRequest['method'],
    path: string,
    body?: object,
    type = 'application/json',
  ): JsonRecord {
    const headers = { accept: 'application/json', 'content-type': type };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = answerOf(this.api, { method, path, headers, ...text } as ApiRequest);
    assert.ok(
      answer.kind === 'response' && answer.status < 300,
      `${method} ${path}: ${JSON.stringify(answer)}`,
    );
    return asRecord(JSON.parse(answer.body));
  }

  patch(path: string, changes: object): void {
    this.send('PATCH', path, changes, 'application/merge-patch+json');
  }

  /** Publishes gpu-0 to gpu-3, the first of them with these taints each. */
  slice(taints: readonly (readonly object[])[]): void {
    const devices = [0, 1, 2, 3].map((index) => ({
      name: `gpu-${index}`,
      ...((taints[index] ?? []).length > 0 && { taints: taints[index] }),
    }));
    const pool = { name: 'n1', generation: 1, resourceSliceCount: 1 };
    const spec = { driver: driverName, nodeName: 'n1', pool, devices };
    const object = {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceSlice',
      metadata: { name: 's1' },
    };
    const path = `${group}/resourceslices`;
    if (taints.length === 0 && !this.api.get('resourceslices', '', 's1'))
      this.send('POST', path, { ...object, spec });
    else
      this.send('PUT', `${path}/s1`, {
        ...object,
        metadata: {
          name: 's1',
          resourceVersion: this.api.get('resourceslices', '', 's1')?.metadata.resourceVersion,
        },
        spec,
      });
  }

  rule(name: string, selector: object | null, taint: object = {}): void {
    const deviceSelector = selector === null ? {} : { deviceSelector: selector };
    const spec = {
      ...deviceSelector,
      taint: { key: 'health', value: 'bad', effect: 'NoExecute', ...taint },
    };
    const object = { apiVersion: 'resource.k8s.io/v1beta2', kind: 'DeviceTaintRule' };
    this.send('POST', rulesPath, { ...object, metadata: { name }, spec });
  }

  claim(
    name: string,
    device: number,
    tolerated: Tolerance | undefined,
    users: readonly string[],
  ): void {
    const list: Exclude<Tolerance, number | null> = Array.isArray(tolerated)
      ? tolerated
      : tolerated === undefined
        ? []
        : [{ seconds: tolerated }];
    const tolerations = list.map(({ key, seconds }) => ({
      ...{ ...(key === undefined ? {} : { key }), operator: 'Exists', effect: 'NoExecute' },
      ...(seconds === null ? {} : { tolerationSeconds: seconds }),
    }));
    const request = { name: 'r', exactly: { deviceClassName: 'gpu' } };
    const object = { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', metadata: { name } };
    this.send('POST', claimsPath, { ...object, spec: { devices: { requests: [request] } } });
    const allocated = {
      request: 'r',
      driver: driverName,
      pool: 'n1',
      device: `gpu-${device}`,
      tolerations,
    };
    const reservedFor = users.map((pod) => ({ resource: 'pods', name: pod, uid: this.uid(pod) }));
    const status = { allocation: { devices: { results: [allocated] } }, reservedFor };
    this.patch(`${claimsPath}/${name}/status`, { status });
  }

  pod(name: string, claims: readonly string[], isBound = true): void {
    this.send('POST', podsPath, {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
      spec: {
        ...(isBound && { nodeName: 'n1' }),
        containers: [{ name: 'c', image: 'x' }],
        resourceClaims: claims.map((claim, index) => ({
          name: `c${index}`,
          resourceClaimName: claim,
        })),
      },
    });
  }

  /** A pod and its claims. */
  use({ name, devices, tolerated = [], isReserved = true, isBound = true }: ClaimingPod): void {
    const claims = devices.map((_, index) => `${name}-${index}`);
    this.pod(name, claims, isBound);
    for (const [index, device] of devices.entries()) {
      this.claim(`${name}-${index}`, device, tolerated[index], isReserved ? [name] : []);
    }
  }

  uid(pod: string): string {
    return this.api.get('pods', namespace, pod)?.metadata.uid ?? assert.fail(`no pod ${pod}`);
  }

  #note({ method, path, headers, body }: ApiRequest): void {
    const [plain = '', query = ''] = path.split('?');
    this.sent.push({
      ...{ t: (this.clock.now() - this.#start) / 1000, method, path: plain, headers },
      ...(query !== '' && { query: Object.fromEntries(new URLSearchParams(query)) }),
      ...(body !== null && { body: JSON.parse(body) }),
    });
  }

  /** A time of a body as the recordings have it. */
  shown(value: unknown): unknown {
    if (typeof value !== 'string' || !/^\d{4}-.*Z$/.test(value)) return value;
    return `<T+${Math.floor((Date.parse(value) - second) / 1000)}s>`;
  }
}

interface Recorded {
  readonly steps: readonly Step[];
}

function recorded(name: string): Recorded {
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'));
}

/** Latencies of the real programs, in seconds. */
const slack = 0.25;

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
  { method, path, query, body: given }: Sent,
  shown: (value: unknown) => unknown,
): object {
  const body = asRecord(given);
  const isEvent = path.includes('/events');
  const { reason, message, type, source, reportingComponent, count } = body;
  const told: JsonRecord = isEvent
    ? { reason, message, type, source, reportingComponent, count }
    : { ...body, ...(method === 'DELETE' && { apiVersion: 'v1' }) };
  const text = JSON.stringify(told, (key, value) => (key === 'uid' ? 'uid' : shown(value)));
  return { method, path: plainPath({ path }), query: query ?? {}, body: JSON.parse(text) };
}

function compare(world: World, name: string): void {
  const isOurs = ({ action, from }: Step): boolean =>
    action === undefined && from === 'device-taint-eviction-controller';
  const theirs = byTarget(recorded(name).steps.filter(isOurs));
  const ours = byTarget(world.sent);
  assert.deepEqual([...ours.keys()].sort(), [...theirs.keys()].sort());
  for (const [key, wanted] of theirs) {
    const found = ours.get(key) ?? [];
    assert.equal(found.length, wanted.length, `${key}: ${found.map(({ t }) => t)}`);
    for (const [index, one] of wanted.entries()) {
      const other = found[index] ?? assert.fail();
      assert.ok(Math.abs(one.t - other.t) <= slack, `${key} at ${other.t}, recorded at ${one.t}`);
      assert.deepEqual(
        content(other, (value) => world.shown(value)),
        content(one, (value) => value),
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
  readonly tell: (world: World) => void;
  readonly ends: number;
}

const ofDriver = { driver: driverName };
const gpu = (index: number): object => ({ ...ofDriver, device: `gpu-${index}` });
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
    offset: 800,
    pods: [{ name: 'held', devices: [0] }],
    tell: (world) => {
      const annotate = (value: string): void =>
        world.patch(`${claimsPath}/held-0`, { metadata: { annotations: { touched: value } } });
      world.isRefusing = true;
      world.at(0, () => world.rule('r1', gpu(0)));
      world.at(45.03, () => annotate('once'));
      world.at(47.558, () => {
        world.isRefusing = false;
        annotate('twice');
      });
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
};

/** Beside pod `both`: two that share a claim, one that it is not reserved for, and one without a node. */
function shareClaims(world: World): void {
  for (const name of ['sh1', 'sh2', 'other']) world.pod(name, ['shared']);
  world.claim('shared', 2, 8, ['sh1', 'sh2']);
  world.use({ name: 'unbound', devices: [3], isBound: false });
}

describe('the requests of kube-controller-manager 1.36.2 for device taints', () => {
  for (const [name, { offset, pods, withRules = true, tell, ends }] of Object.entries(stories)) {
    it(name, () => {
      const world = new World(offset, withRules);
      for (const pod of pods) world.use(pod);
      if (name === '07-two-claims-and-shared') shareClaims(world);
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
