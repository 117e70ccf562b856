// /statusz and /flagz.
import { formatDuration } from '@taintmgr/core/time';
import type { Origin } from '../flags/resolve.ts';
import type { ProcessStats } from '../stats/process-stats.ts';
import { version } from '../version.ts';
import { type Handler, jsonAnswer, textAnswer, wantsJson } from './answer.ts';

const component = 'taintmgr-controller';
const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';
const group = { apiVersion: 'taintmgr.dev/v1alpha1', metadata: { name: component } };

/** What `statusz` says beside versions and times, in order. */
export type Facts = () => Readonly<Record<string, string | number | boolean>>;

/** How this process is doing, in the form of kube-controller-manager's /statusz. */
export function statusHandler(
  stats: ProcessStats,
  facts: Facts,
  paths: readonly string[],
): Handler {
  return (inquiry) => {
    const { startedAt } = stats;
    const uptime = process.uptime() * 1000;
    if (wantsJson(inquiry)) {
      return jsonAnswer({
        kind: 'Statusz',
        ...group,
        startTime: startedAt.toISOString(),
        uptimeSeconds: Math.floor(uptime / 1000),
        nodeVersion: process.version,
        binaryVersion: version,
        paths,
        status: facts(),
      });
    }
    const lines = [
      `Started: ${startedAt.toUTCString()}`,
      `Up: ${formatDuration(uptime)}`,
      `Node version: ${process.version}`,
      `Binary version: ${version}`,
      ...Object.entries(facts()).map(([name, value]) => `${name}: ${value}`),
      `Paths: ${paths.join(' ')}`,
    ];
    return textAnswer(`\n${component} statusz\n${warning}\n\n${lines.join('\n')}\n`);
  };
}

/** A setting as it counts, and who has chosen it. */
export interface Flag {
  readonly flag: string;
  readonly value: string;
  readonly origin: Origin;
}

/** What was chosen, in the form of kube-controller-manager's /flagz. */
export function flagsHandler(flags: readonly Flag[]): Handler {
  const sorted = flags.toSorted((one, other) => (one.flag < other.flag ? -1 : 1));
  return (inquiry) => {
    if (wantsJson(inquiry)) {
      const values = sorted.map(({ flag, value }) => [flag, value]);
      const origins = sorted.map(({ flag, origin }) => [flag, origin]);
      return jsonAnswer({
        kind: 'Flagz',
        ...group,
        flags: Object.fromEntries(values),
        origins: Object.fromEntries(origins),
      });
    }
    const lines = sorted.map(({ flag, value }) => `${flag}=${value}`);
    return textAnswer(`\n${component} flagz\n${warning}\n\n${lines.join('\n')}\n`);
  };
}
