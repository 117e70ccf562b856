// The actions of a script: the effect of each on the cluster, and its targets.
import { parseQuantity, parseTaint, quantityValue } from '@taintmgr/core';
import { formatDuration, type Instant, type Millis, parseDuration } from '@taintmgr/core/time';
import type { TaintObject } from '@taintmgr/k8s-adapter';
import { apiVersion } from '@taintmgr/k8s-adapter/explain';
import { type PolicyObject, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { FaultyFile, type Field } from '@taintmgr/k8s-adapter/manifests';
import { zoneLabel, zoneNames } from '@taintmgr/k8s-adapter/survey';
import type { Cluster, Json, KubeObject, NodeConditionType } from '@taintmgr/sim-cluster';
import { amountsOf, keyOf, labelsOf, labelValueOf, nameOf, podsMax } from '../source/source.ts';
import {
  cordoned,
  type DisconnectCause,
  type Stage,
  StageFault,
  uncordoned,
} from '../stage/stage.ts';

/** A workload or budget, as `shop/web`, and where it is named. */
export interface About {
  readonly field: Field;
  readonly what: 'workload' | 'workload that scales' | 'budget';
  readonly name: string;
}

/** The effect of an event. */
export interface ScriptAction {
  /** In words, for the timeline. */
  readonly text: string;
  /** Null: it is about no nodes, and done once. */
  readonly targets: Targets | null;
  /** `node` is '' where it is about none. Throws StageFault and ApiError. */
  readonly apply: (stage: Stage, node: string) => void;
  /** The action that ends it after `lasts`; null: it does not end. */
  readonly undo: { readonly text: string; readonly apply: ScriptAction['apply'] } | null;
  /** The node that it adds. */
  readonly adds?: KubeObject;
  /** The object that it is about beside nodes, which must exist. */
  readonly about?: About;
  /** The duration where `lasts` is left out; left out itself: for good. */
  readonly lastsUsual?: Millis;
  /** True where the controller stops and starts again. */
  readonly restarts?: true;
  /** True where only the node pressure agent acts on it. */
  readonly needsPressure?: true;
}

type Members = ReadonlyMap<string, Field>;

/** A kind of event: its fields, and how it is read. */
interface ActionKind {
  readonly fields: readonly string[];
  readonly read: (body: Field, members: Members) => ScriptAction;
}

/** A member that must be there. */
export function required(body: Field, members: Members, name: string): Field {
  const field = members.get(name);
  if (!field) throw body.fault(`${name} is missing`);
  return field;
}

/** An action on nodes, one by one, and the way to undo it. */
function onNodes(
  body: Field,
  members: Members,
  [verb, undoing]: readonly [string, string],
  apply: ScriptAction['apply'],
  undo: ScriptAction['apply'] | null,
  rest = '',
): ScriptAction {
  const targets = readTargets(body, members);
  const text = (what: string): string => `${what} ${targetsText(targets)}${rest}`;
  return {
    text: text(verb),
    targets,
    apply,
    undo: undo && { text: text(undoing), apply: undo },
  };
}

/** The nodes of an event. */
export type Targets =
  | { readonly kind: 'names'; readonly names: readonly string[] }
  | { readonly kind: 'zone'; readonly zone: string }
  | { readonly kind: 'labels'; readonly labels: readonly (readonly [string, string])[] }
  | { readonly kind: 'all' };

/** The fields that name nodes; one of them is given. */
const targetFields = ['node', 'nodes', 'zone', 'selector'] as const;

const labelPattern = /^([\w./-]+)=([\w.-]*)$/;

/** Reads which nodes are meant. Throws FileFault. */
function readTargets(event: Field, members: ReadonlyMap<string, Field>): Targets {
  const given = targetFields.flatMap((name) => members.get(name) ?? []);
  const [field, another] = given;
  if (!field) throw event.fault(`want one of ${targetFields.join(', ')}`);
  if (another) throw another.fault(`want one of ${targetFields.join(', ')}, got two`);
  if (members.has('node')) return { kind: 'names', names: [field.text()] };
  if (members.has('zone')) return { kind: 'zone', zone: field.text() };
  if (members.has('selector')) return { kind: 'labels', labels: labelPairsOf(field) };
  if (field.value === 'all') return { kind: 'all' };
  const names = field.items().map((item) => item.text());
  if (names.length === 0) throw field.fault('want the name of a node at least');
  return { kind: 'names', names };
}

function labelPairsOf(field: Field): readonly (readonly [string, string])[] {
  return field
    .text()
    .split(',')
    .map((term) => {
      const [, key, value] = labelPattern.exec(term.trim()) ?? [];
      if (key === undefined || value === undefined) {
        throw field.fault(`want labels such as pool=blue,tier=web, got ${JSON.stringify(term)}`);
      }
      return [key, value] as const;
    });
}

/** The nodes that are meant, in the order of the names given or of the API. */
export function targetsOf(targets: Targets, { api }: Cluster): readonly string[] {
  if (targets.kind === 'names') return targets.names;
  const nodes = api.list('nodes').filter((node) => isMeant(targets, node));
  return nodes.map(({ metadata }) => metadata.name);
}

function isMeant(targets: Targets, { metadata: { labels = {} } }: KubeObject): boolean {
  switch (targets.kind) {
    case 'zone':
      return zoneNames(labels).includes(targets.zone);
    case 'labels':
      return targets.labels.every(([key, value]) => labels[key] === value);
    default:
      return true;
  }
}

/** `node-1, node-2`, `zone zone-a`, `nodes with pool=blue`, `all nodes`. */
export function targetsText(targets: Targets): string {
  switch (targets.kind) {
    case 'names':
      return targets.names.join(', ');
    case 'zone':
      return `zone ${targets.zone}`;
    case 'labels':
      return `nodes with ${targets.labels.map(([key, value]) => `${key}=${value}`).join(',')}`;
    case 'all':
      return 'all nodes';
  }
}

/** From the end of one process to when the next one has the lease: it is given up at the end. */
const restartMs: Millis = 5_000;

/** A leader that dies gives up nothing: its lease lasts 15 s, and others try every 2 s. */
const failoverMs: Millis = 17_000;

const pauseFields = ['scope', 'deadlines', 'readiness'] as const;

const pauseNameUsual = 'pause';

/** By the names of their fields. */
const controllerActions: Readonly<Record<string, ActionKind>> = {
  restartController: {
    fields: [],
    read: () => stopped('the controller is restarted', 'the controller is back', restartMs),
  },
  failover: {
    fields: [],
    read: () => stopped('the leader of the controller dies', 'another leads', failoverMs),
  },
  pause: { fields: ['name', ...pauseFields], read: pause },
  resume: { fields: ['pause', 'limits'], read: resume },
  stepClock: { fields: [...targetFields, 'by'], read: stepClock },
  slowApi: { fields: ['delay'], read: slowApi },
};

function stopped(text: string, undoing: string, lastsUsual: Millis): ScriptAction {
  return {
    ...{ text, targets: null, lastsUsual, restarts: true },
    apply: ({ controller }) => controller.stop(),
    undo: { text: undoing, apply: ({ controller }) => controller.restart() },
  };
}

/** As an EvictionPause says it; `lasts` ends it. */
function pause(body: Field, members: Members): ScriptAction {
  const nameField = members.get('name');
  const name = nameField ? nameOf(nameField) : pauseNameUsual;
  const entries = pauseFields.flatMap((field) => {
    const member = members.get(field);
    return member ? [[field, member.value] as const] : [];
  });
  const spec = Object.fromEntries(entries);
  const manifest = { apiVersion, kind: 'EvictionPause', metadata: { name }, spec };
  pauseAt(body, manifest, 0);
  return {
    text: `pause evictions: ${name}`,
    targets: null,
    apply: ({ controller, cluster }) =>
      controller.apply(pauseAt(body, manifest, cluster.api.clock.now())),
    undo: { text: `end of pause ${name}`, apply: endPause(name) },
  };
}

/** The pause of a manifest that holds from `now`. Throws FaultyFile. */
function pauseAt(body: Field, manifest: object, now: Instant): PolicyObject {
  const judged = readManifest(manifest, now);
  if (judged.kind !== 'refused') return judged.value;
  // Their paths begin with `spec`, which here is the event itself; one says only that there are others.
  const faults = judged.faults
    .filter(({ path }) => path.length > 0)
    .map(({ path, text }) => {
      return body.faultAt(path.slice(1), text.replaceAll('spec.', `${body.path}.`)).message;
    });
  throw new FaultyFile(faults);
}

function endPause(name: string): (stage: Stage) => void {
  return ({ controller }) => {
    if (!controller.endPause(name)) throw new StageFault(`there is no pause ${name} at this time`);
  };
}

/** The end of a pause, or of limits that have tripped. */
function resume(body: Field, members: Members): ScriptAction {
  const [pauseField, limitsField] = [members.get('pause'), members.get('limits')];
  if ((pauseField === undefined) === (limitsField === undefined)) {
    throw body.fault('want one of pause, limits');
  }
  if (pauseField) {
    const name = nameOf(pauseField);
    return { text: `end pause ${name}`, targets: null, apply: endPause(name), undo: null };
  }
  const limits = limitsField ? limitsOf(limitsField) : null;
  return {
    text: `resume ${limits?.join(', ') ?? 'all limits'}`,
    targets: null,
    apply: ({ controller }) => controller.resume(limits),
    undo: null,
  };
}

/** `all`, or names such as `total policy=all`. */
function limitsOf(field: Field): readonly string[] | null {
  return field.value === 'all' ? null : field.items().map((item) => item.text());
}

const pattern = /^([+-]?)(.+)$/;

/** The clock of nodes, or where none are named of the machine of the controller. */
function stepClock(body: Field, members: Members): ScriptAction {
  const by = required(body, members, 'by');
  const [, sign, text = ''] = pattern.exec(String(by.value)) ?? [];
  const size = parseDuration(text);
  if (size === null || size === 0)
    throw by.fault('want a time such as 10m, or -10m to set it back');
  const millis = sign === '-' ? -size : size;
  const shown = `${millis < 0 ? '-' : '+'}${formatDuration(size)}`;
  if (targetFields.some((name) => members.has(name))) {
    const set = (value: Millis) => (stage: Stage, node: string) => stage.setClock(node, value);
    const verbs = [`set the clocks ${shown} of`, 'set right the clocks of'] as const;
    return onNodes(body, members, verbs, set(millis), set(0));
  }
  return {
    text: `the clock of the controller is set ${shown}`,
    targets: null,
    apply: ({ controller }) => controller.stepClock(millis),
    undo: {
      text: 'the clock of the controller is set right',
      apply: ({ controller }) => controller.stepClock(-millis),
    },
  };
}

/** Every request of the controller arrives late. */
function slowApi(body: Field, members: Members): ScriptAction {
  const ms = required(body, members, 'delay').duration();
  if (ms === 0) throw members.get('delay')?.fault('want a time such as 2s');
  return {
    text: `each request to the API server takes ${formatDuration(ms)} longer`,
    targets: null,
    apply: (stage) => stage.slowDown(ms),
    undo: { text: 'the API server is fast again', apply: (stage) => stage.speedUp(ms) },
  };
}

const conditionTypes: readonly NodeConditionType[] = [
  'Ready',
  'MemoryPressure',
  'DiskPressure',
  'PIDPressure',
];

type Spec = KubeObject['spec'];

export const budgetFields = ['minAvailable', 'maxUnavailable'] as const;

/** Everything that an event can be, by the name of its field. */
export const actions: Readonly<Record<string, ActionKind>> = {
  taint: {
    fields: [...targetFields, 'taint'],
    read: (body, members) => {
      const taint = taintOf(required(body, members, 'taint'));
      const put: ScriptAction['apply'] = (stage, node) =>
        stage.changeSpec(node, (spec) => ({ ...spec, taints: [...others(spec, taint), taint] }));
      return onNodes(body, members, ['taint', 'untaint'], put, untaint(taint), taintText(taint));
    },
  },
  untaint: {
    fields: [...targetFields, 'taint'],
    read: (body, members) => {
      const taint = taintOf(required(body, members, 'taint'));
      return onNodes(body, members, ['untaint', ''], untaint(taint), null, taintText(taint));
    },
  },
  stopKubelet: disconnect('kubelet', 'stop the kubelet of', 'start the kubelet of'),
  resumeKubelet: reconnect('kubelet', 'start the kubelet of'),
  loseNetwork: disconnect('network', 'cut off', 'reconnect'),
  restoreNetwork: reconnect('network', 'reconnect'),
  setCondition: {
    fields: [...targetFields, 'condition', 'status'],
    read: (body, members) => {
      const type = required(body, members, 'condition').oneOf(conditionTypes);
      const status = required(body, members, 'status').truth();
      const set =
        (value: boolean): ScriptAction['apply'] =>
        (stage, node) =>
          stage.setCondition(node, type, value);
      const verbs = [`set ${type}=${status} on`, `set ${type}=${!status} on`] as const;
      return onNodes(body, members, verbs, set(status), set(!status));
    },
  },
  cordon: {
    fields: targetFields,
    read: (body, members) => onNodes(body, members, ['cordon', 'uncordon'], cordon, uncordon),
  },
  uncordon: {
    fields: targetFields,
    read: (body, members) => onNodes(body, members, ['uncordon', ''], uncordon, null),
  },
  drain: {
    fields: targetFields,
    read: (body, members) => {
      const [begin, end] = [drain, endDrain];
      return onNodes(body, members, ['drain', 'end of the drain of'], begin, end);
    },
  },
  addNode: { fields: ['name', 'zone', 'region', 'labels', 'taints', 'capacity'], read: addNode },
  removeNode: {
    fields: targetFields,
    read: (body, members) =>
      onNodes(body, members, ['remove', ''], (stage, node) => stage.remove(node), null),
  },
  apiOutage: {
    fields: [],
    read: () => ({
      text: 'no client can reach the API server',
      targets: null,
      apply: (stage) => stage.setOutage(true),
      undo: { text: 'the API server is back', apply: (stage) => stage.setOutage(false) },
    }),
  },
  scale: { fields: ['workload', 'replicas'], read: scale },
  leakMemory: { fields: ['workload', 'pods', 'perSecond', 'until'], read: leakMemory },
  setBudget: { fields: ['budget', ...budgetFields], read: setBudget },
  ...controllerActions,
};

function disconnect(cause: DisconnectCause, verb: string, undoing: string): ActionKind {
  const begin: ScriptAction['apply'] = (stage, node) => stage.disconnect(node, cause);
  const end: ScriptAction['apply'] = (stage, node) => stage.reconnect(node, cause, false);
  return {
    fields: targetFields,
    read: (body, members) => onNodes(body, members, [verb, undoing], begin, end),
  };
}

function reconnect(cause: DisconnectCause, verb: string): ActionKind {
  const end: ScriptAction['apply'] = (stage, node) => stage.reconnect(node, cause, true);
  return {
    fields: targetFields,
    read: (body, members) => onNodes(body, members, [verb, ''], end, null),
  };
}

function cordon(stage: Stage, node: string): void {
  stage.changeSpec(node, cordoned);
}

function uncordon(stage: Stage, node: string): void {
  stage.changeSpec(node, uncordoned);
}

function drain(stage: Stage, node: string): void {
  stage.drain(node);
}

function endDrain(stage: Stage, node: string): void {
  stage.endDrain(node);
}

/** Reads a taint as kubectl writes it. */
export function taintOf(field: Field): TaintObject {
  const text = field.text();
  if (!text.includes(':')) {
    const want = 'want key=value:Effect, with NoSchedule, PreferNoSchedule or NoExecute';
    throw field.fault(`${want}, got ${JSON.stringify(text)}`);
  }
  const { key, value, effect } = field.read(() => parseTaint(text));
  return { key, ...(value === '' ? {} : { value }), effect };
}

function taintText({ key, value, effect }: TaintObject): string {
  return `: ${key}${value === undefined ? '' : `=${value}`}:${effect}`;
}

function untaint(taint: TaintObject): ScriptAction['apply'] {
  return (stage, node) =>
    stage.changeSpec(node, (spec) => ({ ...spec, taints: others(spec, taint) }));
}

function others({ taints = [] }: Spec, { key, effect }: TaintObject): readonly TaintObject[] {
  return taints.filter((taint: TaintObject) => taint.key !== key || taint.effect !== effect);
}

function addNode(body: Field, members: Members): ScriptAction {
  const name = nameOf(required(body, members, 'name'));
  const optional = (member: 'zone' | 'region'): object => {
    const field = members.get(member);
    return field ? { [member]: labelValueOf(field) } : {};
  };
  const places = { ...optional('zone'), ...optional('region') };
  const labels = labelsOf(members.get('labels'));
  const taints = members.get('taints')?.items().map(taintOf) ?? [];
  const capacity = amountsOf(members.get('capacity'));
  const zone = members.get('zone')?.text();
  const shown = { ...labels, ...(zone === undefined ? {} : { [zoneLabel]: zone }) };
  return {
    text: `add node ${name}`,
    targets: null,
    adds: { metadata: { name, labels: shown } },
    undo: null,
    apply: (stage) => {
      const plain = taints.map((taint) => ({ ...taint }) as { readonly [field: string]: Json });
      stage.add({ name, ...places, labels, taints: plain, capacity });
    },
  };
}

const scalable = ['deployments', 'statefulsets', 'replicasets'] as const;

function scale(body: Field, members: Members): ScriptAction {
  const field = required(body, members, 'workload');
  const [namespace, name] = keyOf(field);
  const replicas = required(body, members, 'replicas').wholeNumber(0, podsMax);
  return {
    text: `scale ${namespace}/${name} to ${replicas}`,
    targets: null,
    about: { field, what: 'workload that scales', name: `${namespace}/${name}` },
    undo: null,
    apply: ({ api }) => {
      const resource = scalable.find((one) => api.get(one, namespace, name));
      const object = resource ? api.get(resource, namespace, name) : null;
      if (!resource || !object) {
        throw new StageFault(`there is no ${scalable.join(', ')} ${namespace}/${name}`);
      }
      api.update(resource, { ...object, spec: { ...object.spec, replicas } });
    },
  };
}

function setBudget(body: Field, members: Members): ScriptAction {
  const field = required(body, members, 'budget');
  const [namespace, name] = keyOf(field);
  const set = budgetSpec(body, members);
  const [[limit, value] = []] = Object.entries(set);
  return {
    text: `set ${limit} of budget ${namespace}/${name} to ${value}`,
    targets: null,
    about: { field, what: 'budget', name: `${namespace}/${name}` },
    undo: null,
    apply: ({ api }) => {
      const object = api.get('poddisruptionbudgets', namespace, name);
      if (!object) throw new StageFault(`there is no budget ${namespace}/${name}`);
      const { minAvailable: _, maxUnavailable: __, ...spec } = object.spec;
      api.update('poddisruptionbudgets', { ...object, spec: { ...spec, ...set } });
    },
  };
}

/** The bound of a budget, as its spec has it: one of two. Throws FileFault. */
export function budgetSpec(
  body: Field,
  members: Members,
): { readonly minAvailable: number | string } | { readonly maxUnavailable: number | string } {
  const [min, max] = budgetFields.map((name) => members.get(name));
  if (min && !max) return { minAvailable: countOf(min) };
  if (max && !min) return { maxUnavailable: countOf(max) };
  throw body.fault('want one of minAvailable, maxUnavailable');
}

function leakMemory(body: Field, members: Members): ScriptAction {
  const workload = required(body, members, 'workload');
  const [namespace, name] = keyOf(workload);
  const perSecond = bytesOf(required(body, members, 'perSecond'));
  const pods = members.get('pods')?.wholeNumber(1) ?? 1;
  const limit = members.get('until');
  const until = limit ? { until: bytesOf(limit) } : {};
  return {
    text: `${pods} of ${namespace}/${name} leak memory`,
    targets: null,
    about: { field: workload, what: 'workload', name: `${namespace}/${name}` },
    undo: null,
    needsPressure: true,
    apply: (stage) => {
      const leaking = stage.podsOf(namespace, name).slice(0, pods);
      if (leaking.length < pods) {
        throw new StageFault(`${namespace}/${name} has ${leaking.length} pods on nodes`);
      }
      for (const { metadata, spec } of leaking) {
        const { stats } = stage.cluster.node(spec.nodeName);
        stats.usePod(`${namespace}/${metadata.name}`, { memory: { perSecond, ...until } });
      }
    },
  };
}

/** An amount such as `64Mi`. */
function bytesOf(field: Field): number {
  return field.read((value) => quantityValue(parseQuantity(String(value))));
}

/** A number of pods, or a share such as `30%`. */
function countOf(field: Field): number | string {
  const { value } = field;
  if (typeof value === 'string' && /^\d+%$/.test(value)) return value;
  return field.wholeNumber(0);
}
