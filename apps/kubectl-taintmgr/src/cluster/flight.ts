// A flight record, line by line, with its faults.
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { constants, createGunzip } from 'node:zlib';
import {
  type FlightEnd,
  type FlightHead,
  type FlightStep,
  flightHeadFrom,
  flightLineFrom,
} from '@taintmgr/k8s-adapter';
import { fileFault, shellWord, UsageError } from '@taintmgr/k8s-adapter/command-line';

/** The content of one line of a flight record, from 1. */
export type FlightLine =
  | { readonly kind: 'head'; readonly head: FlightHead }
  | { readonly kind: 'step'; readonly line: number; readonly step: FlightStep }
  | { readonly kind: 'end'; readonly end: FlightEnd['end'] }
  /** The last line, where writing it was cut off. */
  | { readonly kind: 'cut'; readonly line: number };

interface TextLine {
  readonly number: number;
  readonly text: string;
  /** True where a line break ends it. */
  readonly isWhole: boolean;
}

/**
 * Reads a flight record line by line: it may be larger than memory. Throws UsageError at the first
 * line that is not as a recorder writes it, and where there is no file.
 */
export async function* readFlight(
  file: string,
  flag: '--replay' | '--flight-record' = '--replay',
): AsyncGenerator<FlightLine> {
  let latest: FlightStep | null = null;
  let isOver = false;
  let number = 0;
  for await (const line of linesOf(file, flag)) {
    number = line.number;
    const refuse = (text: string): never => {
      throw damage(file, number, text);
    };
    if (isOver) refuse('nothing is expected after the end');
    const value = parsed(line, refuse);
    if (value === undefined) {
      if (number === 1) refuse('the recording was cut off in its first line');
      yield { kind: 'cut', line: number };
      return;
    }
    const read = reading(refuse);
    if (number === 1) {
      yield { kind: 'head', head: read(() => flightHeadFrom(value)) };
      continue;
    }
    const found = read(() => flightLineFrom(value));
    if ('end' in found) {
      isOver = true;
      yield { kind: 'end', end: found.end };
      continue;
    }
    const place = placeFault(found, latest);
    if (place !== null) refuse(place);
    latest = found;
    yield { kind: 'step', line: number, step: found };
  }
  if (number === 0) {
    throw damage(file, 1, 'the file is empty');
  }
}

const recording = 'a recording of taintmgr-controller --flight-record';

/** The fault of a line, and what to do: a step builds on all before it. */
function damage(file: string, line: number, text: string): UsageError {
  const whole = `gzip -cdf ${shellWord(file)} | head -n ${line - 1} > PART`;
  const before = line > 2 ? `, or read what stands before: ${whole}` : '';
  const next = line === 1 ? `, want ${recording}` : `; copy the recording again${before}`;
  return new UsageError(`${file}:${line}: ${text}${next}`);
}

/** The fault of a step after the one before it; null: none. */
function placeFault({ step, at }: FlightStep, before: FlightStep | null): string | null {
  const expected = (before?.step ?? 0) + 1;
  if (step !== expected) return `step: got ${step}, want ${expected}: something is missing here`;
  if (before && at < before.at)
    return `at: got ${at}, which is before the ${before.at} of the last step`;
  return null;
}

/** The value of a line; undefined for one that was cut off. */
function parsed({ text, isWhole }: TextLine, refuse: (text: string) => never): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return isWhole ? refuse(`no JSON: ${error.message}`) : undefined;
  }
}

function reading(refuse: (text: string) => never): <T>(read: () => T) => T {
  return (read) => {
    try {
      return read();
    } catch (error) {
      if (error instanceof RangeError) return refuse(error.message);
      throw error;
    }
  };
}

/** A recorder's longest line holds a node with all its conditions: far below this. */
const lineLengthMax = 16 * 2 ** 20;

/** The lines of a text, of which only `\n` ends one. Throws UsageError. */
async function* linesOf(file: string, flag: string): AsyncGenerator<TextLine> {
  let number = 0;
  let rest: string[] = [];
  let length = 0;
  try {
    for await (const chunk of await textOf(file)) {
      const [first = '', ...others] = String(chunk).split('\n');
      rest.push(first);
      length += first.length;
      if (length > lineLengthMax) {
        throw damage(file, number + 1, 'longer than any line of a recording');
      }
      for (const next of others) {
        yield { number: ++number, text: rest.join(''), isWhole: true };
        [rest, length] = [[next], next.length];
      }
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (code.startsWith('Z_')) throw damage(file, number + 1, `gzip: ${message}`);
    throw fileFault(`${flag} ${file}`, error);
  }
  if (length > 0) yield { number: ++number, text: rest.join(''), isWhole: false };
}

/** Every file that is compressed by gzip begins with these bytes, whatever its name is. */
const gzipMark = Buffer.from([0x1f, 0x8b]);
/** A file that was cut off is read as far as it reaches, and its end is no error. */
const asFarAsItGoes = { finishFlush: constants.Z_SYNC_FLUSH };

/** The text of a file, compressed or not, piece by piece. */
async function textOf(file: string): Promise<Readable> {
  if (!(await isCompressed(file))) return createReadStream(file, 'utf8');
  const unzipped = createGunzip(asFarAsItGoes);
  const zipped = createReadStream(file).on('error', (error) => unzipped.destroy(error));
  return zipped.pipe(unzipped).setEncoding('utf8');
}

async function isCompressed(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(gzipMark.length) });
    return buffer.subarray(0, bytesRead).equals(gzipMark);
  } finally {
    await handle.close();
  }
}
