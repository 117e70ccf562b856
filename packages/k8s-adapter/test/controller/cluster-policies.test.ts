import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type PolicyObject, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { engineSources } from '../../src/controller/engine-sources.ts';
import type { Source, SourceEffect } from '../../src/pod-watch/source.ts';

// What the engine hears of policies, taint rules and pauses of the cluster.

const kinds = {
  evictionpolicies: 'EvictionPolicy',
  nodetaintrules: 'NodeTaintRule',
  evictionpauses: 'EvictionPause',
} as const;
type Resource = keyof typeof kinds;

function manifest(resource: Resource, name: string, version: number, spec: object): object {
  return {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: kinds[resource],
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: `${version}`,
      generation: version,
      creationTimestamp: '2026-11-01T00:00:00Z',
    },
    spec,
  };
}

function fromFile(name: string): PolicyObject {
  const judged = readManifest(manifest('evictionpolicies', name, 0, { action: 'Keep' }), 0);
  assert.equal(judged.kind, 'allowed');
  return judged.value;
}

/** One collection of a server, as the loop would follow it. */
class Collection {
  readonly #source: Source;
  readonly #resource: Resource;
  #id = '';

  constructor(resource: Resource, options: Partial<Parameters<typeof engineSources>[0]> = {}) {
    const sources = engineSources({
      random: () => 0.5,
      clusterPolicies: true,
      ...options,
    });
    const source = sources.find((one) => one.status()[0]?.resource === resource);
    assert.ok(source);
    this.#source = source;
    this.#resource = resource;
    this.#note(source.handle(0, { kind: 'start' }));
  }

  get isCutOff(): boolean {
    return this.#source.isCutOff();
  }

  heardAt(): number | null {
    return this.#source.heardAt('any');
  }

