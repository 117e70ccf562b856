import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LabelSelector, makeNode, makePod, parseTaint, type Taint } from '@taintmgr/core';
import type { EvictionPolicy, PolicyMatch } from '@taintmgr/core/policy';
import {
  choosePolicy,
  explainChoice,
  inPolicyOrder,
  NodePolicies,
  type PolicySubject,
} from '../../src/policy/choice.ts';
import { matchesPattern } from '../../src/policy/scope.ts';
import { fc } from '../fast-check.ts';
import { policyOf } from './objects.ts';

const none: PolicyMatch = {
  taints: [],
  nodes: null,
  namespaces: null,
  pods: null,
  podPriority: null,
};
const taint = parseTaint('spot/reclaim=soon:NoExecute');
const spot: LabelSelector = { matchLabels: { pool: 'spot' } };
const subject: PolicySubject = {
  node: makeNode({ name: 'n1', labels: { pool: 'spot' } }),
  pod: makePod({
    name: 'web-0',
    namespace: 'shop',
    labels: { app: 'web' },
    priority: 100,
    priorityClassName: 'high',
  }),
  namespaceLabels: { team: 'shop' },
};

const matches: readonly (readonly [Partial<PolicyMatch>, string])[] = [
  [{}, 'counts'],
  [{ taints: [{ key: 'spot/*' }] }, 'counts'],
  [{ taints: [{ key: 'other' }, { key: 'spot/*', value: 'so*', effect: 'NoExecute' }] }, 'counts'],
  [{ taints: [{ key: 'spot/*', value: 'later' }] }, 'taints'],
  [{ taints: [{ effect: 'NoSchedule' }] }, 'taints'],
  [{ nodes: spot }, 'counts'],
  [{ nodes: {} }, 'counts'],
  [{ nodes: { matchLabels: { pool: 'on-demand' } } }, 'nodes'],
  [{ namespaces: { names: ['s*', 'x'], selector: null } }, 'counts'],
  [{ namespaces: { names: ['kube-*'], selector: null } }, 'namespaces'],
  [{ namespaces: { names: [], selector: { matchLabels: { team: 'shop' } } } }, 'counts'],
  [{ namespaces: { names: [], selector: { matchLabels: { team: 'pay' } } } }, 'namespaces'],
  [{ namespaces: { names: ['pay'], selector: { matchLabels: { team: 'shop' } } } }, 'namespaces'],
  [{ pods: { matchLabels: { app: 'web' } } }, 'counts'],
  [{ pods: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } }, 'pods'],
  [{ podPriority: { min: 100, max: 100, classes: ['low', 'high'] } }, 'counts'],
  [{ podPriority: { min: 101, max: null, classes: [] } }, 'podPriority'],
  [{ podPriority: { min: null, max: 99, classes: [] } }, 'podPriority'],
  [{ podPriority: { min: null, max: null, classes: ['low'] } }, 'podPriority'],
  [{ nodes: { matchLabels: { no: 'such' } }, pods: { matchLabels: { no: 'such' } } }, 'nodes'],
];

describe('which policy counts', () => {
  for (const [match, expected] of matches) {
    it(`${JSON.stringify(match)}: ${expected}`, () => {
      const policy = policyOf('p', { match: { ...none, ...match } });
      const { counts, others } = explainChoice([policy], taint, subject);
      const why = others[0]?.why;
      const found = counts ? 'counts' : why?.kind === 'notMatched' ? why.part : why?.kind;
      assert.equal(found, expected);
    });
  }

  it('takes the highest priority, then the first by name, and says why not the others', () => {
    const policies = [
      policyOf('b', { priority: 5 }),
      policyOf('limits', { action: null, priority: 9 }),
      policyOf('a', { priority: 5 }),
      policyOf('z'),
      policyOf('elsewhere', {
        priority: 7,
        match: { ...none, nodes: { matchLabels: { a: 'b' } } },
      }),
    ];
    const { counts, others } = explainChoice(policies, taint, subject);
    assert.equal(counts?.name, 'a');
    assert.deepEqual(
      others.map(({ policy, why }) => [policy.name, why]),
      [
        ['limits', { kind: 'onlyLimits' }],
        ['elsewhere', { kind: 'notMatched', part: 'nodes' }],
        ['b', { kind: 'outranked', by: 'a' }],
        ['z', { kind: 'outranked', by: 'a' }],
      ],
    );
  });

  it('chooses none where the labels of a namespace that decide are not known', () => {
    const asks = policyOf('asks', {
      priority: 1,
      match: { ...none, namespaces: { names: [], selector: { matchLabels: { team: 'shop' } } } },
    });
    const unknown = { ...subject, namespaceLabels: null };
    assert.deepEqual(choosePolicy([asks, policyOf('z')], taint, unknown), {
      counts: null,
      undecided: asks,
    });
    // One that comes before it does not depend on it.
    const first = policyOf('first', { priority: 2 });
    assert.equal(choosePolicy([first, asks], taint, unknown).counts, first);
    const { others } = explainChoice([asks], taint, unknown);
    assert.deepEqual(
      others.map(({ why }) => why.kind),
      ['unknownNamespace'],
    );
  });
});

