// Judges from what was read who else does which duty, with the evidence.
import { type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import { asList, asRecord, asText } from '../proto/json.ts';
import type { LeaseLives } from './lease-lives.ts';
import { comparesNumbers, dutyOf, managerFlags } from './manager-flags.ts';
import type { Duty, DutyVerdict, Evictors, Evidence, LeaseSight } from './verdict.ts';

/** What was read, or that it may not be. */
export type Read<T> =
  | { readonly kind: 'read'; readonly value: T; readonly serverTime: Instant | null }
  | { readonly kind: 'forbidden'; readonly right: string };

/** The leases of taintmgr-controller, but for the asker's own. */
export interface Installations {
  readonly leases: readonly LeaseSight[];
  readonly serverTime: Instant | null;
  /** The right that it takes to see those of all namespaces; null: these are all. */
  readonly missingRight: string | null;
}

/** Everything that one look has read. */
export interface Look {
  /** kube-controller-manager's; null: there is none. */
  readonly lease: Read<LeaseSight | null>;
  /** The pods of kube-controller-manager, as the API has them. */
  readonly pods: Read<readonly unknown[]>;
  readonly installations: Installations;
  /** The API server's gitVersion, where no pods are there; null: it was not asked, or does not say. */
  readonly version: string | null;
}

/** What makes each duty somebody's; `now` is monotonic. */
export function judgeEvictors(look: Look, lives: LeaseLives, now: Millis): Evictors {
  const lease = leaseEvidence(look, lives, now);
  return {
    upstream: {
      'taint-eviction-controller': upstreamVerdict('taint-eviction-controller', look, lease),
      'node-lifecycle-controller': upstreamVerdict('node-lifecycle-controller', look, lease),
    },
    taintmgr: installationVerdict(look, lives, now),
  };
}

/** Whether a second look, a moment later, would show more than this one. */
export function isUncertain({ upstream, taintmgr }: Evictors): boolean {
  return [...Object.values(upstream), taintmgr].some(({ evidence }) =>
    evidence.some((one) => one.kind === 'lease' && one.life === 'uncertain'),
  );
}

/** Clusters whose server process has kube-controller-manager in it, at times without a lease. */
const embeddedIn = /\+(k3s|k0s)/;

/** A pod may take so long to end after its time. */
const endMsMax: Millis = 60_000;

function upstreamVerdict(duty: Duty, { pods, version }: Look, lease: Evidence): DutyVerdict {
  const holder = lease.kind === 'lease' && lease.life === 'alive' ? lease.lease.holder : null;
  if (pods.kind === 'forbidden') {
    return { kind: 'unknown', who: holder, evidence: [lease, pods] };
  }
  const living = pods.value.filter((pod) => !isOver(pod, pods.serverTime));
  if (living.length > 0) return verdictOfPods(duty, living, lease, holder);
  const evidence: readonly Evidence[] = [lease, { kind: 'noPod' }];
  const isDoubtful =
    lease.kind === 'forbidden' || (lease.kind === 'lease' && lease.life === 'uncertain');
  if (holder !== null || isDoubtful) return { kind: 'unknown', who: holder, evidence };
  if (version === null || !embeddedIn.test(version)) return { kind: 'doesNotAct', evidence };
  const embedded = { kind: 'embedded', version } as const;
  return { kind: 'unknown', who: null, evidence: [...evidence, embedded] };
}

/** A pod that has ended, or should have for long: its node is gone, and nobody says so. */
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

/** One pod that does the work is enough: any replica may come to lead. */
function verdictOfPods(
  duty: Duty,
  pods: readonly unknown[],
  lease: Evidence,
  holder: string | null,
): DutyVerdict {
  const judged = pods.map((pod) => {
    const flags = managerFlags(pod);
    const { runs, says } = dutyOf(flags, duty);
    const { namespace, name, uid } = asRecord(asRecord(pod).metadata);
    const evidence = {
      kind: 'pod',
      namespace: asText(namespace),
      name: asText(name),
      uid: asText(uid),
      says,
      ...(comparesNumbers(flags) && { comparesNumbers: true as const }),
      startedAt: startOf(pod),
    } as const;
    return { runs, evidence };
  });
  const doing = judged.find(({ runs }) => runs === true);
  const doubtful = judged.find(({ runs }) => runs === null);
  const found = doing ?? doubtful;
  if (!found) {
    return { kind: 'doesNotAct', evidence: [lease, ...judged.map(({ evidence }) => evidence)] };
  }
  const who = holder ?? found.evidence.name;
  const evidence = [lease, found.evidence];
  return doing ? { kind: 'acts', who, evidence } : { kind: 'unknown', who, evidence };
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

function installationVerdict({ installations }: Look, lives: LeaseLives, now: Millis): DutyVerdict {
  const { leases, serverTime, missingRight } = installations;
  const seen = leases.map((lease) => evidenceOf(lease, serverTime, lives, now));
  const alive = seen.filter(({ life }) => life === 'alive');
  if (alive.length > 0) return { kind: 'acts', who: holdersOf(alive), evidence: alive };
  if (missingRight !== null) {
    const forbidden = { kind: 'forbidden', right: missingRight } as const;
    return { kind: 'unknown', who: null, evidence: [...seen, forbidden] };
  }
  const isDoubtful = seen.some(({ life }) => life === 'uncertain');
  if (isDoubtful) return { kind: 'unknown', who: null, evidence: seen };
  const absent: Evidence = { kind: 'noLease', name: 'taintmgr-controller' };
  return { kind: 'doesNotAct', evidence: seen.length > 0 ? seen : [absent] };
}

function holdersOf(alive: readonly { readonly lease: LeaseSight }[]): string {
  return alive
    .map(({ lease: { holder, namespace, name } }) => `${holder}, lease ${namespace}/${name}`)
    .join('; ');
}
