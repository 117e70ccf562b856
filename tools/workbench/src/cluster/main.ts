// The embedded cluster alone: npm run -s cluster -- --port 0 --token T --kubeconfig FILE
import { CommanderError } from '@commander-js/extra-typings';
import { type EmbeddedOptions, startEmbedded, topologies } from '@taintmgr/api-server';
import { readGoYaml } from '@taintmgr/k8s-adapter/manifests';
import { threeZones, withSystemPods } from '@taintmgr/sim-cluster';
import { controllerToken, controllerUser, DeployedController } from './deployed.ts';
import { reportLines } from './load-report.ts';
import { managerToken, managerUser, startManager } from './managed.ts';
import { type ClusterFlags, parseClusterFlags } from './options.ts';
import { readSnapshot } from './snapshot-file.ts';

/** What works in the cluster beside the API server. */
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
