// Writes the version of the packages where people read it: a step of `npm run version`.
import { readFileSync, writeFileSync } from 'node:fs';

/** Documents and manifests that name a version, each on the right of one of `names`. */
export const naming: readonly string[] = [
  'apps/kubectl-taintmgr/README.md',
  'deploy/Dockerfile',
  'deploy/README.md',
  'deploy/kustomize/base/kustomization.yaml',
  'docs/install.md',
  'docs/integrations/github-action.md',
  'examples/gitops/.github/workflows/evictions.yml',
  'packages/core/jsr.json',
];
const names =
  /("version": "|taintmgr-controller:|newTag: |kubectl-taintmgr-v|taintmgr\/action@v)\d+\.\d+\.\d+(-(alpha|beta|rc)[\w.]*)?/g;

export function withVersion(text: string, version: string): string {
  return text.replace(names, `$1${version}`);
}

// npm run chart, which npm run version calls, regenerates deploy/helm.
if (import.meta.main) {
  const { version } = JSON.parse(readFileSync('packages/core/package.json', 'utf8'));
  for (const file of naming) writeFileSync(file, withVersion(readFileSync(file, 'utf8'), version));
}
