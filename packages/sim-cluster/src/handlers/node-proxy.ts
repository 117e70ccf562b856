// The nodes/proxy subresource: the way to a kubelet through the API server.

import { badRequest, notFound, serverError, serviceUnavailable } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { Answer } from '../wire/answer.ts';

/** A request as it reaches the kubelet. */
export interface DialedRequest {
  /** The HTTP method. */
  readonly method: string;
  /** Without the part that leads to the node: `/stats/summary`. */
  readonly path: string;
  /** The parameters of the query. */
  readonly query: URLSearchParams;
}

/**
 * Connects to a node: a server, `refused` where none listens, or `timeout` where no machine
 * answers.
 */
export type DialNode = (
  nodeName: string,
) => ((request: DialedRequest) => Answer) | 'refused' | 'timeout';

/** The time that the API server waits for a machine that does not answer. */
const dialTimeoutMs = 30_000;
const defaultKubeletPort = 10_250;

interface Address {
  readonly type: string;
  readonly address: string;
}

/** By preference; a node that has neither cannot be reached. */
const addressTypes = ['InternalIP', 'ExternalIP', 'Hostname'] as const;

/**
 * Forwards a request to a node's kubelet. `id` is the node's name, with or without scheme and port.
 * Throws ApiError: 400 for an invalid id, 404 for a missing node, 503 where no server answers on
 * the node.
 */
export function proxyToNode(
  id: string,
  request: DialedRequest,
  getNode: (name: string) => KubeObject | null,
  dial: DialNode,
): Answer {
  const [, name = '', port] = /^(?:(?:https?)?:)?([^:]+)(?::(\d*))?$/.exec(id) ?? [];
  if (!name) throw badRequest(`invalid node request ${JSON.stringify(id)}`);
  const node = getNode(name);
  if (!node) throw notFound({ group: '', plural: 'nodes' }, name);
  const kubeletPort: number =
    node.status?.daemonEndpoints?.kubeletEndpoint?.Port || defaultKubeletPort;
  const address = `${hostOf(node)}:${port || kubeletPort}`;
  const server = port && Number(port) !== kubeletPort ? 'refused' : dial(name);
  if (server === 'refused') throw unreachable(address, 'connect: connection refused');
  if (server !== 'timeout') return server(request);
  return {
    kind: 'later',
    delayMs: dialTimeoutMs,
    answer: () => {
      throw unreachable(address, 'i/o timeout');
    },
  };
}

function unreachable(address: string, why: string): Error {
  return serviceUnavailable(`error trying to reach service: dial tcp ${address}: ${why}`);
}

function hostOf({ status }: KubeObject): string {
  const addresses: readonly Address[] = status?.addresses ?? [];
  const types = addressTypes.filter((type) => addresses.some((one) => one.type === type));
  const found = addresses.find(({ type }) => type === types[0]);
  if (found) return found.address.includes(':') ? `[${found.address}]` : found.address;
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
  throw serverError(`no preferred addresses found; known addresses: [${known}]`);
}
