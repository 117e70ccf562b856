// A controller with takeover beside a kube-controller-manager, on a virtual clock, with accidents by seed.
import { type Config, createEngine } from '@taintmgr/core';
import { customResourceDefinitions } from '@taintmgr/core/policy';
import { formatTimeMillis, type Instant } from '@taintmgr/core/time';
import {
  ApiServer,
  type Exchange,
  node,
  pod,
  type Rule,
  seededRandom,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { upstreamLoop, upstreamUserAgent } from '../../src/client/upstream-manager.ts';
import { Loop } from '../../src/controller/engine-loop.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';

/** What is wrong with the controller on purpose; left out: nothing. */
export interface Planted {
  readonly config?: Partial<Config>;
  /** Installs no policies. */
  readonly bare?: true;
  /** Says that it does not decide. */
  readonly disabled?: true;
  /** Somebody goes on writing its heartbeat. */
  readonly undead?: true;
  /** Its Events are lost. */
  readonly mute?: true;
}

const everything: readonly Rule[] = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
const start = Date.parse('2026-01-01T00:00:00Z');
const [policies, bindings] = [
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
] as const;
const taintManagers = 'taintmanagers.taintmgr.dev';
const nodeNames = ['n1', 'n2'];
const storyMs = 240_000;
/** So long after policies were written they may not act yet. */
const compileMs = 2_000;
/** So often the controller looks at its policies, and a little. */
const lookMs = 20_000;

type Who = 'manager' | 'controller';

/** Plays one story; answers what was wrong, in words. */
export function playStory(seed: number, planted: Planted = {}): readonly string[] {
  return new Story(seed, planted).play();
}

class Story {
  readonly #random: () => number;
  readonly #planted: Planted;
  readonly #clock = new VirtualClock(start);
  readonly #api: ApiServer;
  readonly #faults: string[] = [];
  #manager: VirtualDriver | null = null;
  #controller: VirtualDriver | null = null;
  #lives = 0;
  #beatAt: Instant = Number.NEGATIVE_INFINITY;
  #policiesSince: Instant | null = null;
  #muteUntil: Instant = Number.NEGATIVE_INFINITY;
  /** When the present controller began; null: there is none. */
  #aliveSince: Instant | null = null;
  /** Pods that tolerate nothing: about others the manager's timers, which it keeps too long, are ahead of ours. */
  readonly #intolerant = new Set<string>();
  readonly #removals = new Map<string, number>();
  /** Pods that the manager was refused, and when first. */
  readonly #refused = new Map<string, Instant>();

  constructor(seed: number, planted: Planted) {
    this.#random = seededRandom(seed);
    this.#planted = planted;
    const tokens = new Map(
      (['manager', 'controller'] as const).map((who) => [
        who,
        { name: `user-of-${who}`, groups: [], rules: everything },
      ]),
    );
    this.#api = new ApiServer({ clock: this.#clock, random: seededRandom(seed), tokens });
  }

  play(): readonly string[] {
    this.#populate();
    this.#startManager();
    this.#startController();
    this.#run(10_000);
    const end = this.#clock.now() + storyMs;
    while (this.#clock.now() < end) {
      this.#run(1_000 + Math.floor(this.#random() * 9_000));
      this.#happen();
      this.#look();
    }
    this.#end();
    return this.#faults;
  }

  #populate(): void {
    const api = this.#api;
    for (const definition of customResourceDefinitions())
      api.create('customresourcedefinitions', structuredClone(definition));
    this.#clock.advanceTo(this.#clock.now() + 2_000);
    const labels = { 'taintmgr.dev/takeover': 'enabled' };
    api.create('namespaces', { metadata: { name: 'in', labels } });
    api.create('namespaces', { metadata: { name: 'out' } });
    for (const name of nodeNames) api.create('nodes', node(name));
    for (let index = 0; index < 12; index++) this.#addPod(`p${index}`);
  }

  #addPod(name: string): void {
    const seconds = [null, null, 5, 60][Math.floor(this.#random() * 4)] ?? null;
    if (seconds === null) this.#intolerant.add(name);
    const toleration = { key: 'bad', operator: 'Exists', effect: 'NoExecute' };
    const tolerations = seconds === null ? [] : [{ ...toleration, tolerationSeconds: seconds }];
    for (const namespace of ['in', 'out']) {
      const nodeName = nodeNames[Math.floor(this.#random() * nodeNames.length)] ?? '';
      const spec = { nodeName, tolerations, terminationGracePeriodSeconds: 0 };
      this.#api.create('pods', pod(namespace, name, { spec }));
    }
  }

  #startManager(): void {
    const loop = upstreamLoop({ random: this.#random });
    this.#manager = this.#drive(loop, 'manager', upstreamUserAgent);
  }

  #startController(): void {
    const { config, bare, disabled } = this.#planted;
    this.#lives += 1;
    const identity = `controller_${this.#lives}`;
    const timing = { lease: 15_000, renewDeadline: 10_000, retry: 2_000 };
    const loop = new Loop({
      machine: createEngine({ takeover: true, leader: false, ...config }),
      random: this.#random,
      clusterPolicies: true,
      election: {
        lease: { namespace: 'kube-system', name: 'taintmgr-controller' },
        identity,
        timing,
      },
      publish: {
        ...{ name: 'taintmgr', identity },
        status: () => ({ conditions: [], takeover: { enabled: !disabled } }),
      },
      ...(!bare && { takeover: { manager: 'taintmgr' } }),
    });
    this.#controller = this.#drive(loop, 'controller', 'taintmgr-controller/1');
    this.#aliveSince = this.#clock.now();
  }

  #drive(loop: Loop, who: Who, agent: string): VirtualDriver {
    const exchange = this.#exchangeOf(who, agent);
    const driver = new VirtualDriver({ loop, exchange, clock: this.#clock, onNotice: () => {} });
    driver.feed({ kind: 'start' });
    return driver;
  }

  /** Moves time on, for both. */
  #run(ms: number): void {
    const end = this.#clock.now() + ms;
    for (;;) {
      const wakes = [this.#manager, this.#controller].map((one) => one?.nextWake() ?? end);
      const next = Math.min(end, ...wakes, this.#clock.nextWake() ?? end);
      for (const one of [this.#manager, this.#controller])
        one?.runUntil(Math.max(next, this.#clock.now()));
      if (next >= end) return;
    }
  }

  readonly #acts: readonly (() => void)[] = [
    () => this.#taint(true),
    () => this.#taint(true),
    () => this.#taint(false),
    () => this.#pause(),
    () => this.#pause(),
    () => this.#remove(policies),
    () => this.#remove(bindings),
    () => this.#remove(taintManagers),
    () => {
      this.#muteUntil = this.#clock.now() + 30_000 + Math.floor(this.#random() * 60_000);
    },
    () => {
      this.#manager?.feed({ kind: 'stop' });
      this.#startManager();
    },
    () => this.#restart(),
    () => this.#addPod(`late-${this.#clock.now() - start}`),
  ];

  #happen(): void {
    this.#acts[Math.floor(this.#random() * this.#acts.length)]?.();
  }

  #taint(isOn: boolean): void {
    const name = nodeNames[Math.floor(this.#random() * nodeNames.length)] ?? '';
    const found = this.#api.get('nodes', '', name);
    if (!found) return;
    const timeAdded = formatTimeMillis(this.#clock.now()).replace(/\.\d+/, '');
    const taints = isOn ? [{ key: 'bad', effect: 'NoExecute', timeAdded }] : [];
    this.#api.update('nodes', { ...found, spec: { ...found.spec, taints } });
  }

  #pause(): void {
    const resource = 'evictionpauses.taintmgr.dev';
    if (this.#api.get(resource, '', 'p')) this.#api.delete(resource, '', 'p');
    else {
      const head = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPause' };
      const spec = { reason: 'r', deadlines: true, readiness: false };
      this.#api.create(resource, { ...head, metadata: { name: 'p' }, spec });
    }
  }

  #remove(resource: string): void {
    // What is changed again and again is left as it is.
    const removals = (this.#removals.get(resource) ?? 0) + 1;
    if (removals > 3) return;
    this.#removals.set(resource, removals);
    if (resource === taintManagers) this.#beatAt = Number.NEGATIVE_INFINITY;
    else this.#policiesSince = null;
    for (const { metadata } of this.#api.list(resource))
      this.#api.delete(resource, '', metadata.name);
  }

  /** It dies without a word; another one begins at once, and leads when the lease has run out. */
  #restart(): void {
    this.#controller = null;
    this.#startController();
  }

  #exchangeOf(who: Who, agent: string): Exchange {
    return (request, sink) => {
      const { method, path } = request;
      const isBeat = path.includes('/taintmanagers/taintmgr/status');
      const isEvent = path.includes('/events');
      const isLost =
        (isBeat && this.#clock.now() < this.#muteUntil) ||
        (who === 'controller' && isEvent && this.#planted.mute === true);
      if (isLost) {
        sink.reset();
        return () => {};
      }
      const own = { 'user-agent': agent, authorization: `Bearer ${who}` };
      return this.#api.exchange(
        { ...request, headers: { ...request.headers, ...own } },
        {
          ...sink,
          head: (status, headers) => {
            this.#judge(who, method, path.replace(/\?.*/, ''), status);
            sink.head(status, headers);
          },
        },
      );
    };
  }

  #judge(who: Who, method: string, path: string, status: number): void {
    const now = this.#clock.now();
    if (path.endsWith('/taintmanagers/taintmgr/status') && status === 200) this.#beatAt = now;
    const [, namespace = '', name = '', part] =
      /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    if (namespace === '') return;
    const isRemoval = (method === 'DELETE' && !part) || part === 'eviction';
    if (who === 'controller' && namespace === 'out' && isRemoval && status < 300)
      this.#faults.push(`taintmgr removed ${namespace}/${name}, which is not taken over`);
    if (who !== 'manager' || namespace !== 'in') return;
    if (part === 'status' && status === 403 && !this.#refused.has(name))
      this.#refused.set(name, now);
    if (!isRemoval || status >= 300) return;
    const isFresh = now - this.#beatAt <= 55_000;
    const stand = this.#policiesSince;
    if (isFresh && stand !== null && now - stand >= compileMs)
      this.#faults.push(
        `kube-controller-manager deleted in/${name} though the heartbeat was fresh`,
      );
  }

  #look(): void {
    this.#lookAtHeld();
    const now = this.#clock.now();
    const stand = [policies, bindings].every((one) => this.#api.list(one).length === 2);
    if (!stand) this.#policiesSince = null;
    else this.#policiesSince ??= now;
    const leadsLong = this.#aliveSince !== null && now - this.#aliveSince > 20_000 + lookMs;
    if (leadsLong && this.#lives === 1 && stand === false && this.#beatAt > now - 15_000)
      this.#wait();
  }

  /** Whoever was refused ten seconds ago, with a leader all the while, is gone, or an Event says why not. */
  #lookAtHeld(): void {
    const now = this.#clock.now();
    const told = this.#api.list('events').map(({ reason, involvedObject }) => {
      return reason === 'TaintManagerEvictionHeld' ? involvedObject?.name : '';
    });
    for (const [name, at] of this.#refused) {
      // A leader begins to decide when its heartbeat was written.
      const ledFrom = Math.max(this.#aliveSince ?? Number.POSITIVE_INFINITY, this.#muteUntil);
      const isLed = ledFrom < at - 25_000;
      const isThere = this.#api.get('pods', 'in', name)?.metadata.deletionTimestamp === undefined;
      const isKnown = this.#api.get('pods', 'in', name) !== null;
      if (!this.#intolerant.has(name)) continue;
      if (isLed && isKnown && isThere && at < now - 10_000 && !told.includes(name))
        this.#faults.push(`nothing says why in/${name} is held`);
    }
  }

  /** Policies that are gone are back when the controller has looked. */
  #wait(): void {
    this.#run(lookMs);
    const stand = [policies, bindings].every((one) => this.#api.list(one).length === 2);
    if (!stand) this.#faults.push('the policies were not installed again');
  }

  /** A minute after we are gone nobody is spared. */
  #end(): void {
    this.#muteUntil = Number.NEGATIVE_INFINITY;
    this.#run(40_000);
    this.#lookAtHeld();
    this.#controller = null;
    for (let second = 0; second < 61; second++) {
      this.#run(1_000);
      if (this.#planted.undead && second % 10 === 0) this.#beat();
    }
    for (const name of nodeNames) this.#retaint(name);
    this.#run(70_000);
    for (const { metadata } of this.#api.list('pods', 'in')) {
      if (metadata.deletionTimestamp === undefined)
        this.#faults.push(`in/${metadata.name} is spared though nobody decides any more`);
    }
  }

  #beat(): void {
    const found = this.#api.get(taintManagers, '', 'taintmgr');
    if (!found) return;
    const renewTime = formatTimeMillis(this.#clock.now());
    const status = { ...found.status, renewTime, takeover: { enabled: true } };
    this.#api.update(taintManagers, { ...found, status }, 'status');
  }

  #retaint(name: string): void {
    const found = this.#api.get('nodes', '', name);
    if (!found) return;
    const taints = [{ key: 'bad', value: 'last', effect: 'NoExecute' }];
    this.#api.update('nodes', { ...found, spec: { ...found.spec, taints } });
  }
}
