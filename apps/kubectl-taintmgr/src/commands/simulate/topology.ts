import type { Instant } from '@taintmgr/core';
import {
  Cluster,
  daemonSet,
  deployment,
  type Json,
  job,
  type KubeObject,
  type NodeDescription,
  pdb,
  statefulSet,
  type TimedToleration,
} from '@taintmgr/sim-cluster';
import { countOf, keyOf, required, stringsOf, taintOf } from './actions.ts';
import { FaultyFile, type Field } from './positioned.ts';
import { attempt } from './script.ts';
import type { Source } from './source.ts';

const startsAt: Instant = Date.parse('2026-01-01T00:00:00Z');
const nodesMax = 100_000;
const kinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job'] as const;
const workloadFields = [
  'kind',
  'name',
  'replicas',
  'seconds',
  'requests',
  'tolerations',
  'nodeSelector',
  'gracePeriodSeconds',
  'budget',
];

interface Parts {
  readonly nodes: NodeDescription[];
  readonly workloads: KubeObject[];
  readonly budgets: KubeObject[];
}

/** A cluster that somebody has described. Throws FaultyFile with all that is wrong. */
export function topologySource(file: string, [root]: readonly Field[]): Source {
  const parts: Parts = { nodes: [], workloads: [], budgets: [] };
  const faults: string[] = [];
  attempt(faults, () => {
    const members = root?.members(['apiVersion', 'kind', 'region', 'nodes', 'workloads']);
    const region = members?.get('region')?.text() ?? '';
    for (const field of members?.get('nodes')?.items() ?? []) {
      attempt(faults, () => parts.nodes.push(...readNodes(field, region)));
    }
    for (const field of members?.get('workloads')?.items() ?? []) {
      attempt(faults, () => readWorkload(field, parts));
    }
    if (parts.nodes.length === 0 && faults.length === 0) throw root?.fault('nodes is missing');
  });
  if (faults.length > 0) throw new FaultyFile(faults);
  return { name: file, startsAt, isNew: true, missing: [], notes: [], make: maker(parts) };
}

function maker({ nodes, workloads, budgets }: Parts): Source['make'] {
  return (clock, seed) => {
    const topology = { region: '', zones: [], nodesPerZone: 0, workloads, budgets };
    const cluster = new Cluster({ clock, seed, topology, without: ['nodeLifecycleStandIn'] });
    for (const node of nodes) cluster.addNode(node);
    return cluster;
  };
}

/** Nodes that are alike: named NAME-1 to NAME-count, by their zone where they have no name. */
function readNodes(field: Field, region: string): readonly NodeDescription[] {
  const members = field.members(['name', 'zone', 'count', 'labels', 'taints', 'capacity']);
  const zone = members.get('zone')?.text();
  const name = members.get('name')?.text() ?? zone;
  if (name === undefined) throw field.fault('want a name or a zone');
  const amount = members.get('count')?.wholeNumber(1) ?? 1;
  if (amount > nodesMax) throw members.get('count')?.fault(`want at most ${nodesMax}`);
  const taints = (members.get('taints')?.items() ?? []).map((one) => ({ ...taintOf(one) }));
  const shared = {
    ...(region === '' ? {} : { region }),
    ...(zone === undefined ? {} : { zone }),
    labels: stringsOf(members.get('labels')),
    taints: taints as readonly { readonly [field: string]: Json }[],
    capacity: stringsOf(members.get('capacity')),
  };
  return Array.from({ length: amount }, (_, index) => ({
    ...shared,
    name: `${name}-${index + 1}`,
  }));
}

function readWorkload(field: Field, parts: Parts): void {
  const members = field.members(workloadFields);
  const kind = required(field, members, 'kind').oneOf(kinds);
  const [namespace, name] = keyOf(required(field, members, 'name'));
  const grace = members.get('gracePeriodSeconds')?.wholeNumber(0);
  const requests = stringsOf(members.get('requests'));
  const nodeSelector = stringsOf(members.get('nodeSelector'));
  const container = {
    name,
    image: `registry.example/${name}:1.0`,
    ...(kind === 'Job' ? { command: ['sleep', String(secondsOf(members))] } : {}),
    resources: { requests: { cpu: '100m', memory: '128Mi', ...requests } },
  };
  const options = {
    replicas: members.get('replicas')?.wholeNumber(0) ?? 1,
    tolerations: (members.get('tolerations')?.items() ?? []).map(readToleration),
    podSpec: {
      containers: [container],
      ...(grace === undefined ? {} : { terminationGracePeriodSeconds: grace }),
      ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    },
  };
  parts.workloads.push(build(kind, namespace, name, options, secondsOf(members)));
  const budget = members.get('budget');
  if (budget) parts.budgets.push(readBudget(budget, namespace, name));
}

type Options = NonNullable<Parameters<typeof deployment>[2]>;

function build(
  kind: (typeof kinds)[number],
  namespace: string,
  name: string,
  options: Options,
  seconds: number,
): KubeObject {
  switch (kind) {
    case 'Deployment':
      return deployment(namespace, name, options);
    case 'StatefulSet':
      return statefulSet(namespace, name, options);
    case 'DaemonSet':
      return daemonSet(namespace, name, options);
    case 'Job':
      return job(namespace, name, seconds, options);
  }
}

const jobSecondsUsual = 600;

/** How long the pod of a Job runs. */
function secondsOf(members: ReadonlyMap<string, Field>): number {
  return members.get('seconds')?.wholeNumber(1) ?? jobSecondsUsual;
}

/** A toleration as pods have it. */
function readToleration(field: Field): TimedToleration {
  const members = field.members(['key', 'operator', 'value', 'effect', 'tolerationSeconds']);
  const text = (name: string): object => {
    const value = members.get(name)?.text();
    return value === undefined ? {} : { [name]: value };
  };
  const seconds = members.get('tolerationSeconds')?.wholeNumber(0);
  return {
    ...text('key'),
    ...text('operator'),
    ...text('value'),
    ...text('effect'),
    ...(seconds === undefined ? {} : { tolerationSeconds: seconds }),
  };
}

function readBudget(field: Field, namespace: string, name: string): KubeObject {
  const members = field.members(['minAvailable', 'maxUnavailable']);
  const [min, max] = [members.get('minAvailable'), members.get('maxUnavailable')];
  if (min && !max) return pdb(namespace, name, { minAvailable: countOf(min) });
  if (max && !min) return pdb(namespace, name, { maxUnavailable: countOf(max) });
  throw field.fault('want one of minAvailable, maxUnavailable');
}
