// A simulated API server with devices, and kube-controller-manager's device-taint-eviction-controller before it.
import assert from 'node:assert/strict';
import { ApiServer } from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import {
  type UpstreamDeviceHeard,
  UpstreamDeviceLoop,
  type UpstreamDeviceNotice,
} from '../../src/controller/upstream-devices.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';
import { asRecord, type JsonRecord } from '../../src/proto/json.ts';
import type { ApiRequest } from '../../src/proto/requests.ts';
import {
  takeoverCollection,
  takeoverManifests,
  takeoverPath,
} from '../../src/takeover/manifests.ts';
import { answerOf } from '../world/answer-of.ts';

const namespace = 'wire-devtaint';
export const driverName = 'gpu.example.com';
export const group = '/apis/resource.k8s.io/v1';
const manager = 'taintmgr';
const managersPath = '/apis/taintmgr.dev/v1alpha1/taintmanagers';
export const rulesPath = '/apis/resource.k8s.io/v1beta2/devicetaintrules';
export const podsPath = `/api/v1/namespaces/${namespace}/pods`;
export const claimsPath = `${group}/namespaces/${namespace}/resourceclaims`;
export const second = Date.parse('2026-11-29T00:00:00Z');

/** A request of the controller: when, in seconds, and as the recording has it. */
export interface Sent {
  readonly t: number;
  readonly method: string;
  readonly path: string;
  readonly query?: JsonRecord;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonRecord;
  /** It is answered with this. */
  readonly status: number;
}

/** Seconds that its toleration of any NoExecute taint has; null: without limit; left out: it tolerates none. */
type Tolerance =
  | number
  | null
  | readonly { readonly key?: string; readonly seconds: number | null; readonly effect?: '' }[];

export interface ClaimingPod {
  readonly name: string;
  /** The devices of its claims, a claim each. */
  readonly devices: readonly number[];
  readonly tolerated?: readonly (Tolerance | undefined)[];
  readonly isReserved?: boolean;
  readonly isBound?: boolean;
  /** Of its status. */
  readonly conditions?: readonly object[];
}

export class World {
  readonly clock: VirtualClock;
  readonly api: ApiServer;
  readonly sent: Sent[] = [];
  readonly #start: number;
  #driver: VirtualDriver<UpstreamDeviceHeard, UpstreamDeviceNotice> | null = null;
  readonly #withRules: boolean;
  #isTakenOver = false;

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
    if (this.#isTakenOver) this.beat();
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
        const head = (status: number, headers: Readonly<Record<string, string>>): void => {
          this.#note(request, status);
          sink.head(status, headers);
        };
        return this.api.exchange(request, { ...sink, head });
      },
    });
    this.#driver.feed({ kind: 'start' });
  }

  /** The namespace is opted in, and taintmgr's policies are in force. */
  takeOver(): void {
    this.optIn('enabled');
    for (const definition of customResourceDefinitions()) {
      this.api.create('customresourcedefinitions', structuredClone(definition));
    }
    for (const manifest of takeoverManifests({ manager, users: [] })) {
      this.send('POST', takeoverCollection(manifest.kind), manifest);
    }
    this.clock.advanceTo(this.clock.now() + 3000);
    const object = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager' };
    this.send('POST', managersPath, { ...object, metadata: { name: manager } });
    this.#isTakenOver = true;
  }

  /** Null: out. */
  optIn(label: 'enabled' | null): void {
    this.patch(`/api/v1/namespaces/${namespace}`, {
      metadata: { labels: { 'taintmgr.dev/takeover': label } },
    });
  }

  /** taintmgr's heartbeat. */
  beat(agoMs = 0): void {
    const renewTime = new Date(this.clock.now() - agoMs).toISOString();
    const takeover = { enabled: true, deviceTaints: true };
    this.patch(`${managersPath}/${manager}/status`, { status: { renewTime, takeover } });
  }

  unbindPolicy(): void {
    const kind = 'ValidatingAdmissionPolicyBinding';
    this.send(
      'DELETE',
      takeoverPath({ kind, metadata: { name: 'taintmgr-takeover', annotations: {} } }),
      {},
    );
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
    const tolerations = list.map(({ key, seconds, effect = 'NoExecute' }) => ({
      ...{ ...(key === undefined ? {} : { key }), operator: 'Exists' },
      ...(effect === '' ? {} : { effect }),
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
  use(pod: ClaimingPod): void {
    const { name, devices, tolerated = [], isReserved = true, isBound = true, conditions } = pod;
    const claims = devices.map((_, index) => `${name}-${index}`);
    this.pod(name, claims, isBound);
    if (conditions) this.patch(`${podsPath}/${name}/status`, { status: { conditions } });
    for (const [index, device] of devices.entries()) {
      this.claim(`${name}-${index}`, device, tolerated[index], isReserved ? [name] : []);
    }
  }

  /** Somebody asks the Eviction API. */
  evict(name: string): void {
    const object = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
    this.send('POST', `${podsPath}/${name}/eviction`, object);
  }

  uid(pod: string): string {
    return this.api.get('pods', namespace, pod)?.metadata.uid ?? assert.fail(`no pod ${pod}`);
  }

  #note({ method, path, headers, body }: ApiRequest, status: number): void {
    const [plain = '', query = ''] = path.split('?');
    this.sent.push({
      ...{ t: (this.clock.now() - this.#start) / 1000, method, path: plain, headers, status },
      ...(query !== '' && { query: Object.fromEntries(new URLSearchParams(query)) }),
      ...(body !== null && { body: JSON.parse(body) }),
    });
  }

  /** A time of a body as the recordings have it. */
  shown(value: unknown): unknown {
    if (typeof value !== 'string' || !/^\d{4}-.*Z$/.test(value)) return value;
    return `<T+${Math.floor((Date.parse(value) - second) / 1000)}s>`;
  }

  /** The second at that many seconds of the story, in the same form. */
  secondAt(t: number): string {
    return `<T+${Math.floor((this.#start - second) / 1000 + t)}s>`;
  }
}
