// What enable and disable have done, in every format.
import { takeoverLabel } from '@taintmgr/k8s-adapter';
import type { DryRun } from '../../cli/dry-run-flag.ts';
import type { Format } from '../../render/format.ts';
import { printAnswer } from '../../render/printer.ts';
import type { HeldPod } from './held.ts';
import type { Proof } from './proof.ts';

/** Takes effect in milliseconds; nobody puts the labels back. */
export const killSwitch: string = `kubectl label namespaces -l ${takeoverLabel.key}=${takeoverLabel.value} ${takeoverLabel.key}-`;

/** What becomes of one namespace. */
export interface NamespaceChange {
  readonly name: string;
  readonly pods: number;
  readonly onTainted: number;
  /** Whether it is so already. */
  readonly isDone: boolean;
  /** Pods that nobody evicts from now on. */
  readonly left: readonly HeldPod[];
}

export interface Change {
  readonly verb: 'enable' | 'disable';
  readonly dryRun: DryRun;
  readonly changes: readonly NamespaceChange[];
  readonly proof: Proof | null;
}

const runTexts: Readonly<Record<DryRun, string>> = {
  none: '',
  server: ' (server dry run)',
  client: ' (dry run)',
};

export function printChange(change: Change, format: Format, headers: boolean): Promise<string> {
  const { verb, dryRun, changes, proof } = change;
  const label = verb === 'enable' ? 'labeled' : 'unlabeled';
  const document = {
    kind: 'TakeoverChange',
    action: verb,
    dryRun,
    label: `${takeoverLabel.key}=${takeoverLabel.value}`,
    namespaces: changes.map(({ isDone, left, ...rest }) => ({
      ...rest,
      changed: !isDone,
      left: left.map(({ pod, why }) => ({ name: pod.name, why })),
    })),
    ...(proof && { proof }),
    killSwitch,
  };
  return printAnswer(
    {
      document,
      rows: document.namespaces,
      names: changes.map(({ name }) => `namespace/${name}`),
      table: () =>
        changes
          .map(({ name, isDone }) => {
            return `namespace/${name} ${isDone ? `not ${label}` : label}${runTexts[dryRun]}`;
          })
          .join('\n'),
    },
    format,
    headers,
  );
}
