// The embedded cluster alone: npm run -s cluster -- --port 0 --token T --kubeconfig FILE

import { randomBytes } from 'node:crypto';
import { CommanderError } from '@commander-js/extra-typings';
import {
  type EmbeddedCluster,
  type EmbeddedOptions,
  startEmbedded,
  topologies,
} from '@taintmgr/api-server';
import { loadKubeconfig, UpstreamManager } from '@taintmgr/k8s-adapter';
import { readGoYaml } from '@taintmgr/k8s-adapter/manifests';
import { threeZones, type User, withSystemPods } from '@taintmgr/sim-cluster';
import { controllerToken, controllerUser, DeployedController } from './deployed.ts';
import { type ClusterFlags, parseClusterFlags } from './options.ts';
import { readSnapshot, reportLines } from './snapshot-file.ts';

// A kube-controller-manager that users cannot configure, as in a managed cluster: it evicts.

/** Its controllers are separate users, as on kubeadm. */
const managerName = 'system:serviceaccount:kube-system:node-controller';
const managerRole = 'system:controller:node-controller';
const managerVerbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/** The rights of its controllers, as objects that kubectl shows. */
const managerRules = [
  {
    verbs: managerVerbs,
    apiGroups: [''],
    resources: ['nodes', 'nodes/status', 'pods', 'pods/status', 'events'],
  },
  { verbs: managerVerbs, apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
];

const managerToken: string = randomBytes(16).toString('hex');

/** Its user in the API server. */
const managerUser: User = { name: managerName, groups: ['system:serviceaccounts'], rules: [] };

/** Starts it in a cluster that knows its token. */
async function startManager({
  cluster: { api },
  kubeconfig,
}: EmbeddedCluster): Promise<UpstreamManager> {
  api.create('clusterroles', { metadata: { name: managerRole }, rules: managerRules });
  api.create('clusterrolebindings', {
    metadata: { name: managerRole },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: managerRole },
    subjects: [{ kind: 'ServiceAccount', name: 'node-controller', namespace: 'kube-system' }],
  });
  const { access } = await loadKubeconfig({ kubeconfig, token: managerToken });
  const manager = new UpstreamManager(access);
  manager.start();
  return manager;
}

/** The parts that run in the cluster beside the API server. */
const workbenchTopologies: Readonly<
  Record<ClusterFlags['topology'], Pick<EmbeddedOptions, 'topology' | 'without' | 'adopt'>>
> = { ...topologies, snapshot: { adopt: true } };

try {
  await main(parseClusterFlags(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof Error)) throw error;
  if (!(error instanceof CommanderError)) process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
}

async function main({
  topology,
  snapshot: file,
  denyEviction,
  takeover = false,
  runController = false,
  systemPods,
  ...flags
}: ClusterFlags): Promise<void> {
  const { values, faults } =
    file === undefined ? { values: [], faults: [] } : await readSnapshot(file);
  const embedded = await startEmbedded({
    ...flags,
    ...workbenchTopologies[takeover ? 'three-zones' : topology],
    users: new Map([
      [managerToken, managerUser],
      [controllerToken, controllerUser],
    ]),
    ...(systemPods ? { topology: withSystemPods(threeZones) } : {}),
    snapshot: values,
    parseYaml: readGoYaml,
  });
  for (const { pod: name, ...denial } of denyEviction) {
    const fault = { kind: 'deny', ...denial } as const;
    embedded.cluster.api.faults.add({ fault, resource: 'pods/eviction', name });
  }
  if (file !== undefined) {
    const lines = reportLines(file, embedded.cluster.loadReport, faults);
    process.stderr.write(`${lines.join('\n')}\n`);
  }
  const manager = takeover ? await startManager(embedded) : null;
  const controller = runController ? new DeployedController(embedded) : null;
  const stop = async (): Promise<void> => {
    await controller?.stop();
    await manager?.stop();
    await embedded.stop();
  };
  // Its clock does not keep the process alive; the listening socket does.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stop().then(() => process.exit(0)));
  }
  process.stdout.write(`ready: ${embedded.url}\nexport KUBECONFIG=${embedded.kubeconfig}\n`);
}
