import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { readPolicyFiles } from '@taintmgr/k8s-adapter/manifests';
import { parseAllDocuments } from 'yaml';
import { installPlugin, withoutKubectl } from '../world/plugin.ts';
import { run } from '../world/run.ts';
import { terminal } from '../world/terminal.ts';
import { startTestCluster, type TestCluster } from '../world/test-cluster.ts';
import { playTranscript } from '../world/transcript.ts';

const client = ['install', 'crds', '--dry-run=client', '--server=https://127.0.0.1:1'];
const names = customResourceDefinitions().map(({ metadata }) => metadata.name);

describe('install crds --dry-run=client', () => {
  it('prints what would be applied, without a cluster', async () => {
    const { code, out, err } = await run(...client, '-o', 'yaml');
    assert.deepEqual([code, err], [0, '']);
    const items = parseAllDocuments(out).map((document) => document.toJS());
    assert.deepEqual(items, JSON.parse(JSON.stringify(customResourceDefinitions())));
  });
  it('prints them as one List in JSON', async () => {
    const { out } = await run(...client, '-o', 'json');
    const { kind, items } = JSON.parse(out);
    assert.equal(kind, 'List');
    assert.equal(items.length, names.length);
  });
  it('names what would be applied', async () => {
    const { out } = await run(...client);
    const lines = names.map(
      (name) =>
        `customresourcedefinition.apiextensions.k8s.io/${name} serverside-applied (dry run)\n`,
    );
    assert.equal(out, lines.join(''));
  });
  it('refuses another word', async () => {
    const { code, err } = await run('install', 'crds', '--dry-run=maybe');
    assert.equal(code, 1);
    assert.match(err, /Invalid dry-run value \(maybe\)/);
  });
  it('says which time-out it wants', async () => {
    const { code, err } = await run('install', 'crds', '--timeout=soon');
    assert.equal(code, 1);
    assert.match(err, /Want a duration such as 30s/);
  });
});

const page = new URL('../../../../docs/policies.md', import.meta.url);
const recipes = fileURLToPath(new URL('../../../../docs/policies', import.meta.url));

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
  it('are not taken back to an older version, which would lose fields, unless that is meant', async () => {
    const resource = 'customresourcedefinitions';
    const name = 'evictionpolicies.taintmgr.dev';
    const live = cluster.api.get(resource, '', name) ?? assert.fail();
    const newer = structuredClone(live);
    const { properties } = newer.spec.versions[0].schema.openAPIV3Schema;
    properties.spec.properties.newer = { type: 'string' };
    properties.spec.properties.limits.items.properties.other = { type: 'string' };
    cluster.api.update(resource, newer);
    const install = ['install', 'crds', '--kubeconfig', cluster.kubeconfig];
    const { code, out, err } = await run(...install);
    assert.deepEqual([code, out], [1, '']);
    assert.deepEqual(err.split('\n'), [
      'error: the cluster has definitions of a newer version, and objects would lose these fields',
      `error: ${name} has fields that this version does not: spec.limits[].other, spec.newer`,
      'error: nothing was applied: older controllers and plugins work with newer definitions; --force-conflicts applies these',
      '',
    ]);
    const forced = await run(...install, '--force-conflicts');
    assert.deepEqual([forced.code, forced.err], [0, '']);
    assert.deepEqual((await run(...install)).err, '');
  });
});
