// Undoes a DeviceTaintRule of taint-device: deletes it, or gives it back its effect; says who does not come back.
import { ApiError } from '@taintmgr/k8s-adapter/client';
import { choicesText, count, UsageError } from '@taintmgr/k8s-adapter/command-line';
import {
  ClusterReader,
  devicePaths,
  type RuleObject,
  rulesPathOf,
  surveyDevices,
} from '@taintmgr/k8s-adapter/survey';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { warn } from '../../cli/output.ts';
import {
  changeRule,
  deleteRule,
  readRule,
  ruleMark,
  ruleReference,
} from '../../cluster/device-rules.ts';
import { goes, nameOf, podsOnDevices } from '../../report/devices.ts';
import type { Undo } from './node-drain.ts';

type RuleUndo = Pick<Undo, 'client' | 'output' | 'isDryRun'>;

/** `undo devicetaintrule/NAME`. */
export async function undoDeviceRule(undo: RuleUndo, name: string): Promise<ExitCode> {
  const { client, isDryRun, output } = undo;
  const reader = new ClusterReader(client);
  const paths = await devicePaths(reader);
  const path = rulesPathOf(paths);
  const rule = await readRule(client, path, name);
  if (!rule) throw new UsageError(`there is no DeviceTaintRule ${name}`);
  const mark = rule.metadata.annotations?.[ruleMark];
  if (mark === undefined) {
    throw new UsageError(
      `devicetaintrule/${name} was not made by taint-device; to delete it anyway: kubectl delete devicetaintrule ${name}`,
    );
  }
  const survey = paths && (await surveyDevices(reader, paths));
  const dry = isDryRun ? ' (dry run)' : '';
  if (mark === 'made') {
    if (!isDryRun) await unlessGone(() => deleteRule(client, path, rule));
    output.out(`${ruleReference(name)} deleted${dry}`);
  } else {
    const change = { effect: 'None', mark: null } as const;
    if (!isDryRun) await changeRule(client, path, rule, change);
    output.out(`${ruleReference(name)} has effect None again${dry}`);
  }
  if (survey && rule.spec.taint.effect === 'NoExecute') sayFates(undo, survey, rule);
  return exitCode.done;
}

/** A rule that another client deletes first is done. */
async function unlessGone(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof ApiError) || error.failure.status !== 404) throw error;
  }
}

/** Reports the pods that were still due to leave for it, and those that are terminating already. */
function sayFates(
  { output, isDryRun }: RuleUndo,
  survey: Awaited<ReturnType<typeof surveyDevices>>,
  { metadata: { name } }: RuleObject,
): void {
  const { devices } = survey;
  const rule = devices.rule(name);
  if (!rule) {
    warn(output, 'which pods were to leave is unknown: you may not list devicetaintrules');
    return;
  }
  const pods = podsOnDevices(survey, devices.reachOf(rule).allocated);
  const leaving = pods.filter(({ facts }) => facts.pod.deletionTimestamp !== null).map(nameOf);
  devices.handle({ kind: 'deviceTaintRuleDelete', name });
  const waiting = pods.filter(goes);
  const others = podsOnDevices(survey, devices.reachOf(rule).allocated).filter(goes).map(nameOf);
  const kept = waiting.map(nameOf).filter((one) => !others.includes(one));
  const [stay, stays] = isDryRun ? ['would stay', 'would stay'] : ['stay', 'stays'];
  if (kept.length > 0) {
    output.out(
      `${count(kept.length, 'pod')} that ${kept.length === 1 ? 'was' : 'were'} to leave ${kept.length === 1 ? stays : stay}: ${choicesText(kept)}`,
    );
  }
  if (leaving.length > 0) {
    const [is, does] = leaving.length === 1 ? ['is', 'does'] : ['are', 'do'];
    warn(output, `${choicesText(leaving)} ${is} terminating and ${does} not come back`);
  }
  if (others.length > 0) {
    warn(output, `other taints make ${choicesText(others)} leave anyway`);
  }
}

/** The rules that can be undone; none where the kind is missing, or where they may not be read. */
export async function markedRules(reader: ClusterReader): Promise<readonly RuleObject[]> {
  const path = (await devicePaths(reader))?.devicetaintrules ?? null;
  if (path === null) return [];
  const rules = await reader.ifAllowed(async () => (await reader.objectsIfServed(path)) ?? []);
  return ((rules ?? []) as readonly RuleObject[]).filter(
    ({ metadata }) => metadata.annotations?.[ruleMark] !== undefined,
  );
}
