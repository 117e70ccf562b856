// The plain rule of deadlines by taints and tolerations, computed independently.
import type { KubeObject } from '@taintmgr/sim-cluster';

/** A NoExecute taint of a node, with its name as kubectl writes it. */
export interface NoExecuteTaint {
  /** `key=value:NoExecute`, without the `=` if there is no value. */
  readonly id: string;
  readonly key: string;
  readonly value: string;
  /** Milliseconds since the epoch; null: not set. */
  readonly timeAdded: number | null;
}

/**
 * The earliest that a time counts from which is kept in whole seconds: it may have been anywhere
 * within its second.
 */
export function endOfSecond(time: number): number {
  return Math.floor(time / 1000) * 1000 + 1000;
}

interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

const mirror = 'kubernetes.io/config.mirror';

/** The NoExecute taints of a node as it stands in the API. */
export function noExecuteTaints(node: KubeObject | null): readonly NoExecuteTaint[] {
  const taints: readonly { key: string; value?: string; effect: string; timeAdded?: string }[] =
    node?.spec?.taints ?? [];
  return taints
    .filter(({ effect }) => effect === 'NoExecute')
    .map(({ key, value = '', timeAdded }) => ({
      id: `${key}${value === '' ? '' : `=${value}`}:NoExecute`,
      key,
      value,
      timeAdded: timeAdded === undefined ? null : Date.parse(timeAdded),
    }));
}

/**
 * The time that the pod tolerates the taint, in milliseconds, from 0 to Infinity; `defaultMs` if
 * none of its tolerations matches the taint.
 */
export function toleratedMs(pod: KubeObject, taint: NoExecuteTaint, defaultMs: number = 0): number {
  if (isMirror(pod)) return Number.POSITIVE_INFINITY;
  const tolerations: readonly Toleration[] = pod.spec.tolerations ?? [];
  const first = tolerations.find((toleration) => covers(toleration, taint));
  if (!first) return defaultMs;
  const { tolerationSeconds = Number.POSITIVE_INFINITY } = first;
  return Math.max(0, tolerationSeconds * 1000);
}

/** A kubelet made it: its own node controls it. */
function isMirror({ metadata, spec }: KubeObject): boolean {
  const { annotations, ownerReferences = [] } = metadata;
  return (
    annotations?.[mirror] !== undefined &&
    ownerReferences.some(
      (one) => one.controller && one.kind === 'Node' && one.name === spec.nodeName,
    )
  );
}

function covers(
  { key = '', operator = '', value = '', effect = '' }: Toleration,
  taint: NoExecuteTaint,
): boolean {
  if (effect !== '' && effect !== 'NoExecute') return false;
  if (key !== '' && key !== taint.key) return false;
  return (
    operator === 'Exists' || ((operator === '' || operator === 'Equal') && value === taint.value)
  );
}
