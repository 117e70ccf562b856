// Every wrong manifest is refused in the same words by the reader of files and by an API server that
// has our definitions.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { customResourceDefinitions, policyKinds, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { answerOf } from '../world/answer-of.ts';
import { fc } from '../world/fast-check.ts';

interface Sample {
  readonly kind: keyof typeof policyKinds;
  readonly metadata?: object;
  readonly spec?: unknown;
}

interface Wrong extends Sample {
  readonly name: string;
  readonly says: readonly string[];
}

interface Answer {
  readonly status: number;
  readonly body: { readonly message?: string };
}

const wrong: readonly Wrong[] = read('wrong-manifests.json');
const samples: readonly Sample[] = read('samples.json');

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../testdata/kinds/${name}`, import.meta.url), 'utf8'));
}

function manifestOf({ kind, metadata = {}, spec }: Sample): object {
  return { apiVersion: 'taintmgr.dev/v1alpha1', kind, metadata: { name: 'x', ...metadata }, spec };
}

/** What the reader says of it; empty: it is sound. */
function saysOf(sample: Sample): readonly string[] {
  const judged = readManifest(manifestOf(sample), 0);
  return judged.kind === 'refused' ? judged.faults.map(({ text }) => text) : [];
}

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

describe('the API server and the reader of files', () => {
  const clock = new VirtualClock(0);
  const server = new ApiServer({ clock, random: seededRandom(1) });

  function post(path: string, object: object): Answer {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const body = JSON.stringify(object);
    const answer = answerOf(server, { method: 'POST', path, headers, body });
    assert.ok(answer.kind === 'response');
    return { status: answer.status, body: JSON.parse(answer.body) };
  }

  function create(sample: Sample): Answer {
    const { plural } = policyKinds[sample.kind];
    const query = 'dryRun=All&fieldValidation=Strict';
    return post(`/apis/taintmgr.dev/v1alpha1/${plural}?${query}`, manifestOf(sample));
  }

  before(() => {
    for (const definition of customResourceDefinitions()) {
      const { status, body } = post(definitionsPath, definition);
      assert.equal(status, 201, body.message);
    }
    clock.advanceTo(5000);
  });

  for (const { name, says, ...sample } of wrong) {
    it(`refuse ${sample.kind}: ${name}`, () => {
      assert.deepEqual(saysOf(sample), says);
      const { message = '' } = create(sample).body;
      assert.equal(withoutNil(message), messageOf(sample.kind, says));
    });
  }

  for (const [index, sample] of samples.entries()) {
    it(`take sample ${index} of ${sample.kind}, with the same defaults`, () => {
      const { status, body } = create(sample);
      assert.equal(status, 201, body.message);
      const stored = { ...body, metadata: { name: 'x' } };
      assert.deepEqual(readManifest(stored, 0), readManifest(manifestOf(sample), 0));
    });
  }

  it('differ on a list for a time: the server takes it, as kube-apiserver does', () => {
    const spec = { reason: 'x', until: ['2026-01-31T18:00:00Z'] };
    const text = 'spec.until: Invalid value: "array": spec.until in body must be of type string';
    assert.equal(saysOf({ kind: 'EvictionPause', spec })[0], `${text}: "array"`);
    assert.equal(create({ kind: 'EvictionPause', spec }).status, 201);
  });

  it('agree on samples of which anything is changed', () => {
    fc.assert(
      fc.property(changed, (sample) => {
        const says = saysOf(sample);
        const { status, body } = create(sample);
        if (says.length === 0) assert.equal(status, 201, body.message);
        else assert.equal(sorted(body.message ?? ''), sorted(messageOf(sample.kind, says)));
      }),
      { numRuns: 400, seed: 7 },
    );
  });
});

/** Values that some fields want and others do not. */
const values = fc.constantFrom<unknown>(
  ...[undefined, null, true, 'x', '', 'a b', 'Keep', 'Exists', 'In', '10m', '0', '100%', 'a/b'],
  ...[
    0,
    1,
    -1,
    0.5,
    101,
    5_000_000_000,
    1e21,
    [],
    {},
    ['a'],
    [null],
    [''],
    { a: 'b' },
    { key: 'a' },
  ],
  ...['2026-01-31T18:00:00Z', 'x'.repeat(400), Array(200).fill('a')],
);

/** A sample in which one value, or two, is another one. */
const changed: fc.Arbitrary<Sample> = fc
  .record({
    sample: fc.constantFrom(...samples),
    changes: fc.array(fc.tuple(fc.nat(), values), { minLength: 1, maxLength: 2 }),
  })
  .map(({ sample: { kind, spec }, changes }) => {
    const holder = { spec: structuredClone(spec) };
    for (const [which, value] of changes) {
      const places = placesIn(holder);
      const [place, name] = places[which % places.length] ?? assert.fail('a sample without values');
      Reflect.set(place, name, structuredClone(value));
    }
    return { kind, spec: JSON.parse(JSON.stringify(holder)).spec };
  })
  .filter(({ spec }) => !hasListForTime(spec));

/** Only here they differ, see above. */
function hasListForTime(spec: unknown): boolean {
  return typeof spec === 'object' && spec !== null && 'until' in spec && Array.isArray(spec.until);
}

/** Every member and item below a value. */
function placesIn(value: object): readonly (readonly [place: object, name: string])[] {
  return Object.entries(value).flatMap(([name, each]) => [
    [value, name] as const,
    ...(each instanceof Object ? placesIn(each) : []),
  ]);
}

/** What is about no field the API server begins so, which tells a reader of a file nothing. */
function withoutNil(message: string): string {
  return message.replaceAll(/<nil>: Invalid value: (?:null|""): /g, '');
}

/** The API server goes through fields in the order of its maps. */
function sorted(message: string): string {
  const [, head = '', list = message] =
    /^(.*?(?: is invalid|decoding error): )(.*)$/.exec(message) ?? [];
  const faults = withoutNil(list)
    .replace(/^\[(.*)\]$/, '$1')
    .split(/, (?=spec|unknown|some validation|Checked)/);
  return [head, ...faults.sort()].join('\n');
}

/** As the API server puts the faults of an object into one line. */
function messageOf(kind: string, says: readonly string[]): string {
  const strays = says.filter((text) => text.startsWith('unknown field'));
  if (strays.length > 0) {
    const why = `strict decoding error: ${strays.join(', ')}`;
    return `${kind} in version "v1alpha1" cannot be handled as a ${kind}: ${why}`;
  }
  const faults = says.length === 1 ? says[0] : `[${says.join(', ')}]`;
  return `${kind}.taintmgr.dev "x" is invalid: ${faults}`;
}
