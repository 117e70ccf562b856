import { createEngine } from '@taintmgr/core';
import { type Exchange, pod, seededRandom } from '@taintmgr/sim-cluster';
import { upstreamLoop } from '../../src/client/upstream-manager.ts';
import { Loop } from '../../src/controller/engine-loop.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';
import { takeoverLabel } from '../../src/takeover/manifests.ts';
import { upstream, us, VetoWorld } from './veto-world.ts';

// taintmgr's controller and a kube-controller-manager side by side on one virtual clock, and a judge
// who looks at what the API server was asked, and at what is stored.

const managers = 'taintmanagers.taintmgr.dev';
const policies = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'];
const windowMs = 60_000;
/** Policies are compiled once a second, and times in conditions are whole seconds. */
const slackMs = 2_500;

/** Who asks the API server, and whether he gets through. */
class Line {
  isCut = false;

  readonly #world: VetoWorld;
  readonly #user: string;
  readonly #onDelete: (path: string) => void;

  constructor(world: VetoWorld, user: string, onDelete: (path: string) => void) {
    this.#world = world;
    this.#user = user;
    this.#onDelete = onDelete;
  }

  readonly exchange: Exchange = (request, sink) => {
    if (this.isCut) {
      // The caller hears of it as of any broken connection: later.
      const timer = this.#world.clock.after(5, () => sink.reset());
      return () => timer.cancel();
    }
    const who = { 'impersonate-user': this.#user, 'impersonate-group': 'system:masters' };
    const headers = { ...request.headers, ...who };
    return this.#world.cluster.exchange(
      { ...request, headers },
      {
        ...sink,
        head: (status, more) => {
          if (request.method === 'DELETE' && status < 300) this.#onDelete(request.path);
          sink.head(status, more);
        },
      },
    );
  };
}

/** One seed: what happens is drawn, what must not happen is noted. */
export class Beside {
  readonly world: VetoWorld = new VetoWorld();
  readonly faults: string[] = [];
  readonly said: string[] = [];
  readonly #random: () => number;
  readonly #ours: Line;
  readonly #theirs: Line;
  #our: VirtualDriver | null = null;
  #their: VirtualDriver | null = null;
  #starts = 0;
  #pods = 0;
  /** Since when the policies are there; null: they are not. */
  #policiesSince: number | null;

  /** `as`: who kube-controller-manager is to the API server. */
  constructor(seed: number, as: string = upstream) {
    this.#random = seededRandom(seed);
    this.#policiesSince = this.#now();
    this.#ours = new Line(this.world, us, () => {});
    this.#theirs = new Line(this.world, as, (path) => this.#judgeDeletion(path));
    for (const name of ['n1', 'n2']) {
      this.world.cluster.addNode({ name, region: 'r', zone: 'a' });
    }
    this.world.cluster.api.subscribe(({ resource }) => {
      if (policies.includes(resource)) this.#lookAtPolicies();
    });
    this.pass(3000);
    this.startOurs();
    this.startTheirs();
    this.pass(5000);
  }

