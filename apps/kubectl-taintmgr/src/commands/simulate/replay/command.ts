import { type ExitCode, exitCode } from '../../../cli/exit.ts';
import type { Invocation } from '../../../cli/invocation.ts';
import { warn } from '../../../cli/output.ts';
import { version } from '../../../cli/version.ts';
import { readFormat } from '../../../render/format.ts';
import { printable } from '../../../render/printable.ts';
import { printAnswer } from '../../../render/printer.ts';
import type { SimulateFlags } from '../flags.ts';
import { type Replay, replay } from './replay.ts';
import { replayDocument, replayTable } from './table.ts';

/** `simulate --replay`: plays a flight record, and says what this build does differently. */
export async function replayCommand(
  { flags, output, interrupt }: Invocation<SimulateFlags>,
  file: string,
): Promise<ExitCode> {
  const format = await readFormat(flags.output);
  const played = await replay(file, interrupt);
  const { difference, head, unknown } = played;
  const answer = {
    document: replayDocument(played),
    rows: Array.from(played.commands, ([kind, times]) => ({ kind, times })),
    names: [],
    table: (options: { wide: boolean; headers: boolean }) => replayTable(played, options),
  };
  output.write(await printAnswer(answer, format, flags.headers !== false));
  const note = noteOf(played);
  if (note !== null) warn(output, note);
  for (const name of unknown) {
    warn(output, `engine.${printable(name)}: this build has no such setting, and plays without it`);
  }
  if (difference && head.version !== version) {
    output.err(`Note: recorded by ${printable(head.version)}; this is ${version}`);
  }
  return difference ? exitCode.different : exitCode.done;
}

/** What to know of how the recording ends; null: in order. */
function noteOf({ file, end, cutLine, difference }: Replay): string | null {
  if (difference) return null;
  switch (end) {
    case 'stopped':
      return null;
    case 'full':
      return `${file} ends because it was full; what came after is not in it`;
    case 'open':
      return `${file} ends without saying so: it was still being written, or its writer was killed`;
    case 'cut':
      return `${file}:${cutLine}: the last line is cut off; all before it was played`;
  }
}
