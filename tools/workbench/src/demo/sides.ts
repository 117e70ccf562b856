// The two clusters of the demo, at rest: the same topology, the same hour before them.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPolicyFiles } from '@taintmgr/k8s-adapter/manifests';
import { readScript } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/script/script.ts';
import { readSource } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/source/read.ts';
import type { ClusterSource } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/source/source.ts';
import { Side } from './side.ts';
import { hour } from './story.ts';

export const root = fileURLToPath(new URL('../../../../', import.meta.url));
export const files = {
  topology: 'docs/scenarios/three-zones.yaml',
  script: 'docs/scenarios/demo.yaml',
};

export interface Sides {
  readonly source: ClusterSource;
  /** Under kube-controller-manager's rules. */
  readonly left: Side;
  /** Under ours. */
  readonly right: Side;
}

export async function startSides(seed: number): Promise<Sides> {
  const read = await readSource(join(root, files.topology));
  const script = readScript(files.script, await readFile(join(root, files.script), 'utf8'), hour);
  const policies = readPolicyFiles([], read.startsAt, script.policies(read.startsAt));
  const source = { ...read, name: files.topology };
  const shared = { source, script, policies, seed, until: hour };
  const upstream = { ...shared, semantics: 'upstream-1.36' } as const;
  return {
    source,
    left: new Side('kube-controller-manager', 'kube-controller-manager', upstream),
    right: new Side('taintmgr', 'taintmgr', { ...shared, semantics: 'precise' }),
  };
}
