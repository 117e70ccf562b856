// The evictors of prediction runs: each is a separate program in the cluster.
import type { ServedCluster } from '@taintmgr/api-server';
import { type Config, createEngine, type Engine } from '@taintmgr/core';
import type { LifecycleConfig } from '@taintmgr/core/lifecycle';
import { earliest, formatTimeMillis, type Instant } from '@taintmgr/core/time';
import {
  DeviceSight,
  Loop,
  type PublishOptions,
  pauseRecords,
  type StatedStatus,
  type UpstreamDeviceHeard,
  UpstreamDeviceLoop,
  type UpstreamDeviceNotice,
  upstreamLoop,
  upstreamUserAgent,
  VirtualDriver,
  type VirtualOptions,
} from '@taintmgr/k8s-adapter';
import {
  type Exchange,
  type Random,
  seededRandom,
  type Timer,
  type VirtualClock,
} from '@taintmgr/sim-cluster';

/** The evictor of a run, on the clock of the cluster. */
export interface Evictor {
  start(): void;
  /** Moves time to `instant`; everything due by then is done when it returns. */
  runUntil(instant: Instant): void;
  /** The process ends, and a moment later another begins; left out: it stays. */
  readonly restart?: { stop(): void; start(): void };
}

/** Makes one for a cluster, whose API server is reached by `exchange`. */
export type MakeEvictor = (
  cluster: ServedCluster,
  clock: VirtualClock,
  exchange: Exchange,
) => Evictor;

/** The tokens of the actors and of the viewer. */
export const tokens: Readonly<Record<'manager' | 'controller' | 'viewer', string>> = {
  manager: 'manager',
  controller: 'controller',
  viewer: 'viewer',
};

const seed = 5;
const renewMs = 2_000;
const namespace = 'taintmgr-system';
const podName = 'taintmgr-controller-0';
const leaseName = 'taintmgr-controller';

const deviceController = 'device-taint-eviction-controller';
const deviceGroup = '/apis/resource.k8s.io';
const devicePaths = {
  resourceslices: `${deviceGroup}/v1/resourceslices`,
  resourceclaims: `${deviceGroup}/v1/resourceclaims`,
  devicetaintrules: `${deviceGroup}/v1beta2/devicetaintrules`,
};

/** The settings of taintmgr-controller, as its flags. */
type OurSettings = Pick<Partial<Config>, 'mode' | 'semantics' | 'deviceTaints' | 'takeover'>;

/** The legacy mode: pods of nodes that are not ready are deleted, and no taints are written. */
interface LegacySettings {
  readonly podEvictionTimeoutSeconds: number;
  readonly gracePeriodSeconds: number;
  readonly monitorPeriodSeconds: number;
}

/** taintmgr-controller with its lease and its pod, from whose flags its settings can be seen. */
export function ours(settings: OurSettings, legacy?: LegacySettings): MakeEvictor {
  return (cluster, clock, exchangeWith) => {
    const controller = new OurController(cluster, clock, exchangeWith, settings, legacy);
    return {
      start: () => controller.start(),
      runUntil: (instant) => controller.runUntil(instant),
    };
  };
}

/** The same, and its process is killed in the midst of it, and another begins. */
export function oursRestarted(settings: OurSettings): MakeEvictor {
  return (cluster, clock, exchangeWith) => {
    const controller = new OurController(cluster, clock, exchangeWith, settings);
    return {
      start: () => controller.start(),
      runUntil: (instant) => controller.runUntil(instant),
      restart: { stop: () => controller.kill(), start: () => controller.start() },
    };
  };
}

/** A new controller knows what its predecessor has written, and nothing else. */
class OurController {
  readonly #cluster: ServedCluster;
  readonly #clock: VirtualClock;
  readonly #exchangeWith: Exchange;
  readonly #settings: OurSettings;
  readonly #legacy: LegacySettings | undefined;
  #driver: VirtualDriver | null = null;
  /** Ends its requests when it is killed. */
  #hangUps: (() => void)[] = [];
  #renewal: Timer | null = null;

