import { parseQuantity, parseTaint, quantityValue } from '@taintmgr/core';
import type { TaintObject } from '@taintmgr/k8s-adapter';
import type { Field } from '@taintmgr/k8s-adapter/manifests';
import type { Json, KubeObject, NodeConditionType } from '@taintmgr/sim-cluster';
import { zoneLabel } from '../../../cluster/facts.ts';
import { amountsOf, keyOf, labelsOf, labelValueOf, nameOf, podsMax } from '../input/names.ts';
import {
  cordoned,
  type DisconnectCause,
  type Stage,
  StageFault,
  uncordoned,
} from '../stage/stage.ts';
import { type ActionKind, type Members, onNodes, required, type ScriptAction } from './action.ts';
import { controllerActions } from './controller-actions.ts';
import { targetFields } from './targets.ts';

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
      text: 'the API server is out of reach for everybody',
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
  const { key, value, effect } = field.read(() => parseTaint(field.text()));
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

/** What a budget allows, as its spec has it: one of two. Throws FileFault. */
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
