import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { ApiServer, createCertificate, startHttps, writeKubeconfig } from '@taintmgr/api-server';
import {
  type Change,
  type Exchange,
  type KubeObject,
  node,
  pod,
  RealClock,
  seededRandom,
  toleration,
} from '@taintmgr/sim-cluster';

/** A pod that is to leave. */
interface Due {
  readonly name: string;
  readonly nodeName: string;
  /** Epoch milliseconds: taint.timeAdded + tolerationSeconds. */
  readonly deadline: number;
}

/** When somebody wrote that he holds the lease; '' for nobody. */
interface Claim {
  readonly holder: string;
  readonly at: number;
}

const key = 'maintenance';
const nodes = 20;
const podsPerNode = 100;
const secondsMax = 6;
const serviceMs = 3;
const lease = { namespace: 'kube-system', name: 'taintmgr-controller' };

/** An API server over HTTPS with 2,000 pods, which notes what becomes of them and who asked. */
export class FailoverWorld {
  readonly api: ApiServer;
  kubeconfig = '';
  /** By uid, once the taints are there. */
  readonly due = new Map<string, Due>();
  /** When each pod was told to leave, by uid; no kubelet looks after them, so none is gone. */
  readonly removedAt = new Map<string, number>();
  /** How many DELETEs were accepted, by uid. */
  readonly accepted = new Map<string, number>();
  readonly claims: Claim[] = [];
  /** When somebody read who holds it. */
  readonly leaseReads: number[] = [];
  /** How many pods are being marked, and not yet told to leave. */
  marking = 0;
  #podChanges = 0;
  #looks: (() => void)[] = [];

  private constructor(seed: number) {
    const random = seededRandom(seed);
    const service = ({ verb }: { verb: string }): number => (verb === 'watch' ? 0 : serviceMs);
    this.api = new ApiServer({ clock: new RealClock(), random, serviceMs: service });
    this.api.subscribe((change) => this.#note(change));
    for (let index = 0; index < nodes; index++) this.api.create('nodes', node(`n${index}`));
    for (let index = 0; index < nodes * podsPerNode; index++) {
      const seconds = 1 + Math.floor(random() * secondsMax);
      const tolerations = [toleration(`${key}:NoExecute`, seconds)];
      const one = pod('default', `p${index}`, { spec: { nodeName: `n${index % nodes}` } });
      this.api.create('pods', { ...one, spec: { ...one.spec, tolerations } });
    }
  }

  static async start(t: TestContext, seed: number): Promise<FailoverWorld> {
    const world = new FailoverWorld(seed);
    const certificate = createCertificate(Date.now());
    const server = await startHttps({ exchange: world.#exchange, certificate });
    const directory = mkdtempSync(join(tmpdir(), 'taintmgr-failover-test-'));
    world.kubeconfig = join(directory, 'kubeconfig');
    writeKubeconfig(world.kubeconfig, { server: server.url, ca: certificate.ca, token: 'token' });
    t.after(async () => {
      await server.close();
      rmSync(directory, { recursive: true });
    });
    return world;
  }

  /** From now on every pod has its deadline. */
  taintNodes(): void {
    const timeAdded = `${new Date().toISOString().slice(0, 19)}Z`;
    for (const one of this.api.list('nodes')) {
      this.#setTaints(one, [{ key, effect: 'NoExecute', timeAdded }]);
    }
    for (const { metadata, spec } of this.api.list('pods')) {
      const { tolerationSeconds } = spec.tolerations[0];
      const deadline = Date.parse(timeAdded) + tolerationSeconds * 1000;
      const { name, uid = '' } = metadata;
      this.due.set(uid, { name, nodeName: spec.nodeName, deadline });
    }
  }

  /** Pods of this node that were not told to leave by now stay. */
  untaint(nodeName: string): void {
    const one = this.api.get('nodes', '', nodeName);
    assert.ok(one);
    this.#setTaints(one, []);
    for (const [uid, { nodeName: at }] of this.due) {
      if (at === nodeName && !this.removedAt.has(uid)) this.due.delete(uid);
    }
  }

  /** The holder of the lease; '' for nobody. */
  get holder(): string {
    return this.claims.at(-1)?.holder ?? '';
  }

  /** How often a pod was changed: marked, or told to leave. */
  get podChanges(): number {
    return this.#podChanges;
  }

  /** Whether every pod that was to leave has been told so. */
  get isDone(): boolean {
    return [...this.due.keys()].every((uid) => this.removedAt.has(uid));
  }

  /** Resolves at the very change or request after which this holds. */
  async until(holds: () => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        this.#looks = this.#looks.filter((one) => one !== look);
        resolve();
      };
      this.#looks.push(look);
      look();
    });
  }

  /** Calls at the very change after which this holds, before anything else happens. */
  at(holds: () => boolean, act: () => void): Promise<void> {
    let isOver = false;
    return this.until(() => {
      if (!isOver && holds()) {
        isOver = true;
        act();
      }
      return isOver;
    });
  }

  #setTaints(one: KubeObject, taints: readonly object[]): void {
    this.api.update('nodes', JSON.parse(JSON.stringify({ ...one, spec: { ...one.spec, taints } })));
  }

  #look(): void {
    for (const look of this.#looks) look();
  }

  #note({ resource, type, object, previous }: Change): void {
    const now = Date.now();
    const { metadata, spec } = object;
    if (resource === 'pods' && type !== 'ADDED') {
      this.#podChanges += 1;
      const leaves = type === 'DELETED' || metadata.deletionTimestamp !== undefined;
      const left = previous?.metadata.deletionTimestamp !== undefined;
      if (leaves && !left) this.removedAt.set(metadata.uid ?? '', now);
    } else if (resource === 'leases' && metadata.name === lease.name) {
      this.claims.push({ holder: spec.holderIdentity ?? '', at: now });
    }
    this.#look();
  }

  readonly #exchange: Exchange = (request, sink) => {
    const { method, path, body } = request;
    if (method === 'GET' && path.includes(`/leases/${lease.name}`)) {
      this.leaseReads.push(Date.now());
    }
    const isMark = method === 'PATCH' && path.endsWith('/status');
    const isRemoval = method === 'DELETE' && path.includes('/pods/');
    if (!isMark && !isRemoval) return this.api.exchange(request, sink);
    if (isMark) this.marking += 1;
    this.#look();
    const end = (): void => {
      if (isMark) this.marking -= 1;
      this.#look();
    };
    // Carried out whether or not the client is still there to hear of it.
    this.api.exchange(request, {
      head: (status, headers) => {
        if (isRemoval && status < 300) this.#accept(String(body));
        sink.head(status, headers);
      },
      data: (chunk) => sink.data(chunk),
      end: () => {
        end();
        sink.end();
      },
      reset: () => {
        end();
        sink.reset();
      },
    });
    return () => {};
  };

  #accept(body: string): void {
    const uid: string = JSON.parse(body).preconditions.uid;
    this.accepted.set(uid, (this.accepted.get(uid) ?? 0) + 1);
  }
}
