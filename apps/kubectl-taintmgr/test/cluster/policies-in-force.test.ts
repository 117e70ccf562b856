import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type PolicyObject, policyApiVersion, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { policiesInForce } from '../../src/cluster/policies.ts';
import { type OwnSettings, taintManagersIn } from '../../src/cluster/taint-managers.ts';
import { sourceNotes } from '../../src/report/notes.ts';

// Which policies count: of the cluster, of the controller's own files, of files that are given.

function policy(name: string, priority: number): PolicyObject {
  const head = { apiVersion: policyApiVersion, kind: 'EvictionPolicy', metadata: { name } };
  const judged = readManifest({ ...head, spec: { priority, match: {}, action: 'Keep' } }, 0);
  assert.ok(judged.kind === 'allowed');
  return judged.value;
}

type Published = readonly {
  readonly kind: string;
  readonly name: string;
  readonly spec?: string;
}[];

/** How a controller runs that publishes these policies of its files. */
function settings(policies: Published, fields: Partial<OwnSettings> = {}): OwnSettings {
  const metadata = { name: 'taintmgr', uid: 'u' };
  const status = { leader: 'cp_1', policies };
  const [manager] = taintManagersIn([
    { apiVersion: policyApiVersion, kind: 'TaintManager', metadata, status },
  ]);
  assert.ok(manager);
  return {
    ...{ engine: {}, lifecycle: {}, followsCluster: true, unusable: [], mode: 'delete' },
    ...{ watchesNodes: true, allowsOverlap: false, policies: manager.policies },
    ...fields,
  };
}

const own = (name: string, priority: number): Published[number] => {
  const spec = JSON.stringify({ priority, match: {}, action: 'Keep' });
  return { kind: 'EvictionPolicy', name, spec };
};
const nameOnly = { kind: 'EvictionPolicy', name: 'a' };
const cluster = [policy('a', 1), policy('b', 1)];
const published = 'from the --policy files of taintmgr-controller: a';
const unknown =
  'what a of the --policy files of taintmgr-controller says is not known here, and may change this';

const cases: readonly (readonly [
  name: string,
  settings: OwnSettings | undefined,
  files: readonly PolicyObject[],
  expected: readonly string[],
  notes: readonly string[],
])[] = [
  ['of the cluster', undefined, [], ['a 1', 'b 1'], []],
  ["the controller's go before", settings([own('a', 2)]), [], ['a 2', 'b 1'], [published]],
  [
    'those that are given go before all',
    settings([own('a', 2)]),
    [policy('a', 3), policy('c', 3)],
    ['a 3', 'c 3', 'b 1'],
    [],
  ],
  ['of one there is only the name', settings([nameOnly]), [], ['b 1'], [unknown]],
  [
    'one that a later version wrote',
    settings([{ ...nameOnly, spec: '{"match":{},"action":"Ponder"}' }]),
    [],
    ['b 1'],
    [unknown],
  ],
  ['one that is no JSON', settings([{ ...nameOnly, spec: '{"match' }]), [], ['b 1'], [unknown]],
  [
    'those of the cluster are not followed',
    settings([own('a', 2)], { followsCluster: false }),
    [],
    ['a 2'],
    ['taintmgr-controller does not follow the policies and pauses of the cluster', published],
  ],
  [
    'by the rules of kube-controller-manager none counts',
    settings([own('a', 2)], { engine: { semantics: 'upstream-1.36' }, followsCluster: false }),
    [policy('c', 3)],
    [],
    ['taintmgr-controller does not follow the policies and pauses of the cluster'],
  ],
  [
    'what its files say is not published',
    { ...settings([]), policies: null },
    [],
    ['a 1', 'b 1'],
    ['what the --policy files of taintmgr-controller say is not known here, and may change this'],
  ],
];

describe('policies that count', () => {
  for (const [name, from, files, expected, notes] of cases) {
    it(name, () => {
      const inForce = policiesInForce(cluster, from, files);
      const shown = inForce.objects.map(({ value }) => {
        return `${value.name} ${'priority' in value ? value.priority : ''}`;
      });
      assert.deepEqual(shown, expected);
      assert.deepEqual(from ? sourceNotes(inForce, from) : [], notes);
    });
  }
});
