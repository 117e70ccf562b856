import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Event } from '@taintmgr/core';
import { DeviceSight, deviceSources } from '../../src/controller/device-sources.ts';
import { engineSources } from '../../src/controller/engine-sources.ts';
import type { Source } from '../../src/pod-watch/source.ts';
import { devicePathsOf } from '../../src/proto/device-requests.ts';

// What the engine hears of devices, and of what may not be read of them.

const groupVersion = 'resource.k8s.io/v1';
const listKinds: Readonly<Record<string, string>> = {
  resourceslices: 'ResourceSliceList',
  resourceclaims: 'ResourceClaimList',
  devicetaintrules: 'DeviceTaintRuleList',
};
const names = ['resourceslices', 'resourceclaims', 'devicetaintrules'];
const paths = devicePathsOf([{ groupVersion, resources: names.map((name) => ({ name })) }]);

function object(name: string, version: number, more: object = {}): object {
  return { metadata: { name, uid: `u-${name}`, resourceVersion: `${version}` }, ...more };
}

/** One collection of a server, as the loop would follow it. */
class Collection {
  readonly #source: Source;
  readonly #resource: string;
  #id = '';

  constructor(sight: DeviceSight, resource: string) {
    const sources = deviceSources(sight, { random: () => 0.5, watch: true, streamLists: false });
    this.#source = sources.find((one) => one.status()[0]?.resource === resource) ?? assert.fail();
    this.#resource = resource;
    this.#note(this.#source.handle(0, { kind: 'start' }));
  }

  heardAt(): number | null {
    return this.#source.heardAt('n1');
  }

  /** Answers the request under way; the events that the engine hears of it. */
  answer(status: number, body: object): readonly Event[] {
    const id = this.#id;
    const heard = [
      ...this.#source.handle(1, { kind: 'head', id, status, headers: {} }),
      ...this.#source.handle(1, { kind: 'chunk', id, data: `${JSON.stringify(body)}\n` }),
    ];
    if (status !== 200 || 'items' in body) {
      heard.push(...this.#source.handle(1, { kind: 'end', id }));
    }
    return this.#note(heard);
  }

  list(...items: readonly object[]): readonly Event[] {
    const kind = { kind: listKinds[this.#resource], apiVersion: groupVersion };
    return this.answer(200, { ...kind, metadata: { resourceVersion: '10' }, items });
  }

  tick(now: number): void {
    this.#note(this.#source.handle(now, { kind: 'tick' }));
  }

  #note(effects: ReturnType<Source['handle']>): readonly Event[] {
    const events: Event[] = [];
    for (const effect of effects) {
      if (effect.kind === 'send') this.#id = effect.id;
      else if (effect.kind !== 'notice' && effect.kind !== 'abort') events.push(effect as Event);
    }
    return events;
  }
}

describe('the devices of a cluster', () => {
  it('are read where they are asked for, and served', () => {
    const resources = (devices?: DeviceSight): readonly (string | undefined)[] =>
      engineSources({ random: () => 0.5, ...(devices && { devices }) })
        .map((source) => source.status()[0]?.resource)
        .filter((name) => names.includes(name ?? ''));
    assert.deepEqual(resources(), []);
    assert.deepEqual(resources(new DeviceSight(paths)), names);
    const withoutRules = new DeviceSight({ ...paths, devicetaintrules: null });
    assert.deepEqual(resources(withoutRules), ['resourceslices', 'resourceclaims']);
  });

  it('come and go as events', () => {
    const sight = new DeviceSight(paths);
    const slices = new Collection(sight, 'resourceslices');
    assert.equal(slices.heardAt(), null);
    const slice = object('s', 1, { spec: { driver: 'gpu', pool: { name: 'n1', generation: 3 } } });
    const known = { name: 's', driver: 'gpu', pool: 'n1', generation: 3, devices: [] };
    assert.deepEqual(slices.list(slice), [
      { kind: 'resourceSliceUpsert', slice: known },
      { kind: 'synced' },
    ]);
    const gone = { type: 'DELETED', object: object('s', 11) };
    assert.deepEqual(slices.answer(200, gone), [{ kind: 'resourceSliceDelete', name: 's' }]);
    // They are read again before a pod goes for one: their age makes nobody look at pods.
    assert.equal(slices.heardAt(), Number.POSITIVE_INFINITY);
    const rules = new Collection(sight, 'devicetaintrules');
    const [rule] = rules.list(object('r', 1));
    assert.equal(rule?.kind === 'deviceTaintRuleUpsert' && rule.rule.name, 'r');
    const ruleGone = { type: 'DELETED', object: object('r', 11) };
    assert.deepEqual(rules.answer(200, ruleGone), [{ kind: 'deviceTaintRuleDelete', name: 'r' }]);
  });

  it('name a claim that is gone with its namespace', () => {
    const claims = new Collection(new DeviceSight(paths), 'resourceclaims');
    const metadata = { namespace: 'shop', name: 'c', uid: 'u', resourceVersion: '1' };
    const [event] = claims.list({ metadata });
    assert.equal(event?.kind === 'resourceClaimUpsert' && event.claim.namespace, 'shop');
    const gone = { type: 'DELETED', object: { metadata: { ...metadata, resourceVersion: '11' } } };
    assert.deepEqual(claims.answer(200, gone), [
      { kind: 'resourceClaimDelete', namespace: 'shop', name: 'c' },
    ]);
  });

  it('hold up nothing where they may not be read, and say so until they may', () => {
    const sight = new DeviceSight(paths);
    const [slices, rules] = [
      new Collection(sight, 'resourceslices'),
      new Collection(sight, 'devicetaintrules'),
    ];
    const refused = { message: 'resourceslices is forbidden' };
    const hidden = (...kinds: readonly string[]): object => ({
      kind: 'deviceRights',
      hidden: kinds,
    });
    assert.deepEqual(slices.answer(403, refused), [hidden('resourceslices'), { kind: 'synced' }]);
    assert.deepEqual(rules.answer(403, refused), [
      hidden('devicetaintrules', 'resourceslices'),
      { kind: 'synced' },
    ]);
    assert.deepEqual(sight.hidden, ['devicetaintrules', 'resourceslices']);
    slices.tick(40_000);
    assert.deepEqual(slices.list(), [hidden('devicetaintrules')]);
    assert.deepEqual(sight.hidden, ['devicetaintrules']);
  });

  it('are none where their kind is served no more', () => {
    const sight = new DeviceSight(paths);
    assert.deepEqual(new Collection(sight, 'devicetaintrules').answer(404, {}), [
      { kind: 'synced' },
    ]);
    assert.deepEqual(sight.hidden, []);
  });
});
