import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeNode, makePod } from '@taintmgr/core';
import { selects } from '../../src/model/selector.ts';
import { matchesTaint, podFit } from '../../src/policy/choice.ts';
import { canFitBoth, canOverlap, contradiction } from '../../src/policy/overlap.ts';
import { matchesPattern } from '../../src/policy/scope.ts';
import type { PolicyMatch } from '../../src/policy/values.ts';
import { fc } from '../fast-check.ts';

describe('what two selectors and patterns have in common', () => {
  it('a text that both patterns match is found wherever there is one', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 5 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 6 });
    fc.assert(
      fc.property(pattern, pattern, text, (a, b, one) => {
        if (matchesPattern(a, one) && matchesPattern(b, one)) assert.ok(canFitBoth(a, b));
        if (!a.includes('*')) assert.equal(canFitBoth(a, b), matchesPattern(b, a));
      }),
    );
  });

  it('a pod and a taint that both policies match are taken for possible', () => {
    const labels = fc.record({ p: fc.constantFrom('x', 'y') }, { requiredKeys: [] });
    const selector = fc.option(fc.record({ matchLabels: labels }));
    const bound = fc.option(fc.integer({ min: 0, max: 3 }));
    const pattern = fc.constantFrom('a', 'b', 'a*', '*');
    const match = fc.record({
      taints: fc.array(fc.record({ key: pattern, value: pattern }), { maxLength: 2 }),
      nodes: selector,
      namespaces: fc.option(fc.record({ names: fc.array(pattern, { maxLength: 2 }), selector })),
      pods: selector,
      podPriority: fc.option(
        fc.record({
          min: bound,
          max: bound,
          classes: fc.subarray(['low', 'high']),
        }),
      ),
    });
    const subject = fc.record({
      pod: fc
        .record({
          labels,
          namespace: fc.constantFrom('a', 'b', 'ab'),
          priority: fc.integer({ min: 0, max: 3 }),
          priorityClassName: fc.constantFrom('low', 'high'),
        })
        .map((some) => makePod({ name: 'p', ...some })),
      node: labels.map((some) => makeNode({ name: 'n', labels: some })),
      namespaceLabels: labels,
    });
    const name = fc.constantFrom('a', 'b', 'ab');
    let found = 0;
    fc.assert(
      fc.property(match, match, subject, name, name, (a, b, one, key, value) => {
        const taint = { key, value, effect: 'NoExecute' as const, timeAdded: null };
        const both = [a, b].every(
          (each) => matchesTaint(each, taint) && podFit(each, one) === 'matches',
        );
        if (!both) return;
        found += 1;
        assert.ok(canOverlap(a, b));
      }),
      // Few of what is drawn matches both.
      { numRuns: 10_000 },
    );
    assert.ok(found > 10, `${found} pods match both policies`);
  });

  const all = { taints: [], nodes: null, namespaces: null, pods: null, podPriority: null };
  const labelled = (app: string) => ({ matchLabels: { app } });
  const within = (min: number | null, max: number | null) => ({ min, max, classes: [] });
  const apart: readonly (readonly [string, Partial<PolicyMatch>, Partial<PolicyMatch>])[] = [
    ['keys of taints', { taints: [{ key: 'a*' }] }, { taints: [{ key: 'b*' }] }],
    ['values of taints', { taints: [{ value: 'a' }] }, { taints: [{ value: 'b' }] }],
    ['an effect by which no pod leaves', { taints: [{ effect: 'NoSchedule' }] }, { taints: [{}] }],
    [
      'names of namespaces',
      { namespaces: { names: ['a'], selector: null } },
      { namespaces: { names: ['b', 'c'], selector: null } },
    ],
    [
      'labels of namespaces',
      { namespaces: { names: [], selector: labelled('a') } },
      { namespaces: { names: [], selector: labelled('b') } },
    ],
    ['labels of nodes', { nodes: labelled('a') }, { nodes: labelled('b') }],
    ['labels of pods', { pods: labelled('a') }, { pods: labelled('b') }],
    ['priorities', { podPriority: within(null, 4) }, { podPriority: within(5, null) }],
    [
      'classes of priority',
      { podPriority: { ...within(null, null), classes: ['low'] } },
      { podPriority: { ...within(null, null), classes: ['high'] } },
    ],
  ];
  for (const [name, a, b] of apart) {
    it(`tells apart by ${name}`, () => {
      assert.ok(!canOverlap({ ...all, ...a }, { ...all, ...b }));
      assert.ok(!canOverlap({ ...all, ...b }, { ...all, ...a }));
      assert.ok(canOverlap({ ...all, ...a }, all) || name.startsWith('an effect'));
    });
  }

  it('takes a priority that both ask for as possible', () => {
    const [low, high] = [{ podPriority: within(null, 5) }, { podPriority: within(5, null) }];
    assert.ok(canOverlap({ ...all, ...low }, { ...all, ...high }));
  });

  it('labels that both selectors want are left out of none', () => {
    const expression = fc.record({
      key: fc.constantFrom('p', 'q'),
      operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
      values: fc.subarray(['x', 'y', 'z'], { minLength: 1 }),
    });
    const selector = fc.record({ matchExpressions: fc.array(expression, { maxLength: 3 }) });
    const label = fc.option(fc.constantFrom('x', 'y', 'z', 'w'));
    fc.assert(
      fc.property(selector, selector, label, label, (a, b, p, q) => {
        const labels = { ...(p !== null && { p }), ...(q !== null && { q }) };
        if (selects(a, labels) && selects(b, labels)) assert.equal(contradiction([a, b]), null);
      }),
    );
  });
});
