// A topology file as the beginning of a simulation.
import type { Instant } from '@taintmgr/core/time';
import { FaultyFile, type Field } from '@taintmgr/k8s-adapter/manifests';
import {
  ApiError,
  bringToRest,
  Cluster,
  daemonSet,
  defaultTiming,
  deployment,
  type Json,
  job,
  type KubeletTiming,
  type KubeObject,
  type NodeDescription,
  namespace as namespaceObject,
  PlainServer,
  pdb,
  seededRandom,
  statefulSet,
  type TimedToleration,
  topologyObjects,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { budgetFields, budgetSpec, required, taintOf } from '../script/actions.ts';
import { attempt } from '../script/script.ts';
import { type PodTimes, rangeNotation, rangeOf, timeAnnotations } from '../times/pod-times.ts';
import {
  amountsOf,
  type Building,
  type ClusterParts,
  type ClusterSource,
  keyOf,
  labelsOf,
  labelValueOf,
  nameOf,
  podsMax,
} from './source.ts';

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
  'startTime',
  'stopTime',
  'budget',
];

interface Parts {
  /** Says what the API server would say of an object, before there is a cluster. */
  readonly trial: PlainServer;
  readonly nodes: NodeDescription[];
  readonly workloads: KubeObject[];
  readonly budgets: KubeObject[];
}

/** A cluster that a user has described. Throws FaultyFile with all faults. */
export function topologySource(file: string, [root]: readonly Field[]): ClusterSource {
  const trial = new PlainServer({ clock: new VirtualClock(startsAt), random: seededRandom(1) });
  const read: Parts = { trial, nodes: [], workloads: [], budgets: [] };
  const faults: string[] = [];
  attempt(faults, () => {
    const members = root?.members(['apiVersion', 'kind', 'region', 'nodes', 'workloads']);
    const region = members?.get('region')?.text() ?? '';
    for (const field of members?.get('nodes')?.items() ?? []) {
      attempt(faults, () => {
        for (const node of readNodes(field, region)) {
          tryOut(field, trial, 'nodes', { metadata: { name: node.name } });
          read.nodes.push(node);
        }
      });
    }
    for (const field of members?.get('workloads')?.items() ?? []) {
      attempt(faults, () => readWorkload(field, read));
    }
    if (read.nodes.length === 0 && faults.length === 0) throw root?.fault('nodes is missing');
  });
  if (faults.length > 0) throw new FaultyFile(faults);
  const { nodes } = read;
  const objects = topologyObjects(read);
  return {
    name: file,
    startsAt,
    missing: [],
    policies: [],
    notes: [],
    upstreamSince: null,
    actor: null,
    minorVersion: null,
    unknowns: new Map(),
    getsNodes: false,
    observed: new Map(),
    parts: { kind: 'topology', nodes, objects },
    ...topologyBuilding({ nodes, objects }),
  };
}

/** Builds the cluster of a topology, which settles once. */
export function topologyBuilding({
  nodes,
  objects,
}: Pick<Extract<ClusterParts, { readonly kind: 'topology' }>, 'nodes' | 'objects'>): Building {
  return {
    bringToRest: (seed, times) =>
      bringToRest({ startsAt, seed, timing: timingOf(times), nodes, objects }),
    make: (clock, { seed, times, resting: from }) =>
      new Cluster({
        clock,
        seed,
        timing: timingOf(times),
        ...surroundings,
        ...(from && { resting: from }),
      }),
  };
}

const surroundings = {
  /** Our own controller is there in its place. */
  without: ['conditionTaints'],
  apiServer: { brief: true },
} as const;

function timingOf(times: PodTimes): KubeletTiming {
  return { ...defaultTiming, spreadsHeartbeats: true, ofPod: (pod) => times.of(pod) };
}

