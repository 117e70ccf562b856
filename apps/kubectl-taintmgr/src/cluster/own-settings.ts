// How taintmgr-controller runs: by what its leader publishes, or else by the flags of its pod.
import { defaultConfig } from '@taintmgr/core/model';
import { type ReadSettings, readSettings } from '@taintmgr/k8s-adapter/client';
import type { PublishedPolicy, TaintManager } from './taint-managers.ts';

/** What is known of how it runs. */
export interface OwnSettings extends ReadSettings {
  /** How pods leave where no policy says it; null: that is not to be seen. */
  readonly mode: ReadSettings['engine']['mode'] | null;
  /** The policies of its --policy files; null: it has some, and nobody knows which. */
  readonly policies: readonly PublishedPolicy[] | null;
  /** Whether it watches over nodes and taints those that fail. */
  readonly watchesNodes: boolean;
  /** Whether it acts beside other programs that do the same work. */
  readonly allowsOverlap: boolean;
}

const lifecycle = 'node-lifecycle-controller';

/** What its leader publishes; null: no settings. */
export function publishedSettings({
  settings,
  controllers,
  policies,
}: TaintManager): OwnSettings | null {
  const read = readSettings(settings);
  const { mode } = read.engine;
  if (!mode) return null;
  const watchesNodes = controllers.includes(lifecycle);
  return { ...read, mode, policies, watchesNodes, allowsOverlap: isOverlapAllowed(settings) };
}

interface ControllerPod {
  readonly spec?: {
    readonly serviceAccountName?: string;
    readonly containers?: readonly {
      readonly command?: readonly string[];
      readonly args?: readonly string[];
    }[];
  };
}

function specOf(pod: unknown): ControllerPod['spec'] {
  return ((pod ?? {}) as ControllerPod).spec;
}

/** The name of the service account of its pod; null: the pod is not to be seen. */
export function accountOf(pod: unknown): string | null {
  return specOf(pod)?.serviceAccountName ?? null;
}

/** What the flags of its pod say; null: the pod is not to be seen. A file may say more. */
export function settingsInFlags(pod: unknown): OwnSettings | null {
  const spec = specOf(pod);
  if (!spec) return null;
  const words = (spec.containers ?? []).flatMap(({ command = [], args = [] }) => {
    return [...command, ...args];
  });
  const flags = flagsIn(words);
  // It runs, so it could use them; those that are not known here have nothing to do with evictions.
  const read = { ...readSettings(flags), unusable: [] };
  const byDefault = flags.config === undefined ? defaultConfig.mode : null;
  const controllers = (flags.controllers ?? '*').split(',');
  const watchesNodes =
    controllers.includes(lifecycle) ||
    (controllers.includes('*') && !controllers.includes(`-${lifecycle}`));
  const policies = flags.policy === undefined ? [] : null;
  const mode = read.engine.mode ?? byDefault;
  return { ...read, mode, policies, watchesNodes, allowsOverlap: isOverlapAllowed(flags) };
}

function isOverlapAllowed(settings: Readonly<Record<string, string>>): boolean {
  return settings['allow-overlap'] === 'true';
}

/** The flags among the words of a command line, by their names; of one given twice the last. */
function flagsIn(words: readonly string[]): Readonly<Record<string, string>> {
  const entries = words.flatMap((word, index): (readonly [string, string])[] => {
    const [, name, value] = /^--([a-z0-9-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined) return [];
    const next = words[index + 1] ?? '';
    return [[name, value ?? (next === '' || next.startsWith('-') ? 'true' : next)]];
  });
  return Object.fromEntries(entries);
}
