// Asks a person on the terminal before something is changed.
import { createInterface } from 'node:readline/promises';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';

/** Throws UsageError where no terminal can ask the user. */
export function refuseUnasked(): void {
  if (!process.stdin.isTTY) throw new UsageError('this is no terminal to ask on: add --yes');
}

/** True for `y` and `yes`; null after Ctrl-C. Throws UsageError where no terminal can ask the user. */
export async function agrees(question: string, interrupt: AbortSignal): Promise<boolean | null> {
  const { stdin, stderr } = process;
  refuseUnasked();
  const asking = createInterface({ input: stdin, output: stderr });
  try {
    const answer = await asking.question(`${question} [y/N] `, { signal: interrupt });
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    // Readline takes Ctrl-C for itself while it asks.
    if (error instanceof Error && error.name === 'AbortError') return null;
    throw error;
  } finally {
    asking.close();
  }
}
