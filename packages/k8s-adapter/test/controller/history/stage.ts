import { makeNode, makePod, type Pod, type Taint } from '@taintmgr/core';
import { HistoryKeeper, type KeeperEffect } from '../../../src/controller/history/keeper.ts';
import type { HistoryNotice } from '../../../src/controller/history/notice.ts';
import { Witness } from '../../../src/controller/history/witness.ts';
import type { Removal } from '../../../src/controller/procedures/pod-removal.ts';
import { gzip } from '../../../src/driver/gzip.ts';
import { type HistoryFound, HistorySearch } from '../../../src/history/search.ts';
import { segmentFrom } from '../../../src/history/segment.ts';
import type { ApiRequest } from '../../../src/proto/requests.ts';

export const start = Date.parse('2026-01-01T00:00:00Z');
const spot: Taint = { key: 'spot', value: '', effect: 'NoExecute', timeAdded: start };

interface Stored {
  readonly version: number;
  readonly body: string;
}

/** ConfigMaps as the API keeps them: names, versions, conflicts. */
export class ConfigMaps {
  readonly objects = new Map<string, Stored>();
  /** Answers every request with it; null: as it should. */
  refuses: number | null = null;
  writes = 0;
  bytes = 0;
  largest = 0;
  #version = 0;

  answer({ method, path, body }: ApiRequest): { status: number; value: object } {
    if (this.refuses !== null) return failure(this.refuses);
    const object = body === null ? null : JSON.parse(body);
    const name = method === 'POST' ? `${path}/${object.metadata.name}` : path;
    const found = this.objects.get(name);
    if (method === 'GET') return found ? { status: 200, value: this.#read(found) } : failure(404);
    if (method === 'PUT' && !found) return failure(404);
    if (method === 'POST' && found) return failure(409);
    const { resourceVersion } = object.metadata;
    if (method === 'PUT' && String(found?.version) !== resourceVersion) return failure(409);
    return { status: 200, value: this.write(name, String(body)) };
  }

  write(path: string, body: string): object {
    this.#version += 1;
    this.writes += 1;
    this.bytes += body.length;
    this.largest = Math.max(this.largest, body.length);
    const stored = { version: this.#version, body };
    this.objects.set(path, stored);
    return this.#read(stored);
  }

  /** All that a reader finds there. */
  search(): HistoryFound {
    const search = new HistorySearch({});
    const segments = [...this.objects.values()].flatMap(({ body }) => {
      return segmentFrom(JSON.parse(body)) ?? [];
    });
    for (const segment of segments.sort((one, other) => one.sequence - other.sequence)) {
      for (const block of segment.blocks) search.readBlock(block, gzip);
    }
    return search.found;
  }

  #read({ version, body }: Stored): object {
    const object = JSON.parse(body);
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
  }
}

function failure(status: number): { status: number; value: object } {
  return { status, value: { kind: 'Status', message: `no: ${status}`, code: status } };
}

/** One controller: its witness and its keeper, driven by hand. */
export class Controller {
  readonly witness: Witness;
  readonly keeper: HistoryKeeper;
  readonly notices: HistoryNotice[] = [];
  leads = false;
  /** Requests that were sent and not answered, by id. */
  readonly sent = new Map<string, ApiRequest>();
  #serial = 0;

  constructor(name: string) {
    this.witness = new Witness(name);
    this.keeper = new HistoryKeeper({
      lease: { namespace: 'system', name: 'taintmgr-controller' },
      compression: gzip,
      witness: this.witness,
      clock: { wall: (now) => now },
      leads: () => this.leads,
    });
    const node = makeNode({ name: 'n1', taints: [spot], taintsWrittenBy: 'kubectl-taint' });
    this.witness.hear(start, { kind: 'nodeUpsert', node });
    this.witness.hear(start, { kind: 'synced' });
  }

  lead(now: number, held = true): void {
    this.leads = held;
    this.perform(this.keeper.lead(now, held));
  }

  tick(now: number): void {
    this.perform(this.keeper.tick(now));
  }

  /** Answers what was sent, and what follows from that; nothing: no answer comes. */
  settle(now: number, server: ConfigMaps): void {
    for (let [first] = this.sent; first; [first] = this.sent) {
      const [id, request] = first;
      this.answer(now, id, server.answer(request));
      if (this.sent.size === 0) this.tick(now);
    }
  }

  answer(now: number, id: string, { status, value }: { status: number; value: object }): void {
    this.sent.delete(id);
    const data = new TextEncoder().encode(JSON.stringify(value));
    const headers = { 'content-type': 'application/json' };
    this.perform(this.keeper.receive(now, { kind: 'answer', id, status, headers, data }));
  }

  /** Ticks, and answers, whenever the keeper wants it until then. */
  run(until: number, server: ConfigMaps): void {
    for (let at = this.keeper.nextWake(); at !== null && at <= until; ) {
      const now = Math.max(at, this.now);
      this.now = now;
      this.tick(now);
      this.settle(now, server);
      at = this.keeper.nextWake();
    }
    this.now = until;
  }

  now = start;

  /** Asks a pod to leave; `message`: the answer refuses. */
  evict(now: number, pod: Pod, message: string | null = null): void {
    this.#serial += 1;
    const because = [
      {
        code: 'NoToleration',
        taint: spot,
        start,
        startSource: 'timeAdded',
        deadline: start,
      } as const,
    ];
    const command: Removal = {
      ...{ kind: 'evictPod', id: `eviction/${this.#serial}`, pod, confirm: false },
      ...{ gracePeriodSeconds: null, because },
    };
    this.witness.observe(now, { kind: 'commandSent', command });
    const outcome =
      message === null
        ? ({ kind: 'done' } as const)
        : ({ kind: 'blocked', message, retryAfter: null } as const);
    this.witness.observe(now, { kind: 'commandFinished', command, outcome, took: 1 });
  }

  perform(effects: readonly KeeperEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'send') this.sent.set(effect.id, effect.request);
      else if (effect.kind === 'abort') this.sent.delete(effect.id);
      else this.notices.push(effect.notice);
    }
  }
}

/** Pod number `index`, of one of 500 workloads. */
export function podOf(index: number, part: Partial<Pod> = {}): Pod {
  const app = `service-${index % 500}`;
  const hash = (Math.imul(index + 1, 2_654_435_761) >>> 0).toString(36).padStart(7, '0');
  return makePod({
    namespace: `team-${index % 40}`,
    name: `${app}-7d9c5b8f6b-${hash.slice(-5)}`,
    uid: uidOf(index),
    nodeName: 'n1',
    owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${app}-7d9c5b8f6b` },
    ...part,
  });
}

function uidOf(index: number): string {
  const hex = (factor: number): string =>
    (Math.imul(index + 7, factor) >>> 0).toString(16).padStart(8, '0');
  const text = hex(2_654_435_761) + hex(2_246_822_519) + hex(3_266_489_917) + hex(668_265_263);
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
