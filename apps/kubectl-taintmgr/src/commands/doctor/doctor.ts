// Looks for what keeps evictions from working, and says so: doctor.

import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import { apiVersion, asOf, evictorDocument } from '@taintmgr/k8s-adapter/explain';
import { ClusterReader, type Survey, surveyCluster } from '@taintmgr/k8s-adapter/survey';
import { type Connection, withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/registry.ts';
import { type Answer, printAnswer, readFormat } from '../../render/printer.ts';
import { renderReport } from './blocks.ts';
import {
  checkBarePods,
  checkBudgets,
  checkDrains,
  checkStuckPods,
  checkTaints,
} from './cluster-checks.ts';
import {
  checkControllers,
  checkOverlap,
  checkPolicies,
  checkPressure,
  checkSettings,
} from './controller-checks.ts';
import { checkDevices } from './device-checks.ts';
import { cutFindings, type DoctorFlags, type Finding } from './finding.ts';
import { checkFiles } from './manifests/manifests.ts';
import { evidenceOf, probeDocument, probeFindings } from './probe/answer.ts';
import { runProbe } from './probe/probe.ts';
import { checkClock, checkRights, checkServer, checkWebhooks } from './server-checks.ts';

type Check = (
  survey: Survey,
  connection: Connection,
) => readonly Finding[] | Promise<readonly Finding[]>;

/** Every check, in the order in which findings are listed. */
const checks: readonly Check[] = [
  checkServer,
  checkClock,
  checkRights,
  checkOverlap,
  checkSettings,
  checkPolicies,
  checkControllers,
  checkPressure,
  checkBudgets,
  checkTaints,
  checkStuckPods,
  checkBarePods,
  checkWebhooks,
  checkDrains,
  checkDevices,
];

/** The time that kube-controller-manager may take to see a taint. */
const waitMsMin = 5_000;

/** `doctor`: reports the health of the cluster, or the faults of the named files. */
export async function run(invocation: Invocation<DoctorFlags>): Promise<ExitCode> {
  const { given, flags } = invocation;
  const { filename, probe, timeout } = flags;
  if (filename && probe) throw new UsageError('--probe: it asks a cluster, and -f asks none');
  if (given.has('timeout') && !probe) throw new UsageError('--timeout: want --probe too');
  if (timeout < waitMsMin) throw new UsageError('--timeout: want 5s or more');
  return filename ? await checkFiles(invocation, filename) : await checkCluster(invocation);
}

async function checkCluster(invocation: Invocation<DoctorFlags>): Promise<ExitCode> {
  const { flags, output } = invocation;
  if (flags.output === 'sarif') {
    throw new UsageError(
      '-o sarif: want -f too, since findings in a cluster have no place in a file',
    );
  }
  if (flags.recursive) throw new UsageError('-R: want -f too, which names the folders');
  const format = await readFormat(flags.output);
  // The checks know the result of the probe.
  const probe = flags.probe ? await runProbe(invocation) : null;
  return await withConnection(invocation, async (connection) => {
    const reader = new ClusterReader(connection.client);
    const survey = await surveyCluster(reader, probe ? evidenceOf(probe) : []);
    const found = await Promise.all(checks.map((check) => check(survey, connection)));
    const findings = [...(probe ? probeFindings(probe) : []), ...found.flat()];
    const answer: Answer = {
      document: {
        apiVersion,
        kind: 'DoctorReport',
        ...asOf(survey.at, 0),
        ...evictorDocument(survey.evictor),
        ...(probe && probeDocument(probe)),
        healthy: findings.every(({ level }) => level !== 'FAIL'),
        findings,
      },
      rows: findings,
      names: findings.filter(({ level }) => level !== 'OK').map(({ check }) => check),
      table: (options) => renderReport(cutFindings(findings), findings, options),
    };
    output.write(await printAnswer(answer, format, flags.headers !== false, output));
    const fails = findings.some(({ level }) => level === 'FAIL');
    return fails || (probe && probe.left.length > 0) ? exitCode.unhealthy : exitCode.done;
  });
}