  /** Answers the request under way; what the engine and people hear of it. */
  answer(status: number, body: object): readonly string[] {
    const id = this.#id;
    const heard = [
      ...this.#source.handle(1, { kind: 'head', id, status, headers: {} }),
      ...this.#source.handle(1, { kind: 'chunk', id, data: `${JSON.stringify(body)}\n` }),
    ];
    if (status !== 200 || 'items' in body)
      heard.push(...this.#source.handle(1, { kind: 'end', id }));
    return this.#note(heard);
  }

  list(items: readonly object[]): readonly string[] {
    const kind = { kind: `${kinds[this.#resource]}List`, apiVersion: 'taintmgr.dev/v1alpha1' };
    return this.answer(200, { ...kind, metadata: { resourceVersion: '10' }, items });
  }

  event(type: string, object: object): readonly string[] {
    return this.answer(200, { type, object });
  }

  manifest(name: string, version: number, spec: object): object {
    return manifest(this.#resource, name, version, spec);
  }

  #note(effects: ReturnType<Source['handle']>): readonly string[] {
    const notes: string[] = [];
    for (const effect of effects) {
      if (effect.kind === 'send') this.#id = effect.id;
      else if (effect.kind === 'notice') notes.push(...noticeText(effect.notice));
      else notes.push(`${effect.kind}${nameIn(effect)}`);
    }
    return notes;
  }
}

type Notice = Extract<SourceEffect, { kind: 'notice' }>['notice'];

function noticeText(notice: Notice): readonly string[] {
  if (notice.kind !== 'unreadable') return notice.kind === 'absent' ? ['absent'] : [];
  const { object, faults, holds } = notice;
  return [`${object} ${holds === 'nothing' ? 'stays' : 'holds'}: ${faults[0]}`];
}

function nameIn(effect: object): string {
  if ('name' in effect) return ` ${effect.name}`;
  const [value] = Object.values(effect).filter((one) => one instanceof Object);
  return value && 'name' in value ? ` ${value.name}` : '';
}

describe('policies of the cluster', () => {
  it('are told as they come, change and go, and are no reason to read pods again', () => {
    const policies = new Collection('evictionpolicies');
    const keep = policies.manifest('keep', 1, { action: 'Keep' });
    assert.equal(policies.heardAt(), null);
    assert.deepEqual(policies.list([keep]), ['policyUpsert keep', 'synced']);
    assert.equal(policies.heardAt(), Number.POSITIVE_INFINITY);
    const evict = policies.manifest('keep', 11, { action: 'Evict' });
    assert.deepEqual(policies.event('MODIFIED', evict), ['policyUpsert keep']);
    assert.deepEqual(policies.event('DELETED', { ...evict, metadata: metadata(evict, 12) }), [
      'policyDelete keep',
    ]);
  });

  it('say nothing new where only somebody writes their status', () => {
    const pauses = new Collection('evictionpauses');
    const night = pauses.manifest('night', 1, {});
    const from = { since: '2026-11-01T00:00:00Z' };
    assert.deepEqual(pauses.list([night]), ['pauseUpsert night', 'synced']);
    const written = { ...night, metadata: statusWritten(night, 11), status: from };
    assert.deepEqual(pauses.event('MODIFIED', written), []);
    const moved = { ...written, metadata: statusWritten(night, 12) };
    const earlier = { ...moved, status: { since: '2026-10-01T00:00:00Z' } };
    assert.deepEqual(pauses.event('MODIFIED', earlier), ['pauseUpsert night']);
    const odd = { ...pauses.manifest('odd', 13, { until: 'never' }) };
    const said = pauses.event('ADDED', odd);
    assert.deepEqual([said.length, said[0]], [2, 'pauseUpsert EvictionPause/odd']);
    const oddWritten = { ...odd, metadata: statusWritten(odd, 14), status: { pods: 0 } };
    assert.deepEqual(pauses.event('MODIFIED', oddWritten), []);
  });

  it('are none where their kinds are not installed', () => {
    for (const resource of ['evictionpolicies', 'nodetaintrules', 'evictionpauses'] as const) {
      const collection = new Collection(resource);
      assert.deepEqual(collection.answer(404, {}), ['absent', 'synced']);
      assert.equal(collection.isCutOff, false);
    }
  });

  it('are not known where we may not read them: nothing is synced', () => {
    const policies = new Collection('evictionpolicies');
    assert.deepEqual(policies.answer(403, { message: 'forbidden' }), []);
  });

  it('hold all evictions while one cannot be read, and no longer', () => {
    const policies = new Collection('evictionpolicies');
    const wrong = policies.manifest('odd', 1, { action: 'Drop' });
    const text =
      'EvictionPolicy "odd" holds: spec.action: Unsupported value: "Drop": supported values: ' +
      '"Delete", "Evict", "EvictThenDelete", "Keep", "KubeControllerManager", "Request", "Upstream"';
    assert.deepEqual(policies.list([wrong]), ['pauseUpsert EvictionPolicy/odd', text, 'synced']);
    const right = policies.manifest('odd', 11, { action: 'Delete' });
    assert.deepEqual(policies.event('MODIFIED', right), [
      'policyUpsert odd',
      'pauseDelete EvictionPolicy/odd',
    ]);
    const again = policies.manifest('odd', 12, { action: 'Drop' });
    assert.deepEqual(policies.event('MODIFIED', again), ['pauseUpsert EvictionPolicy/odd', text]);
    const gone = { ...again, metadata: metadata(again, 13) };
    assert.deepEqual(policies.event('DELETED', gone), [
      'policyDelete odd',
      'pauseDelete EvictionPolicy/odd',
    ]);
  });

  it('leave a taint rule as it was that cannot be read', () => {
    const rules = new Collection('nodetaintrules');
    const [first, ...others] = rules.list([rules.manifest('odd', 1, {})]);
    assert.match(first ?? '', /^NodeTaintRule "odd" stays: /);
    assert.deepEqual(others, ['synced']);
  });

  it('do not count where a file has one of the same name', () => {
    const policies = new Collection('evictionpolicies', { policies: [fromFile('keep')] });
    const same = policies.manifest('keep', 1, { action: 'Delete' });
    const other = policies.manifest('other', 2, { action: 'Delete' });
    assert.deepEqual(policies.list([same, other]), ['policyUpsert other', 'synced']);
  });

  it('hold all evictions until the pods are read that a limit needs', () => {
    const policies = new Collection('evictionpolicies', { podWatch: { mode: 'tainted-nodes' } });
    const rate = policies.manifest('rate', 1, {
      limits: [{ per: 'Total', podsPerSecond: 1, onLimit: 'Queue' }],
    });
    const share = policies.manifest('share', 2, {
      limits: [{ per: 'Total', percent: 10, onLimit: 'Queue' }],
    });
    assert.deepEqual(policies.list([rate, share]), [
      'policyUpsert rate',
      'pauseUpsert EvictionPolicy/share/pods',
      'synced',
    ]);
    assert.deepEqual(policies.event('DELETED', { ...share, metadata: metadata(share, 12) }), [
      'policyDelete share',
      'pauseDelete EvictionPolicy/share/pods',
    ]);
  });
});

/** After somebody wrote the status, which the API server notes. */
function statusWritten(object: object, version: number): object {
  const write = { manager: 'a', operation: 'Update', time: '2026-11-02T00:00:00Z' };
  return { ...metadata(object, version), managedFields: [{ ...write, subresource: 'status' }] };
}

function metadata(object: object, version: number): object {
  const before = 'metadata' in object ? object.metadata : {};
  return { ...Object(before), resourceVersion: `${version}` };
}
