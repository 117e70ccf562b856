// An hour of a large cluster in which a zone is lost, simulated with the real engine; time and memory.
// npm run bench -- simulate; alone it takes NODES
import { withSummary } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/result/documents.ts';
import { readScript } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/script/script.ts';
import { gather } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/source/input/gathering.ts';
import { snapshotSource } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/source/snapshot.ts';
import { simulate } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/stage/run.ts';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { nodeObjects, podObject } from './cluster-objects.ts';
import { inProcess, printTable, short } from './measure.ts';

const nodesUsual = [50, 500, 5_000];
const podsPerNode = 30;
const apps = 500;
const namespaces = 40;
const hourMs = 3_600_000;
const script = 'events:\n- {at: 5m, stopKubelet: {zone: zone-1}, lasts: 30m}\n';

interface Row {
  readonly readMs: number;
  readonly runMs: number;
  /** The time of one core, summed over all threads: the same under other load. */
  readonly processorMs: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
  readonly tainted: number;
  readonly evictions: number;
  readonly unavailableMax: number;
  readonly unplacedMax: number;
}

function compare(nodes: number): void {
  const row = inProcess<Row>(import.meta.filename, 'run', nodes);
  const pods = nodes * podsPerNode;
  process.stdout.write(
    `simulate: 1 h of ${short(pods)} pods on ${short(nodes)} nodes, a zone lost\n`,
  );
  printTable(
    ['', ''],
    [
      ['cluster taken in', seconds(row.readMs)],
      ['simulated', seconds(row.runMs)],
      ['processor time of that', seconds(row.processorMs)],
      ['faster than the clock', `${Math.round(hourMs / row.runMs)} times`],
      ['heap at the end', mega(row.heapBytes)],
      ['resident, most', mega(row.rssBytes)],
      ['nodes tainted', String(row.tainted)],
      ['pods evicted', String(row.evictions)],
      ['pods missing at once, in one workload', String(row.unavailableMax)],
      ['pods that fitted nowhere, at once', String(row.unplacedMax)],
    ],
  );
}

function run(nodes: number): Row {
  const start = process.hrtime.bigint();
  const values = [...nodeObjects(nodes * podsPerNode), ...workloads(nodes), ...pods(nodes)];
  const source = snapshotSource('bench', gather('bench', values));
  if (source.missing.length > 0) throw new Error(source.missing[0]);
  const read = process.hrtime.bigint();
  const before = process.cpuUsage();
  const played = simulate({
    source,
    policies: [],
    script: readScript('bench', script, hourMs),
    seed: 1,
    until: hourMs,
    semantics: 'precise',
  });
  const end = process.hrtime.bigint();
  const { user, system } = process.cpuUsage(before);
  const { summary } = withSummary(played, hourMs);
  return {
    readMs: Number(read - start) / 1e6,
    runMs: Number(end - read) / 1e6,
    processorMs: (user + system) / 1e3,
    heapBytes: process.memoryUsage().heapUsed,
    rssBytes: process.resourceUsage().maxRSS * 1024,
    tainted: summary.nodesTainted,
    evictions: summary.evictions,
    unavailableMax: Math.max(...summary.workloads.map((workload) => workload.unavailableMax)),
    unplacedMax: summary.unplaced.atOnceMax,
  };
}

/** The pods of each app in one namespace, so that one ReplicaSet owns them. */
function pods(nodes: number): readonly object[] {
  return Array.from({ length: nodes * podsPerNode }, (_, index) => {
    const pod = podObject(index) as KubeObject;
    return { ...pod, metadata: { ...pod.metadata, namespace: namespaceOf(index % apps) } };
  });
}

function namespaceOf(app: number): string {
  return `team-${app % namespaces}-production`;
}

/** The ReplicaSets that own the pods, with the template that a pod was made of. */
function workloads(nodes: number): readonly object[] {
  return Array.from({ length: apps }, (_, app) => {
    // Its pods are those whose number leaves its own when divided by the number of apps.
    const replicas = Math.ceil((nodes * podsPerNode - app) / apps);
    const { metadata, spec } = podObject(app) as KubeObject;
    const { labels, ownerReferences, creationTimestamp } = metadata;
    const { nodeName: _node, ...template } = spec;
    const [owner] = ownerReferences ?? [];
    if (!owner) throw new Error('a pod without an owner');
    const { name, uid } = owner;
    return {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name,
        uid,
        creationTimestamp,
        generation: 1,
        namespace: namespaceOf(app),
        labels,
      },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: template },
      },
      status: { replicas, readyReplicas: replicas, availableReplicas: replicas },
    };
  });
}

function seconds(millis: number): string {
  return `${(millis / 1000).toFixed(1)} s`;
}

function mega(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}

const [mode, size] = process.argv.slice(2);
if (mode === 'run') process.stdout.write(JSON.stringify(run(Number(size))));
else for (const nodes of mode === undefined ? nodesUsual : [Number(mode)]) compare(nodes);
