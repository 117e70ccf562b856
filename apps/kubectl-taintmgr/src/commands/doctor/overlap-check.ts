// The check whether two controllers evict the same pods, or none.
import {
  contradictionText,
  type Evictors,
  type Evidence,
  taintEvictors,
  verdictText,
  wayToKnow,
} from '@taintmgr/k8s-adapter';
import { isOursAlone, upstreamVerdict } from '../../cluster/evictors.ts';
import type { Survey } from '../../cluster/survey.ts';
import { taintController } from '../../cluster/taint-managers.ts';
import { type Finding, findingsOf } from './finding.ts';

const probeHint = 'kubectl taintmgr doctor --probe shows whether it does';

export function checkOverlap(survey: Survey): readonly Finding[] {
  return [...actingFindings(survey), ...doubtFindings(survey)];
}

function actingFindings({ evictors, evictor }: Survey): readonly Finding[] {
  const finding = findingsOf('overlap');
  if (evictor.takesOver && actingIn(evictors).length === 1) {
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
  if (answer.kind === 'unknown') {
    const message = `${answer.text}; assume that it does`;
    const isUpstream = answer.agent === 'kube-controller-manager';
    const fix = isUpstream ? `${answer.advice}; ${probeHint}` : answer.advice;
    return [finding('INFO', message, { fix })];
  }
  return [finding('INFO', `${answer.text}, and counts anew when it restarts`)];
}

/** One installation is as it should be, as far as kube-controller-manager leaves the work to it. */
function ownFindings(evictors: Evictors): readonly Finding[] {
  const finding = findingsOf('overlap');
  const acting = actingIn(evictors);
  const taintmgr = { ...evictors.taintmgr, evidence: acting };
  if (acting.length > 1) {
    const message = `${acting.length} installations of taintmgr-controller ${verdictText(taintmgr, 'run')}`;
    return [finding('WARN', message, { fix: 'keep one of them' })];
  }
  const verdict = upstreamVerdict(evictors);
  const message = `taintmgr-controller ${verdictText(taintmgr, 'runs')}`;
  if (verdict.kind !== 'unknown') return [finding('OK', message)];
  const doubt = `kube-controller-manager: ${verdictText(verdict)}`;
  const fix = `${wayToKnow(verdict.evidence, 'kube-controller-manager')}; ${probeHint}`;
  return [finding('WARN', `${message}; ${doubt}`, { fix })];
}

/** The installations that evict for taints, as far as that is believed; who does not say what it runs may. */
function actingIn({ taintmgr }: Evictors): readonly Evidence[] {
  return taintmgr.evidence.filter((one) => {
    if (one.kind === 'published') return one.controllers?.includes(taintController) !== false;
    if (one.kind !== 'lease' || one.life !== 'alive' || one.isUnproven) return false;
    return one.lease.controllers?.includes(taintController) !== false;
  });
}

/** What is declared and not so, and what people claim who may not evict. */
function doubtFindings({ evictors }: Survey): readonly Finding[] {
  const finding = findingsOf('overlap');
  const { evidence } = upstreamVerdict(evictors);
  const against = contradictionText(evidence);
  const fix =
    'correct --kube-controller-manager-runs of taintmgr-controller, or the flags of kube-controller-manager';
  const forged = [...evidence, ...evictors.taintmgr.evidence].flatMap((one) => {
    if (one.kind === 'pod' && one.isUnproven) {
      return [
        `pod ${one.namespace}/${one.name} is labelled as kube-controller-manager, and is not believed: no node of the control plane runs it`,
      ];
    }
    if (one.kind !== 'lease' || one.life !== 'alive' || !one.isUnproven) return [];
    const { namespace, name, holder } = one.lease;
    return [
      `lease ${namespace}/${name} of ${holder} is not believed: whoever may write leases there can write it, and no TaintManager names its holder`,
    ];
  });
  return [
    ...(against === null ? [] : [finding('WARN', against, { fix })]),
    ...forged.map((message) => finding('WARN', message, { fix: 'find out who wrote it' })),
  ];
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
