// The same histories in a simulated cluster: its API server has the objects, and core's machine acts on them.
import { ApiServer } from '@taintmgr/api-server';
import { type UpstreamDeviceCommand, UpstreamDeviceEviction } from '@taintmgr/core/devices';
import {
  ApiError,
  type Change,
  type KubeObject,
  seededRandom,
  type Timer,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { podFromJson } from '../../src/proto/convert.ts';
import {
  deviceTaintRuleFromJson,
  resourceClaimFromJson,
  resourceSliceFromJson,
} from '../../src/proto/convert-devices.ts';
import type { ApiObject, Arrival, Played, RuleEnd, Step } from './device-taints.ts';

/** Any whole second. */
const start = Date.parse('2026-11-29T00:00:00Z');
/** What is not tainted is so much older. */
const earlierMs = 20_000;
/** How long the API server takes to answer: other requests get in between. */
const answerMs = 20;
const namespace = 'case';
const plurals = {
  Pod: 'pods',
  ResourceClaim: 'resourceclaims',
  ResourceSlice: 'resourceslices',
  DeviceTaintRule: 'devicetaintrules',
} as const;
const followed = new Set<string>(Object.values(plurals));
const rulesPath = '/apis/resource.k8s.io/v1beta2/devicetaintrules';

export class ClusterReplay implements Played {
  readonly evictedAt = new Map<string, number>();
  readonly #clock = new VirtualClock(start - earlierMs);
  readonly #api = new ApiServer({ clock: this.#clock, random: seededRandom(1) });
  readonly #machine = new UpstreamDeviceEviction({ qps: 500, burst: 1000 });
  readonly #conditions = new Map<string, RuleEnd>();
  #wake: Timer | null = null;

  constructor(objects: readonly ApiObject[], rules: readonly Arrival[]) {
    this.#api.create('namespaces', { metadata: { name: namespace } });
    this.#api.subscribe((change) => this.#notice(change), followed);
    const isTainted = (object: ApiObject): boolean =>
      object.kind === 'ResourceSlice' && JSON.stringify(object).includes('"effect"');
    const others = objects.filter(({ kind }) => kind !== 'DeviceTaintRule');
    for (const object of others.filter(({ kind }) => kind === 'Pod')) this.#create(object);
    const claimsAndSlices = others.filter(({ kind }) => kind !== 'Pod');
    for (const object of claimsAndSlices.filter((one) => !isTainted(one))) this.#create(object);
    this.#tell({ kind: 'synced' });
    this.advanceTo(0);
    for (const object of claimsAndSlices.filter(isTainted)) this.#create(object);
    for (const { rule, at } of rules) {
      this.advanceTo(at);
      this.#create(rule);
    }
  }

  advanceTo(seconds: number): void {
    this.#clock.advanceTo(start + seconds * 1000);
  }

  conditionOf(name: string): RuleEnd | null {
    const condition = this.#conditions.get(name);
    if (!condition) return null;
    const isThere = this.#api.get('devicetaintrules', '', name) !== null;
    return { ...condition, ...(!isThere && { deleted: true }) };
  }

  apply(step: Step): void {
    if (step.op === 'create') {
      this.#createMissing(step.object);
      return;
    }
    if (step.op === 'bind') {
      this.#api.bind(namespace, step.name, step.node);
      return;
    }
    const plural = plurals[step.kind];
    const home = step.kind === 'Pod' || step.kind === 'ResourceClaim' ? namespace : '';
    const found = this.#api.get(plural, home, step.name);
    if (!found) return;
    if (step.op === 'delete') this.#api.delete(plural, home, step.name);
    else if (step.op === 'dealloc') this.#api.update(plural, { ...found, status: {} }, 'status');
    else if (step.op === 'patch') {
      const patched = merged(found, this.#read(step.patch)) as KubeObject;
      this.#api.update(plural, patched, 'subresource' in step ? 'status' : undefined);
    }
  }

  /** What is there already is refused. */
  #createMissing(object: ApiObject): void {
    try {
      this.#create(object);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 409) throw error;
    }
  }

  #create(object: ApiObject): void {
    const { kind, status } = object;
    const given = this.#read(object) as unknown as KubeObject;
    const home = kind === 'Pod' || kind === 'ResourceClaim' ? { namespace } : {};
    const plural = plurals[kind];
    const metadata = { ...given.metadata, ...home };
    const made = this.#api.create(plural, { ...given, metadata });
    if (!status) return;
    this.#api.update(plural, { ...made, status: { ...made.status, ...given.status } }, 'status');
  }

  /** Times, the uids of pods, and numbers beyond 2^53 as JSON.parse gives them. */
  #read(value: object): object {
    return JSON.parse(JSON.stringify(value), (key, text) => {
      if (key === 'tolerationSeconds') return Number(text);
      if (typeof text !== 'string') return text;
      const [, seconds] = /^T([+-][\d.]+)s$/.exec(text) ?? [];
      if (seconds !== undefined) return new Date(start + Number(seconds) * 1000).toISOString();
      const [, pod] = /^uid:(.*)$/.exec(text) ?? [];
      return pod === undefined
        ? text
        : (this.#api.get('pods', namespace, pod)?.metadata.uid ?? text);
    });
  }

  #notice({ type, resource, object }: Change): void {
    const { name, uid = '' } = object.metadata;
    const isGone = type === 'DELETED';
    switch (resource) {
      case 'pods':
        this.#noticePod(object, isGone);
        if (isGone) this.#tell({ kind: 'podDelete', uid });
        else this.#tell({ kind: 'podUpsert', pod: podFromJson(object) });
        break;
      case 'resourceclaims':
        if (isGone) this.#tell({ kind: 'resourceClaimDelete', namespace, name });
        else this.#tell({ kind: 'resourceClaimUpsert', claim: resourceClaimFromJson(object) });
        break;
      case 'resourceslices':
        if (isGone) this.#tell({ kind: 'resourceSliceDelete', name });
        else this.#tell({ kind: 'resourceSliceUpsert', slice: resourceSliceFromJson(object) });
        break;
      default:
        if (isGone) this.#tell({ kind: 'deviceTaintRuleDelete', name });
        else this.#tell({ kind: 'deviceTaintRuleUpsert', rule: deviceTaintRuleFromJson(object) });
    }
  }

  #noticePod({ metadata, status }: KubeObject, isGone: boolean): void {
    const conditions: readonly { readonly reason?: string }[] = status?.conditions ?? [];
    const isMarked = conditions.some(({ reason }) => reason === 'DeletionByDeviceTaintManager');
    const isGoing = isGone || metadata.deletionTimestamp !== undefined;
    if (!isGoing || !isMarked || this.evictedAt.has(metadata.name)) return;
    this.evictedAt.set(metadata.name, (this.#clock.now() - start) / 1000);
  }

  #tell(event: Parameters<UpstreamDeviceEviction['handle']>[1]): void {
    for (const command of this.#machine.handle(this.#clock.now(), event)) {
      if (command.kind === 'recordDeviceEvent') continue;
      this.#clock.after(answerMs, () => this.#carryOut(command));
    }
    this.#wake?.cancel();
    const at = this.#machine.nextWake();
    this.#wake =
      at === null
        ? null
        : this.#clock.after(Math.max(0, at - this.#clock.now()), () =>
            this.#tell({ kind: 'tick' }),
          );
  }

  #carryOut(command: Exclude<UpstreamDeviceCommand, { kind: 'recordDeviceEvent' }>): void {
    const kind =
      command.kind === 'deleteForDevices'
        ? this.#delete(command.pod)
        : this.#applyStatus(command.rule.name, command.condition);
    this.#tell({ kind: 'result', id: command.id, outcome: { kind } });
  }

  #delete({ name, uid }: { readonly name: string; readonly uid: string }): string {
    const api = this.#api;
    const pod = api.get('pods', namespace, name);
    if (pod?.metadata.uid !== uid) return 'gone';
    if (pod.metadata.deletionTimestamp !== undefined) return 'done';
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByDeviceTaintManager',
      message: 'Device Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: new Date(this.#clock.now()).toISOString(),
    };
    const status = { ...pod.status, conditions: [...(pod.status?.conditions ?? []), condition] };
    api.update('pods', { ...pod, status }, 'status');
    api.delete('pods', namespace, name, { uid });
    return 'done';
  }

  #applyStatus(
    name: string,
    { transitionAt, ...said }: RuleEnd & { readonly transitionAt: number | null },
  ): string {
    const lastTransitionTime = new Date(transitionAt ?? this.#clock.now()).toISOString();
    const condition = { type: 'EvictionInProgress', ...said, lastTransitionTime };
    const answer = { status: 0 };
    this.#api.exchange(
      {
        method: 'PATCH',
        path: `${rulesPath}/${name}/status?fieldManager=device-taint-eviction-controller&force=true`,
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: JSON.stringify({
          ...{ apiVersion: 'resource.k8s.io/v1beta2', kind: 'DeviceTaintRule', metadata: { name } },
          status: { conditions: [condition] },
        }),
      },
      {
        head: (status) => Object.assign(answer, { status }),
        ...{ data: () => {}, end: () => {}, reset: () => {} },
      },
    );
    if (answer.status === 404) return 'gone';
    if (answer.status !== 200) return 'failed';
    const stored = this.#api.get('devicetaintrules', '', name);
    const [{ type: _, lastTransitionTime: __, ...kept }] = stored?.status?.conditions ?? [];
    this.#conditions.set(name, kept);
    return 'done';
  }
}

/** JSON merge patch (RFC 7396). */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target);
  const result: Record<string, unknown> = isObject ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}
