// The checker of evictions under node pressure.
import type { ApiRequest, Change, ClusterApi, Exchange, ResponseSink } from '@taintmgr/sim-cluster';
import { clockTime, type Violation } from './terms.ts';

/** The promises of a client that makes pods leave nodes short of memory. */
export interface PressureTerms {
  /** With less than this available a node is short of memory, in bytes. */
  readonly memoryAvailableMin: number;
  /**
   * The greatest age of a node's sample, and its greatest lead, that the client trusts; in
   * milliseconds.
   */
  readonly sampleAgeMsMax: number;
  /**
   * The time after a node was last seen short of memory in which pods may be made to leave, in
   * milliseconds.
   */
  readonly memoryMs: number;
  /**
   * The time that a node may be short of memory in quiet times though a pod could leave, in
   * milliseconds.
   */
  readonly boundMs: number;
}

/** A reading of a node's memory by the client. */
interface Look {
  readonly at: number;
  readonly availableBytes: number;
}

/** A node's memory in a summary, if it is there. */
interface Memory {
  readonly availableBytes?: unknown;
  readonly time?: unknown;
}

const summaryPath = /^\/api\/v1\/nodes\/([^/?]+)\/proxy\/stats\/summary/;
const removalPath = /^\/api\/v1\/namespaces\/([^/?]+)\/pods\/([^/?]+)(\/eviction)?(?:\?|$)/;

/**
 * Judges a client that watches nodes for shortages, by the values it has read: a pod is made to
 * leave only where memory was short, and where memory stays short some pod leaves. Lead all its
 * requests through `line`.
 */
export class PressureChecker {
  readonly violations: Violation[] = [];
  readonly #api: ClusterApi;
  readonly #terms: PressureTerms;
  readonly #looks = new Map<string, Look[]>();
  /** The pod, as `namespace/name`, that is being asked to leave by the client right now. */
  #removed: string | null = null;

  constructor(api: ClusterApi, terms: PressureTerms) {
    this.#api = api;
    this.#terms = terms;
    api.subscribe((change) => this.#observe(change));
  }

  /** The client's line to the server. */
  line(exchange: Exchange): Exchange {
    return (request, sink) => {
      const [, nodeName] = summaryPath.exec(request.path) ?? [];
      if (nodeName) return exchange(request, this.#listening(nodeName, sink));
      const before = this.#removed;
      this.#removed = removedBy(request);
      try {
        return exchange(request, sink);
      } finally {
        this.#removed = before;
      }
    };
  }

  /** At the end of a time since `calmSince` in which client and API worked undisturbed. */
  atRest(calmSince: number): void {
    const now = this.#api.clock.now();
    const since = now - this.#terms.boundMs;
    if (since < calmSince) return;
    for (const [nodeName, looks] of this.#looks) {
      const recent = looks.filter(({ at }) => at >= since);
      const isShort = recent.length > 1 && recent.every((look) => this.#isShort(look));
      const staying = this.#staying(nodeName, since);
      if (!isShort || staying.length === 0) continue;
      const evidence = `node ${nodeName} has ${recent.at(-1)?.availableBytes} bytes of memory, short since ${clockTime(since)} at the latest, and nobody makes ${staying.join(' or ')} leave`;
      this.violations.push({ invariant: 'pressure not relieved', at: now, evidence });
    }
  }

  /** The pods that have been on the node since then and could leave it. */
  #staying(nodeName: string, since: number): readonly string[] {
    return this.#api
      .list('pods')
      .filter(({ metadata, spec, status }) => {
        const isThere = Date.parse(metadata.creationTimestamp ?? '') < since;
        const isOver = ['Succeeded', 'Failed'].includes(status?.phase);
        return spec.nodeName === nodeName && isThere && !isOver && !metadata.deletionTimestamp;
      })
      .map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);
  }

  #observe({ resource, object, previous }: Change): void {
    const { namespace, name, deletionTimestamp } = object.metadata;
    if (resource !== 'pods' || `${namespace}/${name}` !== this.#removed) return;
    if (deletionTimestamp === undefined || previous?.metadata.deletionTimestamp) return;
    const at = this.#api.clock.now();
    const nodeName: string = object.spec.nodeName ?? '';
    const looks = this.#looks.get(nodeName) ?? [];
    const from = at - this.#terms.memoryMs;
    if (looks.some((look) => look.at >= from && this.#isShort(look))) return;
    const evidence = `pod ${namespace}/${name} was made to leave ${nodeName}, which has ${looks.at(-1)?.availableBytes} bytes of memory`;
    this.violations.push({ invariant: 'evicts without pressure', at, evidence });
  }

  #isShort({ availableBytes }: Look): boolean {
    return availableBytes < this.#terms.memoryAvailableMin;
  }

  #listening(nodeName: string, sink: ResponseSink): ResponseSink {
    let text = '';
    return {
      ...sink,
      data: (chunk) => {
        text += chunk;
        sink.data(chunk);
      },
      end: () => {
        const at = this.#api.clock.now();
        const availableBytes = availableIn(text, at, this.#terms.sampleAgeMsMax);
        if (availableBytes !== null) {
          const looks = this.#looks.get(nodeName) ?? [];
          this.#looks.set(nodeName, looks);
          looks.push({ at, availableBytes });
        }
        sink.end();
      },
    };
  }
}

function removedBy({ method, path }: ApiRequest): string | null {
  const [, ns, name, eviction] = removalPath.exec(path) ?? [];
  const isRemoval = method === 'DELETE' || (method === 'POST' && eviction !== undefined);
  return isRemoval ? `${ns}/${name}` : null;
}

/**
 * The available memory in a summary; null for an invalid text, and for a sample too long ago or
 * ahead.
 */
function availableIn(text: string, at: number, ageMsMax: number): number | null {
  try {
    const { availableBytes, time }: Memory = JSON.parse(text)?.node?.memory ?? {};
    const isBelieved = Math.abs(Date.parse(String(time)) - at) <= ageMsMax;
    return typeof availableBytes === 'number' && isBelieved ? availableBytes : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
