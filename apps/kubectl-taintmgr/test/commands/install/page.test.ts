// docs/policies.md: what it shows is what kubectl and the plugin print, against an API server over
// HTTPS that has no definitions of ours at first.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readPolicyFiles } from '@taintmgr/k8s-adapter/manifests';
import { installPlugin, withoutKubectl } from '../../world/plugin.ts';
import { run } from '../../world/run.ts';
import { terminal } from '../../world/terminal.ts';
import { startTestCluster, type TestCluster } from '../../world/test-cluster.ts';
import { playTranscript } from '../../world/transcript.ts';

const page = new URL('../../../../../docs/policies.md', import.meta.url);
const recipes = fileURLToPath(new URL('../../../../../docs/policies', import.meta.url));

it('the recipes are sound', () => {
  const kinds = readPolicyFiles([recipes], 0).map(({ kind }) => kind);
  assert.equal(kinds.length, 7);
  assert.deepEqual([...new Set(kinds)], ['EvictionPolicy', 'NodeTaintRule', 'EvictionPause']);
});

describe('policies in a cluster', { skip: withoutKubectl }, () => {
  const folder = process.cwd();
  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster(null);
    process.env.PATH = installPlugin(cluster.directory);
    process.env.HOME = cluster.directory;
    process.env.KUBECONFIG = cluster.kubeconfig;
    process.chdir(recipes);
  });
  after(async () => {
    process.chdir(folder);
    await cluster.stop();
  });

  it('are as the page shows them', () => {
    const steady = (text: string): string => text.replace(/ (\d+m)?\d+s$| \d+m$/gm, ' 1s');
    return playTranscript(page, terminal(), steady);
  });
  it('are of kinds that are installed twice without harm, and checked by a dry run', async () => {
    const again = await run('install', 'crds', '--kubeconfig', cluster.kubeconfig);
    assert.deepEqual([again.code, again.err], [0, '']);
    const dry = await run(
      'install',
      'crds',
      '--dry-run=server',
      '--kubeconfig',
      cluster.kubeconfig,
    );
    assert.equal(dry.code, 0);
    assert.match(
      dry.out,
      /evp|evictionpolicies\.taintmgr\.dev serverside-applied \(server dry run\)/,
    );
  });
});
