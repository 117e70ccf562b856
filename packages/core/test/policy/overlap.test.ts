import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeNode, makePod } from '@taintmgr/core';
import { selects } from '../../src/model/selector.ts';
import { matchesTaint, podFit } from '../../src/policy/choice.ts';
import { canFitBoth, canOverlap, contradiction } from '../../src/policy/overlap.ts';
import { matchesPattern } from '../../src/policy/pattern.ts';
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
    fc.assert(
      fc.property(match, match, subject, name, name, (a, b, one, key, value) => {
        const taint = { key, value, effect: 'NoExecute' as const, timeAdded: null };
        const both = [a, b].every(
          (each) => matchesTaint(each, taint) && podFit(each, one) === 'matches',
        );
        if (both) assert.ok(canOverlap(a, b));
      }),
    );
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
