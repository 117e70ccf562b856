// Where kinds of devices are listed, by what API servers of several releases serve.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiClient, type Transport } from '@taintmgr/k8s-adapter';
import { ClusterReader } from '@taintmgr/k8s-adapter/survey';
import { collections, listCollection } from '../../src/cluster/collections.ts';

const group = '/apis/resource.k8s.io';

/** The lists that are asked for where discovery answers this; null: it may not be read. */
async function listed(
  versions: Readonly<Record<string, readonly string[]>> | null,
): Promise<readonly string[]> {
  const asked: string[] = [];
  const answerTo = (path: string): readonly [status: number, body: object] => {
    const [, version = '', plural] = path.slice(group.length).split('/');
    if (plural !== undefined) {
      asked.push(`${version}/${plural}`);
      return [404, {}];
    }
    if (versions === null) return [403, {}];
    if (version === '')
      return [
        200,
        { kind: 'APIGroup', versions: Object.keys(versions).map((one) => ({ version: one })) },
      ];
    const resources = versions[version]?.map((name) => ({ name }));
    return [
      200,
      { kind: 'APIResourceList', groupVersion: `resource.k8s.io/${version}`, resources },
    ];
  };
  const send: Transport['send'] = ({ path }, sink) => {
    const [status, body] = answerTo(new URL(path, 'https://sim').pathname);
    sink.head(status, { 'content-type': 'application/json' });
    sink.data(JSON.stringify(status === 200 ? body : { kind: 'Status', code: status }));
    sink.end();
    return () => undefined;
  };
  const client = new ApiClient({ transport: { send }, server: 'https://sim' });
  const reader = new ClusterReader(client);
  for (const one of collections.filter(({ isOfDevices }) => isOfDevices)) {
    await listCollection(client, one, reader);
  }
  return asked;
}

const plurals = ['deviceclasses', 'resourceslices', 'resourceclaims', 'resourceclaimtemplates'];
const rules = 'devicetaintrules';

describe('the kinds of devices are listed', () => {
  const cases: readonly (readonly [
    name: string,
    versions: Parameters<typeof listed>[0],
    lists: readonly string[],
  ])[] = [
    ['of 1.37', { v1: [...plurals, rules] }, [...plurals, rules].map((one) => `v1/${one}`)],
    [
      'of 1.36, whose rules are younger',
      { v1: plurals, v1beta2: [...plurals, rules] },
      [...plurals.map((one) => `v1/${one}`), `v1beta2/${rules}`],
    ],
    [
      'of 1.33, whose claims look otherwise',
      { v1beta1: plurals, v1alpha3: [rules] },
      [`v1alpha3/${rules}`],
    ],
    ['of 1.34 without rules', { v1: plurals }, plurals.map((one) => `v1/${one}`)],
    [
      'as v1 where nobody may see what there is',
      null,
      [...plurals, rules].map((one) => `v1/${one}`),
    ],
  ];
  for (const [name, versions, lists] of cases) {
    it(name, async () => assert.deepEqual(await listed(versions), lists));
  }
});
