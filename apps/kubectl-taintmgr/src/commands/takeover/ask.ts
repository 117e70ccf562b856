// Asks a person whether to go on.
import { createInterface } from 'node:readline/promises';
import { UsageError } from '../../usage-error.ts';

/** Throws UsageError where nobody can be asked. */
export function refuseUnasked(): void {
  if (!process.stdin.isTTY) throw new UsageError('nobody can be asked here: add --yes');
}

/** True for `y` and `yes`. Throws UsageError where nobody can be asked. */
export async function agrees(question: string, interrupt: AbortSignal): Promise<boolean> {
  const { stdin, stderr } = process;
  refuseUnasked();
  const asking = createInterface({ input: stdin, output: stderr });
  try {
    const answer = await asking.question(`${question} [y/N] `, { signal: interrupt });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    asking.close();
  }
}
