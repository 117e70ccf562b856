import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { node } from '../../src/builders.ts';
import { admitsNode, type NodeWishes } from '../../src/scheduler/node-affinity.ts';

const place = node('n-1', { labels: { disk: 'ssd', gen: '5', text: 'five' } });

const required = (...nodeSelectorTerms: readonly object[]): NodeWishes => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  },
});

describe('one requirement of a node', () => {
  const cases: readonly (readonly [
    key: string,
    operator: string,
    values: readonly string[] | undefined,
    isMet: boolean,
  ])[] = [
    ['disk', 'In', ['hdd', 'ssd'], true],
    ['disk', 'In', ['hdd'], false],
    ['none', 'In', ['ssd'], false],
    ['disk', 'NotIn', ['hdd'], true],
    ['disk', 'NotIn', ['hdd', 'ssd'], false],
    ['none', 'NotIn', ['ssd'], true],
    ['disk', 'Exists', undefined, true],
    ['none', 'Exists', undefined, false],
    ['disk', 'DoesNotExist', undefined, false],
    ['none', 'DoesNotExist', undefined, true],
    ['gen', 'Gt', ['4'], true],
    ['gen', 'Gt', ['5'], false],
    ['gen', 'Lt', ['6'], true],
    ['gen', 'Lt', ['5'], false],
    ['none', 'Gt', ['0'], false],
    ['none', 'Lt', ['9'], false],
    ['text', 'Gt', ['0'], false],
    ['disk', 'in', ['ssd'], false],
    ['constructor', 'Exists', undefined, false],
  ];
  for (const [key, operator, values, isMet] of cases) {
    it(`${key} ${operator} ${values ?? ''}: ${isMet}`, () => {
      const requirement = { key, operator, ...(values ? { values } : {}) };
      assert.equal(admitsNode(required({ matchExpressions: [requirement] }), place), isMet);
    });
  }
});

describe('what is required of a node', () => {
  const ssd = { key: 'disk', operator: 'In', values: ['ssd'] };
  const hdd = { key: 'disk', operator: 'In', values: ['hdd'] };
  const named = (name: string) => ({ key: 'metadata.name', operator: 'In', values: [name] });
  const cases: readonly (readonly [name: string, wishes: NodeWishes, isMet: boolean])[] = [
    ['nothing', {}, true],
    ['one of two terms', required({ matchExpressions: [hdd] }, { matchExpressions: [ssd] }), true],
    ['no term', required({ matchExpressions: [hdd] }, { matchFields: [named('n-2')] }), false],
    ['all of one term', required({ matchExpressions: [ssd, hdd] }), false],
    ['labels and name', required({ matchExpressions: [ssd], matchFields: [named('n-1')] }), true],
    [
      'labels and another name',
      required({ matchExpressions: [ssd], matchFields: [named('n-2')] }),
      false,
    ],
    ['an empty term', required({}), false],
    ['an empty term beside one that is met', required({}, { matchExpressions: [ssd] }), true],
    ['no terms at all', required(), false],
    ['a selector', { nodeSelector: { disk: 'ssd', gen: '5' } }, true],
    ['a selector of which one is not met', { nodeSelector: { disk: 'ssd', gen: '6' } }, false],
    [
      'a selector beside a term that is not met',
      { ...required({ matchExpressions: [hdd] }), nodeSelector: { disk: 'ssd' } },
      false,
    ],
  ];
  for (const [name, wishes, isMet] of cases) {
    it(`${name}: ${isMet}`, () => assert.equal(admitsNode(wishes, place), isMet));
  }
});
