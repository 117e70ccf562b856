// Carries definitions from their creation to their end: names, serving, and the end of their objects.

import {
  ApiError,
  type Backend,
  type Change,
  deleteObject,
  equal,
  type KubeObject,
  replaceObject,
  type Timer,
} from '@taintmgr/sim-cluster/server';
import { cleanupFinalizer, withDefinitionCondition } from '../kinds/definition-defaults.ts';
import { definitionResource, definitionsKey } from '../kinds/definitions.ts';
import {
  type Definition,
  type DefinitionCondition,
  type DefinitionNames,
  holds,
} from '../structural/definition.ts';
import { customResources, storeKeyOf } from './custom-resource.ts';

// Settles which names of a definition are free in its group, and writes that to its conditions.

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

/** The definition with its names judged; the same object when nothing changes. */
function withNames(definition: Definition, others: readonly Definition[], now: number): Definition {
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
function withEstablished(definition: Definition, now: number): Definition {
  if (holds(definition, 'Established') || !holds(definition, 'NamesAccepted')) return definition;
  const verdict = condition('Established', 'True', 'InitialNamesAccepted', acceptedText);
  return withDefinitionCondition(definition, verdict, now);
}

/** The time that each step takes. */
const stepMs = 5;
const manager = 'kube-apiserver';

/**
 * Every definition of a server. The server applies a change of a definition after a moment, step by
 * step; each step is one write of its status. The served resources follow the status at once.
 */
export class Definitions {
  readonly #backend: Backend;
  readonly #pending = new Map<string, Timer>();

  constructor(backend: Backend) {
    this.#backend = backend;
    backend.store.subscribe((change) => this.#notice(change));
  }

  #notice({ type, resource, object, previous }: Change): void {
    const { served, store } = this.#backend;
    const definition = object as Definition;
    if (resource !== definitionsKey) {
      // The last object of a definition that is being deleted takes it along.
      if (type === 'DELETED' && isCustom(resource)) this.#plan(resource);
      return;
    }
    const { name } = definition.metadata;
    if (type === 'DELETED') {
      served.define(storeKeyOf(definition), []);
      this.#pending.get(name)?.cancel();
      this.#pending.delete(name);
      for (const other of store.collection(definitionsKey).list(''))
        this.#plan(other.metadata.name);
      return;
    }
    this.#serve(definition, previous as Definition | null);
    this.#plan(name);
  }

  #serve(definition: Definition, previous: Definition | null): void {
    const { served } = this.#backend;
    if (!holds(definition, 'Established')) return;
    const isSame =
      previous !== null &&
      holds(previous, 'Established') &&
      equal(definition.spec, previous.spec) &&
      equal(definition.status?.acceptedNames, previous.status?.acceptedNames) &&
      definition.metadata.deletionTimestamp === previous.metadata.deletionTimestamp;
    if (!isSame) served.define(storeKeyOf(definition), customResources(definition));
  }

  #plan(name: string): void {
    if (this.#pending.has(name)) return;
    const timer = this.#backend.clock.after(stepMs, () => {
      this.#pending.delete(name);
      this.#step(name);
    });
    this.#pending.set(name, timer);
  }

  #step(name: string): void {
    const { store, clock } = this.#backend;
    const definition = store.get(definitionsKey, '', name) as Definition | null;
    if (!definition) return;
    if (definition.metadata.deletionTimestamp !== undefined) {
      this.#end(definition);
      return;
    }
    const all = store.collection(definitionsKey).list('') as readonly KubeObject[];
    const others = all
      .map((other) => other as Definition)
      .filter((other) => isRival(other, definition));
    const named = withNames(definition, others, clock.now());
    const next = named === definition ? withEstablished(definition, clock.now()) : named;
    if (next !== definition) this.#write(next, 'status');
  }

  /** Deletes the objects, and lets the definition go when the last of them is gone. */
  #end(definition: Definition): void {
    const { store, served, clock } = this.#backend;
    const inProgress = withDefinitionCondition(
      definition,
      {
        type: 'Terminating',
        status: 'True',
        reason: 'InstanceDeletionInProgress',
        message: 'CustomResource deletion is in progress',
      },
      clock.now(),
    );
    if (!equal(inProgress.status, definition.status)) {
      this.#write(inProgress, 'status');
      return;
    }
    const key = storeKeyOf(definition);
    const objects = store.collection(key).list('');
    const [resource] = served.all.filter(({ storeKey }) => storeKey === key);
    for (const { metadata } of resource ? objects : []) {
      if (!resource || metadata.deletionTimestamp !== undefined) continue;
      const target = { namespace: metadata.namespace ?? '', name: metadata.name };
      deleteObject(this.#backend, resource, target, {});
    }
    if (resource && store.collection(key).list('').length > 0) return;
    const finalizers = (definition.metadata.finalizers ?? []).filter(
      (finalizer) => finalizer !== cleanupFinalizer,
    );
    this.#write({ ...definition, metadata: { ...definition.metadata, finalizers } }, '');
  }

  /**
   * A definition that an update of its status has made invalid stays as it is until a later update
   * repairs it.
   */
  #write(definition: KubeObject, subresource: '' | 'status'): void {
    const target = { namespace: '', name: definition.metadata.name };
    const options = { subresource, manager };
    try {
      replaceObject(this.#backend, definitionResource, target, definition, options);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
}

const isCustom = (storeKey: string): boolean => storeKey.includes('.');

/** Definitions of one group must not share names. */
function isRival(other: Definition, definition: Definition): boolean {
  return (
    other.metadata.name !== definition.metadata.name && other.spec.group === definition.spec.group
  );
}
