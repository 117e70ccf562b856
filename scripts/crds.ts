// Writes deploy/crds from the tables of the kinds: npm run crds. A test fails when they are out of
// date.
import { writeFileSync } from 'node:fs';
import { yamlOf } from '../apps/kubectl-taintmgr/src/render/yaml.ts';
import { customResourceDefinitions } from '../packages/k8s-adapter/src/doors/kinds.ts';

const note = '# Made by npm run crds from packages/k8s-adapter/src/kinds.\n';

/** The files of deploy/crds by their names. */
export function crdFiles(): ReadonlyMap<string, string> {
  const definitions = customResourceDefinitions();
  const names = definitions.map(({ metadata }) => `${metadata.name}.yaml`);
  const files = definitions.map(
    (each, index) => [names[index] ?? '', note + yamlOf(each)] as const,
  );
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: names,
  };
  return new Map([...files, ['kustomization.yaml', note + yamlOf(kustomization)]]);
}

if (import.meta.main) {
  for (const [name, text] of crdFiles()) writeFileSync(`deploy/crds/${name}`, text);
}
