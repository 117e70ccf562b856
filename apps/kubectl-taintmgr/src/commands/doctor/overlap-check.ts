import { type Evictors, type Evidence, taintEvictors, verdictText } from '@taintmgr/k8s-adapter';
import { isOursAlone, upstreamVerdict } from '../../cluster/evictors.ts';
import type { Survey } from '../../cluster/survey.ts';
import { type Finding, findingsOf } from './finding.ts';

/** The check whether two controllers evict the same pods, or none. */
export function checkOverlap({ evictors, evictor }: Survey): readonly Finding[] {
  const finding = findingsOf('overlap');
  if (evictor.takesOver && evictors.taintmgr.evidence.length === 1) {
    const who = verdictText(evictors.taintmgr, 'runs with --takeover');
    const other = 'kube-controller-manager evicts in namespaces that are not taken over';
    return [finding('OK', `taintmgr-controller ${who}: ${other}`)];
  }
  const answer = taintEvictors(evictors);
  const { taintmgr } = evictors;
  if (answer.kind === 'nobody') {
    const traces = tracesOf(evictors);
    if (traces === null) return [finding('INFO', answer.text)];
    return [finding('WARN', `${answer.text}; ${traces}`)];
  }
  if (isOursAlone(evictors)) {
    return ownFindings(evictors);
  }
  if (taintmgr.kind === 'acts') {
    const message = `${answer.text}; taintmgr-controller (${taintmgr.who}) runs too: the one that ignores PDBs wins`;
    return [finding('WARN', message, { fix: answer.advice })];
  }
  if (answer.kind === 'unknown') return [finding('INFO', answer.text, { fix: answer.advice })];
  return [finding('INFO', `${answer.text}, and counts anew when it restarts`)];
}

/** One installation is as it should be, as far as kube-controller-manager leaves the work to it. */
function ownFindings(evictors: Evictors): readonly Finding[] {
  const finding = findingsOf('overlap');
  const { taintmgr } = evictors;
  if (taintmgr.evidence.length > 1) {
    const message = `${taintmgr.evidence.length} installations of taintmgr-controller ${verdictText(taintmgr, 'run')}`;
    return [finding('WARN', message, { fix: 'keep one of them' })];
  }
  const verdict = upstreamVerdict(evictors);
  const message = `taintmgr-controller ${verdictText(taintmgr, 'runs')}`;
  if (verdict.kind !== 'unknown') return [finding('OK', message)];
  const doubt = `kube-controller-manager: ${verdictText(verdict)}`;
  const fix = 'see that it was started with --controllers=*,-taint-eviction-controller';
  return [finding('WARN', `${message}; ${doubt}`, { fix })];
}

/** A controller that used to run, or that runs with this work switched off; null: there is none. */
function tracesOf(evictors: Evictors): string | null {
  const verdicts = [
    ['kube-controller-manager', upstreamVerdict(evictors)],
    ['taintmgr-controller', evictors.taintmgr],
  ] as const;
  const isTrace = ({ kind }: Evidence): boolean => {
    return kind === 'lease' || kind === 'pod' || kind === 'published';
  };
  const lines = verdicts
    .filter(([, { evidence }]) => evidence.some(isTrace))
    .map(([name, verdict]) => `${name}: ${verdictText(verdict)}`);
  return lines.length === 0 ? null : lines.join('; ');
}
