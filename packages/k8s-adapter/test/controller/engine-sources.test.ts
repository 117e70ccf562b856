import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Event } from '@taintmgr/core';
import { type PolicyObject, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { engineSources } from '../../src/controller/engine-sources.ts';
import type { Source, SourceEffect } from '../../src/pod-watch/source.ts';
import type { ReflectorInput } from '../../src/proto/reflector.ts';
import { listAt } from '../world/cluster-objects.ts';

// The first list of each collection that the engine reads reaches it as it comes.

/** Sources that begin to read in pages, and what comes of them. */
class Reading {
  readonly told: string[] = [];
  readonly #sources: readonly Source[];
  /** By the last part of what is asked for. */
  readonly #ids = new Map<string, string>();
  readonly #paths = new Map<string, string>();

  constructor() {
    const options = { random: () => 0.5, leases: true, daemonSets: true, streamLists: false };
    this.#sources = engineSources(options);
    this.#hear({ kind: 'start' });
  }

  /** One page of what was asked for; `more`: another one follows. */
  page(resource: string, names: readonly string[], more: boolean): void {
    const id = this.#ids.get(resource) ?? assert.fail(`nobody reads ${resource}`);
    const items = names.map((name) => {
      return { metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '5' } };
    });
    const list = listAt(this.#paths.get(id) ?? '', '9', ...items);
    const metadata = { resourceVersion: '9', ...(more && { continue: 'more' }) };
    this.#hear({ kind: 'head', id, status: 200, headers: {} });
    this.#hear({ kind: 'chunk', id, data: JSON.stringify({ ...list, metadata }) });
    this.#hear({ kind: 'end', id });
  }

  fail(resource: string): void {
    const id = this.#ids.get(resource) ?? assert.fail(`nobody reads ${resource}`);
    this.#hear({ kind: 'failed', id, message: 'gone' });
  }

  wait(): void {
    this.#hear({ kind: 'tick' }, 60_000);
  }

  #hear(input: ReflectorInput, now = 0): void {
    for (const source of this.#sources)
      for (const effect of source.handle(now, input)) this.#note(effect);
  }

  #note(effect: Event | SourceEffect): void {
    if (effect.kind === 'send') {
      const [path = ''] = effect.request.path.split('?');
      this.#paths.set(effect.id, path);
      this.#ids.set(path.split('/').at(-1) ?? '', effect.id);
    } else if (effect.kind === 'nodeUpsert') this.told.push(`node ${effect.node.name}`);
    else if (effect.kind === 'nodeDelete') this.told.push(`no node ${effect.name}`);
    else if (effect.kind === 'podUpsert') this.told.push(`pod ${effect.pod.name}`);
    else if (effect.kind === 'leaseUpsert') this.told.push(`lease ${effect.lease.nodeName}`);
    else if (effect.kind === 'daemonSetUpsert') this.told.push(`set ${effect.daemonSet.name}`);
    else if (effect.kind === 'synced') this.told.push('read');
  }
}

it('tells what a page of a first list shows before the next one comes', () => {
  const pages = [
    ['nodes', 'node'],
    ['pods', 'pod'],
    ['leases', 'lease'],
    ['daemonsets', 'set'],
  ] as const;
  for (const [resource, word] of pages) {
    const reading = new Reading();
    reading.page(resource, ['a', 'b'], true);
    assert.deepEqual(reading.told, [`${word} a`, `${word} b`]);
    reading.page(resource, ['c'], false);
    assert.deepEqual(reading.told, [`${word} a`, `${word} b`, `${word} c`, 'read']);
  }
});

it('tells the difference where a first list broke off', () => {
  const reading = new Reading();
  reading.page('nodes', ['a', 'b'], true);
  reading.fail('nodes');
  reading.wait();
  reading.page('nodes', ['b'], true);
  assert.deepEqual(reading.told, ['node a', 'node b']);
  reading.page('nodes', ['c'], false);
  assert.deepEqual(reading.told, ['node a', 'node b', 'no node a', 'node c', 'read']);
});

function policy(name: string, match: object): PolicyObject {
  const spec = { action: 'Keep', match };
  const manifest = {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'EvictionPolicy',
    metadata: { name },
    spec,
  };
  const judged = readManifest(manifest, 0);
  assert.equal(judged.kind, 'allowed');
  return judged.value;
}

/** The collections that are read, and what the machine hears before any of them is. */
function begin(policies: readonly PolicyObject[]): readonly [string, string] {
  const sources = engineSources({ random: () => 0, policies });
  const resources = sources.flatMap((source) => source.status()).map(({ resource }) => resource);
  const heard = sources.flatMap((source) => source.handle(0, { kind: 'start' }));
  const isPolicy = (effect: { kind: string }): effect is Event => effect.kind === 'policyUpsert';
  return [
    resources.join(' '),
    heard
      .filter(isPolicy)
      .map((event) => JSON.stringify(event))
      .join(),
  ];
}

it('policies of files are told once, before anything that is read', () => {
  const keep = policy('keep', {});
  const [resources, events] = begin([keep]);
  assert.equal(resources, 'nodes pods');
  assert.equal(events, JSON.stringify({ kind: 'policyUpsert', policy: keep.value }));
  const [source] = engineSources({ random: () => 0, policies: [keep] });
  assert.equal(source?.handle(0, { kind: 'tick' }).length, 0);
  assert.deepEqual(source?.handle(0, { kind: 'start' }).at(-1), { kind: 'synced' });
  assert.deepEqual(source?.handle(0, { kind: 'start' }), []);
});

it('namespaces are read where a policy selects them', () => {
  assert.equal(begin([])[0], 'nodes pods');
  assert.equal(begin([policy('a', { namespaces: ['shop'] })])[0], 'nodes pods');
  assert.equal(begin([policy('a', { namespaceSelector: {} })])[0], 'nodes pods namespaces');
});
