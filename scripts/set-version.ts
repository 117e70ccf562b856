// Makes the next version of the changesets: npm run version. CHANGELOG.md gets a section, packages
// and the pages that people read get the version. Without changesets, a version that has no tag yet
// gets the date of today.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readChanges, withDate, withSection } from './changelog.ts';
import { run } from './release/run.ts';

/** Documents and manifests that name a version, each on the right of one of `names`. */
export const naming: readonly string[] = [
  'deploy/Dockerfile',
  'deploy/README.md',
  'deploy/kustomize/base/kustomization.yaml',
  'docs/install.md',
  'docs/integrations/github-action.md',
  'examples/gitops/.github/workflows/evictions.yml',
  'packages/core/jsr.json',
];
const names =
  /("version": "|taintmgr-controller:|newTag: |at `v|ref=v|taintmgr\/action@v)\d+\.\d+\.\d+(-(alpha|beta|rc)[\w.]*)?/g;

export function withVersion(text: string, version: string): string {
  return text.replace(names, `$1${version}`);
}

// npm run chart, which npm run version calls, regenerates deploy/helm.
if (import.meta.main) {
  try {
    setVersion(new Date().toISOString().slice(0, 10));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = 1;
  }
}

function setVersion(today: string): void {
  const changes = readChanges('.changeset');
  if (changes.length === 0) {
    const version = versionOfPackages();
    if (run('.', 'git', 'tag', '--list', `v${version}`) !== '') {
      throw new Error(
        `.changeset has no change since ${version}, which has a tag: npm run changeset writes one`,
      );
    }
    rewrite('CHANGELOG.md', (text) => withDate(text, version, today));
    return;
  }
  const program = fileURLToPath(import.meta.resolve('@changesets/cli/bin.js'));
  const { status } = spawnSync(process.execPath, [program, 'version'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('changeset version failed');
  const version = versionOfPackages();
  rewrite('CHANGELOG.md', (text) => withSection(text, version, today, changes));
  for (const file of naming) rewrite(file, (text) => withVersion(text, version));
  process.stdout.write(`Read CHANGELOG.md, commit, then: git tag v${version}\n`);
}

function versionOfPackages(): string {
  return JSON.parse(readFileSync('packages/core/package.json', 'utf8')).version;
}

function rewrite(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}
