// The flag that assumes policies of files.
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import { UsageError } from '../usage-error.ts';
import { collect } from './connection-flags.ts';

export interface PolicyFlag {
  readonly policy?: readonly string[] | undefined;
}

export function addPolicyFlag(command: CommandUnknownOpts): void {
  command.addOption(
    new Option(
      '--policy <path>',
      'as if the policies of this file or directory were there; may be repeated',
    ).argParser(collect),
  );
}

/** The policies of the files; a pause holds from now on. Throws UsageError with all that is wrong. */
export async function readPolicyFlag({
  policy = [],
}: PolicyFlag): Promise<readonly PolicyObject[]> {
  if (policy.length === 0) return [];
  // What reads YAML takes long to load.
  const manifests = await import('@taintmgr/k8s-adapter/manifests');
  try {
    return manifests.readPolicyFiles(policy, Date.now());
  } catch (error) {
    if (error instanceof manifests.FaultyFile) throw new UsageError(error.faults);
    if (error instanceof manifests.PolicyPathError) {
      throw new UsageError(`--policy ${error.message}`);
    }
    throw error;
  }
}
