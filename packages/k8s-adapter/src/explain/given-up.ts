// The advice about a pod whose deletion was refused and is not tried again.
import type { Deniers } from '../survey/deniers.ts';
import { listText } from '../text/count.ts';
import { printable, shellWord } from '../text/printable.ts';
import type { GivenUpDocument } from './answers.ts';
import type { PodReport } from './report.ts';

/** Names the admission policies and webhooks that may have refused a deletion. */
export function refusedByText(deniers: Deniers | null): string {
  const source = 'only the log of kube-controller-manager says who refused the deletion';
  if (deniers === null) return source;
  const { policies, webhooks } = deniers;
  const found = [
    ...(policies ?? []).map((name) => `ValidatingAdmissionPolicy ${name}`),
    ...(webhooks ?? []).map((name) => `webhook ${name}`),
  ];
  const hidden = [
    ...(policies === null ? ['validatingadmissionpolicies'] : []),
    ...(webhooks === null ? ['validatingwebhookconfigurations'] : []),
  ];
  const may = found.length === 0 ? [] : [`by their rules ${listText(found, ' or ')} may have`];
  const none =
    'no policy or webhook covers deletions of pods: look for missing rights or a broken API server';
  const unseen = hidden.length === 0 ? [] : [`no permission to list ${hidden.join(', ')}`];
  const rest = found.length === 0 && hidden.length === 0 ? [none] : [...may, ...unseen];
  return printable([source, ...rest].join('; '));
}

/** Returns the steps for a pod whose deletion was refused and is not tried again. */
export function givenUpLines(report: PodReport): readonly string[] {
  const { ask, retry } = commandsFor(report);
  return [
    `ask who refuses: ${ask} (runs as you; a rule may exempt kube-controller-manager or you)`,
    `once the refusal ends: ${retry}, or remove the taint and add it again: kube-controller-manager does not retry`,
  ];
}

/** The same for documents. */
export function givenUpDocument(report: PodReport, deniers: Deniers | null): GivenUpDocument {
  return {
    ...(deniers && { mayRefuse: deniers }),
    commands: commandsFor(report),
    toDo: [refusedByText(deniers), ...givenUpLines(report)],
  };
}

function commandsFor({ facts: { pod } }: PodReport): GivenUpDocument['commands'] {
  const deletion = `kubectl delete pod ${shellWord(pod.name)} -n ${shellWord(pod.namespace)}`;
  return { ask: `${deletion} --dry-run=server`, retry: deletion };
}
