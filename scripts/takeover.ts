// Writes deploy/takeover from the policies of the adapter: npm run takeover. A test fails when it
// is out of date.
import { mkdirSync, writeFileSync } from 'node:fs';
import { yamlOf } from '../apps/kubectl-taintmgr/src/render/yaml.ts';
import { takeoverManifests } from '../packages/k8s-adapter/src/index.ts';

const note = '# Made by npm run takeover from packages/k8s-adapter/src/takeover.\n';
const file = 'policies.yaml';

/** The name in deploy/kustomize/base. */
const user = 'system:serviceaccount:taintmgr-system:taintmgr-controller';

/** The files of deploy/takeover by their names. */
export function takeoverFiles(): ReadonlyMap<string, string> {
  const manifests = takeoverManifests({ manager: 'taintmgr', users: [user] });
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [file],
  };
  return new Map([
    [file, note + manifests.map(yamlOf).join('---\n')],
    ['kustomization.yaml', note + yamlOf(kustomization)],
  ]);
}

if (import.meta.main) {
  mkdirSync('deploy/takeover', { recursive: true });
  for (const [name, text] of takeoverFiles()) writeFileSync(`deploy/takeover/${name}`, text);
}
