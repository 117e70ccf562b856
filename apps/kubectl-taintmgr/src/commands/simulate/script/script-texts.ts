// Events, as files and the command line state them: text, which another thread reads for itself.
import type { Millis } from '@taintmgr/core/time';
import { readText } from '../source/read.ts';
import { emptyScript, readEvents, readScript, type Script } from './script.ts';

export interface ScriptTexts {
  /** The file of --script; null: there is none. */
  readonly script: { readonly file: string; readonly text: string } | null;
  /** The texts of --event. */
  readonly events: readonly string[];
  readonly until: Millis;
}

/** Throws UsageError. */
export async function readScriptTexts(flags: {
  readonly script?: string | undefined;
  readonly event?: readonly string[] | undefined;
  readonly until: Millis;
}): Promise<ScriptTexts> {
  const { script: file, event = [], until } = flags;
  const script = file === undefined ? null : { file, text: await readText('--script', file) };
  return { script, events: event, until };
}

/** Throws FaultyFile with all faults. */
export function scriptFrom({ script, events, until }: ScriptTexts): Script {
  const read = script === null ? emptyScript : readScript(script.file, script.text, until);
  const own = events.flatMap((text) => readEvents('--event', text, until));
  return { ...read, events: [...read.events, ...own] };
}
