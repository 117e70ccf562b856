import type { DialedRequest } from '../handlers/node-proxy.ts';
import type { Json } from '../objects/kube-object.ts';
import { type Answer, textReply } from '../wire/answer.ts';
import { flag } from '../wire/list-options.ts';
import type { NodeStats } from './node-stats.ts';
import { type StatsFault, statsBody } from './stats-faults.ts';
import { summaryOf } from './summary.ts';

const jsonHeaders = { 'content-type': 'application/json' };

/** The eviction settings of a kubelet that nobody has configured. */
export const defaultKubeletConfig: { readonly [field: string]: Json } = {
  evictionHard: {
    'imagefs.available': '15%',
    'imagefs.inodesFree': '5%',
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
  },
  evictionPressureTransitionPeriod: '5m0s',
  enforceNodeAllocatable: ['pods'],
  localStorageCapacityIsolation: true,
};

/** What a kubelet answers to those who ask it directly, or through the API server. */
export class KubeletServer {
  readonly #stats: NodeStats;
  readonly #config: { readonly [field: string]: Json };
  readonly #clock: () => number;
  #fault: StatsFault | null = null;

  constructor(stats: NodeStats, config: { readonly [field: string]: Json }, clock: () => number) {
    this.#stats = stats;
    this.#config = config;
    this.#clock = clock;
  }

  /** Whether connections to it come about. */
  get isReachable(): boolean {
    return this.#fault !== 'unreachable';
  }

  /** Lets the stats be wrong in that way, or right again. */
  setStatsFault(fault: StatsFault | null): void {
    this.#fault = fault;
    this.#stats.setFrozen(fault === 'stale');
  }

  answer({ method, path, query }: DialedRequest): Answer {
    switch (path) {
      case '/healthz':
        return textReply(200, 'ok');
      case '/configz':
        return json(`${JSON.stringify({ kubeletconfig: this.#config })}`);
      case '/stats/summary':
        if (method !== 'GET') return textReply(405, 'Method Not Allowed');
        return this.#summary(flag(query.get('only_cpu_and_memory')) ?? false);
      default:
        return textReply(404, '404 page not found\n');
    }
  }

  #summary(isShort: boolean): Answer {
    if (this.#fault === 'error') {
      return textReply(500, 'Internal Error: failed to list pod stats: rpc error: injected fault');
    }
    const summary = summaryOf(this.#stats.measures(this.#clock()), isShort);
    return json(statsBody(summary, this.#fault));
  }
}

function json(body: string): Answer {
  return { kind: 'reply', status: 200, headers: jsonHeaders, body };
}
