// The settings that are in force, by the names of their flags, for the status that is published.
import { declaringFlag } from '@taintmgr/k8s-adapter';
import { formatMillis } from './kind.ts';
import type { Choices } from './resolve.ts';
import { groups, type Setting, type Settings } from './settings.ts';

/** The groups that are published: how evictions are decided, without where and how they are served. */
const publishedGroups = [
  'Eviction',
  'Node lifecycle',
  'Leader election',
  'Requests to the API server',
];
const publishedFlags: readonly string[] = [
  ...['controllers', 'feature-gates', 'allow-overlap', 'cluster-policies', 'dry-run', 'takeover'],
  declaringFlag,
];

/**
 * As the flags would have them; what only the configuration file can say by its field, such as
 * `eviction.minTaintAge`. Settings of node pressure are included only where that controller runs.
 */
export function settingsInForce(
  { settings, policies, lifecycle }: Pick<Choices, 'settings' | 'policies' | 'lifecycle'>,
  hasPressure: boolean,
): Readonly<Record<string, string>> {
  return {
    ...flagsInForce(settings, hasPressure),
    ...fieldsOf('eviction', policies),
    ...fieldsOf('nodeLifecycle', lifecycle),
  };
}

function flagsInForce(settings: Settings, hasPressure: boolean): Record<string, string> {
  const values = new Map<string, unknown>(Object.entries(settings));
  const names = hasPressure ? [...publishedGroups, 'Node pressure'] : publishedGroups;
  const chosen = Object.entries(groups).flatMap(([group, members]) =>
    Object.entries<Setting<unknown>>(members).filter(
      ([, { flag }]) => names.includes(group) || publishedFlags.includes(flag),
    ),
  );
  return Object.fromEntries(
    chosen.map(([name, { flag, kind }]) => [flag, kind.format(values.get(name))]),
  );
}

/** Each as the file has it: durations as text, what has members as JSON. */
function fieldsOf(section: string, fields: object): Record<string, string> {
  const entries = Object.entries(asWritten(fields)).map(([name, value]) => {
    return [`${section}.${name}`, typeof value === 'string' ? value : JSON.stringify(value)];
  });
  return Object.fromEntries(entries);
}

/** `{holdMs: 60_000}` as the file has it: `{hold: '1m'}`. */
function asWritten(fields: object): Readonly<Record<string, unknown>> {
  const entries = Object.entries(fields).map(([name, value]: readonly [string, unknown]) => {
    if (typeof value === 'number' && name.endsWith('Ms')) {
      return [name.slice(0, -'Ms'.length), formatMillis(value)];
    }
    const hasMembers = value instanceof Object && !Array.isArray(value);
    return [name, hasMembers ? asWritten(value) : value];
  });
  return Object.fromEntries(entries);
}
