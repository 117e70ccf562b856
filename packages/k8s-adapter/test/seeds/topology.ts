import {
  daemonSet,
  deployment,
  job,
  type KubeObject,
  pdb,
  statefulSet,
  type Topology,
  toleration,
} from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import { drawToleration } from './tolerations.ts';

const anyTime = { operator: 'Exists', effect: 'NoExecute' } as const;

/** A small cluster with a workload of each kind; more pods come and go by the script. */
export const smallTopology: Topology = {
  region: 'r',
  zones: ['a', 'b'],
  nodesPerZone: 2,
  workloads: [
    deployment('shop', 'web', {
      replicas: 4,
      tolerations: [toleration('maintenance:NoExecute', 20)],
    }),
    statefulSet('shop', 'db', {
      replicas: 2,
      podSpec: { terminationGracePeriodSeconds: 1 },
      tolerations: [toleration('spot:NoExecute', 25), toleration('maintenance:NoExecute', 60)],
    }),
    statefulSet('shop', 'rock', {
      replicas: 2,
      tolerations: [toleration('spot:NoExecute', 1000), anyTime],
    }),
    daemonSet('infra', 'agent', { tolerations: [{ ...anyTime, tolerationSeconds: 30 }] }),
  ],
  budgets: [pdb('shop', 'web', { maxUnavailable: 1 }), pdb('shop', 'db', { minAvailable: 1 })],
};

export const ownNamespace = 'taintmgr-system';
/** The same with the replicas of the controller, which stay on no node that makes pods leave. */
export const ownTopology: Topology = {
  ...smallTopology,
  workloads: [
    ...smallTopology.workloads,
    deployment(ownNamespace, 'taintmgr-controller', { replicas: 2 }),
  ],
};

/** The same with pods that come back to their node, whatever taints and cordons it has. */
export const returningTopology: Topology = {
  ...smallTopology,
  workloads: [
    ...smallTopology.workloads,
    deployment('shop', 'op', {
      replicas: 1,
      tolerations: [{ operator: 'Exists' }],
      podSpec: {
        nodeSelector: { 'kubernetes.io/hostname': 'a-1' },
        terminationGracePeriodSeconds: 1,
      },
    }),
  ],
};

/** Zones of any size, with little on them. */
export function zonesAlone(draw: Draw): Topology {
  const nodesPerZone = draw.between(1, 6);
  const workloads = [deployment('shop', 'web', { replicas: nodesPerZone * 2 })];
  return { region: 'r', zones: drawZones(draw), nodesPerZone, workloads, budgets: [] };
}

/** Any small cluster. */
export function drawTopology(draw: Draw): Topology {
  const names = ['w1', 'w2', 'w3', 'w4', 'w5'].slice(0, draw.between(1, 5));
  const workloads = names.map((name) => drawWorkload(name, draw));
  const guarded = workloads.filter(() => draw.chance(0.4));
  return {
    region: 'r',
    zones: drawZones(draw),
    nodesPerZone: draw.between(1, 4),
    workloads,
    budgets: guarded.map(({ metadata }) =>
      pdb(metadata.namespace ?? '', metadata.name, drawBudget(draw)),
    ),
  };
}

/** What a budget may ask for. */
export function drawBudget(draw: Draw): Parameters<typeof pdb>[2] {
  return draw.of<Parameters<typeof pdb>[2]>([
    { minAvailable: 0 },
    { minAvailable: 1 },
    { minAvailable: 3 },
    { maxUnavailable: 0 },
    { maxUnavailable: 1 },
    { maxUnavailable: '50%' },
  ]);
}

function drawZones(draw: Draw): readonly string[] {
  return ['a', 'b', 'c'].slice(0, draw.between(1, 3));
}

/** Of pods that have successors at once: with less there would be hundreds a minute. */
const successorSeconds = [undefined, 20, 60, 300];

function drawWorkload(name: string, draw: Draw): KubeObject {
  const ns = draw.of(['shop', 'infra']);
  const tolerations = Array.from({ length: draw.between(0, 3) }, () =>
    drawToleration(draw, successorSeconds),
  );
  const podSpec = draw.chance(0.5) ? { terminationGracePeriodSeconds: draw.of([0, 1, 10]) } : {};
  const options = { tolerations, podSpec, replicas: draw.between(1, 4) };
  return draw.weighted([
    [3, () => deployment(ns, name, options)],
    [2, () => statefulSet(ns, name, options)],
    [2, () => daemonSet(ns, name, options)],
    [1, () => job(ns, name, draw.of([20, 200]), { tolerations, completions: 3 })],
  ])();
}
