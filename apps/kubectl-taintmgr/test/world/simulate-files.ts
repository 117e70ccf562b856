import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';

/** Files of one test file, which are gone with it. */
export interface Files {
  /** Writes one; its path. */
  write(name: string, text: string | Buffer): string;
  /** Where one of that name would be. */
  path(name: string): string;
}

/** A directory for as long as the tests of a file run. */
export function temporaryFiles(): Files {
  let directory = '';
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'simulate-test-'));
  });
  after(() => rmSync(directory, { recursive: true }));
  const path = (name: string): string => join(directory, name);
  const write = (name: string, text: string | Buffer): string => {
    writeFileSync(path(name), text);
    return path(name);
  };
  return { path, write };
}

/** Six nodes in three zones, a workload that can spare a pod and one that cannot. */
export const topology: string = `
apiVersion: taintmgr.dev/v1alpha1
kind: Topology
nodes:
- {zone: zone-a, count: 2}
- {zone: zone-b, count: 2}
- {zone: zone-c, count: 2}
workloads:
- {kind: Deployment, name: shop/web, replicas: 6, budget: {maxUnavailable: 1}}
- {kind: Deployment, name: shop/lone, replicas: 1, requests: {cpu: '3'}, budget: {minAvailable: 1}}
- {kind: DaemonSet, name: infra/agent, tolerations: [{operator: Exists}]}
`;
