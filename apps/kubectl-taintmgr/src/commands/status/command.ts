import { isOpenRequest } from '@taintmgr/core/drain';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/invocation.ts';
import { warn } from '../../cli/output.ts';
import { readPolicyFlag } from '../../cli/policy-flag.ts';
import { listNodeDrains } from '../../cluster/node-drains.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import { readFormat } from '../../render/format.ts';
import { type Answer, printAnswer } from '../../render/printer.ts';
import { pausesInForce } from '../../report/pauses.ts';
import { surveyPending } from '../../report/pending-survey.ts';
import { reportOnPresent } from '../../report/report.ts';
import type { StatusFlags } from './flags.ts';
import { renderShadows, shadowDocument, shadowsIn } from './shadow.ts';
import { statusDocument, statusOf } from './status.ts';
import { renderStatus } from './table.ts';

/** `status`: one look at the whole cluster. */
export async function run(invocation: Invocation<StatusFlags>): Promise<ExitCode> {
  const { flags, output } = invocation;
  const format = await readFormat(flags.output);
  const files = await readPolicyFlag(flags);
  return await withConnection(invocation, async ({ client }) => {
    const reader = new ClusterReader(client);
    if (flags.shadow) {
      const answer = await shadowAnswer(reader);
      output.write(await printAnswer(answer, format, flags.headers !== false));
      return exitCode.done;
    }
    const nodes = await reader.nodes();
    const survey = await surveyPending(reader, nodes, { files });
    const reports = reportOnPresent(survey).nodes;
    const [clocks, managers, nodeDrains] = await Promise.all([
      reader.clockEvents(),
      reader.taintManagers(),
      listNodeDrains(client),
    ]);
    const tripped = survey.limits?.tripped ?? [];
    const pauses = pausesInForce(survey.policies.objects, survey.at);
    const status = {
      ...statusOf(survey, nodes, reports),
      clocks,
      tripped,
      pauses,
      managers,
      nodeDrains,
      requests: survey.requests.filter(isOpenRequest),
    };
    const answer = {
      document: statusDocument(status),
      rows: status.zones,
      names: status.drains.flatMap((drain) => drain.nodes.map((name) => `node/${name}`)),
      table: (options: Parameters<typeof renderStatus>[1]) => renderStatus(status, options),
    };
    output.write(await printAnswer(answer, format, flags.headers !== false));
    for (const text of survey.refused) warn(output, `not everything could be read: ${text}`);
    return exitCode.done;
  });
}

/** What controllers in a dry run publish. */
async function shadowAnswer(reader: Pick<ClusterReader, 'taintManagers'>): Promise<Answer> {
  const shadows = shadowsIn(await reader.taintManagers());
  const at = Date.now();
  return {
    document: shadowDocument(at, shadows),
    rows: shadows.flatMap(({ report }) => report.taints ?? []),
    names: shadows.map(({ manager }) => `taintmanager/${manager.name}`),
    table: (options) => renderShadows(at, shadows, options),
  };
}