  constructor(
    cluster: ServedCluster,
    clock: VirtualClock,
    exchangeWith: Exchange,
    settings: OurSettings,
    legacy?: LegacySettings,
  ) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#exchangeWith = exchangeWith;
    this.#settings = settings;
    this.#legacy = legacy;
  }

  start(): void {
    if (!this.#cluster.api.get('pods', namespace, podName)) appear(this.#cluster, this.#settings);
    this.#claim();
    this.#driver = this.#newDriver();
    this.#driver.feed({ kind: 'start' });
  }

  /** Without a word: its lease runs out. */
  kill(): void {
    this.#renewal?.cancel();
    this.#driver = null;
    for (const hangUp of this.#hangUps) hangUp();
    this.#hangUps = [];
  }

  runUntil(instant: Instant): void {
    if (this.#driver) this.#driver.runUntil(instant);
    else this.#clock.advanceTo(instant);
  }

  #newDriver(): VirtualDriver {
    const [settings, legacy] = [this.#settings, this.#legacy];
    const lifecycle = legacy && { lifecycle: legacyConfig(legacy) };
    const machine = createEngine({ ...settings, ...lifecycle, keepLimits: true });
    const clusterPolicies = settings.semantics !== 'upstream-1.36';
    const limitsLease = { namespace, name: `${leaseName}-limits` };
    const random = seededRandom(seed);
    const publish: PublishOptions = {
      name: 'taintmgr',
      identity: `${podName}_1`,
      status: (now) => statusOf(machine, settings, now, legacy),
    };
    const read = { leases: legacy !== undefined, daemonSets: legacy !== undefined };
    const devices = settings.deviceTaints && { devices: new DeviceSight(devicePaths) };
    const followed = { clusterPolicies, limitsLease, publish, ...read, ...devices };
    const loop = new Loop({ machine, random, ...followed });
    const [exchange, clock] = [this.#exchange, this.#clock];
    return new VirtualDriver({ loop, exchange, clock, onNotice: () => {} });
  }

  readonly #exchange: Exchange = (request, sink) => {
    const own = {
      'user-agent': 'taintmgr-controller/0',
      authorization: `Bearer ${tokens.controller}`,
    };
    const headers = { ...request.headers, ...own };
    const hangUp = this.#exchangeWith({ ...request, headers }, sink);
    this.#hangUps.push(hangUp);
    return hangUp;
  };

  #claim(): void {
    claim(this.#cluster, this.#clock);
    this.#renewal = this.#clock.after(renewMs, () => this.#claim());
  }
}

/** The status that its leader publishes, as far as predictions depend on it. */
function statusOf(
  machine: Engine,
  settings: OurSettings,
  now: Instant,
  legacy?: LegacySettings,
): StatedStatus {
  const rates = machine.limits(now).flatMap(({ id, oneAt }) => {
    return oneAt === undefined ? [] : [{ name: id, oneAt: formatTimeMillis(oneAt) }];
  });
  const watching = legacy ? ['node-lifecycle-controller'] : [];
  const ofDevices = settings.deviceTaints ? [deviceController] : [];
  const controllers = ['taint-eviction-controller', ...ofDevices, ...watching];
  return {
    version: '0',
    settings: { ...flagsOf(settings), ...(legacy && legacyFlags(legacy)) },
    policies: [],
    ...(settings.takeover && { takeover: takenOver }),
    controllers,
    rates,
    pauseRecords: pauseRecords(machine.pauses().map(({ pause }) => pause)),
    conditions: [],
  };
}

/** Takeover of devices too, in a cluster whose kube-controller-manager its policies hold. */
const takenOver: NonNullable<StatedStatus['takeover']> = {
  ...{ enabled: true, deviceTaints: true, drift: [], namespaces: 1, byNamespace: [] },
  ...{ spared: 0, held: 0, evicted: 0, letThrough: 0 },
};

function flagsOf({
  deviceTaints,
  takeover,
  ...flags
}: OurSettings): Readonly<Record<string, string>> {
  return {
    ...flags,
    ...(takeover && { takeover: 'true' }),
    ...(deviceTaints && { controllers: deviceController }),
  };
}

function legacyConfig(legacy: LegacySettings): Partial<LifecycleConfig> {
  return {
    enforcement: 'pods',
    podEvictionTimeoutMs: legacy.podEvictionTimeoutSeconds * 1000,
    nodeMonitorGracePeriodMs: legacy.gracePeriodSeconds * 1000,
    nodeMonitorPeriodMs: legacy.monitorPeriodSeconds * 1000,
  };
}

function legacyFlags(legacy: LegacySettings): Readonly<Record<string, string>> {
  return {
    'nodeLifecycle.enforcement': 'pods',
    'nodeLifecycle.podEvictionTimeout': `${legacy.podEvictionTimeoutSeconds}s`,
    'node-monitor-grace-period': `${legacy.gracePeriodSeconds}s`,
    'node-monitor-period': `${legacy.monitorPeriodSeconds}s`,
  };
}

interface UpstreamSettings {
  /** Evicts for taints of devices too, and for those of rules; left out: it does not. */
  readonly devices?: boolean;
  /** Its process is restarted in the midst of it; left out: it is not. */
  readonly restarts?: boolean;
}

/** kube-controller-manager, which keeps its timers in memory. */
export function upstream({ devices, restarts }: UpstreamSettings = {}): MakeEvictor {
  return (cluster, clock, exchange) => {
    const token = tokens.manager;
    const manager = new VirtualUpstreamManager({ cluster, clock, exchange, token, devices });
    const restart = { stop: () => manager.stop(), start: () => manager.start() };
    return {
      start: () => manager.start(),
      runUntil: (instant) => manager.runUntil(instant),
      ...(restarts && { restart }),
    };
  };
}

function appear({ api }: ServedCluster, settings: OurSettings): void {
  api.create('namespaces', { metadata: { name: namespace } });
  const args = Object.entries(flagsOf(settings)).map(([flag, value]) => `--${flag}=${value}`);
  const containers = [{ name: 'controller', image: 'taintmgr-controller:0', args }];
  api.create('pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: podName, namespace },
    // Stays on its node, whatever the taints.
    spec: { containers, tolerations: [{ operator: 'Exists' }] },
  });
}

function claim({ api }: Pick<ServedCluster, 'api'>, clock: VirtualClock): void {
  const known = api.get('leases', namespace, leaseName);
  const now = new Date(clock.now()).toISOString().replace('Z', '000Z');
  const spec = {
    acquireTime: now,
    ...known?.spec,
    holderIdentity: `${podName}_1`,
    leaseDurationSeconds: 15,
    renewTime: now,
  };
  if (known) api.update('leases', { ...known, spec });
  else api.create('leases', { metadata: { name: leaseName, namespace }, spec });
}

interface UpstreamManagerOptions {
  readonly cluster: ServedCluster;
  readonly clock: VirtualClock;
  /** The connection to its API server. */
  readonly exchange: Exchange;
  /** The token it logs in with. */
  readonly token: string;
  readonly devices: UpstreamSettings['devices'];
}

const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const managerLease = 'kube-controller-manager';
const managerSeed = 7;

/** The driver of one of its loops. */
interface LoopDriver extends Pick<VirtualDriver, 'runUntil' | 'nextWake'> {
  feed(input: { readonly kind: 'start' | 'stop' }): void;
}

/** Its timers are in its memory, and its lease outlives it: a restart forgets the ones, and takes the other. */
class VirtualUpstreamManager {
  readonly #options: UpstreamManagerOptions;
  #drivers: readonly LoopDriver[] = [];
  #renewal: Timer | null = null;
  #starts = 0;

  constructor(options: UpstreamManagerOptions) {
    this.#options = options;
  }

  /** Takes the lease, and begins with empty hands. */
  start(): void {
    const { clock, devices } = this.#options;
    const random = seededRandom(managerSeed);
    const shared = { exchange: this.#exchange, clock, onNotice: () => {} };
    this.#drivers = [
      new VirtualDriver({ loop: upstreamLoop({ random }), ...shared }),
      ...(devices ? [deviceDriver(random, shared)] : []),
    ];
    this.#starts++;
    this.#claim(clock.now());
    for (const driver of this.#drivers) driver.feed({ kind: 'start' });
  }

  /** Forgets every timer; its lease is held until it runs out. */
  stop(): void {
    this.#renewal?.cancel();
    for (const driver of this.#drivers) driver.feed({ kind: 'stop' });
    this.#drivers = [];
  }

  /** Moves time to `instant`; everything due by then is done when it returns. */
  runUntil(instant: Instant): void {
    const { clock } = this.#options;
    for (let next = this.#nextWake(); next !== null && next <= instant; next = this.#nextWake()) {
      for (const driver of this.#drivers) driver.runUntil(next);
      clock.advanceTo(next);
    }
    clock.advanceTo(instant);
  }

  /** When one of its loops wants to be called, or something happens in the cluster. */
  #nextWake(): Instant | null {
    const { clock } = this.#options;
    const wakes = this.#drivers.map((driver) => driver.nextWake());
    const wake = earliest([clock.nextWake(), ...wakes]);
    return wake === null ? null : Math.max(clock.now(), wake);
  }

  #claim(acquiredAt: Instant): void {
    const { cluster, clock } = this.#options;
    const known = cluster.api.get('leases', 'kube-system', managerLease);
    const spec = {
      holderIdentity: `control-plane_${this.#starts}`,
      leaseDurationSeconds: 15,
      acquireTime: microTime(acquiredAt),
      renewTime: microTime(clock.now()),
    };
    const metadata = known?.metadata ?? { name: managerLease, namespace: 'kube-system' };
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    const [method, path] = known ? ['PUT', `${leasesPath}/${managerLease}`] : ['POST', leasesPath];
    const headers = { 'content-type': 'application/json' };
    const ignored = { head() {}, data() {}, end() {}, reset() {} };
    this.#exchange(
      { method: method ?? '', path: path ?? '', headers, body: JSON.stringify(lease) },
      ignored,
    );
    this.#renewal = clock.after(renewMs, () => this.#claim(acquiredAt));
  }

  readonly #exchange: Exchange = (request, sink) => {
    const { exchange, token } = this.#options;
    const own = { 'user-agent': upstreamUserAgent, authorization: `Bearer ${token}` };
    return exchange({ ...request, headers: { ...request.headers, ...own } }, sink);
  };
}

function deviceDriver(
  random: Random,
  shared: Pick<VirtualOptions, 'exchange' | 'clock'> & { readonly onNotice: () => void },
): LoopDriver {
  const loop = new UpstreamDeviceLoop({ random, paths: devicePaths });
  return new VirtualDriver<UpstreamDeviceHeard, UpstreamDeviceNotice>({ loop, ...shared });
}

function microTime(instant: Instant): string {
  return new Date(instant).toISOString().replace('Z', '000Z');
}
