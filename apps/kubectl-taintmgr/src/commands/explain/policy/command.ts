import { isHoldingPause } from '@taintmgr/k8s-adapter';
import { withConnection } from '../../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../../cli/exit.ts';
import type { Invocation } from '../../../cli/invocation.ts';
import { warn } from '../../../cli/output.ts';
import { readPolicyFlag } from '../../../cli/policy-flag.ts';
import type { Evictor } from '../../../cluster/evictors.ts';
import { ClusterReader } from '../../../cluster/reader.ts';
import { readFormat } from '../../../render/format.ts';
import { printable } from '../../../render/printable.ts';
import { printAnswer } from '../../../render/printer.ts';
import { sourceNotes } from '../../../report/policy-sources.ts';
import { policyAnswer } from './answer.ts';
import type { PolicyFlags } from './flags.ts';
import { type PolicySurvey, readPolicyQuestion, surveyPolicies } from './survey.ts';

/** `explain policy POD|NODE`: which EvictionPolicy counts, and why the others do not. */
export async function run(
  invocation: Invocation<PolicyFlags>,
  subject: string,
  name?: string,
): Promise<ExitCode> {
  const { flags, output } = invocation;
  const question = readPolicyQuestion(name === undefined ? subject : `${subject}/${name}`);
  const format = await readFormat(flags.output);
  const files = await readPolicyFlag(flags);
  return await withConnection(invocation, async ({ client, cluster }) => {
    const reader = new ClusterReader(client);
    const survey = await surveyPolicies(reader, question, cluster.namespace, files);
    output.write(await printAnswer(policyAnswer(survey), format, flags.headers !== false));
    for (const warning of warningsOn(survey)) warn(output, printable(warning));
    for (const note of notesOn(survey)) output.err(`Note: ${printable(note)}`);
    return exitCode.done;
  });
}

/** What could not be read; while a policy is wrong, taintmgr-controller holds everything. */
function warningsOn({ policies, refused }: PolicySurvey): readonly string[] {
  const wrong = policies.objects.flatMap(({ kind, value }) =>
    kind === 'EvictionPause' && isHoldingPause(value)
      ? [`${value.reason}; taintmgr-controller holds all evictions until it can be`]
      : [],
  );
  return [...wrong, ...refused.map((message) => `not everything could be read: ${message}`)];
}

/** Where policies come from, and who acts where that is not taintmgr-controller alone. */
function notesOn({ evictor, policies }: PolicySurvey): readonly string[] {
  const { settings } = evictor;
  return [...actorNotes(evictor), ...(settings ? sourceNotes(policies, settings) : [])];
}

function actorNotes(evictor: Evictor): readonly string[] {
  switch (evictor.name) {
    case 'taintmgr-controller':
      return [];
    case 'kube-controller-manager':
      return ['kube-controller-manager evicts here and knows no policies'];
    case 'both':
      return ['kube-controller-manager evicts here too and knows no policies'];
    default:
      return ['only taintmgr-controller knows policies, and it was not seen to act here'];
  }
}
