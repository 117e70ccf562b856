// The settings that are in force, by the names of their flags, for the status that is published.
import type { Setting } from './setting.ts';
import { groups, type Settings } from './settings.ts';

/** The groups that say what is done; where and how it is served is nobody's business. */
const publishedGroups = [
  'Eviction',
  'Node lifecycle',
  'Leader election',
  'Requests to the API server',
];
const publishedFlags: readonly string[] = ['controllers', 'feature-gates', 'allow-overlap'];

/** As the flags would have them. Those of node pressure only where that runs. */
export function settingsInForce(
  settings: Settings,
  hasPressure: boolean,
): Readonly<Record<string, string>> {
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
