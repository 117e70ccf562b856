// Decides who else does which duty, from evidence weighed by who can write it: the duties, the evidence, the
// verdict, and what leaders of taintmgr-controller publish.
import { type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import type { TaintManagerStatus } from '../kinds/taint-manager.ts';

/** The work that must not be done twice, by kube-controller-manager's names for it. */
export const duties = [
  'taint-eviction-controller',
  'node-lifecycle-controller',
  'device-taint-eviction-controller',
] as const;

/** A member of `duties`. */
export type Duty = (typeof duties)[number];

/** The view of a leader election lease in one look. */
export interface LeaseSight {
  /** The namespace of the Lease. */
  readonly namespace: string;
  /** The name of the Lease. */
  readonly name: string;
  /** The UID of the Lease. */
  readonly uid: string;
  /** The version that was read; another one later shows a renewal. */
  readonly resourceVersion: string;
  /** '' where it was given back. */
  readonly holder: string;
  /** The time that a renewal counts, by the holder's own word. */
  readonly duration: Millis;
  /** When it was renewed, by the holder's clock. */
  readonly renewedAt: Instant | null;
  /** When its holder became the leader, by the holder's clock. */
  readonly acquiredAt: Instant | null;
  /** The controllers that its holder runs, as its annotation says; left out: it does not say. */
  readonly controllers?: readonly string[];
}

/** `uncertain`: neither seen to change, nor renewed recently by the API server's time. */
export type LeaseLife = 'alive' | 'stale' | 'released' | 'uncertain';

/** An observation, or a failure to observe. */
export type Evidence =
  | {
      readonly kind: 'lease';
      readonly lease: LeaseSight;
      readonly life: LeaseLife;
      /** The time since it was renewed, by the API server's time; null: not known. */
      readonly age: Millis | null;
      /**
       * Any client that may write leases in its namespace may have written it; left out: it is
       * proof.
       */
      readonly isUnproven?: true;
    }
  | { readonly kind: 'noLease'; readonly name: string }
  /** The leader of taintmgr-controller says so itself, by the heartbeat of its TaintManager. */
  | {
      readonly kind: 'published';
      readonly name: string;
      readonly leader: string;
      /** Since when it leads; null: it does not say. */
      readonly startedAt: Instant | null;
      /** The time since it last said so. */
      readonly age: Millis;
      /** The controllers that it runs; left out: it does not say. */
      readonly controllers?: readonly string[];
    }
  /** A pod that runs it; `says`: the flag that decides about the duty, null: its default does. */
  | {
      readonly kind: 'pod';
      readonly namespace: string;
      readonly name: string;
      readonly uid: string;
      readonly says: string | null;
      /** True if it does the duty, by its flags; left out: they leave it open. */
      readonly runs?: boolean;
      /** The kubelet of any node may have made it; left out: its flags are proof. */
      readonly isUnproven?: true;
      /** True if its flags let tolerations with Lt and Gt count; left out: its flags leave that open. */
      readonly comparesNumbers?: boolean;
      /** When its process started, by the kubelet's clock; null: it does not say. */
      readonly startedAt: Instant | null;
    }
  | { readonly kind: 'noPod' }
  /** Marks of evictions on pods of several nodes, which no single kubelet can write. */
  | { readonly kind: 'seen'; readonly text: string }
  /**
   * Events of taint-eviction-controller about pods that it has evicted. Any client that may write
   * Events may have written them: they are a hint and no proof.
   */
  | { readonly kind: 'events'; readonly pods: number; readonly age: Millis }
  /** A pod of our own on a Node of our own with a taint: true if another program has evicted it. */
  | { readonly kind: 'probe'; readonly evicted: boolean; readonly age: Millis }
  /** The administrator says whether it does the duty; `by`: the flag or the TaintManager that has it. */
  | { readonly kind: 'declared'; readonly by: string; readonly runs: boolean }
  /** kube-controller-manager has no pod in this kind of cluster; `version` is the API server's. */
  | { readonly kind: 'embedded'; readonly version: string }
  /** We may not look; `right` is the missing right. */
  | { readonly kind: 'forbidden'; readonly right: string };

/**
 * The verdict about a duty of ours: another program does it, or none, or it is unknown. `unknown`:
 * not observable, with the possible programs where at least they are known; it is never as good as
 * `doesNotAct`.
 */
export type DutyVerdict =
  | { readonly kind: 'acts'; readonly who: string; readonly evidence: readonly Evidence[] }
  | { readonly kind: 'doesNotAct'; readonly evidence: readonly Evidence[] }
  | {
      readonly kind: 'unknown';
      readonly who: string | null;
      readonly evidence: readonly Evidence[];
    };

/** All who evict here beside the one who asks, as far as that is seen, declared or proved. */
export interface Evictors {
  /** The verdict about kube-controller-manager, by its controllers. */
  readonly upstream: Readonly<Record<Duty, DutyVerdict>>;
  /** Installations of taintmgr-controller, other than the asker's own. */
  readonly taintmgr: DutyVerdict;
}

/**
 * The proof in the evidence about one duty of kube-controller-manager. Evidence that a tenant or a
 * single kubelet can write is not included, and missing evidence proves nothing.
 */
interface Proof {
  /** Evictions were seen whose marks no single kubelet can write. */
  readonly seen: boolean;
  /** True if it has evicted a pod that was made for that purpose; null: not tried. */
  readonly probe: boolean | null;
  /** True if it does the duty, by the flags of its pods: any replica may become the leader. */
  readonly flags: boolean | null;
  /** The same by its administrator. */
  readonly declared: boolean | null;
}

/**
 * The first row that holds decides. Where none does it is unknown, and that is not the same as no
 * program.
 */
const rows: readonly (readonly [proof: Partial<Proof>, kind: DutyVerdict['kind']])[] = [
  [{ seen: true }, 'acts'],
  [{ probe: true }, 'acts'],
  [{ flags: true }, 'acts'],
  [{ probe: false }, 'doesNotAct'],
  // Another kube-controller-manager may run where its pods are not to be seen.
  [{ flags: false, declared: true }, 'unknown'],
  [{ flags: false }, 'doesNotAct'],
  [{ declared: true }, 'acts'],
  [{ declared: false }, 'doesNotAct'],
];

/** Tells whether kube-controller-manager does a duty. */
export function judgeDuty(evidence: readonly Evidence[]): DutyVerdict {
  const proof = proofIn(evidence);
  const row = rows.find(([wanted]) => holds(wanted, proof));
  const kind = row?.[1] ?? 'unknown';
  if (kind === 'doesNotAct') return { kind, evidence };
  const who = whoIn(evidence);
  return kind === 'acts'
    ? { kind, who: who ?? 'by what it does', evidence }
    : { kind, who, evidence };
}

/** The same with more evidence about taint eviction, which is judged again. */
export function withEvidence(evictors: Evictors, more: readonly Evidence[]): Evictors {
  const { upstream } = evictors;
  const { evidence } = upstream['taint-eviction-controller'];
  const verdict = judgeDuty([...evidence, ...more]);
  return { ...evictors, upstream: { ...upstream, 'taint-eviction-controller': verdict } };
}

/** Tells whether other installations of taintmgr-controller run one of these controllers. */
export function judgeInstallations(
  evidence: readonly Evidence[],
  work: readonly string[],
): DutyVerdict {
  const acting = evidence.flatMap((one) => (runs(one, work) ? [one] : []));
  const proven = acting.filter((one) => !isUnproven(one));
  if (proven.length > 0) return { kind: 'acts', who: namesOf(proven), evidence };
  const isDoubtful = evidence.some((one) => {
    return one.kind === 'forbidden' || (one.kind === 'lease' && one.life === 'uncertain');
  });
  if (acting.length === 0 && !isDoubtful) return { kind: 'doesNotAct', evidence };
  return { kind: 'unknown', who: null, evidence };
}

/** True for words that others than the administrators of the cluster may have written. */
function isUnproven(one: Evidence): boolean {
  return (one.kind === 'lease' || one.kind === 'pod') && one.isUnproven === true;
}

/** Tells whether a second look, a moment later, would show more than this one. */
export function isUncertain({ upstream, taintmgr }: Evictors): boolean {
  return [...Object.values(upstream), taintmgr].some(({ evidence }) =>
    evidence.some((one) => one.kind === 'lease' && one.life === 'uncertain'),
  );
}

/** The proof in the evidence. */
function proofIn(evidence: readonly Evidence[]): Proof {
  const pods = evidence.flatMap((one) => (one.kind === 'pod' && !isUnproven(one) ? [one] : []));
  const probes = evidence.flatMap((one) => (one.kind === 'probe' ? [one.evicted] : []));
  const declared = evidence.flatMap((one) => (one.kind === 'declared' ? [one.runs] : []));
  return {
    seen: evidence.some((one) => one.kind === 'seen'),
    probe: anyOf(probes),
    flags: anyOf(pods.map((pod) => pod.runs ?? null)),
    declared: anyOf(declared),
  };
}

/** True where one is; null where one is not known, or there is none. */
function anyOf(values: readonly (boolean | null)[]): boolean | null {
  if (values.includes(true)) return true;
  return values.length === 0 || values.includes(null) ? null : false;
}

function holds(wanted: Partial<Proof>, proof: Proof): boolean {
  const names = Object.keys(wanted) as (keyof Proof)[];
  return names.every((name) => wanted[name] === proof[name]);
}

/** The holder of its lease, or else a pod of it that does the duty, or may; or who says that it does. */
function whoIn(evidence: readonly Evidence[]): string | null {
  const holder = evidence.find((one) => one.kind === 'lease' && one.life === 'alive');
  if (holder?.kind === 'lease') return holder.lease.holder;
  const pods = evidence.flatMap((one) => (one.kind === 'pod' && !isUnproven(one) ? [one] : []));
  const pod = pods.find((one) => one.runs) ?? pods.find((one) => one.runs === undefined);
  if (pod) return pod.name;
  const declared = evidence.find((one) => one.kind === 'declared' && one.runs);
  return declared?.kind === 'declared' ? `as ${declared.by} says` : null;
}

type Acting = Extract<Evidence, { kind: 'lease' | 'published' }>;

function runs(one: Evidence, work: readonly string[]): one is Acting {
  if (one.kind === 'published') return shares(one.controllers, work);
  return one.kind === 'lease' && one.life === 'alive' && shares(one.lease.controllers, work);
}

/** A program that does not name its controllers may run all of them. */
function shares(controllers: readonly string[] | undefined, work: readonly string[]): boolean {
  return controllers === undefined || controllers.some((name) => work.includes(name));
}

function namesOf(acting: readonly Acting[]): string {
  return acting
    .map((one) => {
      if (one.kind === 'published') return `${one.leader}, TaintManager ${one.name}`;
      const { holder, namespace, name } = one.lease;
      return `${holder}, lease ${namespace}/${name}`;
    })
    .join('; ');
}

/** All statements of one installation about itself. Only administrators may write it. */
export interface Installation {
  /** Of its TaintManager. */
  readonly name: string;
  readonly leader: string;
  /** Since when it leads, and when it last said so; null: it does not say. */
  readonly startedAt: Instant | null;
  readonly renewedAt: Instant | null;
  /** True if it said at the end that it stopped leading. */
  readonly isResigned: boolean;
  /** The controllers that run. */
  readonly controllers: readonly string[];
  /** The score it has kept of others who evict, in a dry run; null: it keeps no score. */
  readonly shadow: object | null;
  /**
   * The part of its work that kube-controller-manager runs, as its administrator says; null: not
   * declared.
   */
  readonly declared: readonly Duty[] | null;
  /** The work that it has seen kube-controller-manager do for taints, beyond doubt; null: nothing. */
  readonly sees: string | null;
}

/** The flag by which an administrator says what kube-controller-manager runs. */
export const declaringFlag = 'kube-controller-manager-runs';

/** The controller that evicts for taints, among those that run. */
export const taintController = 'taint-eviction-controller';

/** The one that evicts for taints of devices. A declaration that does not name it says nothing of it. */
export const deviceController: Duty = 'device-taint-eviction-controller';

/** Another program evicts for taints, as its marks on pods of several nodes show. */
export const evictedByOther = { type: 'EvictedByOther', reason: 'SeveralNodes' } as const;

/**
 * A leader writes every 10 s: this long after the last time it is unknown whether it still runs.
 */
const freshMs: Millis = 30_000;

/** True if the leader of an installation is alive, by its heartbeat. */
export function isFresh(
  { renewedAt, isResigned }: Pick<Installation, 'renewedAt' | 'isResigned'>,
  now: Instant,
): boolean {
  return !isResigned && renewedAt !== null && now - renewedAt < freshMs;
}

/** Reads the status of the TaintManager of this name. */
export function installationOf(name: string, status: TaintManagerStatus): Installation {
  const { leader = '', startedAt, renewTime, settings = {}, controllers = [] } = status;
  const { conditions = [], shadow = null } = status;
  const isTrue = conditions.filter((one) => one.status === 'True');
  const seen = isTrue.find(
    ({ type, reason }) => type === evictedByOther.type && reason === evictedByOther.reason,
  );
  return {
    ...{ name, leader, controllers, shadow },
    startedAt: startedAt === undefined ? null : parseTime(startedAt),
    renewedAt: renewTime === undefined ? null : parseTime(renewTime),
    isResigned: conditions.some(({ type, status: is }) => type === 'Leading' && is === 'False'),
    declared: declaredIn(settings[declaringFlag] ?? unknown),
    sees: seen?.message ?? null,
  };
}

const unknown = 'unknown';
const none = 'none';

/** Reads what a declaration says; null: nothing, or what cannot be read. */
export function declaredIn(text: string): readonly Duty[] | null {
  if (text === unknown) return null;
  if (text === none) return [];
  const names = text.split(',').map((name) => name.trim());
  const known = duties.filter((duty) => names.includes(duty));
  return known.length > 0 && known.length === new Set(names).size ? known : null;
}

/** A declaration as it is written. */
export function declarationText(declared: readonly Duty[] | null): string {
  if (declared === null) return unknown;
  return declared.length === 0 ? none : declared.join(',');
}