const label = fc.constantFrom('a', 'b', 'c');
const labels = fc.dictionary(fc.constantFrom('x', 'y'), label, { maxKeys: 2 });
const selector: fc.Arbitrary<LabelSelector | null> = fc.oneof(
  fc.constant(null),
  labels.map((matchLabels) => ({ matchLabels })),
);
const pattern = fc.constantFrom('*', 'a', 'b', 'a*', '*b', 'a*b', 'ab', '');
const aTaint: fc.Arbitrary<Taint> = fc.record({
  key: fc.constantFrom('a', 'ab', 'b', 'aab'),
  value: fc.constantFrom('', 'a'),
  effect: fc.constant('NoExecute'),
  timeAdded: fc.constant(null),
});
const match: fc.Arbitrary<PolicyMatch> = fc.record({
  taints: fc.array(fc.record({ key: pattern, value: pattern }, { requiredKeys: [] }), {
    maxLength: 2,
  }),
  nodes: selector,
  namespaces: fc.oneof(
    fc.constant(null),
    fc.record({ names: fc.array(pattern, { maxLength: 2 }), selector }),
  ),
  pods: selector,
  podPriority: fc.oneof(
    fc.constant(null),
    fc.record({
      min: fc.constantFrom(null, 0, 5),
      max: fc.constantFrom(null, 0, 5),
      classes: fc.subarray(['high', 'low']),
    }),
  ),
});
const policies = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    priority: fc.constantFrom(0, 0, 1),
    action: fc.constantFrom('Delete' as const, 'Keep' as const, null),
    match,
  }),
  { maxLength: 4, selector: ({ name }) => name },
);
const subjects = fc.record({
  labels,
  nodeLabels: labels,
  namespaceLabels: labels,
  namespace: fc.constantFrom('a', 'ab', 'b'),
  priority: fc.constantFrom(0, 5, 6),
  priorityClassName: fc.constantFrom('', 'high'),
});

/** The rules once more, by filters and regular expressions. */
function twin(
  list: readonly EvictionPolicy[],
  of: Taint,
  { pod, node, namespaceLabels }: PolicySubject,
) {
  const like = (text: string, one: string): boolean =>
    new RegExp(`^${one.replaceAll('*', '.*')}$`).test(text);
  const has = (wanted: LabelSelector | null, there: object | null = {}): boolean =>
    Object.entries(wanted?.matchLabels ?? {}).every(
      ([key, value]) => new Map(Object.entries(there ?? {})).get(key) === value,
    );
  return list
    .filter(({ action }) => action !== null)
    .filter(
      ({ match: { taints } }) =>
        taints.length === 0 ||
        taints.some(({ key = '*', value = '*' }) => like(of.key, key) && like(of.value, value)),
    )
    .filter((one) => has(one.match.nodes, node?.labels) && has(one.match.pods, pod.labels))
    .filter(({ match: { namespaces } }) => has(namespaces?.selector ?? null, namespaceLabels))
    .filter(({ match: { namespaces } }) => {
      const names = namespaces?.names ?? [];
      return names.length === 0 || names.some((one) => like(pod.namespace, one));
    })
    .filter(({ match: { podPriority: wanted } }) => {
      const { priority = 0, priorityClassName = '' } = pod;
      if (wanted === null) return true;
      const isClass = wanted.classes.length === 0 || wanted.classes.includes(priorityClassName);
      return isClass && priority >= (wanted.min ?? -9) && priority <= (wanted.max ?? 9);
    })
    .toSorted((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1))[0];
}

describe('policies against a twin', () => {
  it('agrees on which one counts', () => {
    fc.assert(
      fc.property(policies, aTaint, subjects, (drawn, of, facts) => {
        const list = drawn.map(({ name, ...fields }) => policyOf(name, fields));
        const { nodeLabels, namespaceLabels, ...pod } = facts;
        const drawnSubject: PolicySubject = {
          node: makeNode({ name: 'n1', labels: nodeLabels }),
          pod: makePod({ name: 'web-0', ...pod }),
          namespaceLabels,
        };
        const expected = twin(list, of, drawnSubject)?.name;
        const inOrder = list.toSorted(inPolicyOrder);
        assert.equal(choosePolicy(inOrder, of, drawnSubject).counts?.name, expected);
        const here = new NodePolicies().of(inOrder, drawnSubject.node ?? assert.fail(), of);
        assert.equal(choosePolicy(here, of, drawnSubject).counts?.name, expected);
        const { counts, others } = explainChoice(list, of, drawnSubject);
        assert.equal(counts?.name, expected);
        assert.equal(others.length + (counts ? 1 : 0), list.length);
        const outranked = others.filter(({ why }) => why.kind === 'outranked');
        assert.ok(outranked.every(({ policy }) => inPolicyOrder(policy, counts ?? policy) > 0));
      }),
      { numRuns: 2000 },
    );
  });

  it('reads patterns as a regular expression would', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 6 });
    const drawn = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 6 });
    fc.assert(
      fc.property(drawn, text, (one, of) => {
        const expression = one.replaceAll('.', '\\.').replaceAll('*', '.*');
        assert.equal(matchesPattern(one, of), new RegExp(`^${expression}$`).test(of));
      }),
      { numRuns: 2000 },
    );
  });
});
