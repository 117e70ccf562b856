import assert from 'node:assert/strict';
import type { Event } from '@taintmgr/core';
import type { EvictionPause } from '@taintmgr/core/policy';
import { readManifest } from '@taintmgr/k8s-adapter/kinds';
import { engineSources } from '../../src/controller/engine-sources.ts';
import { GonePauses } from '../../src/controller/gone-pauses.ts';
import { FollowedObjects } from '../../src/manifests/followed.ts';
import type { Source, SourceEffect } from '../../src/pod-watch/source.ts';
import { listAt } from './cluster-objects.ts';

export const since = '2026-11-01T00:00:00Z';
export function pauseManifest(name: string, spec: object, uid = `uid-${name}`): object {
  const metadata = { name, uid, resourceVersion: '1', creationTimestamp: since };
  return { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPause', metadata, spec };
}

export function pause(name: string, spec: object = {}, uid?: string): EvictionPause {
  const judged = readManifest(pauseManifest(name, spec, uid), 0);
  assert.ok(judged.kind === 'allowed' && judged.value.kind === 'EvictionPause');
  return judged.value.value;
}

export type Effect = Event | SourceEffect;

/** The sources of a loop that starts, and a server that answers what is asked for. */
export class Start {
  readonly events: Event[] = [];
  isSynced = false;
  readonly sources: readonly Source[];
  readonly #waiting = new Map<string, string>();

  /** `inFiles`: pauses that the process has from its files. */
  constructor(inFiles: readonly EvictionPause[] = []) {
    const policies = inFiles.map((value) => ({ kind: 'EvictionPause', value }) as const);
    const options = { random: () => 0.5, clusterPolicies: true, remembering: 'taintmgr', policies };
    this.sources = engineSources(options, new FollowedObjects());
    for (const source of this.sources) this.#note(source, source.handle(0, { kind: 'start' }));
  }

  get gone(): GonePauses {
    return this.sources.find((source) => source instanceof GonePauses) ?? assert.fail();
  }

  answer(resource: string, status: number, items: readonly object[] = []): void {
    const [id] = [...this.#waiting].find(([, path]) => path.includes(resource)) ?? assert.fail();
    this.#waiting.delete(id);
    const list = listAt(`/apis/taintmgr.dev/v1alpha1/${resource}`, '9', ...items);
    const body = JSON.stringify(list);
    for (const input of [
      { kind: 'head', id, status, headers: {} },
      { kind: 'chunk', id, data: body },
      { kind: 'end', id },
    ] as const) {
      for (const source of this.sources) this.#note(source, source.handle(1, input));
    }
  }

  /** All collections of policies, with these pauses. */
  read(...pauses: readonly object[]): void {
    this.answer('evictionpolicies', 200);
    this.answer('nodetaintrules', 200);
    this.answer('evictionpauses', 200, pauses);
  }

  remembered(records: readonly unknown[]): void {
    const metadata = { name: 'taintmgr', uid: 'm', resourceVersion: '1' };
    this.answer('taintmanagers', 200, [{ metadata, status: { pauseRecords: records } }]);
  }

  #note(source: Source, effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'send') this.#waiting.set(effect.id, effect.request.path);
      else if (effect.kind === 'synced' && source === this.gone) this.isSynced = true;
      else if (effect.kind === 'pauseUpsert' || effect.kind === 'pauseDelete')
        this.events.push(effect);
    }
  }
}

export function namesOf({ events }: Start): readonly string[] {
  return events.map((one) => {
    if (one.kind === 'pauseUpsert') return `+${one.pause.name}`;
    return one.kind === 'pauseDelete' ? `-${one.name}` : one.kind;
  });
}

export const night = {
  scope: { namespaces: ['shop'], nodeSelector: { matchLabels: { pool: 'a' } } },
};
