import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { parseAllDocuments } from 'yaml';
import { run } from '../../world/run.ts';

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
