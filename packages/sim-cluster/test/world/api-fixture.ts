import { PlainServer, type PlainServerOptions } from '../../src/api/plain-server.ts';
import { VirtualClock } from '../../src/kernel/clock.ts';
import { seededRandom } from '../../src/kernel/prng.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { Client } from './client.ts';

export const start = Date.parse('2026-01-01T00:00:00Z');
export const pods = '/api/v1/namespaces/default/pods';
export const nodes = '/api/v1/nodes';

export interface Fixture {
  readonly api: PlainServer;
  readonly client: Client;
  readonly clock: VirtualClock;
  /** Lets `ms` pass. */
  pass(ms: number): void;
}

/** An empty API server on a virtual clock and a client of it. */
export function fixture(options: Partial<PlainServerOptions> = {}): Fixture {
  const clock = new VirtualClock(start);
  const api = new PlainServer({ clock, random: seededRandom(1), ...options });
  const pass = (ms: number): void => clock.advanceTo(clock.now() + ms);
  return { api, client: new Client(api), clock, pass };
}

/** The smallest pod. */
export function podNamed(name: string, spec: object = {}, metadata: object = {}): KubeObject {
  const containers = [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }];
  return { metadata: { name, ...metadata }, spec: { containers, ...spec } };
}

/** `TYPE name`, as tests compare watches. */
export function summary(
  events: readonly { readonly type: string; readonly object: KubeObject }[],
): readonly string[] {
  return events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`.trim());
}
