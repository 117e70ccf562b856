// Where the policies of an answer come from, and what of them is not known.
import type { OwnSettings } from '../cluster/own-settings.ts';
import type { PoliciesInForce } from '../cluster/policies-in-force.ts';

const files = 'the --policy files of taintmgr-controller';

/** What is to be said where they are not simply those of the cluster. */
export function sourceNotes(
  { ofController, unknown, isIgnored }: PoliciesInForce,
  { policies }: OwnSettings,
): readonly string[] {
  const known = ofController.filter((name) => !unknown.includes(name));
  const open = 'is not known here, and may change this';
  return [
    ...(isIgnored
      ? ['taintmgr-controller does not follow the policies and pauses of the cluster']
      : []),
    ...(known.length > 0 ? [`from ${files}: ${known.join(', ')}`] : []),
    ...(unknown.length > 0 ? [`what ${unknown.join(', ')} of ${files} says ${open}`] : []),
    ...(policies === null ? [`what ${files} say ${open}`] : []),
  ];
}
