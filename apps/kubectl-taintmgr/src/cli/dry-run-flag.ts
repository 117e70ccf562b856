import { Option } from '@commander-js/extra-typings';
import { UsageError } from '../usage-error.ts';
import { truthIn } from './arguments.ts';
import { type Output, warn } from './output.ts';

/** The flag --dry-run and its values. */
export type DryRun = 'none' | 'client' | 'server';

/** What kubectl makes of the flag without a value. */
const bare = 'unchanged';

/** The flag as kubectl has it. */
export function dryRunOption(description: string): Option {
  return new Option('--dry-run [strategy]', description).preset(bare).default('none');
}

/** Reads its value; without one it is `client`, and a warning. Throws UsageError in kubectl's words. */
export function readDryRun(text: string, allowed: readonly DryRun[], output: Output): DryRun {
  if (text === bare) {
    warn(output, '--dry-run is deprecated and can be replaced with --dry-run=client.');
    return 'client';
  }
  const truth = truthIn(text);
  if (truth !== null && allowed.includes('client')) {
    const means = truth ? 'client' : 'none';
    warn(
      output,
      `--dry-run=${text} is deprecated (boolean value) and can be replaced with --dry-run=${means}.`,
    );
    return means;
  }
  const found = allowed.find((one) => one === text);
  if (found) return found;
  const names = allowed.map((one) => `"${one}"`);
  const last = names.pop();
  throw new UsageError(`Invalid dry-run value (${text}). Must be ${names.join(', ')}, or ${last}.`);
}
