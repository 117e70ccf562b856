// Which priority a new pod gets, and which it may not ask for.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';

const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
const quiet = { metadata: { name: 'quiet' }, value: -5, preemptionPolicy: 'Never' };
const usual = { metadata: { name: 'usual' }, value: 7, globalDefault: true };
const higher = { metadata: { name: 'higher' }, value: 9, globalDefault: true };

const given: readonly (readonly [object, readonly object[], object])[] = [
  [{}, [quiet], { priority: 0, preemptionPolicy: 'PreemptLowerPriority' }],
  [
    { priorityClassName: 'quiet' },
    [quiet, usual],
    { priorityClassName: 'quiet', priority: -5, preemptionPolicy: 'Never' },
  ],
  [
    {},
    [quiet, higher, usual],
    { priorityClassName: 'usual', priority: 7, preemptionPolicy: 'PreemptLowerPriority' },
  ],
  [
    { priorityClassName: 'system-node-critical' },
    [],
    {
      priorityClassName: 'system-node-critical',
      priority: 2000001000,
      preemptionPolicy: 'PreemptLowerPriority',
    },
  ],
];

const refused: readonly (readonly [object, string])[] = [
  [{ priorityClassName: 'nope' }, 'no PriorityClass with name nope was found'],
  [
    { priorityClassName: 'quiet', priority: 1 },
    'the integer value of priority (1) must not be provided in pod spec; priority admission controller computed -5 from the given PriorityClass name',
  ],
  [
    { preemptionPolicy: 'Never' },
    'the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
  ],
];

describe('a new pod', () => {
  for (const [spec, stored, expected] of given) {
    it(`of ${JSON.stringify(spec)} where ${stored.length} classes are stored`, () => {
      const { client } = fixture();
      for (const one of stored) assert.equal(client.post(classes, one).status, 201);
      const { status, body } = client.post(pods, podNamed('p', spec));
      assert.equal(status, 201);
      const { priorityClassName, priority, preemptionPolicy } = body.spec;
      const named = priorityClassName === undefined ? {} : { priorityClassName };
      assert.deepEqual({ ...named, priority, preemptionPolicy }, expected);
    });
  }

  for (const [spec, message] of refused) {
    it(`is refused with ${JSON.stringify(spec)}`, () => {
      const { client } = fixture();
      client.post(classes, quiet);
      const { status, body } = client.post(pods, podNamed('p', spec));
      assert.deepEqual([status, body.message], [403, `pods "p" is forbidden: ${message}`]);
    });
  }
});
