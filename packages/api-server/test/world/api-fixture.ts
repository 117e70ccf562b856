import { seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
// @boundaries-ignore the cluster's own tests live in the same world
import { start } from '../../../sim-cluster/test/world/api-fixture.ts';
// @boundaries-ignore the cluster's own tests live in the same world
import { Client } from '../../../sim-cluster/test/world/client.ts';
import { ApiServer, type ApiServerOptions } from '../../src/server/api-server.ts';

// @boundaries-ignore the cluster's own tests live in the same world
export {
  nodes,
  podNamed,
  pods,
  start,
  summary,
} from '../../../sim-cluster/test/world/api-fixture.ts';

export interface Fixture {
  readonly api: ApiServer;
  readonly client: Client;
  readonly clock: VirtualClock;
  /** Lets `ms` pass. */
  pass(ms: number): void;
}

/** An empty API server on a virtual clock and a client of it. */
export function fixture(options: Partial<ApiServerOptions> = {}): Fixture {
  const clock = new VirtualClock(start);
  const api = new ApiServer({ clock, random: seededRandom(1), ...options });
  const pass = (ms: number): void => clock.advanceTo(clock.now() + ms);
  return { api, client: new Client(api), clock, pass };
}
