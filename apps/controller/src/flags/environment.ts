import type { Config } from '@taintmgr/core';
import type { Texts } from './command-line.ts';
import { variableOf } from './setting.ts';

/** Settings from environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What Kubernetes puts into every container for a Service whose name begins with ours. */
const serviceLink = /_(SERVICE_(HOST|PORT)\w*|PORT(_\d+_(TCP|UDP|SCTP)\w*)?)$/;

/** The values of these flags that are in the environment, by flag. */
export function readEnvironment(environment: Environment, flags: readonly string[]): Texts {
  const found = flags.flatMap((flag) => {
    const value = environment[variableOf(flag)];
    return value === undefined ? [] : [[flag, value] as const];
  });
  return new Map(found);
}

/** The pod in which we run, as the manifests tell by the downward API. */
export function ownPodOf({
  POD_NAME: name,
  POD_NAMESPACE: namespace,
}: Environment): Config['ownPod'] {
  return name && namespace ? { namespace, name } : null;
}

/** Variables that look like ours and belong to no flag: probably misspelt. */
export function unknownVariables(
  environment: Environment,
  flags: readonly string[],
): readonly string[] {
  const known = new Set(flags.map(variableOf));
  return Object.keys(environment)
    .filter((name) => name.startsWith('TAINTMGR_') && !known.has(name) && !serviceLink.test(name))
    .sort();
}
