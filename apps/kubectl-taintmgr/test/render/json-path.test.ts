import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { node } from '@taintmgr/sim-cluster';
import { printCustomColumns, printJsonPath } from '../../src/render/json-path.ts';
import { execute, withoutKubectl } from '../world/plugin.ts';
import { startTestCluster, type TestCluster } from '../world/test-cluster.ts';

// kubectl's own printer is the oracle: both print the same of the same object.

const labels = { app: 'web', 'example.com/pool': 'blue' };
const spec = {
  podCIDR: '10.0.0.0/24',
  taints: [
    { key: 'a', value: 'one', effect: 'NoExecute' },
    { key: 'b', value: 'two', effect: 'NoSchedule' },
    { key: 'c', value: 'three', effect: 'NoExecute' },
  ],
  unschedulable: true,
};

const templates: readonly string[] = [
  '{.kind}',
  '{ .kind }',
  '{$.kind}',
  '{.metadata.name} of {.kind}',
  'plain',
  '{.spec.taints[*].key}',
  '{.spec.taints[0].key}',
  '{.spec.taints[-1].key}',
  '{.spec.taints[-2].key}',
  '{.spec.taints[0:2].key}',
  '{.spec.taints[1:].key}',
  '{.spec.taints[0]}',
  '{.spec.taints}',
  '{.spec.unschedulable}',
  '{.metadata.labels.example\\.com/pool}',
  "{.metadata.labels['app']}",
  "{.spec['podCIDR','unschedulable']}",
  '{.metadata.nothing}',
  '{..key}',
  '{range .spec.taints[*]}{.key}={.value}{"\\n"}{end}',
  '{range .spec.taints[*]}{.key}{"\\t"}{$.kind}{"\\n"}{end}',
  '{.spec.taints[?(@.effect=="NoExecute")].key}',
  "{.spec.taints[?(@.effect=='NoSchedule')].value}",
  '{range .spec.taints[?(@.effect!="NoSchedule")]}[{.key}]{end}',
  '{"a {quoted} text"}',
  "{'single'}",
];

const columns: readonly string[] = [
  'NAME:.metadata.name',
  'NAME:metadata.name,KIND:{.kind},NONE:.nope',
  'KEYS:.spec.taints[*].key,FIRST:.spec.taints[0].key',
  'POOL:.metadata.labels.example\\.com/pool,LONG HEAD:.kind',
];

describe('jsonpath and custom-columns', { skip: withoutKubectl }, () => {
  let cluster: TestCluster;
  let object: object;
  before(async () => {
    cluster = await startTestCluster(null);
    const { metadata, ...one } = node('n1', { labels, spec });
    cluster.api.create('nodes', { ...one, metadata });
    object = JSON.parse(await kubectl('json'));
  });
  after(() => cluster.stop());

  const kubectl = async (format: string): Promise<string> => {
    const env = { PATH: process.env.PATH, HOME: cluster.directory, KUBECONFIG: cluster.kubeconfig };
    const { code, out, err } = await execute('kubectl', ['get', 'node', 'n1', '-o', format], env);
    assert.equal(code, 0, err);
    return out;
  };

  it('templates', async () => {
    for (const template of templates) {
      const [ours, theirs] = [
        printJsonPath(template, object),
        await kubectl(`jsonpath=${template}`),
      ];
      // Objects are printed with their keys in another order.
      if (isJson(ours)) assert.deepEqual(JSON.parse(ours), JSON.parse(theirs), template);
      else assert.equal(ours, theirs, template);
    }
  });

  it('columns', async () => {
    for (const spec of columns) {
      const theirs = (await kubectl(`custom-columns=${spec}`)).replace(/ +$/gm, '');
      assert.equal(`${printCustomColumns(spec, [object], true)}\n`, theirs, spec);
    }
  });
});

describe('jsonpath that is wrong', () => {
  const cases: readonly (readonly [template: string, message: RegExp])[] = [
    ['{.kind', /unclosed action/],
    ['{range .spec}x', /unclosed action, want \{end\}/],
    ['{end}', /not in range, nothing to end/],
    ['{.a b}', /unrecognized character in action/],
    ['{.spec.taints[?(@.key==)]}', /error (parsing|executing) jsonpath/],
    ['{.constructor.constructor("return 1")()}', /unrecognized character in action/],
  ];
  for (const [template, message] of cases) {
    it(template, () => assert.throws(() => printJsonPath(template, { spec }), message));
  }
});

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}
