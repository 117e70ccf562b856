// What runs are called for whoever has read no documentation.
import type { PageInput, RunDocument } from '../simulation.ts';

const byRules: Readonly<Record<RunDocument['semantics'], string>> = {
  precise: 'taintmgr',
  'upstream-1.36': 'kube-controller-manager',
};

/** Runs that nobody has named have their rules for a name, and get that of whose rules they are. */
export function withPlainNames(input: PageInput): PageInput {
  const runs = input.runs.map((run) => {
    return run.name === run.semantics ? { ...run, name: byRules[run.semantics] } : run;
  });
  return { ...input, runs };
}
