// The check how taintmgr-controller runs, by what its leader publishes or by the flags of its pod.
import type { Connection } from '../../cli/connection.ts';
import { readClusterPolicies } from '../../cluster/policies.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import type { Survey } from '../../cluster/survey.ts';
import { sourceNotes } from '../../report/policy-sources.ts';
import { type Finding, findingsOf } from './finding.ts';

/** What it runs with that others do not know of, and whether it asks budgets; nothing where it does not act. */
export async function checkSettings(
  { evictor }: Survey,
  { client }: Pick<Connection, 'client'>,
): Promise<readonly Finding[]> {
  const finding = findingsOf('settings');
  const { settings, asksBudgets } = evictor;
  if (!settings) return [];
  const policies = await readClusterPolicies(new ClusterReader(client), Promise.resolve(evictor));
  const modeText =
    settings.mode === null ? 'a mode that is not to be seen' : `--mode=${settings.mode}`;
  const budgets = asksBudgets === false ? ': PodDisruptionBudgets are not asked' : '';
  return [
    finding(budgets === '' ? 'OK' : 'INFO', `taintmgr-controller runs with ${modeText}${budgets}`),
    ...settings.unusable.map((text) => {
      const message = `taintmgr-controller runs with ${text}, which is not understood here and left out`;
      return finding('WARN', message, { fix: 'use a plugin of the version of the controller' });
    }),
    ...sourceNotes(policies, settings).map((text) => finding('INFO', text)),
  ];
}
