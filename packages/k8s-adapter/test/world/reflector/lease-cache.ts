import assert from 'node:assert/strict';
import { identityOf } from '../../../src/proto/convert.ts';
import type { ItemChange, Project } from '../../../src/proto/inventory.ts';
import type { ReflectorNotice } from '../../../src/proto/reflector.ts';

/** What is kept of a lease: its key, and what tells its states apart. */
export type Version = readonly [key: string, version: string];

export const versionOf: Project<Version> = (object) => {
  const { namespace, name, uid, resourceVersion } = identityOf(object) ?? assert.fail();
  return [`${namespace}/${name}`, `${uid} ${resourceVersion}`];
};

/**
 * The cache that comes of what a reflector tells. What it tells has to fit: no object is told twice
 * in one state, changes its uid, or goes that is not there.
 */
export class LeaseCache {
  readonly #versions = new Map<string, string>();
  readonly #keys = new Map<string, string>();

  /** In order of the keys. */
  get versions(): Map<string, string> {
    return new Map([...this.#versions].sort());
  }

  take(change: ItemChange<Version>): void {
    if (change.kind === 'upsert') this.#upsert(...change.item);
    else this.#delete(change.uid);
  }

  #upsert(key: string, version: string): void {
    const [uid = ''] = version.split(' ');
    const before = this.#versions.get(key);
    assert.ok(!before || before.startsWith(uid), `${key} is another one: a delete is missing`);
    assert.notEqual(before, version, `${key} is told twice`);
    this.#versions.set(key, version);
    this.#keys.set(uid, key);
  }

  #delete(uid: string): void {
    const key = this.#keys.get(uid) ?? assert.fail(`unknown ${uid} is gone`);
    assert.ok(this.#versions.get(key)?.startsWith(uid), `${key} is gone twice`);
    this.#versions.delete(key);
  }
}

/** What went wrong, each as `STATUS message, then NEXT`. */
export function setbackOf(notice: ReflectorNotice): string[] {
  if (notice.kind !== 'reconnecting') return [];
  const { failure, next } = notice;
  return [`${failure.status ?? 'none'} ${failure.message}, then ${next}`];
}
