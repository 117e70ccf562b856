// A leader that publishes the status of policies, on a virtual clock and with an engine of its own.
import assert from 'node:assert/strict';
import { createEngine, type Engine, makeNode, makePod, parseTaint } from '@taintmgr/core';
import { formatTime, type Instant } from '@taintmgr/core/time';
import {
  StatusPublisher,
  type StatusPublisherEffect,
} from '../../src/controller/status-publisher.ts';
import {
  type FollowedKind,
  FollowedObjects,
  policyEvent,
  readFollowed,
} from '../../src/manifests/followed.ts';

/** When it begins. */
export const start: Instant = Date.parse('2026-01-01T00:00:00Z');
/** So many seconds after it. */
export function at(seconds: number): string {
  return formatTime(start + seconds * 1000);
}

const plurals = {
  evictionpolicies: 'EvictionPolicy',
  nodetaintrules: 'NodeTaintRule',
  evictionpauses: 'EvictionPause',
  nodedrains: 'NodeDrain',
} as const;

/** A leader with its engine, 2 tainted nodes and 4 pods on them; its cluster answers every write as it is told. */
export class Stage {
  now: Instant = start;
  leads = true;
  /** The answer to what is written of a kind. */
  readonly answers = new Map<FollowedKind, { readonly status: number; readonly body?: object }>();
  /** The status of each object as the cluster has it. */
  readonly stored = new Map<string, unknown>();
  /** When a status of the TaintManager was sent. */
  readonly heartbeats: number[] = [];
  readonly followed = new FollowedObjects();
  readonly engine: Engine;
  readonly publisher: StatusPublisher;
  /** Fields that somebody has set, and that the definitions do not have. */
  readonly hidden = new Set<string>();
  readonly #specs = new Map<string, { readonly spec: object; readonly uid: string }>();

  constructor(engine: Engine = createEngine({ mode: 'evict', lifecycle: {} })) {
    this.engine = engine;
    this.publisher = new StatusPublisher({
      name: 'taintmgr',
      identity: 'a',
      isVital: false,
      clock: { wall: (now) => now, latest: (now) => now },
      leads: () => this.leads,
      conditions: () => [],
      status: () => ({ conditions: [] }),
      policyCounts: (now) => this.engine.policyCounts(now),
      followed: this.followed,
    });
    for (const name of ['n1', 'n2']) {
      const taints = [parseTaint('spot:NoExecute')];
      engine.handle(this.now, { kind: 'nodeUpsert', node: makeNode({ name, taints }) });
      for (const each of ['web-0', 'web-1']) this.pod(`${name}-${each}`, name);
    }
    engine.handle(this.now, { kind: 'synced' });
  }

  pod(name: string, nodeName: string): void {
    const toleration = { key: 'spot', operator: 'Exists', effect: 'NoExecute' } as const;
    const tolerations = [{ ...toleration, tolerationSeconds: 3600 }];
    const pod = makePod({ namespace: 'shop', name, nodeName, tolerations });
    this.engine.handle(this.now, { kind: 'podUpsert', pod });
  }

  /** An object as the cluster has it. */
  put(kind: FollowedKind, name: string, spec: object, uid = `uid-${name}`, isInFile = false): void {
    this.#specs.set(`${kind}/${name}`, { spec, uid });
    this.#read(kind, name, isInFile);
  }

  #read(kind: FollowedKind, name: string, isInFile = false): void {
    const { spec, uid } = this.#specs.get(`${kind}/${name}`) ?? assert.fail(name);
    const status = this.stored.get(`${kind}/${name}`);
    const creationTimestamp = '2026-01-01T00:00:00Z';
    const owned = Object.fromEntries(Array.from(this.hidden, (field) => [`f:${field}`, {}]));
    const managedFields = [{ fieldsV1: { 'f:spec': owned } }];
    const metadata = { name, uid, generation: 4, creationTimestamp, managedFields };
    const found = readFollowed(kind, { metadata, spec, ...(status !== undefined && { status }) });
    this.followed.put({ ...found, kind, isInFile });
    const event = found.object && policyEvent(found.object);
    if (event && !isInFile) this.engine.handle(this.now, event);
  }

  lead(isSynced = true): void {
    this.#perform(this.publisher.lead(this.now, true, isSynced));
  }

  synced(): void {
    this.#perform(this.publisher.synced(this.now));
  }

  /** It leads no more, or is told to stop. */
  end(how: 'deposed' | 'stopped'): void {
    const isStopped = how === 'stopped';
    this.#perform(
      isStopped ? this.publisher.resign(this.now) : this.publisher.lead(this.now, false, true),
    );
  }

  /** Time passes; what is written of policies, as `3s spot`. Heartbeats are left out. */
  pass(seconds: number): string[] {
    const end = this.now + seconds * 1000;
    const told: string[] = [];
    for (let wake = this.#wake(); wake <= end; wake = this.#wake()) {
      this.now = Math.max(this.now, wake);
      this.engine.handle(this.now, { kind: 'tick' });
      const lines = this.#perform(this.publisher.tick(this.now));
      told.push(...lines.map((line) => `${(this.now - start) / 1000}s ${line}`));
    }
    this.now = end;
    return told;
  }

  status(kind: FollowedKind, name: string): unknown {
    return this.stored.get(`${kind}/${name}`);
  }

  #wake(): number {
    return this.publisher.nextWake() ?? Number.POSITIVE_INFINITY;
  }

  #perform(effects: readonly StatusPublisherEffect[]): string[] {
    return effects.flatMap((effect): string[] => {
      if (effect.kind === 'notice') {
        const { notice } = effect;
        if (!('resource' in notice)) return [];
        return [`${notice.resource} ${'why' in notice ? notice.why : 'again'}`];
      }
      return effect.kind === 'send' ? this.#answer(effect) : ['abort'];
    });
  }

  #answer({ id, request }: Extract<StatusPublisherEffect, { kind: 'send' }>): string[] {
    const [, resource = '', name = ''] =
      /v1alpha1\/(\w+)\/([^/]+)\/status/.exec(request.path) ?? [];
    const kind = Object.entries(plurals).find(([plural]) => plural === resource)?.[1];
    const { status = 200, body = {} } = (kind && this.answers.get(kind)) ?? {};
    const patch = JSON.parse(request.body ?? '');
    if (!kind) this.heartbeats.push((this.now - start) / 1000);
    if (kind) {
      const { uid } = this.#specs.get(`${kind}/${name}`) ?? assert.fail(name);
      assert.deepEqual(patch[0], { op: 'test', path: '/metadata/uid', value: uid });
      assert.deepEqual([patch[1].op, patch[1].path, patch.length], ['add', '/status', 2]);
      if (status === 200) {
        this.stored.set(`${kind}/${name}`, patch[1].value);
        this.#read(kind, name, this.followed.get(kind, name)?.isInFile);
      }
    }
    const data = JSON.stringify(body);
    return [
      ...(kind ? [name] : []),
      ...this.#perform([
        ...this.publisher.receive(this.now, { kind: 'head', id, status, headers: {} }),
        ...this.publisher.receive(this.now, { kind: 'chunk', id, data }),
        ...this.publisher.receive(this.now, { kind: 'end', id }),
      ]),
    ];
  }
}
