// Texts of strangers that cost a backtracking expression the square of their length, or worse: each is read in
// time linear in its length.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { canonicalQuantity, quantityError } from '@taintmgr/sim-cluster/server';
import { parsePath } from '../../src/structural/json-path.ts';
import { readsOldSelf } from '../../src/structural/rules.ts';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';

const long = 200_000;
/** Each took from 20 s to for ever; linear is a hundredth of a second. */
const msMax = 5000;

const { client } = fixture();
const zeros = '0'.repeat(long);
const posted = (object: object): number => client.post(pods, object).status;
const container = (fields: object): object =>
  podNamed('p', { containers: [{ name: 'c', image: 'i', ...fields }] });

function definition(rule: string): object {
  const names = { kind: 'A', plural: 'as' };
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-validations': [{ rule }] },
  };
  const version = { name: 'v1', served: true, storage: true, schema };
  const spec = { group: 'example.com', scope: 'Namespaced', names, versions: [version] };
  return { metadata: { name: 'as.example.com' }, spec };
}

const asked: readonly (readonly [text: string, ask: () => unknown, answer: unknown])[] = [
  ['a body of texts without an end', () => post('"\\'.repeat(long)), 400],
  ['a body of texts and brackets', () => post(`[${'"\\['.repeat(long)}`), 400],
  [
    'a quantity of a pod',
    () => posted(container({ resources: { limits: { cpu: `.${zeros}\u0000` } } })),
    400,
  ],
  ['a quantity', () => quantityError(`${zeros}x`)?.slice(0, 15), 'quantities must'],
  [
    'the canonical form of a quantity',
    () => canonicalQuantity(`${zeros}${'1'.repeat(long)}`),
    '9223372036854775807',
  ],
  ['an image', () => posted(container({ image: `/${'::'.repeat(long)}/` })), 201],
  [
    'an owner',
    () =>
      posted(
        podNamed(
          'q',
          {},
          { ownerReferences: [{ apiVersion: `${zeros}/`, kind: 'K', name: 'n', uid: 'u' }] },
        ),
      ),
    422,
  ],
  [
    'a filter of a path',
    () => parsePath(`[?(@${'\t'.repeat(long)}!=${'\t'.repeat(long)}')]")]`),
    null,
  ],
  ['a rule with texts without an end', () => readsOldSelf("\\'\\".repeat(long)), false],
  [
    'a duration in a rule',
    () =>
      client.post(
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        definition(`duration('1.${'s000'.repeat(40)}x') > duration('1s')`),
      ).status,
    422,
  ],
];

function post(body: string): number {
  const headers = { 'content-type': 'application/json' };
  return client.request('POST', pods, { body: Buffer.from(body), headers }).status;
}

describe('a text that is long', () => {
  for (const [text, ask, answer] of asked) {
    it(`is read in linear time: ${text}`, () => {
      const before = performance.now();
      assert.equal(ask(), answer);
      const ms = performance.now() - before;
      assert.ok(ms < msMax, `${Math.round(ms)} ms`);
    });
  }
});
