// How taintmgr-controller evicts, by the flags of its pod.
import { defaultConfig } from '@taintmgr/core';

interface ControllerPod {
  readonly spec?: {
    readonly containers?: readonly {
      readonly command?: readonly string[];
      readonly args?: readonly string[];
    }[];
  };
}

/** Whether it asks budgets before a pod goes; null: its pod or its configuration is not to be seen. */
export function asksBudgets(pod: unknown): boolean | null {
  const { spec } = (pod ?? {}) as ControllerPod;
  if (!spec) return null;
  const words = (spec.containers ?? []).flatMap(({ command = [], args = [] }) => {
    return [...command, ...args];
  });
  const mode = flagIn(words, '--mode');
  if (mode !== null) return mode !== 'delete';
  if (flagIn(words, '--config') !== null) return null;
  return defaultConfig.mode !== 'delete';
}

/** The value of a flag, given last; null: it is not given. */
function flagIn(words: readonly string[], flag: string): string | null {
  const values = words.flatMap((word, index) => {
    if (word === flag) return [words[index + 1] ?? ''];
    return word.startsWith(`${flag}=`) ? [word.slice(flag.length + 1)] : [];
  });
  return values.at(-1) ?? null;
}
