// The check of what controllers say of themselves that is not as it should be.
import { formatDuration, type Instant } from '@taintmgr/core/time';
import type { Connection } from '../../cli/connection.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import type { Survey } from '../../cluster/survey.ts';
import { isFresh, type TaintManager } from '../../cluster/taint-managers.ts';
import { type Finding, findingsOf } from './finding.ts';

/** What to do about a condition; left out: it says so itself. */
const fixes: Readonly<Record<string, string>> = {
  ClockSkew: 'set the clock of the machine that the controller runs on',
};

/** What leaders have published: their conditions, and how their takeover is. */
export async function checkControllers(
  { at }: Survey,
  { client }: Connection,
): Promise<readonly Finding[]> {
  const managers = await new ClusterReader(client).taintManagers();
  return managers.filter(({ isResigned }) => !isResigned).flatMap((one) => findingsIn(one, at));
}

function findingsIn(manager: TaintManager, at: Instant): readonly Finding[] {
  const finding = findingsOf('controllers');
  const about = `taintmanager/${manager.name}`;
  const { troubles, takeover, renewedAt } = manager;
  if (!isFresh(manager, at)) {
    const ago = renewedAt === null ? 'never' : `${formatDuration(Math.max(0, at - renewedAt))} ago`;
    const fix = 'see whether the controller runs: kubectl taintmgr status';
    return [finding('WARN', `its leader last wrote its status ${ago}`, { about, fix })];
  }
  const found = troubles
    .filter((text) => !text.startsWith('DryRun:'))
    .map((text) => finding('WARN', text, { about, fix: fixes[text.split(':', 1)[0] ?? ''] ?? '' }));
  const drift = (takeover?.drift ?? []).map((text) =>
    finding('WARN', `takeover: ${text}`, { about, fix: 'see kubectl taintmgr takeover status' }),
  );
  const isOff = takeover?.enabled === false;
  const off = 'takeover does not work: kube-controller-manager evicts as ever';
  const all = [...(isOff ? [finding('FAIL', off, { about })] : []), ...drift, ...found];
  return all.length > 0 ? all : [finding('OK', 'the leader says nothing unusual', { about })];
}