  #now(): number {
    return this.world.clock.now();
  }

  /** Everybody does what is due up to then. */
  pass(ms: number): void {
    const end = this.#now() + ms;
    for (;;) {
      const drivers = [this.#our, this.#their].filter((one) => one !== null);
      const wakes = [this.world.clock, ...drivers].flatMap((one) => one.nextWake() ?? []);
      const next = Math.max(this.#now(), Math.min(...wakes));
      if (next > end) break;
      this.world.clock.advanceTo(next);
      for (const one of drivers) one.runUntil(next);
    }
    this.world.clock.advanceTo(end);
  }

  startOurs(): void {
    if (this.#our) return;
    this.#starts += 1;
    const identity = `taintmgr-${this.#starts}`;
    const status = () => ({ takeover: { enabled: true }, conditions: [] });
    const loop = new Loop({
      machine: createEngine({ takeover: true, mode: 'evict', leader: false }),
      random: this.#random,
      clusterPolicies: true,
      election: { lease: { namespace: 'kube-system', name: 'taintmgr' }, identity },
      publish: { name: 'taintmgr', identity, status },
      takeover: { manager: 'taintmgr' },
    });
    this.#our = this.#driver(loop, this.#ours);
  }

  startTheirs(): void {
    if (this.#their) return;
    this.#starts += 1;
    const identity = `control-plane_${this.#starts}`;
    this.#their = this.#driver(upstreamLoop({ identity, random: this.#random }), this.#theirs);
  }

  #driver(loop: Loop, { exchange }: Line): VirtualDriver {
    const driver = new VirtualDriver({ loop, exchange, clock: this.world.clock, onNotice() {} });
    driver.feed({ kind: 'start' });
    return driver;
  }

  /** As a process that is killed: whatever it hears after that reaches nobody. */
  killOurs(): void {
    this.#our = null;
  }

  /** Something happens. */
  act(): void {
    const acts: readonly [string, () => void][] = [
      ['a pod comes', () => this.addPods()],
      ['a taint is put on', () => this.taint(true)],
      ['a taint is taken off', () => this.taint(false)],
      ['kube-controller-manager restarts', () => this.#restartTheirs()],
      ['our controller is killed', () => this.killOurs()],
      ['our controller starts', () => this.startOurs()],
      ['our line breaks', () => this.#cut(true)],
      ['evictions are held', () => this.hold()],
      ['evictions go on', () => this.letGo()],
      ['our line is mended', () => this.#cut(false)],
      ['the policies are deleted', () => this.#deletePolicies()],
      ['the heartbeat is deleted', () => this.#deleteHeartbeat()],
    ];
    const [name, act] = acts[Math.floor(this.#random() * acts.length)] ?? acts[0] ?? [];
    this.said.push(`${(this.#now() / 1000).toFixed(3)} ${name}`);
    act?.();
    this.pass(this.#random() < 0.5 ? 500 * this.#random() : 40_000 * this.#random());
  }

  /** All is well again: whoever has to go goes. */
  calm(): void {
    this.#cut(false);
    this.letGo();
    this.startOurs();
    this.startTheirs();
    this.pass(180_000);
  }

  /** Pods that are on a tainted node, and nobody is about to remove. */
  left(namespace: string): readonly string[] {
    const { api } = this.world.cluster;
    const isTainted = (name: string): boolean =>
      (api.get('nodes', '', name)?.spec.taints ?? []).some(
        ({ effect }: { readonly effect: string }) => effect === 'NoExecute',
      );
    return api
      .list('pods')
      .filter(({ metadata, spec }) => metadata.namespace === namespace && isTainted(spec.nodeName))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name);
  }

  /** taintmgr evicts nothing for a while. */
  hold(): void {
    if (this.world.cluster.api.get('evictionpauses.taintmgr.dev', '', 'hold')) return;
    this.world.cluster.api.create('evictionpauses.taintmgr.dev', {
      apiVersion: 'taintmgr.dev/v1alpha1',
      kind: 'EvictionPause',
      metadata: { name: 'hold' },
      spec: { reason: 'hold' },
    });
    this.pass(1000);
  }

  /** taintmgr evicts again. */
  letGo(): void {
    const { api } = this.world.cluster;
    if (api.get('evictionpauses.taintmgr.dev', '', 'hold')) {
      api.delete('evictionpauses.taintmgr.dev', '', 'hold');
    }
  }

  taint(isOn: boolean, name: string = this.#random() < 0.5 ? 'n1' : 'n2'): void {
    const { api } = this.world.cluster;
    const found = api.get('nodes', '', name);
    if (!found) return;
    const others = (found.spec.taints ?? []).filter(
      ({ key }: { readonly key: string }) => key !== 'bad',
    );
    const taints = isOn ? [...others, { key: 'bad', effect: 'NoExecute' }] : others;
    api.update('nodes', { ...found, spec: { ...found.spec, taints } });
  }

  /** A pod in each namespace. */
  addPods(): void {
    this.#pods += 1;
    const seconds = Math.floor(this.#random() * 3) * 10;
    const toleration = { key: 'bad', operator: 'Exists', tolerationSeconds: seconds };
    const tolerations = seconds > 0 ? [{ ...toleration, effect: 'NoExecute' }] : [];
    const nodeName = this.#random() < 0.5 ? 'n1' : 'n2';
    for (const namespace of ['in', 'out']) {
      const spec = { nodeName, tolerations };
      this.world.cluster.api.create('pods', pod(namespace, `p${this.#pods}`, { spec }));
    }
  }

  #restartTheirs(): void {
    this.#their?.feed({ kind: 'stop' });
    this.#their = null;
    this.startTheirs();
  }

  #cut(isCut: boolean): void {
    this.#ours.isCut = isCut;
  }

  #deletePolicies(): void {
    const { api } = this.world.cluster;
    const plural = policies[this.#random() < 0.5 ? 0 : 1] ?? '';
    if (api.get(plural, '', 'taintmgr-takeover')) api.delete(plural, '', 'taintmgr-takeover');
  }

  #deleteHeartbeat(): void {
    const { api } = this.world.cluster;
    if (api.get(managers, '', 'taintmgr')) api.delete(managers, '', 'taintmgr');
  }

  #lookAtPolicies(): void {
    const { api } = this.world.cluster;
    const areThere = policies.every((plural) => api.get(plural, '', 'taintmgr-takeover') !== null);
    this.#policiesSince = areThere ? (this.#policiesSince ?? this.#now()) : null;
  }

  /** No opted-in pod is deleted by it while the heartbeat is fresh and the policies are in force. */
  #judgeDeletion(path: string): void {
    const [, namespace = '', name] = /namespaces\/([^/]+)\/pods\/([^/?]+)$/.exec(path) ?? [];
    const { api } = this.world.cluster;
    const labels = api.get('namespaces', '', namespace)?.metadata.labels ?? {};
    if (name === undefined || labels[takeoverLabel.key] !== takeoverLabel.value) return;
    const { renewTime } = api.get(managers, '', 'taintmgr')?.status ?? {};
    const age =
      renewTime === undefined ? Number.POSITIVE_INFINITY : this.#now() - Date.parse(renewTime);
    const since = this.#policiesSince;
    const isInForce = since !== null && this.#now() - since > slackMs;
    if (age < windowMs - slackMs && isInForce) {
      this.faults.push(`${namespace}/${name} was deleted with a heartbeat ${age} ms old`);
    }
  }
}
