import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Election } from '../../../src/controller/election/election.ts';
import type { ElectionEffect } from '../../../src/controller/election/election-options.ts';
import type { ApiRequest } from '../../../src/proto/api-request.ts';
import { eventName, postEventRequest } from '../../../src/proto/event-requests.ts';
import { random } from '../../world/random.ts';

/** What a real kube-controller-manager 1.36.2 sent, recorded. */
interface Golden {
  readonly requests: readonly {
    readonly t: number;
    readonly method: string;
    readonly path: string;
    readonly query: { readonly timeout: string };
    readonly body?: object;
    readonly status: number;
  }[];
  readonly event: { readonly method: string; readonly path: string; readonly body: object };
}

const golden: Golden = JSON.parse(
  readFileSync(new URL('../../testdata/controller/golden-election.json', import.meta.url), 'utf8'),
);
const start = Date.parse('2026-01-01T00:00:00Z');

describe('beside kube-controller-manager', () => {
  it('an election writes the same', () => {
    // It renews at once after it has created the lease; we renew when a retry period is over.
    const expected = golden.requests.filter(({ t, method }) => method !== 'PUT' || t > 1);
    assert.deepEqual(
      play(expected.length).requests.map(readable),
      expected.map(({ method, path, query, body }) => ({
        method,
        path: `${path}?timeout=${query.timeout}`,
        ...(body && { body }),
      })),
    );
  });

  it('the Event of an election reads the same', () => {
    const { effects } = play(2);
    const told = effects.find((effect) => effect.kind === 'event') ?? assert.fail('no event');
    const { event } = told;
    const component = 'kube-controller-manager';
    const name = eventName(event.subject.name, start, 0);
    const series = { name, event, component, firstAt: start, lastAt: start, count: 1 };
    const { method, path, body } = postEventRequest(series);
    const text = (body ?? '')
      .replace(/\.[0-9a-f]{16}"/, '.<hex-nanoseconds>"')
      .replaceAll('2026-01-01T00:00:00Z', '<T+0s>')
      .replace('<rv-2>', '<rv-1>');
    assert.deepEqual({ method, path }, { method: golden.event.method, path: golden.event.path });
    assert.equal(text, JSON.stringify(golden.event.body));
  });
});

/** Lets it run until it has sent that many requests; each is answered as in the trace. */
function play(count: number): { requests: ApiRequest[]; effects: ElectionEffect[] } {
  const election = new Election({
    lease: { namespace: 'kube-system', name: 'kube-controller-manager' },
    identity: 'vm_c2e63b69-7c4b-4394-a413-18ccc0bc6ee0',
    random: random(0),
  });
  const versions = ['<rv-2>', '<rv-11>', '<rv-12>', '<rv-13>', '<rv-14>'];
  const requests: ApiRequest[] = [];
  const effects: ElectionEffect[] = [];
  let now = start;
  let todo = [...election.handle(now, { kind: 'start' })];
  while (requests.length < count || todo.length > 0) {
    const effect = todo.shift();
    if (!effect) {
      now = election.nextWake() ?? assert.fail('it sleeps for ever');
      todo = [...election.handle(now, { kind: 'tick' })];
      continue;
    }
    effects.push(effect);
    if (effect.kind !== 'send') continue;
    requests.push(effect.request);
    const { id } = effect;
    const missing = effect.request.method === 'GET';
    const data = missing ? '{}' : stored(effect.request, versions.shift() ?? '');
    todo.push(
      ...election.handle(now, { kind: 'head', id, status: missing ? 404 : 200, headers: {} }),
      ...election.handle(now, { kind: 'chunk', id, data }),
      ...election.handle(now, { kind: 'end', id }),
    );
  }
  return { requests: requests.slice(0, count), effects };
}

/** What the server makes of a write. */
function stored({ body }: ApiRequest, resourceVersion: string): string {
  const object = JSON.parse(body ?? '{}');
  const { name, namespace } = object.metadata;
  const metadata = {
    name,
    namespace,
    uid: '<uid-1>',
    resourceVersion,
    creationTimestamp: '<T+0s>',
    managedFields: '<managedFields: kube-controller-manager/Update>',
  };
  return JSON.stringify({ ...object, metadata });
}

/** The request with its times as the trace writes them. */
function readable({ method, path, body }: ApiRequest): object {
  const text = body?.replace(/"2026-01-01T00:00:0(\d)\.000000Z"/g, '"<T+$1s>"');
  return { method, path, ...(text && { body: JSON.parse(text) }) };
}