/** Nodes that are alike: named NAME-1 to NAME-count, by their zone where they have no name. */
function readNodes(field: Field, region: string): readonly NodeDescription[] {
  const members = field.members(['name', 'zone', 'count', 'labels', 'taints', 'capacity']);
  const [zoneField, nameField] = [members.get('zone'), members.get('name')];
  const named = nameField ?? zoneField;
  if (!named) throw field.fault('want a name or a zone');
  const [name, zone] = [nameOf(named), zoneField && labelValueOf(zoneField)];
  const amount = members.get('count')?.wholeNumber(1) ?? 1;
  if (amount > nodesMax) throw members.get('count')?.fault(`want at most ${nodesMax}`);
  const taints = (members.get('taints')?.items() ?? []).map((one) => ({ ...taintOf(one) }));
  const shared = {
    ...(region === '' ? {} : { region }),
    ...(zone === undefined ? {} : { zone }),
    labels: labelsOf(members.get('labels')),
    taints: taints as readonly { readonly [field: string]: Json }[],
    capacity: amountsOf(members.get('capacity')),
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
  const requests = amountsOf(members.get('requests'));
  const nodeSelector = labelsOf(members.get('nodeSelector'));
  const container = {
    name,
    image: `registry.example/${name}:1.0`,
    ...(kind === 'Job' ? { command: ['sleep', String(secondsOf(members))] } : {}),
    resources: { requests: { cpu: '100m', memory: '128Mi', ...requests } },
  };
  const options = {
    replicas: members.get('replicas')?.wholeNumber(0, podsMax) ?? 1,
    tolerations: (members.get('tolerations')?.items() ?? []).map(readToleration),
    podSpec: {
      containers: [container],
      ...(grace === undefined ? {} : { terminationGracePeriodSeconds: grace }),
      ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    },
  };
  const { trial, workloads, budgets } = parts;
  const workload = withTimes(
    members,
    kind === 'Job'
      ? job(namespace, name, secondsOf(members), options)
      : builders[kind](namespace, name, options),
  );
  tryOut(field, trial, `${kind.toLowerCase()}s`, workload);
  workloads.push(workload);
  const pods = workloads.reduce(
    (sum, { spec }) => sum + (spec.replicas ?? spec.parallelism ?? 0),
    0,
  );
  if (pods > podsMax) {
    throw field.fault(`want at most ${podsMax} pods of all workloads, got ${pods} up to here`);
  }
  const budgetField = members.get('budget');
  if (!budgetField) return;
  const budget = readBudget(budgetField, namespace, name);
  tryOut(budgetField, trial, 'poddisruptionbudgets', budget);
  budgets.push(budget);
}

/** The workload with pods that take this time to start and to stop. */
function withTimes(members: ReadonlyMap<string, Field>, workload: KubeObject): KubeObject {
  const times = (['start', 'stop'] as const).flatMap((what) => {
    const field = members.get(`${what}Time`);
    return field ? [[timeAnnotations[what], rangeNotation(rangeOf(field))] as const] : [];
  });
  if (times.length === 0) return workload;
  const { template } = workload.spec;
  const metadata = { ...template.metadata, annotations: Object.fromEntries(times) };
  return { ...workload, spec: { ...workload.spec, template: { ...template, metadata } } };
}

/** An object that an API server refuses is a fault of the place in the file. */
function tryOut(field: Field, trial: PlainServer, resource: string, object: KubeObject): void {
  const { namespace = '' } = object.metadata;
  try {
    const isMissing = namespace !== '' && !trial.get('namespaces', '', namespace);
    if (isMissing) trial.create('namespaces', namespaceObject(namespace));
    trial.create(resource, object);
  } catch (error) {
    if (error instanceof ApiError) throw field.fault(error.message);
    throw error;
  }
}

const builders = { Deployment: deployment, StatefulSet: statefulSet, DaemonSet: daemonSet };

const jobSecondsUsual = 600;

/** The time that the pod of a Job runs. */
function secondsOf(members: ReadonlyMap<string, Field>): number {
  return members.get('seconds')?.wholeNumber(1) ?? jobSecondsUsual;
}

/** A toleration as pods have it. */
function readToleration(field: Field): TimedToleration {
  const members = field.members(['key', 'operator', 'value', 'effect', 'tolerationSeconds']);
  const member = (name: string, read: (field: Field) => string): object => {
    const found = members.get(name);
    return found ? { [name]: read(found) } : {};
  };
  const seconds = members.get('tolerationSeconds')?.wholeNumber(0);
  return {
    ...member('key', (key) => key.text()),
    ...member('operator', (operator) => operator.oneOf(['Exists', 'Equal', 'Lt', 'Gt'])),
    ...member('value', labelValueOf),
    ...member('effect', (effect) => effect.oneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])),
    ...(seconds === undefined ? {} : { tolerationSeconds: seconds }),
  };
}

function readBudget(field: Field, namespace: string, name: string): KubeObject {
  return pdb(namespace, name, budgetSpec(field, field.members(budgetFields)));
}
