import type { AddressInfo, Server } from 'node:net';

/** These stand for all addresses of a machine, of both families, as in kube-controller-manager. */
const anyAddress: readonly string[] = ['0.0.0.0', '::'];

/** Tells whether all addresses are meant. */
export function isAnyAddress(host: string): boolean {
  return anyAddress.includes(host);
}

/**
 * Listens on an address and port; 0 lets the system choose the port that comes back. Rejects when
 * it cannot. Without a host Node listens on IPv6 and IPv4, and on IPv4 alone where there is no
 * IPv6.
 */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(!isAnyAddress(host) && { host }) }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
