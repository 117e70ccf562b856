import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { policyEvent } from '../../src/manifests/followed.ts';
import { policiesIn } from '../../src/manifests/policies.ts';
import { FaultyFile } from '../../src/manifests/positioned.ts';

const now = 5_000;

function faultsOf(text: string): readonly string[] {
  try {
    policiesIn('a.yaml', text, now);
    return [];
  } catch (error) {
    assert.ok(error instanceof FaultyFile);
    return error.faults;
  }
}

const keep = `apiVersion: taintmgr.dev/v1alpha1
kind: EvictionPolicy
metadata: {name: keep}
spec: {action: Keep}
`;
const pause = `apiVersion: taintmgr.dev/v1alpha1
kind: EvictionPause
metadata:
  name: all
`;

describe('manifests in a text', () => {
  it('are those of all documents, and of lists among them', () => {
    const list = `apiVersion: v1
kind: List
items:
- apiVersion: taintmgr.dev/v1alpha1
  kind: NodeTaintRule
  metadata: {name: deadlock}
  spec: {condition: {type: KernelDeadlock}, taint: {key: broken, effect: NoExecute}}
`;
    const events = policiesIn(
      'a.yaml',
      `---\n${keep}---\n# nothing\n---\n${list}---\n${pause}`,
      now,
    )
      .map(({ object }) => policyEvent(object))
      .map((event) => event?.kind);
    assert.deepEqual(events, ['policyUpsert', 'taintRuleUpsert', 'pauseUpsert']);
  });
  it('are JSON too', () => {
    const text = JSON.stringify({
      apiVersion: 'taintmgr.dev/v1alpha1',
      kind: 'EvictionPause',
      metadata: { name: 'all' },
    });
    const [placed] = policiesIn('a.json', text, now);
    assert.equal(placed?.object.kind === 'EvictionPause' && placed.object.value.since, now);
  });

  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    [
      'nothing',
      '# nothing\n',
      ['a.yaml:1:1: the file is empty, want EvictionPolicy, NodeTaintRule, EvictionPause'],
    ],
    [
      'no YAML',
      'a: [\n',
      [
        'a.yaml:2:1: Flow sequence in block collection must be sufficiently indented and end with a ]',
      ],
    ],
    [
      'a value',
      keep.replace('Keep', 'Drop'),
      [
        'a.yaml:4:16: spec.action: Unsupported value: "Drop": supported values: "Delete", "Evict", "EvictThenDelete", "Keep", "KubeControllerManager", "Request", "Upstream"',
      ],
    ],
    [
      'a field that nobody knows, in the second document',
      `${keep}---\n${pause}spec:\n  scope:\n    zone: eu/a\n`,
      ['a.yaml:12:11: unknown field "spec.scope.zone"'],
    ],
    [
      'a rule, at the key of what it is about',
      `${keep.replace('{action: Keep}', '')}  match:\n    taints:\n    - key: a\n    - {}\n  action: Keep\n`,
      ['a.yaml:8:7: spec.match.taints[1]: Invalid value: want a key, a value or an effect'],
    ],
    [
      'what is not there',
      keep.replace('spec: {action: Keep}', ''),
      ['a.yaml:1:1: spec: Required value'],
    ],
    [
      'a foreign kind',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n',
      [
        'a.yaml:2:7: got kind "Pod" of "v1", want EvictionPolicy, NodeTaintRule, EvictionPause, NodeDrain, TaintManager of taintmgr.dev/v1alpha1',
      ],
    ],
    [
      'a kind that is no policy',
      pause.replace('EvictionPause', 'TaintManager'),
      [
        'a.yaml:2:7: a TaintManager is no policy, want EvictionPolicy, NodeTaintRule, EvictionPause',
      ],
    ],
    ['a list of nothing', 'apiVersion: v1\nkind: List\n', ['a.yaml:1:1: items: Required value']],
    [
      'a key that stands twice',
      keep.replace('Keep}', 'Keep, action: Evict}'),
      ['a.yaml:4:22: the key "action" is there twice'],
    ],
  ];
  for (const [name, text, says] of cases) {
    it(`name the place of ${name}`, () => assert.deepEqual(faultsOf(text), says));
  }
});
