// The ports of a node that pods take for themselves.
import type { KubeObject } from '../objects/kube-object.ts';

/** A port on the node. */
export interface HostPort {
  readonly port: number;
  readonly protocol: string;
  /** The address on the node; `0.0.0.0` covers all. */
  readonly ip: string;
}

interface Container {
  readonly restartPolicy?: string;
  readonly ports?: readonly {
    readonly hostPort?: number;
    readonly containerPort?: number;
    readonly protocol?: string;
    readonly hostIP?: string;
  }[];
}

const none: readonly HostPort[] = [];
const everyAddress = '0.0.0.0';

/** The host ports of containers and sidecars; init containers that end take none. */
export function hostPortsOf({ spec }: KubeObject): readonly HostPort[] {
  const containers: readonly Container[] = spec.containers ?? [];
  const inits: readonly Container[] = spec.initContainers ?? [];
  const isOpen = ({ ports }: Container): boolean => ports !== undefined;
  if (!containers.some(isOpen) && !inits.some(isOpen)) return none;
  const sidecars = inits.filter(({ restartPolicy }) => restartPolicy === 'Always');
  const onHost: boolean = spec.hostNetwork === true;
  return [...containers, ...sidecars].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, containerPort = 0, protocol, hostIP }) => {
      // On the network of the host the API server makes each port one of the host.
      const port = hostPort || (onHost ? containerPort : 0);
      if (port <= 0) return [];
      return { port, protocol: protocol || 'TCP', ip: hostIP || everyAddress };
    }),
  );
}

/**
 * True if one of these ports clashes with one of the others: the same port, and an address in
 * common.
 */
export function clash(wanted: readonly HostPort[], taken: readonly HostPort[]): boolean {
  return wanted.some((one) =>
    taken.some(
      (other) =>
        one.port === other.port &&
        one.protocol === other.protocol &&
        (one.ip === other.ip || one.ip === everyAddress || other.ip === everyAddress),
    ),
  );
}
