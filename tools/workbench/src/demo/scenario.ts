// What happens to the demo's cluster, and when.
import type { ApiClient } from '@taintmgr/k8s-adapter';
import type { Cluster, KubeObject } from '@taintmgr/sim-cluster';
import type { Expectations, Fate } from './expectations.ts';
import { setTaints } from './taint.ts';
import { maintenance } from './topology.ts';

/** What the scenario is played with. */
export interface Stage {
  readonly cluster: Cluster;
  /** An ordinary client over HTTPS, which does what an operator's kubectl would do. */
  readonly client: ApiClient;
  readonly expectations: Expectations;
  /** Shows the audience what is done. */
  readonly say: (text: string) => void;
  /** Resolves when the condition holds; rejects with `what` when it takes too long. */
  readonly until: (what: string, condition: () => boolean) => Promise<void>;
  readonly pause: (seconds: number) => Promise<void>;
}

const taintText = 'maintenance=kernel:NoSchedule maintenance=kernel:NoExecute';

type Fates = Readonly<Record<string, Fate>>;

const evictedAtOnce: Fate = { kind: 'evicted', after: 0 };
const calledOff: Fate = { kind: 'calledOff' };
const kept: Fate = { kind: 'kept' };

/** What the maintenance taint does to each workload. */
const underMaintenance: Fates = {
  web: { kind: 'evicted', after: 0, budget: true },
  api: evictedAtOnce,
  db: { kind: 'evicted', after: 5 },
  cache: kept,
  'node-agent': kept,
};
/** The same when the taint is taken away after 3 s. */
const underShortMaintenance: Fates = { ...underMaintenance, db: calledOff };
/** What happens to each when its node becomes unreachable and it comes back after about 6 s. */
const onUnreachableNode: Fates = {
  web: calledOff,
  api: { kind: 'evicted', after: 3 },
  db: calledOff,
  cache: calledOff,
  'node-agent': kept,
};

/** Plays the whole scenario; when it returns, everything that is expected should have happened. */
export async function playScenario(stage: Stage): Promise<void> {
  await zoneUnderMaintenance(stage);
  await nodeUnderShortMaintenance(stage);
  await unreachableNode(stage);
  const { expectations, until } = stage;
  await until('the last expected eviction or call-off', () => expectations.isComplete);
}

/** A whole zone is tainted: who goes at once, who later, who stays, who is held by a budget. */
async function zoneUnderMaintenance({
  cluster,
  client,
  expectations,
  say,
  until,
}: Stage): Promise<void> {
  const nodes = nodeNames(cluster).filter((name) => name.startsWith('zone-a'));
  say(`kubectl taint nodes ${nodes.join(' ')} ${taintText}`);
  for (const name of nodes) {
    expectOn(cluster, expectations, name, underMaintenance);
    await setTaints(client, name, maintenance, true);
  }
  await until('the evictions of zone-a', () => expectations.isComplete && cluster.isIdle());
}

/** A node is tainted and untainted before the pod that asked for 5 s has to go. */
async function nodeUnderShortMaintenance(stage: Stage): Promise<void> {
  const { cluster, client, expectations, say, pause } = stage;
  const name = nodeOf(cluster, 'db', 'zone-b');
  say(`kubectl taint nodes ${name} ${taintText}`);
  expectOn(cluster, expectations, name, underShortMaintenance);
  await setTaints(client, name, maintenance, true);
  await pause(3);
  say(`kubectl taint nodes ${name} maintenance-   (2 s before db would have to go)`);
  await setTaints(client, name, maintenance, false);
}

/** A kubelet stops: its node becomes unreachable, is tainted, and comes back. */
async function unreachableNode(stage: Stage): Promise<void> {
  const { cluster, expectations, say, until, pause } = stage;
  const name = nodeOf(cluster, 'api', 'zone-c');
  say(`the kubelet of ${name} stops its heartbeat`);
  cluster.node(name).stop();
  await until(`${name} to become unreachable`, () => unreachableSince(cluster, name) !== null);
  say(`${name} is unreachable and tainted so`);
  expectOn(cluster, expectations, name, onUnreachableNode);
  await pause(6);
  say(`the kubelet of ${name} is back`);
  cluster.node(name).resume();
}

function expectOn(
  cluster: Cluster,
  expectations: Expectations,
  nodeName: string,
  fates: Fates,
): void {
  const since = unreachableSince(cluster, nodeName) ?? cluster.api.clock.now();
  for (const pod of podsOn(cluster, nodeName)) {
    const fate = fates[appOf(pod)];
    if (fate && !pod.metadata.deletionTimestamp) expectations.expect(pod, fate, since);
  }
}

function nodeNames(cluster: Cluster): readonly string[] {
  return cluster.api.list('nodes').map(({ metadata }) => metadata.name);
}

/** A node of the zone that runs a pod of the workload; the demo's topology spreads them all. */
function nodeOf(cluster: Cluster, app: string, zone: string): string {
  const candidates = nodeNames(cluster).filter((name) => name.startsWith(zone));
  const found = candidates.find((name) => podsOn(cluster, name).some((pod) => appOf(pod) === app));
  if (!found) throw new Error(`no pod of ${app} in ${zone}`);
  return found;
}

function podsOn(cluster: Cluster, nodeName: string): readonly KubeObject[] {
  return cluster.api.list('pods').filter(({ spec }) => spec.nodeName === nodeName);
}

function appOf(pod: KubeObject): string {
  return pod.metadata.labels?.app ?? '';
}

/** taint.timeAdded of unreachable:NoExecute, which has whole seconds; null without the taint. */
function unreachableSince(cluster: Cluster, nodeName: string): number | null {
  const taints: readonly { key: string; effect: string; timeAdded?: string }[] =
    cluster.api.get('nodes', '', nodeName)?.spec.taints ?? [];
  const found = taints.find(
    ({ key, effect }) => key.endsWith('/unreachable') && effect === 'NoExecute',
  );
  return found?.timeAdded ? Date.parse(found.timeAdded) : null;
}
