// The annotations that GitHub shows at lines of a change: workflow commands, encoded as
// @actions/core encodes them.

export interface Annotation {
  readonly level: 'error' | 'warning';
  /** From the root of the repository; left out: it stands nowhere. */
  readonly file?: string;
  readonly line?: number;
  readonly title: string;
  readonly message: string;
}

/** The number of errors and of warnings that GitHub shows of a step. */
const shownMax = 10;

/** The commands for the runner, the first ten of each level. */
export function annotationLines(annotations: readonly Annotation[]): readonly string[] {
  return (['error', 'warning'] as const).flatMap((level) =>
    annotations
      .filter((one) => one.level === level)
      .slice(0, shownMax)
      .map(commandOf),
  );
}

function commandOf({ level, file, line, title, message }: Annotation): string {
  const properties = Object.entries({ file, line, title })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${inProperty(String(value))}`);
  return `::${level} ${properties.join(',')}::${inMessage(message)}`;
}

function inMessage(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function inProperty(text: string): string {
  return inMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
