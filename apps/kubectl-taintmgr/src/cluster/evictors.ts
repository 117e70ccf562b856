// Who evicts for NoExecute taints here, as commands ask it.
import { type DutyVerdict, type Evictors, taintEvictors } from '@taintmgr/k8s-adapter';

/** Whether kube-controller-manager evicts for taints, and how that is known. */
export function upstreamVerdict({ upstream }: Evictors): DutyVerdict {
  return upstream['taint-eviction-controller'];
}

/** Whether taintmgr-controller evicts, and nobody else. */
export function isOursAlone(evictors: Evictors): boolean {
  const answer = taintEvictors(evictors);
  return answer.kind === 'acts' && answer.agent === 'taintmgr-controller';
}

/**
 * Whether it is known that nobody evicts for a NoExecute taint: kube-controller-manager's own flags
 * say that it does not. That there is no sign of it proves nothing.
 */
export function isKnownNobody(evictors: Evictors): boolean {
  const { kind, evidence } = upstreamVerdict(evictors);
  const hasFlags = evidence.some((one) => one.kind === 'pod');
  return taintEvictors(evictors).kind === 'nobody' && kind === 'doesNotAct' && hasFlags;
}

/** What to say where nobody was found to evict, and that is no proof. */
export const unprovenText =
  'whether kube-controller-manager evicts for NoExecute taints here is unknown: it shows neither a ' +
  'pod nor a lease';
