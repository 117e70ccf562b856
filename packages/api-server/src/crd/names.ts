// Which names of a definition are free in its group, and what its conditions say of that.

import { equal } from '@taintmgr/sim-cluster/server';
import { withDefinitionCondition } from '../kinds/definition-defaults.ts';
import type { Definition, DefinitionCondition, DefinitionNames } from '../structural/definition.ts';
import { holds } from '../structural/definition.ts';

/** The names that the other definitions of a group have. */
interface Taken {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

function takenBy(others: readonly Definition[]): Taken {
  const accepted = others.map(({ status }) => status?.acceptedNames);
  const resources = accepted.flatMap((names) => [
    names?.plural,
    names?.singular,
    ...(names?.shortNames ?? []),
  ]);
  const kinds = accepted.flatMap((names) => [names?.kind, names?.listKind]);
  const present = (name: string | undefined): name is string => Boolean(name);
  return {
    resources: new Set(resources.filter(present)),
    kinds: new Set(kinds.filter(present)),
  };
}

interface Judged {
  readonly acceptedNames: DefinitionNames;
  /** Null where all names are free; the last conflict counts. */
  readonly conflict: { readonly reason: string; readonly message: string } | null;
}

function judgeNames(definition: Definition, taken: Taken): Judged {
  const wanted = definition.spec.names;
  const had: Partial<DefinitionNames> = definition.status?.acceptedNames ?? {};
  let conflict: Judged['conflict'] = null;
  const isFree = (name: string, among: ReadonlySet<string>, reason: string): boolean => {
    if (!among.has(name)) return true;
    conflict = { reason, message: `${JSON.stringify(name)} is already in use` };
    return false;
  };
  const hadSingular = had.singular !== undefined && { singular: had.singular };
  const hadShortNames = had.shortNames !== undefined && { shortNames: had.shortNames };
  const hadListKind = had.listKind !== undefined && { listKind: had.listKind };
  const { resources, kinds } = taken;
  const { plural, singular = '', shortNames = [], kind, listKind = '', categories } = wanted;
  const clashing = (names: readonly string[]): boolean =>
    names.filter((name) => !isFree(name, resources, 'ShortNamesConflict')).length > 0;
  const acceptedNames: DefinitionNames = {
    plural: isFree(plural, resources, 'PluralConflict') ? plural : (had.plural ?? ''),
    ...(isFree(singular, resources, 'SingularConflict') ? { singular } : hadSingular),
    ...(clashing(shortNames) ? hadShortNames : shortNames.length > 0 && { shortNames }),
    kind: isFree(kind, kinds, 'KindConflict') ? kind : (had.kind ?? ''),
    ...(isFree(listKind, kinds, 'ListKindConflict') ? { listKind } : hadListKind),
    ...(categories && { categories }),
  };
  return { acceptedNames, conflict };
}

const condition = (
  type: string,
  status: 'True' | 'False',
  reason: string,
  message: string,
): DefinitionCondition => ({ type, status, reason, message });

const acceptedText = 'the initial names have been accepted';

/** The definition with its names judged; the same one when there is nothing to say anew. */
export function withNames(
  definition: Definition,
  others: readonly Definition[],
  now: number,
): Definition {
  const { acceptedNames, conflict } = judgeNames(definition, takenBy(others));
  const named = { ...definition, status: { ...definition.status, acceptedNames } };
  const verdict = conflict
    ? condition('NamesAccepted', 'False', conflict.reason, conflict.message)
    : condition('NamesAccepted', 'True', 'NoConflicts', 'no conflicts found');
  const judged = withDefinitionCondition(named, verdict, now);
  const next = holds(definition, 'Established')
    ? judged
    : withDefinitionCondition(
        judged,
        conflict
          ? condition('Established', 'False', 'NotAccepted', 'not all names are accepted')
          : condition('Established', 'False', 'Installing', acceptedText),
        now,
      );
  return equal(next.status, definition.status) ? definition : next;
}

/** The definition once it is served; the same one when it was before, or may not be. */
export function withEstablished(definition: Definition, now: number): Definition {
  if (holds(definition, 'Established') || !holds(definition, 'NamesAccepted')) return definition;
  const verdict = condition('Established', 'True', 'InitialNamesAccepted', acceptedText);
  return withDefinitionCondition(definition, verdict, now);
}
