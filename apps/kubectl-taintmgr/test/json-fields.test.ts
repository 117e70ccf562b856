import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from './world/run.ts';
import { keepRenewing } from './world/shop-cluster.ts';
import { startWithDefinitions, type TestCluster } from './world/test-cluster.ts';
import { fillTroubled } from './world/troubled-cluster.ts';

// The fields of `-o json`, which scripts read: testdata/json-fields.txt. A field that is gone or has
// another type breaks them: say so in a changeset that begins with "Breaking:". REWRITE=1 writes the
// file anew.

const file = new URL('./testdata/json-fields.txt', import.meta.url);
const threeZones = 'simulate -f docs/scenarios/three-zones.yaml --until 3m';
const commands: readonly string[] = [
  'explain node node-a1',
  'explain pod web-1 -n shop',
  'explain deployment web -n shop',
  'explain namespace shop',
  'explain nodes',
  'explain zone zone-a',
  'explain taint maintenance',
  'explain pressure node-a1',
  'explain policy web-1 -n shop',
  'pending -n shop',
  'status',
  'history',
  'doctor',
  'doctor -f docs/commands/examples/shop.yaml',
  'drain-by-taint upgrade=1 node-a1 --ignore-daemonsets --force --delete-emptydir-data --dry-run=client',
  'takeover status',
  'version --client',
  `${threeZones} --script docs/scenarios/zone-outage.yaml`,
  `${threeZones} --each zone`,
];

let cluster: TestCluster;
let endRenewing = (): void => {};
before(async () => {
  process.chdir(fileURLToPath(new URL('../../../', import.meta.url)));
  cluster = await startWithDefinitions();
  fillTroubled(cluster);
  endRenewing = keepRenewing(cluster);
  process.env.KUBECONFIG = cluster.kubeconfig;
});
after(() => {
  endRenewing();
  return cluster.stop();
});

it('-o json has the fields that it had', async () => {
  const parts: string[] = [];
  for (const command of commands) {
    const { out, err } = await run(...command.split(' '), '-o', 'json');
    assert.notEqual(out, '', `${command}: ${err}`);
    const fields = [...new Set(fieldsIn(JSON.parse(out)))].sort();
    parts.push(`$ kubectl taintmgr ${command} -o json\n${fields.join('\n')}\n`);
  }
  const text = parts.join('\n');
  if (process.env.REWRITE === '1') writeFileSync(file, text);
  assert.deepEqual(text.split('\n'), readFileSync(file, 'utf8').split('\n'));
});

/** `.pods[].name string`; a key that is a name, such as that of a label, is `*`. */
function fieldsIn(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsIn(item, `${path}[]`));
  if (value === null || typeof value !== 'object') return [`${path} ${typeof value}`];
  return Object.entries(value).flatMap(([key, inner]) =>
    fieldsIn(inner, `${path}.${/^[a-z][A-Za-z0-9]*$/.test(key) ? key : '*'}`),
  );
}
