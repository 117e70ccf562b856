// Reads one look at a cluster as evidence of who else does which duty.
import { type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import { asList, asRecord, asText } from '../proto/json.ts';
import type { LeaseName } from '../proto/lease-requests.ts';
import {
  type Duty,
  declaringFlag,
  deviceController,
  duties,
  type Evictors,
  type Evidence,
  type Installation,
  isFresh,
  judgeDuty,
  judgeInstallations,
  type LeaseLife,
  type LeaseSight,
  taintController,
} from './judge.ts';

/** Something that was read, or the word that it may not be. */
export type Read<T> =
  | { readonly kind: 'read'; readonly value: T; readonly serverTime: Instant | null }
  | { readonly kind: 'forbidden'; readonly right: string };

/** The leases of taintmgr-controller, the asker's own among them. */
export interface InstallationLeases {
  readonly leases: readonly LeaseSight[];
  readonly serverTime: Instant | null;
  /** The right that it takes to see those of all namespaces; null: these are all. */
  readonly missingRight: string | null;
}

/** The installation that asks. */
export interface Asker {
  /** Its lease; null: it holds none. */
  readonly lease: LeaseName | null;
  /** The name of its TaintManager. */
  readonly manager: string;
  /** The controllers that it runs. */
  readonly controllers: readonly string[];
  /**
   * The part of its work that kube-controller-manager runs, as its administrator says; null: not
   * declared.
   */
  readonly declared: readonly Duty[] | null;
}

/** Everything that was read in one look. */
export interface Look {
  /** kube-controller-manager's; null: there is none. */
  readonly lease: Read<LeaseSight | null>;
  /** The pods of kube-controller-manager, as the API has them. */
  readonly pods: Read<readonly unknown[]>;
  /** The names of the nodes of the control plane, which no kubelet can make itself. */
  readonly controlPlane: Read<readonly string[]>;
  readonly installations: InstallationLeases;
  /** The words that leaders publish, and their present time. */
  readonly published: { readonly all: readonly Installation[]; readonly now: Instant };
  /** The API server's gitVersion, where no pods are there; null: it was not asked, or does not say. */
  readonly version: string | null;
  /** Null: the caller is no installation, and believes the declarations of leaders. */
  readonly asker: Asker | null;
}

/** Finds the owner of each duty; `now` is monotonic. */
export function evictorsIn(look: Look, memory: LookMemory, now: Millis): Evictors {
  const lease = leaseEvidence(look, memory.lives, now);
  const verdicts = duties.map((duty) => {
    const pods = podEvidence(duty, look);
    return [duty, judgeDuty([lease, ...pods, ...statements(duty, look)])] as const;
  });
  const work = look.asker?.controllers ?? [taintController];
  return {
    upstream: Object.fromEntries(verdicts) as Evictors['upstream'],
    taintmgr: judgeInstallations(installationEvidence(look, memory, now), work),
  };
}

/** The controllers that an installation runs; undefined: it does not say. */
type Work = readonly string[] | undefined;

/** The time that a lease is believed after a TaintManager named its holder. */
const believedMsMax: Millis = 300_000;

/** The news of one look for the next. */
export class LookMemory {
  readonly lives = new LeaseLives();
  /** All who have held the lease of the asker: a lease elsewhere in his name is not another installation's. */
  readonly #ownHolders = new Set<string>();
  /**
   * Leases of other namespaces whose holder a TaintManager has named, the last time, and the
   * holder's controllers.
   */
  readonly #named = new Map<string, { readonly at: Millis; readonly work: Work }>();

  /** Takes who holds the lease of the asker. */
  noteOwn({ holder }: LeaseSight): void {
    if (holder !== '') this.#ownHolders.add(holder);
  }

  /**
   * The words of a TaintManager on the holder of a lease, now or recently, as two installations of
   * one name write theirs in turn; null: none names the holder.
   */
  named(
    lease: LeaseSight,
    leading: readonly Installation[],
    now: Millis,
  ): { readonly work: Work } | null {
    const { namespace, name, holder } = lease;
    if (holder === '' || this.#ownHolders.has(holder)) return null;
    const key = `${namespace}/${name}/${holder}`;
    const leader = leading.find((one) => one.leader === holder);
    if (leader) this.#named.set(key, { at: now, work: workOf(leader) });
    for (const [known, { at }] of this.#named) {
      if (now - at > believedMsMax) this.#named.delete(known);
    }
    return this.#named.get(key) ?? null;
  }
}

/** Clusters whose server process has kube-controller-manager in it, at times without a lease. */
const embeddedIn = /\+(k3s|k0s)/;

function podEvidence(duty: Duty, { pods, controlPlane, version }: Look): readonly Evidence[] {
  if (pods.kind === 'forbidden') return [pods];
  const living = pods.value.filter((pod) => !isOver(pod, pods.serverTime));
  const nodes = controlPlane.kind === 'read' ? controlPlane.value : [];
  if (living.length > 0) {
    return living.map((pod) => onePod(pod, duty, isProof(pod, nodes)));
  }
  if (version === null || !embeddedIn.test(version)) return [{ kind: 'noPod' }];
  return [{ kind: 'noPod' }, { kind: 'embedded', version }];
}

function onePod(pod: unknown, duty: Duty, isProven: boolean): Evidence {
  const flags = managerFlags(pod);
  const { runs, says } = dutyOf(flags, duty);
  const { namespace, name, uid } = asRecord(asRecord(pod).metadata);
  return {
    kind: 'pod',
    namespace: asText(namespace),
    name: asText(name),
    uid: asText(uid),
    says,
    ...(runs !== null && { runs }),
    ...(!isProven && { isUnproven: true as const }),
    ...(!flags.isOpaque && { comparesNumbers: comparesNumbers(flags) }),
    startedAt: startOf(pod),
  };
}

/**
 * A client that may create pods in kube-system is an administrator, except for kubelets: each makes
 * mirrors of its static pods, with any labels and flags, on its own node alone. A mirror is
 * believed on a node of the control plane, whose label no kubelet can write. The node's name in the
 * lease is no proof: an intruder on a node has the tokens of its pods as well, and add-ons in
 * kube-system may write leases there.
 */
function isProof(pod: unknown, controlPlane: readonly string[]): boolean {
  const { metadata, spec } = asRecord(pod);
  const { annotations, ownerReferences } = asRecord(metadata);
  const isMirror =
    'kubernetes.io/config.mirror' in asRecord(annotations) ||
    asList(ownerReferences).some((owner) => asRecord(owner).kind === 'Node');
  return !isMirror || controlPlane.includes(asText(asRecord(spec).nodeName));
}

/** The time that a pod may take to end after its deadline. */
const endMsMax: Millis = 60_000;

/** A pod that has ended, or should have long ago: its node is gone, and this is not reported. */
function isOver(pod: unknown, serverTime: Instant | null): boolean {
  const { metadata, status } = asRecord(pod);
  if (['Succeeded', 'Failed'].includes(asText(asRecord(status).phase))) return true;
  const shouldEnd = parseTime(asText(asRecord(metadata).deletionTimestamp));
  return shouldEnd !== null && serverTime !== null && serverTime - shouldEnd > endMsMax;
}

/** When the last of its containers started. */
function startOf(pod: unknown): Instant | null {
  const statuses = asList(asRecord(asRecord(pod).status).containerStatuses).map(asRecord);
  const starts = statuses.flatMap(({ state }) => {
    return parseTime(asText(asRecord(asRecord(state).running).startedAt)) ?? [];
  });
  return starts.length === 0 ? null : Math.max(...starts);
}

/**
 * The words of administrators, and of leaders on their observations; only they may write a
 * TaintManager.
 */
function statements(duty: Duty, { asker, published }: Look): readonly Evidence[] {
  if (asker !== null) {
    const runs = declaredOf(duty, asker.declared);
    return runs === null ? [] : [{ kind: 'declared', by: `--${declaringFlag}`, runs }];
  }
  const fresh = published.all.filter((one) => isFresh(one, published.now));
  return fresh.flatMap(({ name, declared, sees }): readonly Evidence[] => {
    const by = `TaintManager ${name}`;
    const runs = declaredOf(duty, declared);
    const isSeen = duty === taintController && sees !== null;
    return [
      ...(runs === null ? [] : [{ kind: 'declared', by, runs } as const]),
      ...(isSeen ? [{ kind: 'seen', text: sees } as const] : []),
    ];
  });
}

/** Null: nothing was declared of it. */
function declaredOf(duty: Duty, declared: readonly Duty[] | null): boolean | null {
  const runs = declared?.includes(duty) ?? null;
  return duty === deviceController && !runs ? null : runs;
}

function leaseEvidence({ lease }: Look, lives: LeaseLives, now: Millis): Evidence {
  if (lease.kind === 'forbidden') return lease;
  if (lease.value === null) return { kind: 'noLease', name: 'kube-controller-manager' };
  return evidenceOf(lease.value, lease.serverTime, lives, now);
}

type LeaseEvidence = Extract<Evidence, { kind: 'lease' }>;

function evidenceOf(
  lease: LeaseSight,
  serverTime: Instant | null,
  lives: LeaseLives,
  now: Millis,
): LeaseEvidence {
  const life = lives.judge(now, serverTime, lease);
  const { renewedAt } = lease;
  const age = serverTime === null || renewedAt === null ? null : serverTime - renewedAt;
  return { kind: 'lease', lease, life, age };
}

/** Only administrators may write leases there; the second one is that of the manifests. */
const provenNamespaces: readonly string[] = ['kube-system', 'taintmgr-system'];

/**
 * The leases and the TaintManagers of others. A tenant may write leases in a namespace: those are
 * believed in the namespaces of administrators, in the asker's own, and where a TaintManager names
 * the holder, which then tells the holder's controllers.
 */
function installationEvidence(look: Look, memory: LookMemory, now: Millis): readonly Evidence[] {
  const { installations, published, asker } = look;
  const { leases, serverTime, missingRight } = installations;
  const own = asker?.lease ?? null;
  const isOwn = ({ namespace, name }: LeaseSight): boolean =>
    namespace === own?.namespace && name === own.name;
  const ownLease = leases.find(isOwn);
  if (ownLease) memory.noteOwn(ownLease);
  const leading = published.all.filter((one) => isLeading(one, published.now));
  // A caller whose own lease is not among these is the leader of its TaintManager itself.
  const others = leading.filter(({ name }) => name !== asker?.manager || ownLease);
  const seen = leases
    .filter((lease) => !isOwn(lease))
    .map((lease): LeaseEvidence => {
      const found = evidenceOf(lease, serverTime, memory.lives, now);
      const isPlace = [...provenNamespaces, own?.namespace].includes(lease.namespace);
      const named = memory.named(lease, others, now);
      const isProven = isPlace || named !== null;
      // A tenant who copies a leader's name into a lease does not define the leader's controllers.
      const controllers = (isPlace ? lease.controllers : undefined) ?? named?.work;
      const { controllers: _, ...bare } = lease;
      const withWork = { ...bare, ...(controllers && { controllers }) };
      return { ...found, lease: withWork, ...(!isProven && { isUnproven: true as const }) };
    });
  const proven = seen.filter((one) => !one.isUnproven);
  const bare = others.filter(({ name, leader }) => {
    return name !== asker?.manager && !proven.some(({ lease }) => isOf(lease, name, leader));
  });
  const evidence: readonly Evidence[] = [
    ...onceEach(seen),
    ...bare.map((one): Evidence => {
      const { name, leader, startedAt, renewedAt } = one;
      const controllers = workOf(one);
      const age = published.now - (renewedAt ?? published.now);
      return {
        kind: 'published',
        name,
        leader,
        startedAt,
        age,
        ...(controllers && { controllers }),
      };
    }),
    ...(missingRight === null ? [] : [{ kind: 'forbidden', right: missingRight } as const]),
  ];
  return evidence.length > 0 ? evidence : [{ kind: 'noLease', name: 'taintmgr-controller' }];
}

/** The work it runs; undefined: it does not say. */
function workOf({ controllers }: Installation): Work {
  return controllers.length > 0 ? controllers : undefined;
}

/** A dry run evicts no pods. */
function isLeading(one: Installation, now: Instant): boolean {
  return isFresh(one, now) && one.shadow === null;
}

/** Where there is a lease, it says who leads. */
function isOf({ name, holder }: LeaseSight, manager: string, leader: string): boolean {
  return holder === leader || name === manager || name === `${manager}-controller`;
}

/** A copy of a holder's name in another lease makes no second installation. */
function onceEach(seen: readonly LeaseEvidence[]): readonly LeaseEvidence[] {
  const inOrder = [...seen].sort((a, b) => rankOf(a) - rankOf(b));
  return inOrder.filter((one, index) => {
    const { holder } = one.lease;
    const first = inOrder.findIndex(({ lease }) => lease.holder === holder);
    return holder === '' || first === index;
  });
}

function rankOf({ lease: { namespace } }: LeaseEvidence): number {
  const rank = provenNamespaces.indexOf(namespace);
  return rank < 0 ? provenNamespaces.length : rank;
}

/** The words of the command line of a kube-controller-manager on our duties. */
interface ManagerFlags {
  /** The entries of --controllers; `*` without the flag. */
  readonly controllers: readonly string[];
  /** The entries of --feature-gates, without the component before a colon. */
  readonly featureGates: readonly string[];
  /** Flags come from a variable too: its content is not known. */
  readonly isOpaque: boolean;
}

/** The verdict of flags about a duty (null: not known), and the flag that says so. */
interface FlagVerdict {
  readonly runs: boolean | null;
  readonly says: string | null;
}

const managerName = 'kube-controller-manager';
/** Names of former days. */
const aliases: Readonly<Record<string, Duty>> = { nodelifecycle: 'node-lifecycle-controller' };
const gate = 'SeparateTaintEvictionController';
const deviceGate = 'DRADeviceTaints';

/** Reads the flags of the containers of a pod that runs it; a later flag adds to an earlier one. */
export function managerFlags(pod: unknown): ManagerFlags {
  const containers = asList(asRecord(asRecord(pod).spec).containers).map(asRecord);
  const named = containers.filter((container) => JSON.stringify(container).includes(managerName));
  const words = (named.length > 0 ? named : containers).flatMap(({ command, args }) =>
    [...asList(command), ...asList(args)].map(asText).flatMap(shellWords),
  );
  const values = (flag: string): readonly string[] =>
    words.flatMap((word, index) => {
      if (word === flag) return [words[index + 1] ?? ''];
      return word.startsWith(`${flag}=`) ? [word.slice(flag.length + 1)] : [];
    });
  const controllers = values('--controllers').flatMap((value) => value.split(','));
  const featureGates = values('--feature-gates').flatMap((value) => value.split(','));
  return {
    controllers: controllers.length === 0 ? ['*'] : controllers.map((name) => name.trim()),
    featureGates: featureGates.map((entry) => entry.trim().replace(/^\w+:/, '')),
    isOpaque: words.some(isVariable),
  };
}

/** Tells whether it does a duty, by kube-controller-manager's own rules. */
export function dutyOf(flags: ManagerFlags, duty: Duty): FlagVerdict {
  const verdict = verdictOf(flags, duty);
  return flags.isOpaque ? { runs: null, says: 'flags from a variable' } : verdict;
}

function verdictOf(flags: ManagerFlags, duty: Duty): FlagVerdict {
  if (duty === 'taint-eviction-controller') return taintEviction(flags);
  const own = chosen(flags, duty);
  // Without the gate, which is off before 1.36, nothing evicts for devices.
  const isOff = duty === deviceController && lastGate(flags, deviceGate) === 'false';
  return isOff && own.runs ? { runs: false, says: `--feature-gates=${deviceGate}=false` } : own;
}

/** Without its feature gate, taint eviction is a part of the node lifecycle controller. */
function taintEviction(flags: ManagerFlags): FlagVerdict {
  const own = chosen(flags, 'taint-eviction-controller');
  const part = chosen(flags, 'node-lifecycle-controller');
  const set = lastGate(flags, gate);
  if (set === 'false') return { runs: part.runs, says: `--feature-gates=${gate}=false` };
  // Before 1.34 the gate is a beta one, which AllBeta switches too.
  const isDoubtful = set === undefined && lastGate(flags, 'AllBeta') === 'false';
  if (!isDoubtful || own.runs === part.runs) return own;
  return { runs: null, says: '--feature-gates=AllBeta=false' };
}

/** Tells whether tolerations with Lt and Gt count for it: an alpha feature, which AllAlpha switches too. */
export function comparesNumbers(flags: ManagerFlags): boolean {
  const own = lastGate(flags, 'TaintTolerationComparisonOperators');
  return (own ?? lastGate(flags, 'AllAlpha')) === 'true';
}

/** The first value that names the controller decides, else `*` does. */
function chosen({ controllers }: ManagerFlags, duty: Duty): FlagVerdict {
  const entry = controllers.find((name) => canonical(name.replace(/^-/, '')) === duty);
  const runs = entry === undefined ? controllers.includes('*') : !entry.startsWith('-');
  const isDefault = controllers.length === 1 && controllers[0] === '*';
  return { runs, says: isDefault ? null : `--controllers=${controllers.join(',')}` };
}

/** As Go reads a boolean: `1` and `T` are true too. */
function lastGate({ featureGates }: ManagerFlags, name: string): 'true' | 'false' | undefined {
  const entry = featureGates.findLast((one) => one.startsWith(`${name}=`));
  const value = entry?.slice(name.length + 1).toLowerCase() ?? '';
  if (['1', 't', 'true'].includes(value)) return 'true';
  return ['0', 'f', 'false'].includes(value) ? 'false' : undefined;
}

function canonical(name: string): string {
  if (Object.hasOwn(aliases, name)) return aliases[name] ?? '';
  return duties.find((duty) => duty === name) ?? '';
}

/** A word as it is; a script of a shell as the words in it, without their quotes. */
function shellWords(word: string): readonly string[] {
  if (!/\s/.test(word)) return [word];
  return word.split(/[\s;&|]+/).map((part) => part.replaceAll(/["']/g, ''));
}

/** `$(FLAGS)`, `${FLAGS}`, `"$@"`; or a flag of ours whose value is one. */
function isVariable(word: string): boolean {
  return /^\$|^--(controllers|feature-gates)=.*\$/.test(word);
}

/** A state of a lease, and since when we have been seeing it. */
interface Sighting {
  readonly resourceVersion: string;
  /** On our monotonic clock. */
  readonly since: Millis;
  /** True if we saw it come, so that the holder was alive at that time. */
  readonly cameWhileLooking: boolean;
}

/** A lease that is renewed may look at most so old, by the holder's own word. */
const toleratedLeases = 2;
/** A renewal that old is no mistake of a clock. */
const clockErrorMax: Millis = 24 * 3_600_000;

/**
 * Judges whether the holders of leases are alive, seen by change and never by our clock. A lease
 * that changes between two looks is renewed, whatever any clock says; one that does not change for
 * its own duration is not. Only the first look at a lease has nothing to compare with: it uses the
 * API server's time, never ours, and is `uncertain` where the holder's clock may be wrong, until a
 * second look.
 */
class LeaseLives {
  readonly #seen = new Map<string, Sighting>();

  /** `now` is monotonic; `serverTime` is what the API server said with the lease, null: nothing. */
  judge(now: Millis, serverTime: Instant | null, lease: LeaseSight): LeaseLife {
    const key = `${lease.namespace}/${lease.name}`;
    const known = this.#seen.get(key);
    const { resourceVersion } = lease;
    if (known?.resourceVersion !== resourceVersion) {
      const cameWhileLooking = known !== undefined;
      this.#seen.set(key, { resourceVersion, since: now, cameWhileLooking });
    }
    if (lease.holder === '') return 'released';
    if (known === undefined) return byServerTime(serverTime, lease);
    if (known.resourceVersion !== resourceVersion) return 'alive';
    if (now - known.since > lease.duration) return 'stale';
    if (known.cameWhileLooking) return 'alive';
    const life = byServerTime(serverTime, lease);
    // The lease has not moved since we looked, so its earlier content is believed.
    return life === 'uncertain' && serverTime !== null ? 'stale' : life;
  }
}

function byServerTime(
  serverTime: Instant | null,
  { renewedAt, duration }: LeaseSight,
): 'alive' | 'stale' | 'uncertain' {
  if (serverTime === null || renewedAt === null) return 'uncertain';
  const age = serverTime - renewedAt;
  if (Math.abs(age) <= toleratedLeases * duration) return 'alive';
  return age > clockErrorMax ? 'stale' : 'uncertain';
}
