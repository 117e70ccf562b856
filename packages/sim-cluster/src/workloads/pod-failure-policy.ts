// The podFailurePolicy of a Job: which failures of its pods count, and which end the Job or an index.
import type { KubeObject } from '../objects/kube-object.ts';

interface ExitCodes {
  readonly containerName?: string;
  readonly operator: string;
  readonly values: readonly number[];
}

interface Pattern {
  readonly type: string;
  readonly status?: string;
}

interface Rule {
  readonly action: string;
  readonly onExitCodes?: ExitCodes;
  readonly onPodConditions?: readonly Pattern[];
}

interface ContainerStatus {
  readonly name: string;
  readonly state?: { readonly terminated?: { readonly exitCode: number } };
}

/** The verdict of the policy on a failed pod. */
export interface Verdict {
  /** True if the failure counts towards the limits of the Job. */
  readonly counts: boolean;
  readonly failsIndex: boolean;
  /** Why the Job fails at once; null: it does not. */
  readonly failsJob: string | null;
}

const counted: Verdict = { counts: true, failsIndex: false, failsJob: null };

/** The verdict of the first rule that matches the failed pod; a pod that none matches counts. */
export function judgeFailure(job: KubeObject, pod: KubeObject): Verdict {
  const rules: readonly Rule[] = job.spec.podFailurePolicy?.rules ?? [];
  for (const [index, rule] of rules.entries()) {
    const match = matchOf(rule, pod);
    if (match === null) continue;
    if (rule.action === 'Ignore') return { ...counted, counts: false };
    if (rule.action === 'FailIndex') return { ...counted, failsIndex: true };
    if (rule.action !== 'FailJob') return counted;
    return { ...counted, failsJob: `${match} matching ${rule.action} rule at index ${index}` };
  }
  return counted;
}

/** The part of the pod that the rule matches, in words; null: none. */
function matchOf({ onExitCodes, onPodConditions = [] }: Rule, pod: KubeObject): string | null {
  const { namespace, name } = pod.metadata;
  if (onExitCodes) {
    const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
    const statuses: readonly ContainerStatus[] = [...containerStatuses, ...initContainerStatuses];
    const status = statuses.find((one) => matchesExit(onExitCodes, one));
    const code = status?.state?.terminated?.exitCode;
    const container = status && `Container ${status.name} for pod ${namespace}/${name}`;
    return container ? `${container} failed with exit code ${code}` : null;
  }
  const conditions: readonly Pattern[] = pod.status?.conditions ?? [];
  const condition = conditions.find(({ type, status }) =>
    onPodConditions.some((one) => one.type === type && (one.status || 'True') === status),
  );
  return condition ? `Pod ${namespace}/${name} has condition ${condition.type}` : null;
}

/** A container that has ended well matches no rule. */
function matchesExit(codes: ExitCodes, { name, state }: ContainerStatus): boolean {
  const code = state?.terminated?.exitCode ?? 0;
  if (code === 0 || name !== (codes.containerName ?? name)) return false;
  return codes.values.includes(code) === (codes.operator === 'In');
}
