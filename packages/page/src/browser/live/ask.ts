// Asks the server what would happen, and follows how far the answer is.
import type { Signal } from '@preact/signals';
import type { WhatIfLine } from '../../what-if.ts';

/** The progress of an answer. */
export type Answer =
  | { readonly kind: 'none' }
  | { readonly kind: 'awaited'; readonly text: string; readonly stop: () => void }
  | { readonly kind: 'failed'; readonly text: string; readonly next: string };

/** The address, and if the question is about one loss after the other. */
interface Asking {
  readonly address: string;
  readonly isEach: boolean;
}

type PageLine = Extract<WhatIfLine, { readonly kind: 'page' }>;

/** Asks, follows how far it is, and takes the page of the answer: by default goes there. */
export async function ask(
  { address, isEach }: Asking,
  query: URLSearchParams,
  answer: Signal<Answer>,
  take: (line: PageLine) => void = (line) => location.assign(line.address),
): Promise<void> {
  const away = new AbortController();
  // Of many losses those that are done have a page.
  const stop = (): void => (isEach ? void fetch(`${address}/stop`) : away.abort());
  answer.value = { kind: 'awaited', text: 'the cluster is read', stop };
  try {
    const response = await fetch(`${address}?${query}`, { signal: away.signal });
    for await (const line of linesOf<WhatIfLine>(response)) {
      if (line.kind === 'progress') answer.value = { kind: 'awaited', text: line.text, stop };
      else if (line.kind === 'error') answer.value = { ...line, kind: 'failed' };
      else {
        answer.value = { kind: 'none' };
        take(line);
      }
    }
    if (answer.value.kind === 'awaited') answer.value = cutOff;
  } catch {
    answer.value = away.signal.aborted ? { kind: 'none' } : cutOff;
  }
}

const cutOff: Answer = {
  kind: 'failed',
  text: 'The answer was cut off',
  next: 'Check that kubectl taintmgr web still runs, and ask again.',
};

/** The lines of an answer as they come, each as JSON has it. Throws where it is cut off. */
async function* linesOf<Line>({ body }: Response): AsyncGenerator<Line> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  while (reader) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = `${rest}${value}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
}
