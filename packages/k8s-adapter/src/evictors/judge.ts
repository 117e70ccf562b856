// The one place that decides who else does which duty, from evidence weighed by who can write it.
import type { DutyVerdict, Evictors, Evidence } from './verdict.ts';

/**
 * What the evidence about one duty of kube-controller-manager proves. What a tenant or a single kubelet can
 * write is not in here, and what is absent proves nothing.
 */
interface Proof {
  /** Evictions were seen whose marks no single kubelet can write. */
  readonly seen: boolean;
  /** Whether it has evicted a pod that was made for that purpose; null: nobody has tried. */
  readonly probe: boolean | null;
  /** Whether it does the duty, by the flags of its pods: any replica may come to lead. */
  readonly flags: boolean | null;
  /** The same by its administrator. */
  readonly declared: boolean | null;
}

/** The first row that holds decides. Where none does nobody knows, and nobody knowing is not nobody. */
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

/** Whether kube-controller-manager does a duty. */
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

/** The same with more evidence about taint eviction, which is judged anew. */
export function withEvidence(evictors: Evictors, more: readonly Evidence[]): Evictors {
  const { upstream } = evictors;
  const { evidence } = upstream['taint-eviction-controller'];
  const verdict = judgeDuty([...evidence, ...more]);
  return { ...evictors, upstream: { ...upstream, 'taint-eviction-controller': verdict } };
}

/** Whether other installations of taintmgr-controller run one of these controllers. */
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

/** What other people than the administrators of the cluster may have written. */
function isUnproven(one: Evidence): boolean {
  return (one.kind === 'lease' || one.kind === 'pod') && one.isUnproven === true;
}

/** Whether a second look, a moment later, would show more than this one. */
export function isUncertain({ upstream, taintmgr }: Evictors): boolean {
  return [...Object.values(upstream), taintmgr].some(({ evidence }) =>
    evidence.some((one) => one.kind === 'lease' && one.life === 'uncertain'),
  );
}

/** What the evidence proves. */
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

/** One that does not say what it runs may run everything. */
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
