import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeFrame } from '@taintmgr/api-server';
import { Reflector, type ReflectorEffect, type ReflectorInput } from '../../src/proto/reflector.ts';
import type { ApiRequest } from '../../src/proto/requests.ts';

const protobuf = 'application/vnd.kubernetes.protobuf;stream=watch';
const watchHead = { 'content-type': protobuf };
const pod = { kind: 'Pod', metadata: { name: 'a', uid: 'u', resourceVersion: '5' } };
const listEnd = {
  kind: 'Pod',
  metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } },
};

/** A reflector that asks for protobuf, played by hand. */
class Stage {
  readonly requests: ApiRequest[] = [];
  readonly notices: string[] = [];
  readonly upserts: string[] = [];
  #id = '';
  readonly #reflector = new Reflector<{ name: string }>({
    resource: 'pods',
    path: '/api/v1/pods',
    selectors: {},
    project: (value) => ({
      name: String(Reflect.get(Object(Reflect.get(Object(value), 'metadata')), 'name')),
    }),
    watch: true,
    streamLists: true,
    protobuf: true,
    random: () => 0,
  });

  feed(now: number, input: ReflectorInput): void {
    for (const effect of this.#reflector.handle(now, input)) this.#take(effect);
  }

  head(status: number, headers: Record<string, string> = {}): void {
    this.feed(0, { kind: 'head', id: this.#id, status, headers });
  }

  data(data: Uint8Array): void {
    this.feed(0, { kind: 'chunk', id: this.#id, data });
  }

  end(): void {
    this.feed(0, { kind: 'end', id: this.#id });
  }

  /** Whether the latest request would take protobuf. */
  get asksProtobuf(): boolean {
    return this.requests.at(-1)?.headers.accept?.includes('protobuf') ?? false;
  }

  #take(effect: ReflectorEffect<{ name: string }>): void {
    if (effect.kind === 'send') {
      this.#id = effect.id;
      this.requests.push(effect.request);
    } else if (effect.kind === 'notice') this.notices.push(effect.notice.kind);
    else if (effect.kind === 'upsert') this.upserts.push('upsert');
  }
}

function started(): Stage {
  const stage = new Stage();
  stage.feed(0, { kind: 'start' });
  assert.equal(stage.asksProtobuf, true);
  return stage;
}

describe('a collection that is asked for in protobuf', () => {
  for (const status of [406, 415]) {
    it(`is asked for in JSON at once where that is refused with ${status}, and ever after`, () => {
      const stage = started();
      stage.head(status);
      stage.end();
      assert.deepEqual(stage.notices, ['jsonOnly']);
      assert.equal(stage.requests.length, 2);
      assert.equal(stage.asksProtobuf, false);
      stage.feed(0, { kind: 'failed', id: 'pods/2', message: 'reset' });
      stage.feed(60_000, { kind: 'tick' });
      assert.equal(stage.asksProtobuf, false);
      stage.head(406);
      stage.end();
      assert.equal(stage.notices.filter((kind) => kind === 'jsonOnly').length, 1, 'said once');
    });
  }

  it('is asked for in JSON where the watch is refused, from where it was', () => {
    const stage = started();
    stage.head(200, watchHead);
    stage.data(encodeFrame('ADDED', pod));
    stage.data(encodeFrame('BOOKMARK', listEnd));
    stage.end();
    stage.feed(60_000, { kind: 'tick' });
    assert.equal(stage.asksProtobuf, true);
    stage.head(406);
    stage.end();
    assert.equal(stage.asksProtobuf, false);
    assert.match(stage.requests.at(-1)?.path ?? '', /resourceVersion=9&/);
  });

  it('is asked for in JSON where nothing of it can be read', () => {
    const stage = started();
    stage.head(200, watchHead);
    const frame = encodeFrame('ADDED', pod);
    stage.data(frame.fill(0xff, 4));
    assert.deepEqual(stage.notices, ['jsonOnly', 'reconnecting']);
    stage.feed(60_000, { kind: 'tick' });
    stage.feed(120_000, { kind: 'tick' });
    assert.equal(stage.asksProtobuf, false);
  });

  it('stays in protobuf where a part cannot be read of a watch that was read before', () => {
    const stage = started();
    stage.head(200, watchHead);
    stage.data(encodeFrame('BOOKMARK', listEnd));
    stage.end();
    stage.feed(60_000, { kind: 'tick' });
    stage.head(200, watchHead);
    // It says where we are, which is known.
    stage.data(encodeFrame('BOOKMARK', listEnd));
    stage.data(encodeFrame('ADDED', pod).fill(0xff, 4));
    assert.equal(stage.notices.includes('jsonOnly'), false);
  });

  it('stays in protobuf where the connection breaks', () => {
    const stage = started();
    stage.head(200, watchHead);
    stage.data(encodeFrame('ADDED', pod).subarray(0, 9));
    stage.end();
    assert.deepEqual(stage.notices, ['reconnecting'], 'it is not given up for that');
  });
});
